"""The plots: well-formed, inside their frame, and true to the values they show."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.report.plots import WIDTH, Bars, Curve, Mark, Scale, alone, bars, curves, intervals, scale_around

SVG = "{http://www.w3.org/2000/svg}"
AWKWARD = "<b>&\"'é😀"
VALUES = st.floats(0.001, 1e6)


def parts(svg: str, tag: str, kind: str = "") -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [part for part in root.iter(f"{SVG}{tag}") if kind in (part.get("class") or "")]


@given(VALUES, VALUES, st.booleans(), st.floats(0, 1))
def test_scales_keep_order_and_ends(one: float, other: float, log: bool, share: float) -> None:
    low, high = sorted((one, other))
    scale = Scale(low, high * 1.01, 10, 110, log)
    assert scale(low) == pytest.approx(10)
    assert scale(high * 1.01) == pytest.approx(110)
    middle = low + share * (high - low)
    assert 10 <= scale(middle) <= 110
    assert scale(low) <= scale(middle) <= scale(high) + 1e-9
    assert scale(low - 1) == pytest.approx(10)


@given(st.lists(VALUES, min_size=1), st.booleans())
def test_a_scale_around_values_holds_them_and_has_ticks(values: list[float], log: bool) -> None:
    scale = scale_around(values, 0, 1, log=log)
    assert scale.low < min(values)
    assert scale.high > max(values)
    ticks = scale.ticks()
    assert len(ticks) <= 13
    assert ticks == sorted(ticks)
    assert all(scale.low <= tick <= scale.high * (1 + 1e-9) for tick in ticks)
    if max(values) > 2 * min(values):
        assert ticks


def test_marks_stand_in_the_order_of_their_values_and_the_papers_are_hollow() -> None:
    marks = [Mark("few", 0.2, 0.1, 0.4), Mark(AWKWARD, 0.5), Mark("paper", 0.9, quoted=True, colour=3)]
    svg = intervals("Win rates", marks, show="{:.0%}".format, limits=(0, 1), at=0.5)
    dots = parts(svg, "circle")
    places = [float(dot.get("cx", "")) for dot in dots]
    assert places == sorted(places)
    assert places[1] - places[0] == pytest.approx(0.75 * (places[2] - places[1]), abs=0.2)
    assert [dot.get("class") for dot in dots] == ["fill", "fill", "hollow"]
    (span,) = parts(svg, "line", "span")
    assert float(span.get("x1", "")) < places[0] < float(span.get("x2", ""))
    (across,) = parts(svg, "line", "mark")
    assert float(across.get("x1", "")) == pytest.approx(places[1], abs=0.1)
    texts = [part.text for part in parts(svg, "text")]
    assert AWKWARD in texts
    assert "20%" in texts


def test_bars_are_as_high_as_their_values() -> None:
    series = [Bars("ours", (0.5, 0.25, None)), Bars(AWKWARD, (None, 0.5, 0.0), quoted=True)]
    svg = bars("Distances", ["1", "2", "4"], series, show="{:.0%}".format)
    drawn = [part for part in parts(svg, "rect") if part.find(f"{SVG}title") is not None]
    heights = [float(part.get("height", "")) for part in drawn]
    assert heights == pytest.approx([heights[0], heights[0] / 2, heights[0], 0], abs=0.2)
    titles = [part.findtext(f"{SVG}title") for part in drawn]
    assert titles == ["ours, 1: 50%", "ours, 2: 25%", f"{AWKWARD}, 2: 50%", f"{AWKWARD}, 4: 0%"]


def test_curves_and_bands_stay_inside() -> None:
    series = [
        Curve("one", ((0, 0.0), (0.5, 1.0), (1, 0.5)), ((0, 0.0, 0.2), (1, 0.4, 0.9))),
        Curve("two", ((0.2, 0.3), (0.9, 0.1)), colour=1),
    ]
    svg = curves("Positions", series, across="time", show_x="{:.1f}".format, show_y="{:.1f}".format, limits=(0.0, 1.0))
    height = float(ElementTree.fromstring(svg).get("height", ""))
    lines = parts(svg, "polyline")
    assert [line.get("class") for line in lines] == ["line c0", "line c1"]
    for shape in [*lines, *parts(svg, "polygon")]:
        for pair in (shape.get("points") or "").split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= height
    assert len(parts(svg, "polygon", "band")) == 1


def test_a_plot_that_stands_alone_has_its_colours() -> None:
    svg = alone(intervals("One", [Mark("a", 1.0)], show=str))
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}style") is not None
    assert root.findtext(f"{SVG}title") == "One"
