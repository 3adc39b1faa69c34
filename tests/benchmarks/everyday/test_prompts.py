"""The openings: ten of each kind, of the promised length, and none of them a finished text."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.everyday.prompts import KINDS, as_prompts, openings
from reviser.core.errors import ReviserError


def test_there_are_ten_openings_of_each_kind() -> None:
    found = openings()
    assert Counter(opening.kind for opening in found) == dict.fromkeys(KINDS, 10)
    assert len({opening.id for opening in found}) == len({o.text for o in found}) == 100


def test_openings_have_thirty_to_eighty_words() -> None:
    assert all(30 <= len(opening.text.split()) <= 80 for opening in openings())


def test_some_openings_end_with_a_sentence_and_others_within_one() -> None:
    ends = sum(opening.text.rstrip().endswith((".", "!", "?", '"')) for opening in openings())
    assert 15 <= ends <= 50


def test_the_first_of_some_kinds() -> None:
    found = openings(["recipe", "mail"], each=2)
    assert [opening.id for opening in found] == ["recipe-01", "recipe-02", "mail-01", "mail-02"]


def test_an_unknown_kind_is_said_plainly() -> None:
    with pytest.raises(ReviserError, match="no openings of the kind poem"):
        openings(["poem"])


def test_contestants_get_the_text_as_it_is() -> None:
    (prompt,) = as_prompts(openings(["notes"], each=1))
    assert prompt.text == openings(["notes"])[0].text
    assert prompt.id == "notes-01"
