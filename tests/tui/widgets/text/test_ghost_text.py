"""A buffer with ghosts says of lines and slices what a plain buffer says of the text with the ghosts written in."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.buffer import Buffer
from tui.widgets.text.ghost_text import Ghost, GhostBuffer, shown_as
from tui.widgets.text.layout import Layout

texts = st.text(alphabet="ab 漢\n\r", max_size=30)


@st.composite
def ghost_buffer(draw: st.DrawFn) -> tuple[str, list[Ghost]]:
    text = draw(texts)
    # A ghost never stands inside a line ending: changes do not cut one.
    places = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0]
    chosen = sorted(draw(st.lists(st.sampled_from(places), max_size=4)))
    return text, [Ghost(at, draw(st.text(alphabet="xy ", max_size=6))) for at in chosen]


def written_in(text: str, ghosts: list[Ghost]) -> str:
    for ghost in reversed(ghosts):
        text = text[: ghost.at] + ghost.text + text[ghost.at :]
    return text


@settings(max_examples=200, deadline=None)
@given(ghost_buffer(), st.data())
def test_ghosts_are_as_if_written_in(case: tuple[str, list[Ghost]], data: st.DataObject) -> None:
    text, ghosts = case
    view = GhostBuffer(Buffer(text), ghosts)
    plain = Buffer(written_in(text, ghosts))
    assert (view.length, view.line_count) == (plain.length, plain.line_count)
    start = data.draw(st.integers(0, plain.length))
    end = data.draw(st.integers(start, plain.length))
    assert view.slice(start, end) == plain.slice(start, end)
    for line in range(plain.line_count):
        assert view.line_start(line) == plain.line_start(line)
        assert view.line_end(line) == plain.line_end(line)
    assert view.line_of(start) == plain.line_of(start)
    width = data.draw(st.sampled_from([None, 4, 7]))
    here, there = Layout(view, width), Layout(plain, width)
    rows = here.from_place(here.place(start), 50)
    assert rows == there.from_place(there.place(start), 50)


@settings(max_examples=100, deadline=None)
@given(ghost_buffer())
def test_places_lead_to_the_screen_and_back(case: tuple[str, list[Ghost]]) -> None:
    text, ghosts = case
    view = GhostBuffer(Buffer(text), ghosts)
    whole = written_in(text, ghosts)
    for offset in range(len(text)):
        assert whole[view.shown(offset)] == text[offset]
        assert view.real(view.shown(offset)) == offset
        assert view.real(view.shown_before(offset)) == offset
    for start, end, ghost in view.spans(0, view.length):
        assert whole[start:end] == ghost.text
        assert {view.real(place) for place in range(start, end)} == {ghost.at}
        assert not view.in_ghost(start)
        assert all(view.in_ghost(place) for place in range(start + 1, end))


def test_ghosts_show_line_endings_as_marks_and_the_ends_of_long_text() -> None:
    assert shown_as("a\r\nb\nc\rd") == "a↵b↵c↵d"
    long = shown_as("x" * 500 + "y" * 500)
    assert (long[0], long[-1], " … " in long, len(long) < 320) == ("x", "y", True, True)
