"""The chunked text says the same as a plain string, whatever is done to it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core import buffer as module
from reviser.core.buffer import Buffer
from reviser.core.text import Extent

PIECES = ["a", "bc ", "\n", "\r\n", "\r", "é", "漢", "👩‍💻", "\u2028", "\f", "long word" * 3]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def lines_of(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def check(buffer: Buffer, text: str) -> None:
    assert buffer.text == text
    assert buffer.length == len(text)
    lines = lines_of(text)
    assert buffer.line_count == len(lines)
    assert [buffer.line(number) for number in range(len(lines))] == lines
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    assert [buffer.line_start(number) for number in range(len(lines))] == starts
    for offset in range(len(text) + 1):
        assert buffer.extent(offset) == Extent.of(text[:offset])
        assert buffer.line_of(offset) == sum(start <= offset for start in starts) - 1


@pytest.mark.parametrize("chunk", [2, 8, 8192])
@settings(max_examples=60, deadline=None)
@given(texts, st.data())
def test_edits_lines_and_offsets_agree_with_a_string(chunk: int, text: str, data: st.DataObject) -> None:
    original = module._CHUNK
    module._CHUNK = chunk
    try:
        buffer = Buffer(text)
        check(buffer, text)
        for _ in range(data.draw(st.integers(0, 6))):
            start = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(start, len(text)))
            new = data.draw(texts)
            assert buffer.slice(start, end) == text[start:end]
            assert buffer.replace(start, end, new) == text[start:end]
            text = text[:start] + new + text[end:]
            check(buffer, text)
    finally:
        module._CHUNK = original


def test_places_outside_are_refused() -> None:
    buffer = Buffer("abc")
    for start, end in ((-1, 0), (2, 1), (0, 4)):
        with pytest.raises(ValueError, match="no place"):
            buffer.replace(start, end, "x")
    assert buffer.slice(-5, 99) == "abc"


def test_an_edit_of_a_large_text_touches_a_small_part_of_it() -> None:
    line = "The cat sat on the mat.\n"
    buffer = Buffer(line * 100_000)
    before = [id(chunk) for chunk in buffer._chunks]
    buffer.replace(1_000_000, 1_000_003, "dog")
    after = [id(chunk) for chunk in buffer._chunks]
    assert len(set(before) - set(after)) <= 2
    assert buffer.line_count == 100_001
