"""The mirror of an editor's text, against a plain model of it, in every encoding."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.documents.document import Documents, EditorDocument, EditorPosition, Encoding, UnknownDocument
from reviser.core.edits import Edit, minimal_change

ALPHABET = "ab \r\n\u2028\u0085\f\u0301é漢😀𝕏\ud83d"
TEXT = st.text(alphabet=ALPHABET, max_size=30)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


def document(text: str, encoding: Encoding = "utf-16") -> EditorDocument:
    return EditorDocument("file:///a.txt", "plaintext", 1, text, encoding)


def place_in(text: str, offset: int, encoding: Encoding) -> EditorPosition:
    """Where an offset is, worked out the slow way."""
    before = text[:offset]
    lines = re.split("\r\n|\r|\n", before)
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    column = len(lines[-1].encode(codec, "surrogatepass")) // size
    return EditorPosition(len(lines) - 1, column)


def offsets(text: str) -> list[int]:
    """Every offset that an editor has a position for."""
    return [i for i in range(len(text) + 1) if text[max(i - 1, 0) : i + 1] != "\r\n"]


@given(TEXT, ENCODINGS)
def test_every_position_is_where_a_slow_count_finds_it(text: str, encoding: Encoding) -> None:
    mirror = document(text, encoding)
    for offset in offsets(text):
        place = place_in(text, offset, encoding)
        assert mirror.place(offset) == place
        assert mirror.offset(place) == offset


@given(TEXT, ENCODINGS, st.data())
def test_the_mirror_follows_any_changes(text: str, encoding: Encoding, data: st.DataObject) -> None:
    mirror = document(text, encoding)
    for _ in range(data.draw(st.integers(1, 6))):
        start, end = sorted(data.draw(st.sampled_from(offsets(text))) for _ in range(2))
        inserted = data.draw(TEXT)
        change = mirror.replace(place_in(text, start, encoding), place_in(text, end, encoding), inserted)
        assert change == Edit(start, text[start:end], inserted)
        text = change.apply_to(text)
        assert mirror.text == text
        assert mirror.length == len(text)
        assert [mirror.place(i) for i in offsets(text)] == [place_in(text, i, encoding) for i in offsets(text)]


def test_lines_end_at_three_endings_only() -> None:
    mirror = document("a\u2028b\fc\u0085d\re\r\nf\n")
    assert [mirror.place(i).line for i in range(len(mirror.text) + 1)] == [
        *(0,) * 8, *(1,) * 3, *(2,) * 2, 3,
    ]  # fmt: skip


def test_the_empty_document_has_one_place() -> None:
    mirror = document("")
    assert mirror.place(0) == EditorPosition(0, 0)
    assert mirror.offset(EditorPosition(7, 7)) == 0
    assert mirror.replace(EditorPosition(0, 0), EditorPosition(0, 0), "x\n") == Edit(0, "", "x\n")
    assert mirror.place(2) == EditorPosition(1, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_outside_the_text_are_drawn_into_it(encoding: Encoding) -> None:
    mirror = document("one\r\ntwo", encoding)
    assert mirror.offset(EditorPosition(0, 99)) == 3
    assert mirror.offset(EditorPosition(1, 99)) == 8
    assert mirror.offset(EditorPosition(99, 0)) == 8


def test_a_position_inside_a_character_is_the_one_before_it() -> None:
    assert document("a😀b").offset(EditorPosition(0, 2)) == 1
    assert document("a😀b", "utf-8").offset(EditorPosition(0, 3)) == 1


def test_a_change_can_join_and_part_line_endings() -> None:
    mirror = document("a\r\nb\rc")
    mirror.replace(EditorPosition(2, 0), EditorPosition(2, 0), "\n")
    assert mirror.text == "a\r\nb\r\nc"
    assert mirror.place(6) == EditorPosition(2, 0)
    mirror.replace(EditorPosition(0, 1), EditorPosition(1, 1), "\r")
    assert mirror.text == "a\r\r\nc"
    assert mirror.place(4) == EditorPosition(2, 0)


def test_a_line_of_millions_of_characters_is_a_line() -> None:
    mirror = document("é😀" * 500_000)
    change = mirror.replace(EditorPosition(0, 1_499_998), EditorPosition(0, 1_500_000), "end")
    assert change.start == 999_999
    assert change.old == "😀"
    assert mirror.text.endswith("éend")


def test_a_document_that_is_not_open_is_unknown() -> None:
    documents = Documents()
    documents.open("a", "plaintext", 1, "x")
    documents.close("a")
    with pytest.raises(UnknownDocument):
        documents["a"]


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_minimal_change_does_its_work_between_places(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    change = minimal_change(text, len(before), old, new)
    if change is None:
        assert old == new
        return
    assert change.apply_to(text) == before + new + after
    assert {change.start, change.end} <= set(offsets(text))
    assert len(change.new) <= len(new) + 2


def test_a_minimal_change_leaves_out_what_stays() -> None:
    assert minimal_change("x cat y", 2, "cat", "chat") == Edit(3, "", "h")
    assert minimal_change("x cat y", 2, "cat", "cat") is None


def test_an_edit_costs_the_same_in_a_long_document() -> None:
    line = "The cat sat on the mat and looked at the rain.\n"

    def seconds(megabytes: int) -> float:
        document = EditorDocument("u", "plaintext", 1, line * (megabytes * 1_000_000 // len(line)))
        # In the first part of the document, with all the rest behind it.
        places = [EditorPosition(1000 + number, 4) for number in range(200)]
        document.offset(places[-1])
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            for place in places:
                change = document.replace(place, place, "new ")
                assert document.offset(place) == change.start
                assert document.place(change.start) == place
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(20) < 4 * seconds(1)
