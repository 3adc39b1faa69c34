"""The mixture: the share of each kind of sample, and how texts are cut for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from training.samples.obfuscation import PIECES, Pieces

Weighted = tuple[tuple[float, float], ...]
Ranges = tuple[tuple[float, float, float], ...]
Orders = tuple[tuple[float, str], ...]


class Order(StrEnum):
    """The order in which the hunks of an edit are rewritten."""

    FORWARD = "forward"
    BACKWARD = "backward"
    NEAREST = "nearest"
    RANDOM = "random"


@dataclass(frozen=True)
class Mixture:
    """The shares of the kinds of samples and the parameters of each.

    Shares are weights and need not add up to 1. The gap of an infill is written by one of the other
    compiled policies, drawn by their shares.
    """

    plain: float = 0.1
    paper: float = 0.3
    structured: float = 0.4
    infill: float = 0.2
    rich: float = 0.0
    local: float = 0.0
    elaborated: float = 0.0

    p_delete: Weighted = ((1.0, 0.8),)
    """(weight, probability of Delete), one drawn for each sample."""

    revisions: float = 3.0
    """Mean number of revisions in 100 tokens of a structured, local or elaborated sample."""

    pieces: Pieces = PIECES
    """How often such a revision writes some words, a clause or a sentence; whole numbers."""

    prefix: Ranges = ((0.15, 0.0, 0.0), (0.85, 0.05, 0.5))
    """(weight, least, most): which share of a text is given as its prefix."""

    suffix: Ranges = ((1.0, 0.1, 0.5),)
    """The same for the suffix of an infill."""

    before: Ranges | None = None
    """The same for the prefix of an infill, where it is not to be drawn from `prefix`."""

    max_history: int = 512
    min_text: int = 16
    """Shorter texts are left out."""

    full: float = 0.5
    """Share of the texts that are cut to fill a history; the others are cut to any shorter length."""

    openings: float = 0.0
    """Share of the documents of which an epoch shows the beginning alone, drawn anew for each epoch.

    A long document fills many windows with its middle, but what is to be continued is mostly a beginning.
    """

    k_max: int | None = None
    """Most steps of an obfuscation, where that is to be less than what fits into a history."""

    edits: float = 0.0
    """Share of real edits, beside all the shares above: a draft to be revised. They need a corpus of edits."""

    real_edits: float = 0.1
    """Share of the edits that are real ones, in a run that makes up mistakes beside them."""

    next_edits: float = 0.0
    """Share of the edits that are next edits of a session, in a run that has samples of them."""

    unchanged: float = 0.2
    """Share of the edits that show the revised text, which is to be left as it is."""

    edit_orders: Orders = ((3.0, "forward"), (1.0, "nearest"), (1.0, "random"))
    """(weight, order in which the changes of an edit are made)."""

    overtype: float = 0.0
    """Share of the edits that are shown by overtyping: the draft is written over from its start, with its changes."""

    def __post_init__(self) -> None:
        for name in ("p_delete", "prefix", "suffix", "before"):
            if (given := getattr(self, name)) is not None:
                rows = tuple(tuple(float(number) for number in row) for row in given)
                object.__setattr__(self, name, rows)
        words, clauses, sentences = map(int, self.pieces)
        object.__setattr__(self, "pieces", (words, clauses, sentences))
        orders = tuple((float(weight), str(order)) for weight, order in self.edit_orders)
        object.__setattr__(self, "edit_orders", orders)
        self._check()
        self._check_edits()

    @classmethod
    def left_to_right(cls, max_history: int = 512) -> Mixture:
        """Every text from left to right, without a prefix: the baseline to compare with."""
        return cls(1.0, 0.0, 0.0, 0.0, prefix=((1.0, 0.0, 0.0),), max_history=max_history)

    @classmethod
    def as_in_the_paper(cls, max_history: int = 512) -> Mixture:
        return cls(0.0, 1.0, 0.0, 0.0, max_history=max_history)

    @classmethod
    def load(cls, path: Path) -> Mixture:
        try:
            data = json.loads(read_utf8(path))
        except json.JSONDecodeError as error:
            raise ReviserError(f"{path} is not JSON: {error}") from None
        if not isinstance(data, dict):
            raise ReviserError(f"{path} does not hold a mixture")
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mixture:
        if unknown := sorted(set(data) - {field.name for field in fields(cls)}):
            raise ReviserError(f"a mixture has no {', '.join(unknown)}")
        try:
            return cls(**data)
        except (TypeError, ValueError):
            raise ReviserError("a mixture has a value of the wrong kind") from None

    def to_dict(self) -> dict[str, object]:
        return asdict(self)

    @property
    def shares(self) -> tuple[float, ...]:
        return (*self.writing, self.infill, self.rich, self.elaborated)

    @property
    def writing(self) -> tuple[float, ...]:
        """The shares of the compiled policies, which also write the gaps of infills."""
        return self.plain, self.paper, self.structured, self.local

    def _check(self) -> None:
        if min(self.shares) < 0 or sum(self.shares) <= 0:
            raise ReviserError("the shares of a mixture are 0 or more, and not all 0")
        if self.infill and not sum(self.writing):
            raise ReviserError("an infill needs a share of plain, paper, structured or local to write its gap")
        if any(len(row) != 2 or row[0] < 0 or not 0 < row[1] <= 1 for row in self.p_delete):
            raise ReviserError("p_delete is a list of (weight, probability above 0 and at most 1)")
        ranges = {"prefix": self.prefix, "suffix": self.suffix, "before": self.before}
        for name, rows in ranges.items():
            if rows is not None and any(len(row) != 3 or row[0] < 0 or not 0 <= row[1] <= row[2] <= 1 for row in rows):
                raise ReviserError(f"{name} is a list of (weight, least, most), shares of a text")
        for name, weighted in {"p_delete": self.p_delete, **ranges}.items():
            if weighted is not None and sum(row[0] for row in weighted) <= 0:
                raise ReviserError(f"{name} needs a weight above 0")
        if min(self.pieces) < 0 or not sum(self.pieces):
            raise ReviserError("pieces are three whole numbers, 0 or more, and not all 0")
        if self.min_text < 1 or self.max_history < 2 * self.min_text + 16:
            raise ReviserError("max_history must be at least twice min_text, and 16 more")
        if not 0 <= self.full <= 1 or self.revisions < 0:
            raise ReviserError("full is a share from 0 to 1, and revisions is 0 or more")
        if not 0 <= self.openings <= 1:
            raise ReviserError("openings is a share from 0 to 1")
        if self.k_max is not None and self.k_max < 1:
            raise ReviserError("k_max must be 1 or more")

    def _check_edits(self) -> None:
        shares = (self.unchanged, self.real_edits, self.next_edits, self.overtype)
        if self.edits < 0 or not all(0 <= share <= 1 for share in shares):
            raise ReviserError(
                "edits is 0 or more, and unchanged, real_edits, next_edits and overtype are shares from 0 to 1"
            )
        weights = [weight for weight, order in self.edit_orders if order in set(Order)]
        if len(weights) < len(self.edit_orders) or min(weights, default=-1) < 0 or not sum(weights):
            raise ReviserError(f"edit_orders is a list of (weight, one of {', '.join(Order)})")
