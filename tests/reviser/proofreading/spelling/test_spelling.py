"""Words that no list has: which are found, what they may stand for, and what the embedded model makes of them."""

from __future__ import annotations

import lzma

import pytest

from reviser.proofreading import english
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.project.words import Words
from reviser.proofreading.spelling.candidates import MOST, candidates
from reviser.proofreading.spelling.choosing import MisspeltPlace, TokenSpan
from reviser.proofreading.spelling.dictionary import LARGEST, SHIPPED, dictionary
from reviser.proofreading.spelling.speller import PLAIN, Speller, chances
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.spelling.unknown import UnknownWord, unknown_words
from reviser.prose import Format, paragraphs
from tests.reviser.proofreading.spelling.test_properties import POLICY, TOKENIZER, VOCABULARY

KNOWN = dictionary()
SPELLER = Speller(POLICY, TOKENIZER, OvertypingRules(VOCABULARY))


def unknown(text: str, words: Words | None = None, format: Format = Format.PLAIN) -> list[str]:
    """The unknown words of a text."""
    return [
        one.text
        for paragraph in paragraphs(text, format)
        for one in unknown_words(paragraph, KNOWN, Terms(words or Words()))
    ]


def best(word: str) -> list[str]:
    return [one.text for one in candidates(word, KNOWN)]


# The list ------------------------------------------------------------------------------------------


def test_the_list_is_small_and_has_both_spellings() -> None:
    assert SHIPPED.stat().st_size < 700_000
    known = ("colour", "color", "organise", "organize", "gray", "grey", "children", "don't", "Paris")
    assert all(map(KNOWN.knows, known))
    assert not any(map(KNOWN.knows, ("recieve", "teh", "becuse", "informations", "paris")))


@pytest.mark.parametrize("word", ["Children", "CHILDREN", "children's", "dogs'", "don’t", "PARIS"])
def test_words_are_known_however_they_are_written(word: str) -> None:
    assert KNOWN.knows(word)


def test_common_words_have_small_sizes() -> None:
    assert (KNOWN.size("the") or 0) < (KNOWN.size("allot") or 0) <= LARGEST
    assert KNOWN.size("xyzzyx") is None


def test_the_list_is_plain_text() -> None:
    sizes = [line.split(" ")[0] for line in lzma.decompress(SHIPPED.read_bytes()).decode().split("\n")]
    assert sizes == sorted(sizes, key=int)


# Candidates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("recieved", "received"),
        ("thier", "their"),
        ("definately", "definitely"),
        ("didnt", "didn't"),
        ("alot", "a lot"),
        ("eachother", "each other"),
        ("enviroment", "environment"),
        ("tommorow", "tomorrow"),
        ("exapmles", "examples"),
        ("seperate", "separate"),
        ("knowlege", "knowledge"),
    ],
)
def test_the_nearest_word_comes_first(word: str, meant: str) -> None:
    assert best(word)[0] == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("wich", "which"),
        ("buyed", "bought"),
        ("fisical", "physical"),
        ("enuff", "enough"),
        ("paris", "Paris"),
        ("informations", "information"),
        ("studing", "studying"),
    ],
)
def test_what_is_meant_is_among_the_candidates(word: str, meant: str) -> None:
    assert meant in best(word)
    assert len(best(word)) <= MOST


def test_what_always_ran_together_is_nearest() -> None:
    assert candidates("alot", KNOWN)[0].distance < 0 < candidates("inmany", KNOWN)[0].distance
    assert not any(map(KNOWN.knows, english.RUN_TOGETHER))


def test_a_word_is_no_candidate_for_itself() -> None:
    assert "their" not in best("their")


def test_nothing_is_near_to_what_is_no_word() -> None:
    assert not best("qzxjkvbw")


# Unknown words -------------------------------------------------------------------------------------


def test_misspellings_are_found_in_prose() -> None:
    assert unknown("He recieved it. Becuse of that he left.") == ["recieved", "Becuse"]


def test_names_and_slips_make_no_other_language() -> None:
    found = unknown("Dear Kasia, yesterday I recieved teh pakage.")
    assert found == ["recieved", "teh", "pakage"]
    assert unknown("Please tell Wojtek taht teh adress was wrong.") == ["taht", "teh", "adress"]


@pytest.mark.parametrize(
    "text",
    [
        "He met Kowalczyk in the park.",
        "Das ist ein sehr guter Plan und auch ein neuer.",
        "Je voudrais une tasse de thé avec du lait.",
        "Gallia est omnis divisa in partes tres.",
        "The NTFSX driver and the reqId value.",
        "See the src/recieved/file and mail.recieved.example for more.",
        "The well-konwn case of x_recieved and 3rdd.",
        "ALL OF THSI IS IN CAPITALS.",
        "Er sagte: Ich weiss nicht, was soll es bedeuten, dass ich so traurig bin.",
        "An Xq or a zz is short.",
        "",
    ],
)
def test_names_identifiers_and_other_languages_are_not(text: str) -> None:
    assert unknown(text) == []


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("finally the birds came back.", True),
        ("becuse of that he left.", True),
        ("Finally the birds came back.", False),
        ("finally the birds", False),
        ("no.", False),
        ("- finally the birds came back.", False),
        ("eglot starts the server.", False),
    ],
)
def test_paragraphs_that_start_without_a_capital_are_found(text: str, opens: bool) -> None:
    (paragraph,) = paragraphs(text, Format.PLAIN)
    words = Words(["eglot"])
    found = unknown_words(paragraph, KNOWN, Terms(words), plain=True)
    assert [one.opens for one in found] == ([True] if opens else [])
    # In other formats they may go on from code or a formula.
    assert not any(one.opens for one in unknown_words(paragraph, KNOWN, Terms(words)))


def test_code_and_listed_words_are_not() -> None:
    assert unknown("Call `recieved` for the mesage.\n", format=Format.MARKDOWN) == ["mesage"]
    assert unknown("The frobnicator is here.", Words(["frobnicator"])) == []


# Chances -------------------------------------------------------------------------------------------


def plainly(word: str, *, opens: bool = False) -> str | None:
    """What a word plainly stands for; no model is asked."""
    found = SPELLER.plainly(UnknownWord(0, len(word), word, opens))
    assert found is None or found.confidence == PLAIN
    return found.new if found else None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("recieved", "received"),
        ("becuase", "because"),
        ("occured", "occurred"),
        ("tommorow", None),  # two slips
        ("seperate", None),  # a vowel, as in "schemas", which are no schemes
        ("schemas", None),
        ("fliled", None),  # filled, filed, failed
        ("teh", None),  # short
        ("Recieved", None),  # a name?
        ("because", None),
        ("alot", None),
        ("vampiress", None),  # no vampires
        ("qzxjkvbw", None),  # near to nothing
    ],
)
def test_what_is_plain_needs_no_reading(word: str, meant: str | None) -> None:
    assert plainly(word) == meant


def test_what_opens_a_paragraph_is_read() -> None:
    assert plainly("becuase", opens=True) is None


def place(kept: float, chance: float) -> MisspeltPlace:
    found = candidates("recieved", KNOWN)
    others = [chance, *[-30.0] * (len(found) - 1)]
    return MisspeltPlace("recieved", TokenSpan(0, 1), found, [[1]] * len(found), kept, others)


def test_chances_follow_the_model_and_add_up() -> None:
    sure, unsure = chances(place(-8.0, -0.1)), chances(place(-0.1, -16.0))
    assert sum(sure) == pytest.approx(1)
    assert sure[0] > 0.9
    assert unsure[0] < 0.1


def test_readings_decide_where_there_are_some() -> None:
    one, other = place(-1.0, -1.5), place(-1.0, -1.5)
    one.readings = {None: -40.0, 0: -10.0}
    other.readings = {None: -10.0, 0: -40.0}
    assert chances(one)[0] > 0.9
    assert chances(other)[0] < 0.1
    assert chances(one)[1] == 0


def test_days_without_their_apostrophe_are_left_to_rules() -> None:
    assert unknown("I checked tonights run, and recieved todays mail.") == ["recieved"]
