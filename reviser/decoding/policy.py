"""Models as policies: scores for any history, computing only what is not cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reviser.core.canvas import Canvas
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.model.scoring import Decoder, Scores, shared_length


class SessionPolicy(Policy, Protocol):
    """A policy with its limits: how much it can read and how much text it can hold."""

    @property
    def context(self) -> int:
        """The longest history, in ids."""

    @property
    def max_length(self) -> int | None:
        """The longest text, in tokens; None where only the history is limited."""


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model: its name, the policy that scores with it, and its tokenizer."""

    name: str
    policy: SessionPolicy
    tokenizer: Tokenizer


class ModelPolicy:
    """A policy by a model that reads the history alone.

    The decoder keeps what it has computed. Asked about another history, the policy rewinds it to the shared beginning,
    so an undone action, a branch, or one more typed word cost only what differs. `evaluated` counts the ids that went
    through the model. `digest` identifies its weights, if known; given as a function, it is called when it is needed.
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
        if len(history) > self._decoder.capacity:
            raise ReviserError(
                f"the model reads {counted(self.context, 'action')} at the most, and this history has {len(history)}"
            )
        if not self._is_next(history):
            if self._scores is not None and list(history) == self._seen:
                return self._scores
            self._go_to(history)
        self._scores = None
        self._scores = self._decoder.decode(history[-1])
        self._seen.append(history[-1])
        self.evaluated += 1
        return self._scores

    def _is_next(self, history: Sequence[int]) -> bool:
        """Whether a history is the one that was read and one more id, which is the usual case."""
        seen = self._seen
        if len(history) != len(seen) + 1 or self._decoder.length != len(seen):
            return False
        # A copy of either list would touch all ids, which takes much longer than to compare the lists.
        seen.append(history[-1])
        is_next = seen == history
        seen.pop()
        return is_next

    def _go_to(self, history: Sequence[int]) -> None:
        """Read all ids of a history but the last.

        The last id must go through the model by itself, or there are no scores to return. Reading many at once rounds
        differently; this way the same run, when repeated, finds all but the last id cached.
        """
        shared = min(shared_length(self._seen, history), len(history) - 1)
        self._decoder.truncate(shared)
        del self._seen[shared:]
        self._scores = None
        if before := list(history[shared:-1]):
            self._decoder.prefill(before)
            self._seen += before
            self.evaluated += len(before)
