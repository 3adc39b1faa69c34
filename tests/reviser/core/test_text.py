"""The text layer equals a full decode after every step, in characters, bytes, units and lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Action, Splice
from reviser.core.canvas import Canvas
from reviser.core.text import Extent, TextEdit, TextLayer, visible_text
from reviser.core.vocabulary import EXTENSIONS, Vocabulary
from tests.reviser.core.strategies import actions

# Whole characters, halves of characters, bytes that belong to none, and every kind of line ending.
PIECES = [
    b"a",
    b" the",
    "漢字".encode(),
    "👩‍💻".encode(),
    "👩‍💻".encode()[:3],
    "👩‍💻".encode()[3:6],
    "👩‍💻".encode()[6:],
    "é".encode()[:1],
    "é".encode()[1:],
    b"e\xcc\x81",
    b"\xcc",
    b"\xff",
    b"\x80\x80\x80\x80",
    b"\xf0\x9f",
    b"\x91",
    b"\r",
    b"\n",
    b"\r\n",
    "\u2028\x0c\x85".encode(),
    b"",
]


class Pieces:
    """A tokenizer reduced to the bytes of its tokens."""

    def token_bytes(self, token: int) -> bytes:
        return PIECES[token]


VOCABULARY = Vocabulary(base_size=len(PIECES), extensions=EXTENSIONS)
piece_ids = st.integers(0, len(PIECES) - 1)
LINE_ENDING = re.compile("\r\n|\r|\n")


def position_in(text: str, chars: int) -> tuple[int, int, int, int, int, int, int]:
    """The counts of an extent, found the slow way."""
    before = text[:chars]
    tail = LINE_ENDING.split(before)[-1]
    return (
        chars,
        len(before.encode("utf-8", "surrogatepass")),
        len(before.encode("utf-16-le", "surrogatepass")) // 2,
        len(LINE_ENDING.findall(before)),
        len(tail),
        len(tail.encode("utf-8", "surrogatepass")),
        len(tail.encode("utf-16-le", "surrogatepass")) // 2,
    )


def counts(extent: Extent) -> tuple[int, int, int, int, int, int, int]:
    return (
        extent.chars,
        extent.utf8,
        extent.utf16,
        extent.lines,
        extent.column,
        extent.column_utf8,
        extent.column_utf16,
    )


def check_edit(edit: TextEdit, before: str, after: str) -> None:
    assert edit.removed != edit.inserted
    assert edit.apply_to(before) == after
    assert before[edit.start.chars : edit.end.chars] == edit.removed
    for extent in (edit.start, edit.end):
        assert counts(extent) == position_in(before, extent.chars)
        assert before[extent.chars - 1 : extent.chars + 1] != "\r\n" or extent.chars == 0


def decode(tokens: list[int]) -> str:
    return visible_text(b"".join(PIECES[token] for token in tokens))


@settings(max_examples=300)
@given(st.lists(piece_ids, max_size=20), st.data())
def test_text_equals_a_full_decode_after_every_step(start: list[int], data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(start)))
    canvas = Canvas(VOCABULARY, start, cursor=cursor)
    layer = TextLayer(Pieces(), start)
    text = layer.text
    assert text == decode(start)
    script = data.draw(st.lists(actions | st.sampled_from(["undo", "redo"]), max_size=20))
    for entry in script:
        for splice in perform(canvas, entry):
            edit = layer.apply(splice)
            if edit is not None:
                check_edit(edit, text, layer.text)
            else:
                assert layer.text == text
            text = layer.text
        assert text == decode(canvas.tokens)
        before_cursor = decode(canvas.tokens[: canvas.cursor])
        assert counts(layer.position(canvas.cursor)) == position_in(text, len(before_cursor))


def perform(canvas: Canvas, entry: Action | str) -> tuple[Splice, ...]:
    if entry == "undo":
        return canvas.undo() if canvas.undoable else ()
    if entry == "redo":
        return canvas.redo() if canvas.redoable else ()
    assert not isinstance(entry, str)
    return canvas.apply(entry) if canvas.objection(entry) is None else ()


@given(st.text(st.sampled_from("ab\r\n漢👩é\u2028\x0b\ud83d\ude00"), max_size=30), st.integers(0, 30))
def test_extents_add_up(text: str, at: int) -> None:
    whole = Extent.of(text)
    assert Extent.of(text[:at]) + Extent.of(text[at:]) == whole
    assert counts(whole) == position_in(text, len(text))


def test_a_character_appears_when_its_last_byte_does() -> None:
    layer = TextLayer(Pieces())
    edits = [layer.apply(Splice(at, (), (piece,))) for at, piece in enumerate((7, 8))]
    assert edits[0] is None
    assert edits[1] is not None
    assert edits[1].inserted == "é"
    between = layer.apply(Splice(1, (), (0,)))
    assert between is not None
    assert (between.removed, between.inserted, layer.text) == ("é", "a", "a")


def test_an_edit_inside_crlf_takes_the_whole_line_ending() -> None:
    layer = TextLayer(Pieces(), [0, 15, 16, 0])
    edit = layer.apply(Splice(2, (), (0,)))
    assert edit is not None
    assert (edit.removed, edit.inserted) == ("\r\n", "\ra\n")
    assert (edit.start.lines, edit.start.column) == (0, 1)
    assert (edit.end.lines, edit.end.column) == (1, 0)


def test_only_the_protocols_line_endings_end_lines() -> None:
    assert Extent.of("a\u2028b\x0bc\x0cd\x85e").lines == 0
    assert Extent.of("a\rb\nc\r\nd").lines == 3


@pytest.mark.parametrize("size", [63, 64, 65, 200])
def test_positions_in_long_texts(size: int) -> None:
    layer = TextLayer(Pieces(), [2, 16] * size)
    for boundary in (0, size, 2 * size, 1, 64, 128 % (2 * size)):
        expected = decode(([2, 16] * size)[:boundary])
        assert counts(layer.position(boundary)) == position_in(expected, len(expected))
