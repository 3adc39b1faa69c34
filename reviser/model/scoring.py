"""Protocols of decoders: they score the id after a history, and read rows of texts for the log-probabilities of given
ids.

The native library and torch implement both. Writers ask one history for the scores of all ids; readers ask rows of
texts for choice scores.
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


class ChoiceScores(NamedTuple):
    """Log-probabilities of the ids that matter at one place of a text.

    `expected` is that of the id that stands there. `delete` and `stop` are those of the two operators. `first` and
    `second` are the ids of the two likeliest tokens, followed by their log-probabilities. `asked` are those of further
    ids.
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
"""Further ids whose log-probabilities are wanted, by the number of the place among the expected ids."""


class Choices:
    """The ids that choice scores are about, for a vocabulary: the tokens that may be inserted, Delete and Stop."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.insertable: NDArray[np.bool_] = np.ones(vocabulary.base_size, dtype=np.bool_)
        self.insertable[list(vocabulary.never_inserted)] = False

    def choice_score(self, scores: Scores, expected: int, asked: Sequence[int] = ()) -> ChoiceScores:
        """The choice scores of one place by `scores`: of the `expected` id, the likeliest ids and the `asked` ones."""
        chances = scores - scores.max().astype(np.float64)
        chances -= math.log(np.exp(chances).sum())
        tokens = np.where(self.insertable, chances[: len(self.insertable)], -np.inf)
        first = int(tokens.argmax())
        first_chance, tokens[first] = float(tokens[first]), -np.inf
        second = int(tokens.argmax())
        vocabulary = self.vocabulary
        return ChoiceScores(
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
    """One history inside a model: ids are added at its end, and it can be shortened."""

    @property
    def length(self) -> int: ...
    @property
    def capacity(self) -> int: ...

    def prefill(self, ids: Sequence[int]) -> Scores:
        """Read ids and return the scores after the last; the next call may reuse the array."""

    def decode(self, id: int) -> Scores: ...
    def truncate(self, length: int) -> None: ...


class TextRows(Protocol):
    """Rows of texts beside a decoder's own history, each of its own length, scored together.

    `close`, or leaving a `with` block, frees their memory.
    """

    @property
    def room(self) -> int:
        """The most ids that a row can hold."""

    def read(self, rows: Sequence[int], texts: Sequence[Sequence[int]]) -> Scores:
        """Read a text into each of these different rows, after what is there, and score the id after each.

        The result has a row for each text. The next call may reuse the array.
        """

    def choice_scores(
        self,
        rows: Sequence[int],
        texts: Sequence[Sequence[int]],
        expected: Sequence[Sequence[int]],
        choices: Choices,
        asked: Sequence[Questions] | None = None,
        enough: float | None = None,
    ) -> list[list[ChoiceScores]]:
        """Read texts as `read` does; returns, for each text i, the choice scores of its last `len(expected[i])` places.

        Place n of text i expects the id `expected[i][n]`. `asked[i][n]` are further ids to score there. Where the
        expected id has a log-probability of at least `enough`, the choice scores may leave out rare tokens.
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
        """Whether a row reads its text again from the start whenever it grows; it is then best given whole."""

    def rows(self, count: int, room: int | None = None, *, halved: bool = False) -> TextRows:
        """Make `count` empty rows for `room` ids each, by default as many as the decoder can hold.

        With `halved` they may be read in 16-bit floats, where that is faster.
        """


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the common beginning of two histories, in ids."""
    size = min(len(one), len(other))
    if list(one[:size]) == list(other[:size]):
        return size
    return next(i for i in range(size) if one[i] != other[i])
