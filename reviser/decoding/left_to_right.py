"""A text read from left to right: how likely the model finds each token of it after those before.

A run leaves the text in a history of inserts and moves. Read so, a text that was written in any order can be compared with
another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy, shared_length
from reviser.decoding.rollout import Policy
from reviser.decoding.sampler import Scores

if TYPE_CHECKING:
    from reviser.native.batch import NativeBatch
    from reviser.native.decoder import NativeDecoder
    from reviser.proofreading.overtyping import OvertypingRules

READABLE = 512
"""Ids of a text that can be read at the most."""


class Reading(Protocol):
    """Reads a text from left to right."""

    @property
    def readable(self) -> int:
        """Ids of a text at the most."""

    def chances(self, ids: Sequence[int], last: int) -> list[float]:
        """The log-probabilities of the `last` ids, each after those before it; not all ids can be the last."""

    def following(self, ids: Sequence[int], token: int, last: int) -> list[float]:
        """The log-probability of `token` after each of the `last` ids: were the text to go on with it there."""

    def scores(self, ids: Sequence[int]) -> Scores:
        """The scores of what follows a text; the next call may reuse the array."""


@runtime_checkable
class _Reads(Protocol):
    """A decoder that can read texts itself."""

    @property
    def readable(self) -> int: ...
    def chances(self, ids: Sequence[int], last: int) -> list[float]: ...
    def following(self, ids: Sequence[int], token: int, last: int) -> list[float]: ...
    def scores(self, ids: Sequence[int]) -> Scores: ...


def can_read(policy: Policy) -> bool:
    """Whether there is a reading by the model of a policy."""
    try:
        left_to_right(policy)
    except ReviserError:
        return False
    return True


def left_to_right(policy: Policy) -> Reading:
    """A reading by the model of a policy; the history that the policy keeps stays as it is."""
    if isinstance(policy, ModelPolicy):
        decoder = policy.decoder
        if isinstance(decoder, _Reads):
            return decoder
        from reviser.native.decoder import NativeDecoder

        if isinstance(decoder, NativeDecoder):
            return NativeReading(decoder, policy.vocabulary)
    raise ReviserError("this model cannot read a text from left to right beside what it writes")


class NativeReading:
    """Reads in a row beside the native decoder's own history; what two texts begin with is read once."""

    def __init__(self, decoder: NativeDecoder, vocabulary: Vocabulary) -> None:
        self._decoder = decoder
        self._vocabulary = vocabulary
        self.readable = min(READABLE, decoder.capacity)
        self._seen: list[int] = []

    @cached_property
    def _row(self) -> NativeBatch:
        # Most runs read nothing, so the memory is taken by the first that does.
        from reviser.native.batch import NativeBatch

        return NativeBatch(self._decoder, 1, self.readable)

    @cached_property
    def _rules(self) -> OvertypingRules:
        from reviser.proofreading.overtyping import OvertypingRules

        # What the library tells of a text's next id besides its probability is for proofreading; nobody looks at it here.
        return OvertypingRules(replace(self._vocabulary, overtypes=True))

    def chances(self, ids: Sequence[int], last: int) -> list[float]:
        if not 0 < last < len(ids) or len(ids) > self.readable:
            raise ReviserError(f"a text of 2 to {self.readable} ids can be read, all but its first")
        first = len(ids) - last
        # The scores before the first of the last ids are needed too, so the id before it is read again.
        kept = min(shared_length(self._seen, ids), first - 1)
        self._row.truncate(0, kept)
        self._seen = list(ids[:-1])
        (found,) = self._row.outlooks([0], [ids[kept:-1]], [ids[first:]], self._rules)
        return [outlook.expected for outlook in found]

    def following(self, ids: Sequence[int], token: int, last: int) -> list[float]:
        if not 0 < last <= len(ids) <= self.readable:
            raise ReviserError(f"a text of 1 to {self.readable} ids can be read")
        kept = min(shared_length(self._seen, ids), len(ids) - last)
        self._row.truncate(0, kept)
        self._seen = list(ids)
        (found,) = self._row.outlooks([0], [ids[kept:]], [[token] * last], self._rules)
        return [outlook.expected for outlook in found]

    def scores(self, ids: Sequence[int]) -> Scores:
        if not 0 < len(ids) <= self.readable:
            raise ReviserError(f"a text of 1 to {self.readable} ids can be read")
        kept = min(shared_length(self._seen, ids), len(ids) - 1)
        self._row.truncate(0, kept)
        self._seen = list(ids)
        found: Scores = self._row.read([0], [ids[kept:]])[0]
        return found
