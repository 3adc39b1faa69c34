"""The kinds of mistakes, and how often each is made: the recipe."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8


class MistakeKind(IntEnum):
    """A kind of mistake. The first ones need the table of words, the others only the place in the sentence."""

    SPELLING = 0
    VERB = 1
    NOUN = 2
    WORD_FORM = 3
    ARTICLE_SWAP = 4
    PREPOSITION_SWAP = 5
    CONFUSED = 6
    PRONOUN = 7
    CASE = 8
    SPLIT = 9
    JOINED = 10
    PHRASE = 11
    APOSTROPHE = 12
    HYPHEN = 13
    PUNCTUATION_SWAP = 14
    ARTICLE_DROP = 15
    ARTICLE_ADD = 16
    PREPOSITION_DROP = 17
    PREPOSITION_ADD = 18
    COMMA_DROP = 19
    COMMA_ADD = 20
    END_DROP = 21
    RUN_ON = 22
    ORDER = 23
    LEFT_OUT = 24
    DOUBLED = 25
    EXTRA = 26


FROM_TABLE = MistakeKind.PUNCTUATION_SWAP + 1
"""How many kinds come from the table."""

STANDARD = Path(__file__).parents[2] / "recipes" / "mistakes.json"
"""The shares that a recipe has where it does not name its own."""


def _standard_shares() -> dict[str, float]:
    shares: dict[str, float] = json.loads(read_utf8(STANDARD))["shares"]
    return shares


@dataclass(frozen=True)
class Recipe:
    """The frequency of each kind of mistake, the number of mistakes in a passage, and the context around it."""

    shares: dict[str, float] = field(default_factory=_standard_shares)
    """Weights of the kinds. A kind that does not suit a passage gives way to another, so rare ones are rarer still."""

    clean: float = 0.27
    """Share of the passages that have no mistake and are to be left alone."""

    rates: tuple[float, ...] = (0.02, 0.04, 0.08, 0.12, 0.2)
    """Mistakes for each word, one drawn for each passage; every passage has at least one."""

    sentences: tuple[float, ...] = (0.5, 0.3, 0.2)
    """Weights of passages of one, two, three sentences."""

    longest: int = 128
    """Tokens of a passage."""

    left: float = 0.4
    right: float = 0.2
    """How often the text before and after a passage is shown."""

    neighbours: int = 64
    """Tokens of such a text, at the most."""

    def __post_init__(self) -> None:
        names = {kind.name.lower() for kind in MistakeKind}
        if unknown := sorted(set(self.shares) - names):
            raise ReviserError(f"there is no kind of mistake called {', '.join(unknown)}")
        if min(self.shares.values(), default=0) < 0 or not sum(self.shares.values()):
            raise ReviserError("the shares of a recipe are 0 or more, and not all 0")
        object.__setattr__(self, "rates", tuple(map(float, self.rates)))
        object.__setattr__(self, "sentences", tuple(map(float, self.sentences)))
        if not self.rates or min(self.rates) < 0 or not 0 <= self.clean <= 1:
            raise ReviserError("rates are 0 or more, and clean is a share from 0 to 1")
        if not self.sentences or min(self.sentences) < 0 or not sum(self.sentences):
            raise ReviserError("sentences are weights, 0 or more, and not all 0")
        if self.longest < 16 or self.neighbours < 0:
            raise ReviserError("longest is 16 tokens or more, and neighbours 0 or more")
        if not (0 <= self.left <= 1 and 0 <= self.right <= 1):
            raise ReviserError("left and right are shares from 0 to 1")

    @classmethod
    def load(cls, path: Path) -> Recipe:
        """Reads a recipe from a JSON file; values that the file omits keep their defaults."""
        try:
            data = json.loads(read_utf8(path))
        except json.JSONDecodeError as error:
            raise ReviserError(f"{path} is not JSON: {error}") from None
        known = {one.name for one in fields(cls)}
        if not isinstance(data, dict) or set(data) - known:
            raise ReviserError(f"{path} does not hold a recipe: its fields are {', '.join(known)}")
        try:
            return cls(**data)
        except (TypeError, ValueError):
            raise ReviserError(f"{path} has a value of the wrong kind") from None

    def to_dict(self) -> dict[str, object]:
        return asdict(self)

    def weights(self) -> NDArray[np.float64]:
        """The shares of all kinds as cumulative sums that end in 1."""
        shares = [self.shares.get(kind.name.lower(), 0.0) for kind in MistakeKind]
        running: NDArray[np.float64] = np.cumsum(np.array(shares)) / sum(shares)
        return running
