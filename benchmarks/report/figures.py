"""How figures are written in a report, and what tells contestants and the paper apart."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.protocol.results import REAL, Rate, Results
from benchmarks.report.tables import Table

QUOTED = "(paper)"
GREY = 7


def with_interval(value: float, interval: Sequence[float], digits: int = 1) -> str:
    shown, low, high = (with_digits(number, digits) for number in (value, *interval))
    return f"{shown} ({low} to {high})"


def with_digits(value: float, digits: int) -> str:
    """So many digits behind the point; none where the number is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}f}"


def plain(value: float) -> str:
    """Four digits that count, and never an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def rate_with_interval(rate: Rate) -> str:
    if rate["share"] is None:
        return "–"
    return f"{rate['share']:.1%} ({rate['low']:.1%} to {rate['high']:.1%})"


def colours_of(results: Results) -> dict[str, int]:
    names = [entry["name"] for entry in results["contestants"] if entry["name"] != REAL]
    return {name: number for number, name in enumerate(names)} | {REAL: GREY}


def beside(
    columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], quoted: Sequence[tuple[str, ...]], names: int
) -> Table:
    """Measured rows, and below them the paper's."""
    places = frozenset(range(len(rows), len(rows) + len(quoted)))
    return Table(columns, (*rows, *quoted), names, places)
