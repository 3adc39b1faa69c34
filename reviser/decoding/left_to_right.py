"""Reading from left to right: how likely the model finds each token of a text after those before it.

A run leaves its text in a history of inserts and moves. Read from left to right, texts that were written in different
orders can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Policy
from reviser.model.scoring import Choices, ReadingDecoder, Scores, TextRows, shared_length

READABLE: Final = 512
"""The most ids of a text that can be read."""


def can_read(policy: Policy) -> bool:
    """Whether the model of a policy can read texts from left to right."""
    return _decoder(policy) is not None


def left_to_right(policy: Policy) -> Reading:
    """A left-to-right reading by the model of a policy, whose own history is not affected."""
    decoder = _decoder(policy)
    if decoder is None:
        raise ReviserError("this model cannot read a text from left to right beside what it writes")
    return Reading(decoder, policy.vocabulary)


def _decoder(policy: Policy) -> ReadingDecoder | None:
    decoder = policy.decoder if isinstance(policy, ModelPolicy) else None
    return decoder if isinstance(decoder, ReadingDecoder) else None


class Reading:
    """Reads one text after another beside a decoder's own history; a shared beginning is read only once."""

    def __init__(self, decoder: ReadingDecoder, vocabulary: Vocabulary) -> None:
        self._decoder = decoder
        self._vocabulary = vocabulary
        self.readable = min(READABLE, decoder.capacity)
        self._seen: list[int] = []

    @cached_property
    def _row(self) -> TextRows:
        # Most runs read nothing, so the memory is taken by the first that does.
        return self._decoder.rows(1, self.readable)

    @cached_property
    def _choices(self) -> Choices:
        return Choices(self._vocabulary)

    def score(self, ids: Sequence[int], asked: Sequence[int]) -> list[float]:
        """The log-probability of each `asked` id: the last as the id after all of `ids`, the one before it as the id
        after all but the last of `ids`, and so on."""
        if not 0 < len(asked) <= len(ids) <= self.readable:
            raise ReviserError(f"a text of 1 to {self.readable} ids can be read")
        (found,) = self._row.choice_scores([0], [self._unread(ids, len(asked))], [asked], self._choices)
        return [choice_score.expected for choice_score in found]

    def chances(self, ids: Sequence[int], last: int) -> list[float]:
        """The log-probabilities of the `last` ids of a text, each after those before it; `last < len(ids)`."""
        if not 0 < last < len(ids) or len(ids) > self.readable:
            raise ReviserError(f"a text of 2 to {self.readable} ids can be read, all but its first")
        return self.score(ids[:-1], ids[-last:])

    def following(self, ids: Sequence[int], token: int, last: int) -> list[float]:
        """The log-probability of `token` at each of the places after the `last` ids, as if it came next there."""
        return self.score(ids, [token] * last)

    def scores(self, ids: Sequence[int]) -> Scores:
        """The scores of the id after a text; the next call may reuse the array."""
        if not 0 < len(ids) <= self.readable:
            raise ReviserError(f"a text of 1 to {self.readable} ids can be read")
        found: Scores = self._row.read([0], [self._unread(ids, 1)])[0]
        return found

    def _unread(self, ids: Sequence[int], last: int) -> Sequence[int]:
        """The part of a text that is not in the row yet, at least the `last` ids."""
        kept = min(shared_length(self._seen, ids), len(ids) - last)
        self._row.truncate(0, kept)
        self._seen = list(ids)
        return ids[kept:]
