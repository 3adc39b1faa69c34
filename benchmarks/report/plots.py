"""Plots as SVG, written by hand: intervals on a line, grouped bars, curves with bands.

Colours come from CSS classes, so that a page can give them for light and dark; a plot that stands alone
carries them with it. Figures of the paper are hollow, measured ones are filled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 900
COLOURS = 8

STYLE = """
.plot { color: #23252b; font: 12px system-ui, sans-serif; max-width: 100%; height: auto; }
.plot text { fill: currentColor; }
.plot .quiet { fill: #6a6c73; }
.plot .grid { stroke: #d9d6cc; stroke-width: 1; }
.plot .mark { stroke: #8a8c93; stroke-width: 1; stroke-dasharray: 4 3; }
.plot .c0 { --c: #2f6fb3; } .plot .c1 { --c: #d9822b; } .plot .c2 { --c: #4f9153; }
.plot .c3 { --c: #8460c2; } .plot .c4 { --c: #c64b4b; } .plot .c5 { --c: #1c8a8a; }
.plot .c6 { --c: #bd5590; } .plot .c7 { --c: #7b7d84; }
.plot .fill { fill: var(--c); } .plot .line { fill: none; stroke: var(--c); stroke-width: 2; }
.plot .band { fill: var(--c); opacity: 0.15; } .plot .span { stroke: var(--c); stroke-width: 2; }
.plot .hollow { fill: none; stroke: var(--c); stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  .plot { color: #e6e5e0; } .plot .quiet { fill: #989ba3; } .plot .grid { stroke: #3a3e46; }
  .plot .c0 { --c: #7db4ee; } .plot .c1 { --c: #f0a452; } .plot .c2 { --c: #7fc484; }
  .plot .c3 { --c: #b596ea; } .plot .c4 { --c: #ec7d78; } .plot .c5 { --c: #5cc8c8; }
  .plot .c6 { --c: #e68cbd; } .plot .c7 { --c: #a4a7ae; }
}
"""


@dataclass(frozen=True)
class Scale:
    """Where values lie between two places of a drawing; logarithmic ones need values above 0."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values inside the scale, about five of them."""
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1,) if len(decades) > 3 else (1, 2, 5)
            values = [step * 10.0**power for power in decades for step in steps]
            return [value for value in values if self.low <= value <= self.high]
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        values = [step * (first + n) for n in range(12)]
        slack = (self.high - self.low) * 1e-9
        inside = [value for value in values if self.low - slack <= value <= self.high + slack]
        return [min(max(value, self.low), self.high) for value in inside]


def _round_step(rough: float) -> float:
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in (1, 2, 5, 10) if rough <= step * power * 1.0001)


def scale_around(values: Sequence[float], start: float, end: float, *, log: bool = False) -> Scale:
    """A scale that holds all values with a little room at both ends."""
    low, high = min(values), max(values)
    if log:
        return Scale(low / 1.25, high * 1.25, start, end, log=True)
    # Values that are all but equal need room of their own size, or the scale would have none.
    room = (high - low) * 0.05 if high - low > 1e-9 * abs(high) else abs(high) * 0.1 or 1.0
    return Scale(low - room, high + room, start, end)


@dataclass(frozen=True)
class Mark:
    """A value with a name, the interval that it lies in if one is known, and whose it is."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    quoted: bool = False
    colour: int = 0


@dataclass(frozen=True)
class Bars:
    """A value for each category; None where there is none."""

    label: str
    values: tuple[float | None, ...]
    quoted: bool = False
    colour: int = 0


@dataclass(frozen=True)
class Curve:
    """Points from left to right, with a band around them if one is known."""

    label: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()
    colour: int = 0


def intervals(
    title: str,
    marks: Sequence[Mark],
    *,
    show: Callable[[float], str],
    log: bool = False,
    limits: tuple[float, float] | None = None,
    at: float | None = None,
) -> str:
    """A row for each mark: a point on a line, with its interval. `at` draws a line across all."""
    left, right, row = 320, WIDTH - 80, 22
    height = 34 + row * len(marks) + 26
    known = [v for mark in marks for v in (mark.value, mark.low, mark.high) if v is not None]
    scale = Scale(*limits, left, right, log=log) if limits else scale_around(known, left, right, log=log)
    parts = [_grid(scale, 24, height - 26, show)]
    if at is not None:
        x = scale(at)
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="24" y2="{height - 26}"/>')
    for number, mark in enumerate(marks):
        y = 34 + row * number + row / 2 - 4
        parts.append(_mark(mark, scale, left, y, show))
    return _svg(title, height, "".join(parts))


def _mark(mark: Mark, scale: Scale, left: float, y: float, show: Callable[[float], str]) -> str:
    x = scale(mark.value)
    colour = f"c{mark.colour % COLOURS}"
    name = "quiet" if mark.quoted else ""
    text = f'<text class="{name}" x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(mark.label)}</text>'
    span, end = "", x
    if mark.low is not None and mark.high is not None:
        low, end = scale(mark.low), scale(mark.high)
        span = f'<line class="span" x1="{low:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    kind = "hollow" if mark.quoted else "fill"
    dot = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
    value = f'<text class="quiet" x="{max(x, end) + 10:.1f}" y="{y + 4:.1f}">{escape(show(mark.value))}</text>'
    return f'{text}<g class="{colour}">{span}{dot}</g>{value}'


def bars(title: str, categories: Sequence[str], series: Sequence[Bars], *, show: Callable[[float], str]) -> str:
    """Groups of standing bars, one group for each category."""
    left, right, top = 60, WIDTH - 16, 24 + 18 * len(series)
    bottom = top + 200
    most = max((v for entry in series for v in entry.values if v is not None), default=1.0)
    scale = Scale(0, most * 1.05 or 1.0, bottom, top)
    parts = [_legend([(one.label, one.colour, one.quoted) for one in series], left)]
    parts.append(_rungs(scale, left, right, show))
    group = (right - left) / max(len(categories), 1)
    width = group * 0.8 / max(len(series), 1)
    for number, category in enumerate(categories):
        start = left + group * number + group * 0.1
        middle = left + group * (number + 0.5)
        parts.append(f'<text x="{middle:.1f}" y="{bottom + 16}" text-anchor="middle">{escape(category)}</text>')
        for place, entry in enumerate(series):
            value = entry.values[number]
            if value is None:
                continue
            y = scale(value)
            kind = "hollow" if entry.quoted else "fill"
            parts.append(
                f'<rect class="{kind} c{entry.colour % COLOURS}" x="{start + place * width:.1f}" '
                f'y="{y:.1f}" width="{max(width - 1.5, 1):.1f}" height="{bottom - y:.1f}">'
                f"<title>{escape(entry.label)}, {escape(category)}: {escape(show(value))}</title></rect>"
            )
    return _svg(title, bottom + 26, "".join(parts))


def curves(
    title: str,
    series: Sequence[Curve],
    *,
    across: str,
    show_x: Callable[[float], str],
    show_y: Callable[[float], str],
    limits: tuple[float, float] | None = None,
) -> str:
    """Lines over a shared horizontal axis, with bands where they are known."""
    left, right, top = 60, WIDTH - 16, 24 + 18 * len(series)
    bottom = top + 220
    xs = [x for entry in series for x, _ in entry.points]
    ys = [y for entry in series for _, y in entry.points]
    ys += [edge for entry in series for _, low, high in entry.band for edge in (low, high)]
    across_scale = Scale(min(xs), max(xs), left, right)
    up = Scale(*(limits or (0.0, max(ys) * 1.05 or 1.0)), bottom, top)
    parts = [_legend([(entry.label, entry.colour, False) for entry in series], left)]
    parts.append(_rungs(up, left, right, show_y))
    for tick in across_scale.ticks():
        parts.append(
            f'<text x="{across_scale(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{escape(show_x(tick))}</text>'
        )
    parts.append(
        f'<text class="quiet" x="{(left + right) / 2}" y="{bottom + 34}" text-anchor="middle">{escape(across)}</text>'
    )
    for entry in series:
        colour = f"c{entry.colour % COLOURS}"
        if entry.band:
            there = [f"{across_scale(x):.1f},{up(low):.1f}" for x, low, _ in entry.band]
            back = [f"{across_scale(x):.1f},{up(high):.1f}" for x, _, high in reversed(entry.band)]
            parts.append(f'<polygon class="band {colour}" points="{" ".join(there + back)}"/>')
        line = " ".join(f"{across_scale(x):.1f},{up(y):.1f}" for x, y in entry.points)
        parts.append(f'<polyline class="line {colour}" points="{line}"/>')
    return _svg(title, bottom + 42, "".join(parts))


def _grid(scale: Scale, top: float, bottom: float, show: Callable[[float], str]) -> str:
    """Upright lines at round values, named below."""
    return "".join(
        f'<line class="grid" x1="{scale(tick):.1f}" x2="{scale(tick):.1f}" y1="{top}" y2="{bottom}"/>'
        f'<text class="quiet" x="{scale(tick):.1f}" y="{bottom + 16}" text-anchor="middle">'
        f"{escape(show(tick))}</text>"
        for tick in scale.ticks()
    )


def _rungs(scale: Scale, left: float, right: float, show: Callable[[float], str]) -> str:
    """Level lines at round values, named on the left."""
    return "".join(
        f'<line class="grid" x1="{left}" x2="{right}" y1="{scale(tick):.1f}" y2="{scale(tick):.1f}"/>'
        f'<text class="quiet" x="{left - 8}" y="{scale(tick) + 4:.1f}" text-anchor="end">'
        f"{escape(show(tick))}</text>"
        for tick in scale.ticks()
    )


def _legend(entries: Sequence[tuple[str, int, bool]], left: float) -> str:
    return "".join(
        f'<rect class="{"hollow" if quoted else "fill"} c{colour % COLOURS}" x="{left}" '
        f'y="{18 * number + 8}" width="11" height="11"/>'
        f'<text x="{left + 18}" y="{18 * number + 18}">{escape(label)}</text>'
        for number, (label, colour, quoted) in enumerate(entries)
    )


def _svg(title: str, height: float, content: str) -> str:
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{content}</svg>\n'
    )


def alone(svg: str) -> str:
    """A plot as a file of its own, with its colours."""
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>{STYLE}</style>{svg[start:]}"
