"""Names and terms: what a document and its project write is meant so."""

from __future__ import annotations

import pytest

from reviser.proofreading.project.words import Words
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.gathering import terms_of
from reviser.proofreading.spelling.terms import Terms
from reviser.prose import Format, paragraphs

KNOWN = dictionary()


def terms(text: str, format: Format = Format.MARKDOWN, accepted: str = "") -> Terms:
    return terms_of(text, paragraphs(text, format), format, Words((), accepted.split()), KNOWN)


@pytest.mark.parametrize(
    ("text", "format", "found"),
    [
        ("Run `flaskr` or the blorp.\n", Format.MARKDOWN, {"flaskr"}),
        ("Some text.\n\n```\nflaskr_index file\n```\n", Format.MARKDOWN, {"flaskr"}),
        ("Call `openFrobnak` now.\n", Format.MARKDOWN, {"openfrobnak", "frobnak"}),
        ("See [this](docs/frobnak.md).\n", Format.MARKDOWN, {"frobnak"}),
        (".. image:: flaskr_login.png\n\nText blorp.\n", Format.RST, {"flaskr", "png"}),
        ("# A blorp.\nfrobnak = 1\n", Format.PYTHON, {"frobnak"}),
        ("Only blorp and words.\n", Format.PLAIN, set()),
        # What others wrote is no code.
        ("I see.\n\n> You recieved it.\n", Format.MAIL, set()),
        # Letters that changed places are slips in code too; the list's rarest words are terms.
        ("Send `teh` mail, `inti`.\n", Format.MARKDOWN, {"inti"}),
        # Names of the list are no terms, whatever code does with their capitals.
        ("See `paris`.\n", Format.MARKDOWN, set()),
    ],
)
def test_unknown_words_of_the_code_are_terms(text: str, format: Format, found: set[str]) -> None:
    assert terms(text, format).told == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Using immer\n\nIt is small.\n", {"immer"}),
        ("| name | what |\n| --- | --- |\n| hapi | a server |\n", {"hapi"}),
        ("We like blorp. They like blorp too.\n", {"blorp"}),
        ("We like Blorp. They like blorp’s colours.\n", {"blorp"}),
        # Slips are slips also in headings.
        ("# The begining\n\nIt is small.\n", set()),
        # So may be a habit.
        ("It is seperate. They are seperate.\n", set()),
        ("We need informations. Many informations are old.\n", set()),
        ("It is a blorp.\n", set()),
    ],
)
def test_headings_keys_and_repeated_words_are_terms(text: str, found: set[str]) -> None:
    assert terms(text).told == found


def test_a_project_s_words_are_terms_where_the_list_has_them_not() -> None:
    text = "The house has a frobnak, and Blorps.\n"
    assert terms(text, accepted="house frobnak blorp zorble").told == {"frobnak", "blorp"}


def test_terms_are_held_with_plurals_genitives_and_capitals() -> None:
    found = terms("Use `frobnak` and `etags`.\n")
    assert all(map(found.holds, ("frobnak", "Frobnak", "frobnaks", "frobnak's", "Frobnaks’", "etag")))
    assert not found.holds("frobnik")
    text = "A frobnak-like thing, Frobnak’s."
    assert [text[start:end] for start, end in found.spans(text)] == ["frobnak", "Frobnak"]


def test_capitals_of_terms_follow_the_document() -> None:
    found = terms("See `frobnak`. We like FrobNak, and so is FrobNak. They use Frobnak.\n")
    assert not found.forbids_capital("Frobnak", "FrobNak")
    assert found.forbids_capital("FrobNak", "Frobnak")
    assert found.forbids_capital("frobnak", "Frobnak") is False
    small = terms("We use frobnak here, and frobnak there.\n")
    assert small.forbids_capital("frobnak", "Frobnak")
    assert not small.forbids_capital("house", "House")


def test_without_a_list_there_are_names_alone() -> None:
    text = "Run `flaskr`. We met Jonh, and then Jonh left.\n"
    found = terms_of(text, paragraphs(text, Format.MARKDOWN), Format.MARKDOWN, Words(), None)
    assert not found.told
    assert found.names == {"Jonh"}


def test_names_of_the_list_have_their_capital() -> None:
    assert all(map(KNOWN.is_name, ("Paris", "America", "Paris's", "Paris’s")))
    assert not any(map(KNOWN.is_name, ("paris", "Flask", "Flaskr", "flask")))
