"""Which passages are taken for another language: letters, small words and the list of words decide, not the number
of mistakes."""

from __future__ import annotations

import pytest

from reviser.proofreading.language.letters import SHIPPED, folded, letter_pairs
from reviser.proofreading.language.small_words import FOREIGN as SMALL_WORDS
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.foreign import foreign_in
from reviser.prose import Format, paragraphs
from tests.reviser.proofreading.language.sentences_of import (
    FOREIGN,
    Half,
    foreign_paragraphs,
    foreign_sentences,
    misspelt_sentences,
)

KNOWN = dictionary()


def foreign(text: str, format: Format = Format.PLAIN) -> list[str]:
    """What of a text is taken for another language."""
    return [
        paragraph.text[start:end]
        for paragraph in paragraphs(text, format)
        for start, end in foreign_in(paragraph, KNOWN)
    ]


@pytest.mark.parametrize("half", Half)
def test_badly_spelt_english_is_english(half: Half) -> None:
    assert [one.typed for one in misspelt_sentences(half) if foreign(one.typed)] == []


@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("half", Half)
def test_sentences_of_other_languages_are_told(language: str, half: Half) -> None:
    given = foreign_sentences(language, half)
    missed = [text for text in given if "".join(foreign(text)) != text]
    # One sentence is half English: "El marketing online no es tan simple …".
    assert len(missed) <= 1
    for text in foreign_paragraphs(language, half):
        assert " ".join(foreign(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "Hi Julie,",
        "Dear Wojtek, hello from Kraków!",
        "We met Jean-Pierre Dubois and Małgorzata at the Café de Flore in Paris.",
        "Run npm install, then kubectl apply, and check the nginx ingress.",
        "The tokenizer's regex matches foo, bar and baz.",
        "Adagio, allegro and andante are tempo markings.",
        "I dont no wat im doing wrong",
        "He didn't care.",
        "Buy milk.",
        "",
    ],
)
def test_english_with_names_and_terms_is_english(text: str) -> None:
    assert foreign(text) == []


def test_a_quotation_in_another_language_is_found_in_its_sentence() -> None:
    said = "He said: ich weiss nicht, was soll es bedeuten, and then he left the room with his bags."
    (found,) = foreign(said)
    assert found.startswith("ich weiss nicht, was soll es")
    assert not found.endswith("bags")


def test_the_rest_of_a_paragraph_speaks_for_a_short_sentence() -> None:
    short = "Der Test war gut."
    german = "Wir haben gestern lange gewartet. Niemand wusste, was zu tun ist."
    assert short in foreign(f"{german} {short}")


def test_what_is_protected_says_nothing() -> None:
    code = "`das ist nicht wichtig und auch nicht gut`"
    assert foreign(f"Use {code} for this.\n", Format.MARKDOWN) == []


def test_the_table_of_letters_is_small_and_has_the_languages_of_the_small_words() -> None:
    assert SHIPPED.stat().st_size < 20_000
    assert set(letter_pairs().languages) == set(SMALL_WORDS)
    assert folded("Größe łódź Æther") == "grosse lodz aether"
    assert letter_pairs().leads_of("слово") is None
    for word, language in (("something", "de"), ("nightly", "fr"), ("although", "pl")):
        leads = letter_pairs().leads_of(word)
        assert leads is not None
        assert leads[letter_pairs().languages.index(language)] > 0
