"""Tables for terminals, Markdown and web pages, and the formatting of figures in them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.protocol.results import Row


@dataclass(frozen=True)
class Table:
    """Rows of text under column names; the first `names` columns hold names, the others figures.

    Rows whose indices are in `quoted` are other people's figures and are marked.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    quoted: frozenset[int] = frozenset()

    def markdown(self) -> str:
        """A Markdown table whose columns line up."""
        cells = [tuple(text.replace("|", "\\|") for text in row) for row in self.rows]
        widths = [max(3, *(len(row[column]) for row in (self.columns, *cells))) for column in range(len(self.columns))]
        rule = tuple("-" * width for width in widths[: self.names]) + tuple(
            "-" * (width - 1) + ":" for width in widths[self.names :]
        )
        lines = (self._line(row, widths) for row in (self.columns, rule, *cells))
        return "".join(f"{line}\n" for line in lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        names = map(str.ljust, row[: self.names], widths)
        figures = map(str.rjust, row[self.names :], widths[self.names :])
        return f"| {' | '.join([*names, *figures])} |"

    def _kind(self, column: int) -> str:
        return "name" if column < self.names else "figure"

    def html(self) -> str:
        head = "".join(
            f'<th class="{self._kind(column)}">{html.escape(name)}</th>' for column, name in enumerate(self.columns)
        )
        body = ""
        for number, row in enumerate(self.rows):
            kind = ' class="quoted"' if number in self.quoted else ""
            cells = "".join(
                f'<td class="{self._kind(column)}">{html.escape(text)}</td>' for column, text in enumerate(row)
            )
            body += f"<tr{kind}>{cells}</tr>\n"
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


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
