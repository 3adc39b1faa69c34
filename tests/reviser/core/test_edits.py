"""Changes of a text: trimmed, taken back, and followed by places in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import (
    Change,
    cuts_line_ending,
    end_of_writing,
    placed_change,
    shared_start,
)

TEXT = st.text(alphabet="ab\r\n😀", max_size=12)


@given(TEXT, TEXT)
def test_a_change_between_two_texts_makes_the_one_of_the_other(old: str, new: str) -> None:
    change = Change.between(old, new)
    assert change.apply_to(old) == new
    assert change.inverse().apply_to(new) == old
    assert not shared_start(change.removed, change.inserted)
    assert change.core == change


@given(TEXT, TEXT, TEXT)
def test_what_is_shared_is_counted_character_by_character(same: str, one: str, other: str) -> None:
    counted = 0
    for a, b in zip(same + one, same + other, strict=False):
        if a != b:
            break
        counted += 1
    assert shared_start(same + one, same + other) == counted


@given(TEXT, st.data())
def test_places_follow_a_change(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    change = Change(start, text[start:end], data.draw(TEXT))
    after = change.apply_to(text)
    for place in range(len(text) + 1):
        moved = change.follow(place)
        if place <= start:
            assert moved == place
        elif place < end:
            assert moved == start
        else:
            assert after[moved:] == text[place:]


@given(TEXT, st.data())
def test_a_placed_change_does_the_same_between_places(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    change = Change(start, text[start:end], data.draw(TEXT))
    placed = placed_change(text, change)
    assert placed.apply_to(text) == change.apply_to(text)
    assert not cuts_line_ending(text, placed.start)
    assert not cuts_line_ending(text, placed.end)


def test_what_is_written_at_the_end_stands_before_the_last_line_ending() -> None:
    for text, end in (("", 0), ("a", 1), ("a\n", 1), ("a\r\n", 1), ("a\r", 1), ("a\n\n", 2)):
        assert end_of_writing(text) == end
