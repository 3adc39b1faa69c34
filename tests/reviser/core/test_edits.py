"""Changes of a text: trimmed, taken back, and followed by places in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import Edit, cuts_line_ending, end_of_writing, placed_change, shared_start, with_all, within

TEXT = st.text(alphabet="ab\r\n😀", max_size=12)


@given(TEXT, TEXT)
def test_a_change_between_two_texts_makes_the_one_of_the_other(old: str, new: str) -> None:
    change = Edit.between(old, new)
    assert change.apply_to(old) == new
    assert change.inverse().apply_to(new) == old
    assert not shared_start(change.old, change.new)
    assert change.core == change


@given(TEXT, TEXT, TEXT, TEXT)
def test_the_cursor_tells_equal_places_apart(left: str, piece: str, right: str, other: str) -> None:
    """An insertion or a removal among equal text is found where it was made, whatever stands around it."""
    short, long, end = left + right, left + piece + right, len(left + piece)
    assert Edit.at_cursor(short, long, end) == Edit(len(left), "", piece)
    assert Edit.at_cursor(long, short, len(left)) == Edit(len(left), piece, "")
    # A cursor that is elsewhere tells nothing.
    for cursor in range(len(other) + 1):
        assert Edit.at_cursor(long, other, cursor).apply_to(long) == other


def test_a_word_written_twice_is_told_by_its_cursor() -> None:
    old, new = "the sense stars", "the sense sense stars"
    assert Edit.at_cursor(old, new, 15) == Edit(9, "", " sense")
    assert Edit.at_cursor(old, new, 9) == Edit(3, "", " sense")


@given(TEXT, TEXT, TEXT, st.data())
def test_changes_of_a_part_of_a_text(before: str, part: str, behind: str, data: st.DataObject) -> None:
    """Changes of a document that never cut a line ending, as changes of the part in which something happens."""
    text, states, changes = before + part + behind, [part], []
    for _ in range(3):
        state = states[-1]
        start = data.draw(st.integers(0, len(state)))
        end = data.draw(st.integers(start, len(state)))
        change = Edit(len(before) + start, state[start:end], data.draw(TEXT))
        changes.append(placed_change(text, change))
        text = change.apply_to(text)
        states.append(text[len(before) : len(text) - len(behind)])
    found = within(changes, len(before), len(before) + len(part))
    for change, old, new in zip(found, states[:-1], states[1:], strict=True):
        assert change.apply_to(old) == new
        assert old.startswith(change.old, change.start)
    assert with_all(part, found) == states[-1]


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
    change = Edit(start, text[start:end], data.draw(TEXT))
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
    change = Edit(start, text[start:end], data.draw(TEXT))
    placed = placed_change(text, change)
    assert placed.apply_to(text) == change.apply_to(text)
    assert not cuts_line_ending(text, placed.start)
    assert not cuts_line_ending(text, placed.end)


def test_what_is_written_at_the_end_stands_before_the_last_line_ending() -> None:
    for text, end in (("", 0), ("a", 1), ("a\n", 1), ("a\r\n", 1), ("a\r", 1), ("a\n\n", 2)):
        assert end_of_writing(text) == end
