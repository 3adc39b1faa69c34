"""Slips and names: a word that stands like a name needs more evidence than a slip in running prose."""

from __future__ import annotations

import pytest

from reviser.proofreading.spelling.candidates import CAPITAL, ONE_SLIP, candidates, distance_of
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.slips import slip_confidence, stands_as_name


def weighed(text: str, old: str, new: str, confidence: float) -> float:
    before, _, behind = text.partition(old)
    return slip_confidence(confidence, old, new, before, behind)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Add support for new dialects to knex.", "knex", "knee"),
        ("Clone immer and build it.", "immer", "inner"),
        ("It was tested with hapi and koa.", "hapi", "happy"),
        ("You can find more in the documentation of axios.", "axios", "axis"),
    ],
)
def test_names_are_no_slips(text: str, old: str, new: str) -> None:
    assert weighed(text, old, new, 0.9) < 0.5


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("He gave an exampel of it.", "exampel", "example"),
        ("It is a diferent question.", "diferent", "different"),
        ("The differce is the lack of money.", "differce", "difference"),
        ("The functions retrun a list.", "retrun", "return"),
    ],
)
def test_slips_in_running_prose_are_slips(text: str, old: str, new: str) -> None:
    assert weighed(text, old, new, 0.9) > 0.8


def test_evidence_never_adds_confidence_and_grows_with_it() -> None:
    text = "It is a diferent question."
    read = [weighed(text, "diferent", "different", sure) for sure in (0.0, 0.3, 0.6, 0.9, 1.0)]
    assert read == sorted(read)
    assert all(one <= sure for one, sure in zip(read, (0.0, 0.3, 0.6, 0.9, 1.0), strict=True))
    # The same word where a name would stand.
    assert weighed("It works with diferent and others.", "diferent", "different", 0.6) < read[2]


def test_a_word_stands_like_a_name_without_an_article() -> None:
    assert stands_as_name("knex", "It works with ", " and others")
    assert stands_as_name("knex", "Install ", ".")
    assert not stands_as_name("knex", "It works with the ", " and others")
    assert stands_as_name("knex", "It works with the ", " library")
    assert not stands_as_name("knex", "It works with ", " questions")
    assert stands_as_name("Knex", "It rains. ", " is small.")
    assert not stands_as_name("Becuse", "It rains. ", " it is late.")


def test_distances_are_those_of_candidates() -> None:
    known = dictionary()
    for word, meant in (("exampel", "example"), ("diferent", "different"), ("retrun", "return")):
        (found,) = (one for one in candidates(word, known) if one.text == meant)
        assert distance_of(word, meant) == pytest.approx(found.distance, abs=1e-3)
        assert found.distance <= ONE_SLIP
    assert distance_of("paris", "paris") == CAPITAL
    assert distance_of("alot", "a lot") < distance_of("doubledown", "double down")
    assert distance_of("naïf", "naif") == 1


def test_notes_begin_with_names() -> None:
    assert slip_confidence(0.95, "scistreer", "sister", "", " checking its code", in_note=True) < 0.5
    assert slip_confidence(0.95, "becuse", "because", "It is so ", " it rains", in_note=True) > 0.8
    # A capital may begin a sentence.
    assert slip_confidence(0.95, "Becuse", "Because", "", " of that it rains", in_note=True) > 0.8


def test_an_adjective_between_an_article_and_a_noun_is_no_name() -> None:
    assert weighed("The inclosed letter explains it.", "inclosed", "enclosed", 0.6) == 0.6
    assert weighed("We like inclosed.", "inclosed", "enclosed", 0.6) < 0.5
