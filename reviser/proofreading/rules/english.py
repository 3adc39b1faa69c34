"""The rules for English: files of rules in `english/`, read when a text is first proofread."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from reviser.core.errors import ReviserError
from reviser.proofreading.rules.matching import Matcher
from reviser.proofreading.rules.notation import RuleBook
from reviser.proofreading.rules.own import RuleText, SpelledTerms
from reviser.proofreading.rules.sounds import consonant_sound, vowel_sound

FAMILIES: Final = ("words", "sounds", "agreement", "verbs", "tenses", "questions", "nouns", "small_words", "patterns")
"""The files of rules, in the order in which they are tried."""

_FOLDER: Final = Path(__file__).with_name("english")
_PRESETS: Final = Path(__file__).with_name("presets")


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


@cache
def own_rules(texts: tuple[RuleText, ...]) -> RuleBook:
    """A project's own rules, which may use the word classes of the rules for English; a later file those of earlier
    ones.

    Raises `ReviserError`, with one sentence, for what cannot be read.
    """
    book = RuleBook(english().classes, english().forms)
    for one in texts:
        book.read(one.text, one.source)
    return book


@cache
def own_matcher(texts: tuple[RuleText, ...]) -> tuple[Matcher, SpelledTerms]:
    """Matchers of a project's own rules, and of the terms that they spell."""
    book = own_rules(texts)
    return Matcher(book.rules, book.classes), SpelledTerms(book.terms)


def preset(name: str) -> RuleText:
    """The preset with a name; raises `ReviserError` if there is none."""
    path = _PRESETS / f"{name}.rules"
    if name not in presets():
        raise ReviserError(f"there is no preset {name}; there are {', '.join(presets())}")
    return RuleText(path.name, path.read_text(encoding="utf-8"))


@cache
def presets() -> tuple[str, ...]:
    """The names of the presets that come with the package."""
    return tuple(sorted(path.stem for path in _PRESETS.glob("*.rules")))
