"""The formatting of figures in a report, and the marking of the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.protocol.results import Row
from benchmarks.report.tables import Table

QUOTED = "(paper)"


def with_interval(value: float, interval: Sequence[float], digits: int = 1) -> str:
    shown, low, high = (with_digits(number, digits) for number in (value, *interval))
    return f"{shown} ({low} to {high})"


def with_digits(value: float, digits: int) -> str:
    """The number with `digits` decimals, or with none if it is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}f}"


def plain(value: float) -> str:
    """The number with four significant digits, never with an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def rate_with_interval(rate: Row) -> str:
    if rate["share"] is None:
        return "–"
    return f"{rate['share']:.1%} ({rate['low']:.1%} to {rate['high']:.1%})"


def beside(
    columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], quoted: Sequence[tuple[str, ...]], names: int
) -> Table:
    """A table of measured rows, followed by the paper's."""
    places = frozenset(range(len(rows), len(rows) + len(quoted)))
    return Table(columns, (*rows, *quoted), names, places)
