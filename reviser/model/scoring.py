"""What a model says of the next id: scores of all ids, or log-probabilities of those that are asked about.

Decoders give both, natively and in torch. What writes asks one history for scores; what reads texts asks rows of
them for outlooks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reviser.core.vocabulary import Vocabulary

Scores = NDArray[np.float32]
"""A logit for each id of a vocabulary."""


class Outlook(NamedTuple):
    """What the model's scores say of the next id, as log-probabilities.

    `expected` is the probability of the id that was proposed. `first` and `second` are the two likeliest tokens
    that may be written, with their probabilities. `asked` are those of further ids that were asked about.
    """

    expected: float
    delete: float
    stop: float
    first: int
    first_chance: float
    second: int
    second_chance: float
    asked: tuple[float, ...] = ()


Questions = Mapping[int, Sequence[int]]
"""Ids that are asked about besides the expected ones, by the number of the place."""


class Choices:
    """The ids that an outlook tells of, for a vocabulary: the tokens that may be written, Delete and Stop."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.insertable: NDArray[np.bool_] = np.ones(vocabulary.base_size, dtype=np.bool_)
        self.insertable[list(vocabulary.never_inserted)] = False

    def outlook(self, scores: Scores, expected: int, asked: Sequence[int] = ()) -> Outlook:
        """What scores of the next id say, where `expected` is proposed and others may be `asked` about."""
        chances = scores - scores.max().astype(np.float64)
        chances -= math.log(np.exp(chances).sum())
        tokens = np.where(self.insertable, chances[: len(self.insertable)], -np.inf)
        first = int(tokens.argmax())
        first_chance, tokens[first] = float(tokens[first]), -np.inf
        second = int(tokens.argmax())
        vocabulary = self.vocabulary
        return Outlook(
            float(chances[expected]),
            float(chances[vocabulary.delete_id]),
            float(chances[vocabulary.stop_id]),
            first,
            first_chance,
            second,
            float(tokens[second]),
            tuple(chances[list(asked)].tolist()),
        )


class Decoder(Protocol):
    """One history inside a model: ids go in at its end, and it can be cut short."""

    @property
    def length(self) -> int: ...
    @property
    def capacity(self) -> int: ...

    def prefill(self, ids: Sequence[int]) -> Scores:
        """Take in ids and return the scores after the last; the next call may reuse the array."""

    def decode(self, id: int) -> Scores: ...
    def truncate(self, length: int) -> None: ...


class TextRows(Protocol):
    """Texts beside a decoder's own history, each in a row and of its own length, that are scored together.

    `close`, or leaving a `with` block, gives back their memory.
    """

    @property
    def room(self) -> int:
        """Ids that a row holds at the most."""

    def read(self, rows: Sequence[int], texts: Sequence[Sequence[int]]) -> Scores:
        """Read a text into each of these different rows, after what is there, and score what follows each.

        The result has a row for each text. The next call may reuse the array.
        """

    def outlooks(
        self,
        rows: Sequence[int],
        texts: Sequence[Sequence[int]],
        expected: Sequence[Sequence[int]],
        choices: Choices,
        asked: Sequence[Questions] | None = None,
        enough: float | None = None,
    ) -> list[list[Outlook]]:
        """Read texts as `read` does, and say what follows each of the last `len(expected[i])` ids of text i.

        An outlook also tells of the ids that are `asked` about: of text i, those that `asked[i]` has for the number
        of the place among the expected ones. Where the expected id has a log-probability of `enough`, the outlook
        may leave out rare tokens.
        """

    def truncate(self, row: int, length: int) -> None:
        """Forget what was read into a row after its first `length` ids."""

    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


@runtime_checkable
class ReadingDecoder(Decoder, Protocol):
    """A decoder that also reads texts in rows."""

    @property
    def rereads(self) -> bool:
        """Whether rows read a text again from its start whenever it grows: then it is best given whole."""

    def rows(self, count: int, room: int | None = None, *, halved: bool = False) -> TextRows:
        """Make `count` empty rows for `room` ids each, by default as many as the decoder can hold.

        With `halved` they may be read in floats of sixteen bits, where that takes less time.
        """


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two histories share from their start."""
    size = min(len(one), len(other))
    if list(one[:size]) == list(other[:size]):
        return size
    return next(i for i in range(size) if one[i] != other[i])
