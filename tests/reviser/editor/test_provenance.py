"""Who wrote each character of a text, through edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.editor.provenance import Provenance


def test_stretches_have_their_authors() -> None:
    text = "The cat sat."
    authors: Provenance[str] = Provenance(len(text))
    authors.follow(Edit(4, "cat", "black cat"), "model")
    authors.follow(Edit(10, "", "big "), "person")
    assert list(authors.between(0, 100)) == [(4, 10, "model"), (10, 14, "person"), (14, 17, "model")]
    assert list(authors.between(5, 12)) == [(5, 10, "model"), (10, 12, "person")]
    authors.follow(Edit(4, "black big cat", ""), "person")
    assert authors.written == []


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.text("ab", max_size=4)), max_size=12))
def test_each_character_has_the_author_who_wrote_it(edits: list[tuple[int, int, str]]) -> None:
    text = "original"
    authors: Provenance[str] = Provenance(len(text))
    for place, gone, new in edits:
        start = min(place, len(text))
        edit = Edit(start, text[start : start + gone], new.upper())
        text = edit.apply_to(text)
        authors.follow(edit, "person")
    # Original letters are small, written ones are capitals.
    assert len(authors.written) == sum(map(str.isupper, text))
    assert all(text[start:end].isupper() for start, end, _ in authors.between(0, len(text)))
