"""A model as a policy: scores for any history, computing only what it has not computed already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.sampler import Scores


class Decoder(Protocol):
    """One history inside a model: ids go in at its end, and it can be cut short."""

    @property
    def length(self) -> int: ...
    @property
    def capacity(self) -> int: ...

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Take in ids and return the scores after the last; the next call may reuse the array."""

    def decode(self, id: int) -> NDArray[np.float32]: ...
    def truncate(self, length: int) -> None: ...


class ModelPolicy:
    """Scores by a model that reads the history alone.

    The decoder keeps what it has computed. Asked about another history, the policy rewinds it to what
    the two share, so an undone action, a branch, or one more typed word cost only what differs.
    `evaluated` counts the ids that went through the model. `digest` tells its weights from others, where it is known; given as a
    function, it is worked out when it is asked for.
    """

    def __init__(
        self,
        decoder: Decoder,
        vocabulary: Vocabulary,
        max_length: int | None = None,
        digest: str | Callable[[], str] = "",
    ) -> None:
        self.vocabulary = vocabulary
        self._digest = digest
        self.max_length = max_length
        self.evaluated = 0
        self._decoder = decoder
        self._seen: list[int] = []
        self._scores: Scores | None = None

    @property
    def decoder(self) -> Decoder:
        return self._decoder

    @property
    def digest(self) -> str:
        if not isinstance(self._digest, str):
            self._digest = self._digest()
        return self._digest

    @property
    def context(self) -> int:
        """The longest history, in ids, that can be scored."""
        return self._decoder.capacity

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        if len(history) > self.context:
            raise ReviserError(
                f"the model reads {self.context} actions at the most, and this history has {len(history)}"
            )
        shared = shared_length(self._seen, history)
        if shared == len(history) and shared == len(self._seen) and self._scores is not None:
            return self._scores
        # At least the last id must go through the model, or there are no scores to return.
        shared = min(shared, len(history) - 1)
        self._decoder.truncate(shared)
        del self._seen[shared:]
        self._scores = None
        new = list(history[shared:])
        # The last id by itself: reading many at once rounds a little otherwise, and the same run asked for
        # again finds all but the last id read already.
        if len(new) > 1:
            self._decoder.prefill(new[:-1])
        self._scores = self._decoder.decode(new[-1])
        self._seen += new
        self.evaluated += len(new)
        return self._scores


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two histories share from their start."""
    size = min(len(one), len(other))
    if list(one[:size]) == list(other[:size]):
        return size
    return next(i for i in range(size) if one[i] != other[i])
