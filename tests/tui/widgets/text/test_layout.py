"""Rows show every character once, in order, within the width; places and columns are inverse to each other."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from reviser.core.buffer import Buffer
from tui.widgets.text import layout as module
from tui.widgets.text.layout import Layout, wrap

PIECES = ["a", "word ", " ", "é", "e\u0301", "漢字", "👩‍💻", "\t", "\x07", "\u202e", "-", "\u0301"]
PIECES += ["\u200c", "\u200d", "\u00a0", "\u00ad", "\u2028", "\u3000", "क\u094d"]
lines = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
widths = st.one_of(st.none(), st.integers(2, 30))


@settings(max_examples=150, deadline=None)
@given(lines, widths)
def test_rows_hold_the_whole_text_within_the_width(text: str, width: int | None) -> None:
    rows = wrap(text, width, 4)
    assert "".join(row.text for row in rows) == text
    assert rows[0].start == 0
    for row, following in pairwise(rows):
        assert row.end == following.start
    for row in rows:
        assert row.text == text[row.start : row.end]
        assert cell_len(row.shown) == row.width
        assert "\t" not in row.shown
        assert "\x07" not in row.shown
        assert "\u202e" not in row.shown
        if width is not None:
            assert len(row.shown.rstrip()) == 0 or cell_len(row.shown.rstrip()) <= width


@settings(max_examples=200, deadline=None)
@given(lines, widths)
def test_columns_and_offsets_are_inverse(text: str, width: int | None) -> None:
    for row in wrap(text, width, 4):
        for cell in row.each_cell():
            assert row.x_of(cell.start) == cell.x
            for x in range(cell.x, cell.x + cell.width):
                assert row.offset_at(x) == cell.start
        assert row.offset_at(row.width + 3) == row.end


def cells(text: str) -> list[tuple[str, int]]:
    """What stands in each cell, or pair of cells, and how many it fills."""
    return [(cell.shown, cell.width) for cell in wrap(text, None, 4)[0].each_cell()]


def test_joiners_make_one_picture_of_several_and_leave_letters_their_cells() -> None:
    runner, family = "🏃🏽\u200d♂\ufe0f", "👩\u200d👩\u200d👧"
    assert cells(f"{family}{runner}!") == [(family, 2), (runner, 2), ("!", 1)]
    assert cells("ی\u200cخ") == [("ی\u200c", 1), ("خ", 1)]
    assert cells("क\u094d\u200dष") == [("क\u094d\u200c", 1), ("ष", 1)]


def test_a_row_breaks_at_spaces_but_not_where_a_space_forbids_it() -> None:
    assert [row.text for row in wrap("one two\u00a0!", 9, 4)] == ["one two\u00a0!"]
    assert [row.text for row in wrap("one two\u00a0!", 8, 4)] == ["one ", "two\u00a0!"]
    assert [row.text for row in wrap("one two\u2003!", 8, 4)] == ["one two\u2003", "!"]
    assert cells("a\u00a0b\u3000c") == [("a", 1), (" ", 1), ("b", 1), ("\u3000", 2), ("c", 1)]


def test_words_are_kept_whole_and_wide_characters_are_not_cut() -> None:
    assert [row.text for row in wrap("the cat sat on", 7, 4)] == ["the cat ", "sat on"]
    assert [row.text for row in wrap("unbreakable", 4, 4)] == ["unbr", "eaka", "ble"]
    assert [row.text for row in wrap("漢字漢字x", 5, 4)] == ["漢字", "漢字x"]
    assert wrap("a\tb", None, 4)[0].shown == "a   b"


@pytest.mark.parametrize("fold", [7, 2000])
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6), lines, widths)
def test_walking_down_shows_the_text_and_walking_up_goes_back(
    fold: int, body: list[tuple[str, str]], last: str, width: int | None
) -> None:
    text = "".join(line + ending for line, ending in body) + last
    original = module.FOLD
    module.FOLD = fold
    try:
        layout = Layout(Buffer(text), width)
        down = layout.from_place(layout.place(0), 10_000)
        assert down[-1].end == len(text)
        for above, below in pairwise(down):
            between = text[above.end : below.start]
            assert between in ("", "\n", "\r\n", "\r")
            assert bool(between) == above.last_of_line == below.first_of_line
            assert layout.preceding(below) == above
            assert layout.following(above) == below
        assert layout.preceding(down[0]) is None
        assert layout.following(down[-1]) is None
        for place in down:
            assert layout.place(place.start) == place
            assert place.start <= place.offset_at(10_000) <= place.end
            assert layout.place(place.offset_at(10_000)) == place
        assert layout.moved(down[0], len(down) + 5) == down[-1]
        assert layout.moved(down[-1], -len(down)) == down[0]
    finally:
        module.FOLD = original


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r"])), max_size=4), widths)
def test_stepping_by_characters_goes_through_the_text_and_back(body: list[tuple[str, str]], width: int | None) -> None:
    text = "".join(line + ending for line, ending in body)
    layout = Layout(Buffer(text), width)
    stops = [0]
    while stops[-1] < len(text):
        stops.append(layout.next_character(stops[-1]))
        assert stops[-1] > stops[-2]
    assert stops[-1] == len(text)
    back = [len(text)]
    while back[-1] > 0:
        back.append(layout.previous_character(back[-1]))
    assert back[::-1] == stops
