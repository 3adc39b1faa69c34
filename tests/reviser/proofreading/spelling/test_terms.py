"""Words of a document's code that the prose beside it may mean."""

from __future__ import annotations

import pytest

from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.terms import as_names, terms_in
from reviser.prose import Format, paragraphs

KNOWN = dictionary()


def terms(text: str, format: Format) -> frozenset[str]:
    return terms_in(text, paragraphs(text, format), format, KNOWN.knows)


@pytest.mark.parametrize(
    ("text", "format", "found"),
    [
        ("Run `flaskr` or the blorp.\n", Format.MARKDOWN, {"flaskr"}),
        ("Some text.\n\n```\nflaskr_index file\n```\n", Format.MARKDOWN, {"flaskr"}),
        ("See [this](docs/frobnak.md).\n", Format.MARKDOWN, {"frobnak"}),
        (".. image:: flaskr_login.png\n\nText blorp.\n", Format.RST, {"flaskr", "png"}),
        ("# A blorp.\nfrobnak = 1\n", Format.PYTHON, {"frobnak"}),
        ("Only blorp and words.\n", Format.PLAIN, set()),
        # What others wrote is no code.
        ("I see.\n\n> You recieved it.\n", Format.MAIL, set()),
    ],
)
def test_terms_are_unknown_words_of_the_code(text: str, format: Format, found: set[str]) -> None:
    assert terms(text, format) == found


def test_names_of_terms_have_a_capital() -> None:
    assert as_names({"flaskr", "png"}) == {"Flaskr", "Png"}


def test_without_a_list_there_are_none() -> None:
    text = "Run `flaskr`.\n"
    assert not terms_in(text, paragraphs(text, Format.MARKDOWN), Format.MARKDOWN, None)


def test_names_of_the_list_have_their_capital() -> None:
    assert all(map(KNOWN.is_name, ("Paris", "America", "Paris's", "Paris’s")))
    assert not any(map(KNOWN.is_name, ("paris", "Flask", "Flaskr", "flask")))
