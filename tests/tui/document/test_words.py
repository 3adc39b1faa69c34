"""The number of words is that of the text as it is, after every kind of change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.editor.edited_text import EditedText, Selection
from tui.document.words import WordCount

PIECES = st.text(st.sampled_from("ab \n漢\u00a0"), max_size=6)


@given(PIECES, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), PIECES), max_size=8))
def test_the_count_follows_every_change(text: str, changes: list[tuple[int, int, str]]) -> None:
    draft = EditedText(text)
    words = WordCount(draft)
    for one, other, new in changes:
        start, end = sorted(min(place, draft.buffer.length) for place in (one, other))
        draft.edit(start, end, new)
        assert words.number == len(draft.text.split())
    while draft.undo():
        assert words.number == len(draft.text.split())


def test_selected_words_are_counted_where_they_are_few() -> None:
    draft = EditedText("one two three " * 10_000)
    words = WordCount(draft)
    draft.select(Selection(4, 13))
    assert words.selected == 2
    draft.select(Selection(0, draft.buffer.length))
    assert words.selected is None
