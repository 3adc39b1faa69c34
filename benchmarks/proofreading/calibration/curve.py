"""Figures of a calibration as a page: how often changes of a confidence are right, and what each setting of the dial
does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from benchmarks.measures.arena import wilson
from benchmarks.proofreading.calibration.candidates import ProposedChange, TextProposals
from benchmarks.proofreading.calibration.fitting import Floats, confidences
from benchmarks.report.tables import Table
from reviser.proofreading.guard.calibration import FEATURES, RAW, Calibration

EDGES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
DIALS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_BETA: Final = 0.5
EXPLAINED: Final = """\
A change is right if it is by itself: on bea-dev an annotator made the same edit (ERRANT), on jfleg-dev and on pairs of texts it
brings the text nearer to a corrected one, and in finished texts none is. The changes are those of the first look that no
veto speaks against. Texts that were fitted to are not among those below. Recall, F0.5 and texts left alone are of the sources where
it is known what is wanted. bea-dev has one annotator, so a change that another would have made may count as wrong. Intervals are
Wilson's, 95 %. The apartness is the mean distance between a confidence and the share of changes that are right with it.
"""


@dataclass(frozen=True)
class Share:
    """How many of some changes are right."""

    right: int
    made: int

    @property
    def value(self) -> float:
        return self.right / self.made if self.made else math.nan

    def __str__(self) -> str:
        if not self.made:
            return "–"
        found = wilson(self.right, self.made)
        return f"{100 * self.value:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


@dataclass(frozen=True)
class Bin:
    """The changes whose confidence lies between two edges."""

    low: float
    high: float
    mean: float
    share: Share


@dataclass(frozen=True)
class Setting:
    """What a setting of the dial does: changes that are right, the recall where what is wanted is known, and texts
    left alone."""

    dial: float
    share: Share
    recall: float
    f: float
    left_alone: float


@dataclass(frozen=True)
class CalibrationCurve:
    """All figures of one calibration on the texts of a source."""

    name: str
    texts: int
    share: Share
    error: float
    bins: tuple[Bin, ...]
    settings: tuple[Setting, ...]


def all_candidates(texts: Sequence[TextProposals]) -> list[ProposedChange]:
    """The candidates of several texts."""
    return [one for text in texts for one in text.candidates]


def curve(name: str, texts: Sequence[TextProposals], calibration: Calibration) -> CalibrationCurve:
    """The figures of a calibration on texts."""
    candidates = all_candidates(texts)
    sure = confidences(calibration, candidates)
    right = np.array([one.right for one in candidates], np.bool_)
    bins = [_bin(sure, right, low, high) for low, high in pairwise(EDGES)]
    apart = sum(one.share.made * abs(one.mean - one.share.value) for one in bins if one.share.made)
    return CalibrationCurve(
        name,
        len(texts),
        Share(int(right.sum()), len(right)),
        apart / len(right) if len(right) else math.nan,
        tuple(bins),
        tuple(_setting(texts, sure, dial) for dial in DIALS),
    )


def _bin(sure: Floats, right: np.ndarray, low: float, high: float) -> Bin:
    inside = (sure >= low) & ((sure < high) | (high == 1.0))
    count = int(inside.sum())
    return Bin(low, high, float(sure[inside].mean()) if count else math.nan, Share(int(right[inside].sum()), count))


def _setting(texts: Sequence[TextProposals], sure: Floats, dial: float) -> Setting:
    made_in_all = right_in_all = known_right = known_made = wanted = 0
    finished = alone = at = 0
    for text in texts:
        makes = sure[at : at + len(text.candidates)] >= dial
        at += len(text.candidates)
        made = int(makes.sum())
        right = sum(one.right for one, is_made in zip(text.candidates, makes, strict=True) if is_made)
        made_in_all, right_in_all = made_in_all + made, right_in_all + right
        if text.wanted is not None:
            known_right, known_made = known_right + right, known_made + made
            wanted += text.wanted
        if text.wanted == 0:
            finished, alone = finished + 1, alone + (made == 0)
    recall = min(1.0, known_right / wanted) if wanted else math.nan
    precision = known_right / known_made if known_made else math.nan
    below = _BETA**2 * precision + recall
    f = (1 + _BETA**2) * precision * recall / below if below > 0 else math.nan
    return Setting(dial, Share(right_in_all, made_in_all), recall, f, alone / finished if finished else math.nan)


# The page ------------------------------------------------------------------------------------------


def page(halves: Mapping[str, Sequence[TextProposals]], calibration: Calibration) -> str:
    """The figures of all sources, by raw probabilities and calibrated; it has no text of any source."""
    raw = [curve(name, texts, RAW) for name, texts in halves.items()]
    fitted = [curve(name, texts, calibration) for name, texts in halves.items()]
    overview = tuple(
        (one.name, f"{one.texts:,}", f"{one.share.made:,}", str(one.share), f"{plain.error:.2f}", f"{one.error:.2f}")
        for plain, one in zip(raw, fitted, strict=True)
    )
    columns = ("texts of", "texts", "changes", "right", "apartness, raw", "calibrated")
    parts = [Table(columns, overview).markdown()]
    parts += [f"## {one.name.capitalize()}\n\n{_reliability(one)}\n{_dial(one)}" for one in fitted]
    rows = [("intercept", calibration.intercept), ("log odds of the chance", calibration.slope)]
    rows += zip(FEATURES, calibration.weights, strict=True)
    rows += [(f"kind: {kind}", offset) for kind, offset in calibration.kinds.items()]
    coefficients = Table(("", "coefficient"), tuple((name, f"{one:.2f}") for name, one in rows))
    return "\n".join([*parts, f"## Coefficients\n\n{coefficients.markdown()}"])


def _reliability(of: CalibrationCurve) -> str:
    rows = [
        (
            f"{one.low:g} to {one.high:g}",
            f"{one.share.made:,}",
            "–" if math.isnan(one.mean) else f"{one.mean:.2f}",
            str(one.share),
        )
        for one in of.bins
    ]
    return Table(("confidence", "changes", "mean", "right"), tuple(rows)).markdown()


def _dial(of: CalibrationCurve) -> str:
    rows = [
        (f"{one.dial:g}", f"{one.share.made:,}", str(one.share), *map(_percent, (one.recall, one.f, one.left_alone)))
        for one in of.settings
    ]
    columns = ("dial", "changes", "right (precision)", "recall", "F0.5", "finished texts left alone")
    return Table(columns, tuple(rows)).markdown()


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"
