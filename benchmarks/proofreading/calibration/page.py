"""The page of a calibration: its curve, the dial, the kinds, and its coefficients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.proofreading.calibration.curve import Curve, OfKind, Share
from benchmarks.proofreading.calibration.fitting import PENALTY
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.proofreading.guard.calibration import FEATURES, LEAST_CHANCE, Calibration

_EXPLAINED = """\
A change is right if it is by itself: on bea-dev an annotator made the same edit (ERRANT), on jfleg-dev and on pairs of texts it
brings the text nearer to a corrected one, and in finished texts none is. The changes are those of the first look that no
veto speaks against. Texts that were fitted to, or chosen on, are not among those below. Recall, F0.5 and texts left alone are of the sources where
it is known what is wanted. bea-dev has one annotator, so a change that another would have made may count as wrong. "All" depends on how many texts of each source there
are. By raw chance, words that are far from the old ones need no more than others here. Intervals are Wilson's, 95 %. The apartness is the mean distance between a confidence and the share of changes that are right with it.
"""


@dataclass(frozen=True)
class Halves:
    """The figures of a source, by raw probabilities and calibrated."""

    name: str
    raw: Curve
    calibrated: Curve
    kinds: tuple[OfKind, ...]


@dataclass(frozen=True)
class Fit:
    """A calibration, what it was fitted to and chosen on, and the figures of all sources."""

    calibration: Calibration
    fit: tuple[str, ...]
    choose: tuple[str, ...]
    halves: tuple[Halves, ...]


def summary(result: Fit) -> str:
    """What a terminal is shown."""
    first = result.halves[0]
    return f"{_overview(result.halves)}\n{_reliability(first)}\n{_dial(first)}"


def page(command: str, result: Fit, sizes: Mapping[str, int]) -> str:
    """The page in Markdown; it has no text of any source."""
    facts = {
        "Model": f"weights {result.calibration.model}",
        "Data": ", ".join(f"{name} ({count:,} texts)" for name, count in sizes.items()),
        "Fitted to": f"one half of {', '.join(result.fit)}; penalty {PENALTY:g}",
        "Changes": f"all with a chance of at least {LEAST_CHANCE:g}",
    }
    if result.choose:
        facts["Offset"] = f"chosen on one half of {', '.join(result.choose)}"
    parts = [
        f"# How often changes are right\n\n{provenance(command, **facts)}\n{_EXPLAINED}",
        f"{_verdict(result.halves[0])}\n\n{_overview(result.halves)}",
    ]
    for half in result.halves:
        parts.append(f"## {half.name.capitalize()}\n\n{_reliability(half)}\n{_dial(half)}")
        parts.append(_kinds(half.kinds))
    parts.append(f"## Coefficients\n\n{_coefficients(result.calibration)}")
    return "\n".join(parts)


def _verdict(half: Halves) -> str:
    at = next(one for one in half.calibrated.settings if one.dial == 0.9)
    if not at.share.made:
        return "With the dial at 0.9 no change is made."
    return f"With the dial at 0.9, of {at.share.made:,} changes {share_text(at.share)} are right, over all sources together."


def _overview(halves: Sequence[Halves]) -> str:
    rows = []
    for half in halves:
        at = next(one for one in half.calibrated.settings if one.dial == 0.9)
        rows.append(
            (
                half.name,
                f"{half.raw.texts:,}",
                f"{half.raw.share.made:,}",
                share_text(half.raw.share),
                _number(half.raw.error),
                _number(half.calibrated.error),
                f"{at.share.made:,}",
                share_text(at.share),
                _number(half.raw.enough),
                _number(half.calibrated.enough),
            )
        )
    columns = (
        "texts of",
        "texts",
        "changes",
        "right",
        "apartness, raw",
        "calibrated",
        "changes at 0.9",
        "right at 0.9",
        "nine of ten from, raw",
        "calibrated",
    )
    return Table(columns, tuple(rows)).markdown()


def _reliability(half: Halves) -> str:
    rows = tuple(
        (
            f"{calibrated.low:g} to {calibrated.high:g}",
            f"{calibrated.share.made:,}",
            _number(calibrated.mean),
            share_text(calibrated.share),
            f"{raw.share.made:,}",
            share_text(raw.share),
        )
        for calibrated, raw in zip(half.calibrated.bins, half.raw.bins, strict=True)
    )
    columns = ("confidence", "changes", "mean", "right", "with that raw chance", "right")
    return Table(columns, rows).markdown()


def _dial(half: Halves) -> str:
    rows = tuple(
        (
            f"{calibrated.dial:g}",
            f"{calibrated.share.made:,}",
            share_text(calibrated.share),
            _percent(calibrated.recall),
            _percent(calibrated.f),
            _percent(calibrated.left_alone),
            f"{raw.share.made:,}",
            _percent(raw.share.value),
            _percent(raw.recall),
            _percent(raw.f),
        )
        for calibrated, raw in zip(half.calibrated.settings, half.raw.settings, strict=True)
    )
    columns = (
        "dial",
        "changes",
        "right (precision)",
        "recall",
        "F0.5",
        "finished texts left alone",
        "by raw chance: changes",
        "right",
        "recall",
        "F0.5",
    )
    return Table(columns, rows).markdown()


def _kinds(kinds: Sequence[OfKind]) -> str:
    rows = tuple(
        (str(one.kind), f"{one.share.made:,}", share_text(one.share), _percent(one.chance), _percent(one.confidence))
        for one in kinds
    )
    columns = ("kind", "changes", "right", "mean chance", "mean confidence")
    return Table(columns, rows).markdown()


def _coefficients(calibration: Calibration) -> str:
    rows = [("intercept", calibration.intercept), ("log odds of the chance", calibration.slope)]
    rows += zip(FEATURES, calibration.weights, strict=True)
    rows += [(f"kind: {kind}", offset) for kind, offset in calibration.kinds.items()]
    return Table(("", "coefficient"), tuple((name, f"{one:.2f}") for name, one in rows)).markdown()


def share_text(share: Share) -> str:
    if not share.made:
        return "–"
    low, high = share.interval
    return f"{100 * share.value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.2f}"
