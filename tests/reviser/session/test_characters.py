"""A text by characters says the same as a text by tokens that are characters, at a small part of the cost."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.actions import Splice
from reviser.core.errors import ReviserError
from reviser.core.text import TextLayer
from reviser.session.action_editor import ActionEditor
from reviser.session.characters import CharacterLayer, Characters, code_points

PIECES = ["a", "bc ", "\n", "\r\n", "\r", "é", "漢", "👩‍💻", "\u2028"]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(texts, st.data())
def test_edits_are_those_of_tokens(text: str, data: st.DataObject) -> None:
    tokens = Characters().encode(text)
    assert code_points(text).tolist() == tokens
    ours, theirs = CharacterLayer(text), TextLayer(Characters(), tokens)
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, len(tokens)))
        end = data.draw(st.integers(start, len(tokens)))
        new = tuple(Characters().encode(data.draw(texts)))
        splice = Splice(start, tuple(tokens[start:end]), new)
        tokens[start:end] = new
        assert ours.apply(splice) == theirs.apply(splice)
        assert ours.text == theirs.text
        place = data.draw(st.integers(0, len(tokens)))
        assert ours.position(place) == theirs.position(place)


def test_a_large_text_takes_a_few_bytes_for_each_character() -> None:
    text = "The cat sat on the mat, and it was happy there.\n" * 40_000
    tracemalloc.start()
    try:
        editor = ActionEditor(text)
        editor.act_all([{"action": "move", "line": 20_000}, {"action": "insert", "text": "So: "}])
        assert len(editor.text) == len(text) + 4
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # As objects they would take eight bytes in each of several lists.
    assert most < 20 * len(text)


def test_halves_of_characters_are_refused() -> None:
    with pytest.raises(ReviserError, match="surrogate"):
        ActionEditor("a\ud800b")
