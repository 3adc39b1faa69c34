"""The rules for English: files of rules in `english/`, read when a text is first proofread."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from reviser.proofreading.rules.examples import check_examples
from reviser.proofreading.rules.matching import Matcher
from reviser.proofreading.rules.notation import RuleBook
from reviser.proofreading.rules.sounds import consonant_sound, vowel_sound

FAMILIES: Final = ("words", "sounds", "agreement", "verbs", "tenses", "questions", "nouns", "small_words", "patterns")
"""The files of rules, in the order in which they are tried."""

_FOLDER: Final = Path(__file__).with_name("english")


@cache
def english() -> RuleBook:
    """All rules for English, and the word classes that they use."""
    # What no list of words and no ending can say.
    book = RuleBook({"a-vowel": vowel_sound, "a-consonant": consonant_sound})
    for name in ("classes", *FAMILIES):
        path = _FOLDER / f"{name}.rules"
        book.read(path.read_text(encoding="utf-8"), path.name)
    return book


@cache
def matcher() -> Matcher:
    """A matcher of all rules for English."""
    return Matcher(english().rules, english().classes)


def own_rules(text: str, source: str) -> RuleBook:
    """A user's own rules, which may use the word classes of the rules for English.

    Raises `ReviserError`, with one sentence, for what cannot be read and for a rule that contradicts its examples.
    """
    book = RuleBook(english().classes, english().forms)
    book.read(text, source)
    check_examples(book)
    return book
