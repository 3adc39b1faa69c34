"""The gathering of a document's names and terms: from its code, headings and tables, and from its own usage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from reviser.proofreading import english
from reviser.proofreading.project.words import Words, bare_word, forms_of
from reviser.proofreading.spelling.candidates import ONE_SLIP, candidates
from reviser.proofreading.spelling.dictionary import LARGEST, LONGEST, Dictionary
from reviser.proofreading.spelling.terms import Terms
from reviser.prose import Format, Paragraph, Role, sentences

REPEATED: Final = 2
"""The number of uses from which on an unknown word counts as a term, unless it looks like a slip."""

_CODE_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_LETTERS = re.compile(r"[^\W\d_]+")
# What stands before a word within a sentence: behind a mark may be the start of a quotation, or of a line.
_WITHIN = re.compile(r"[\w,]\s")
# What is no prose of a mail is the prose of others.
_WITHOUT_CODE = frozenset({Format.MAIL, Format.COMMIT})
# Words of a cell that may be the key of a row, at the most.
_KEY: Final = 3
# A repeated word of so many letters, so near to a common one, may be an author's habit: "seperate".
_HABIT_LETTERS: Final = 6
_HABIT: Final = 0.85
_COMMON_SIZE: Final = 50
_MOST_COMMON: Final = 10
# Words with a capital that say nothing about names.
_COMMON = (
    english.ARTICLES
    | english.PREPOSITIONS
    | english.PRONOUNS
    | english.AUXILIARIES
    | {"and", "or", "but", "if", "so", "not", "yes", "then", "when", "where", "why", "how", "also"}
)


def terms_of(text: str, prose: Sequence[Paragraph], format: Format, words: Words, listed: Dictionary | None) -> Terms:
    """The names and terms of a document; without a list of English words only names, and the words that are listed."""
    names = names_in(prose)
    if listed is None:
        return Terms(words, names)
    in_code = set[str]() if format in _WITHOUT_CODE else _code_words(text, prose)
    told = {word for word in in_code if _is_unknown(word, listed) and not _is_transposed(word, listed)}
    counts = Counter(
        word.lower()
        for paragraph in prose
        for token in _WORD.findall(paragraph.text)
        for word in _LETTERS.findall(bare_word(token))
        if _is_unknown(word, listed)
    )
    if words.accepted:
        told |= {form for word in counts for form in forms_of(word) if form in words.accepted}
    keys = {word.lower() for paragraph in prose if _is_key(paragraph) for word in _LETTERS.findall(paragraph.text)}
    told |= {word for word in keys & counts.keys() if not _is_slip(word, listed)}
    used = in_code | {word for word in keys if word in text}
    cased = {word for word in used if not listed.knows(word) and listed.knows(word.capitalize())}
    repeated = {word for word, count in counts.items() if count >= REPEATED}
    told |= {
        word
        for word in repeated
        if not (_is_habit(word, listed) or _is_transposed(word, listed) or _is_plural(word, listed))
    }
    return Terms(words, names, frozenset(told), frozenset(cased), _forms(prose, told | cased))


def _is_unknown(word: str, listed: Dictionary) -> bool:
    """Whether the list has a word neither in small letters nor with a capital, or only among its rarest."""
    size = listed.size(word)
    return (size is None or (size >= LARGEST and word.islower())) and not listed.is_name(word.capitalize())


def _is_key(paragraph: Paragraph) -> bool:
    """Whether a paragraph names what the text beside it is about: a heading, or a short cell."""
    if paragraph.role is Role.HEADING:
        return True
    return paragraph.role is Role.CELL and len(paragraph.text.split()) <= _KEY


def _is_slip(word: str, listed: Dictionary) -> bool:
    """Whether a word is one slip away from a common one: letters that changed places, or a letter doubled or not."""
    return _is_near(word, listed, ONE_SLIP) or _is_transposed(word, listed)


def _is_transposed(word: str, listed: Dictionary) -> bool:
    """Whether letters of a very common word changed places, as people type also in code: "teh", "recieve"."""
    if not word.isascii() or len(word) > LONGEST:
        return False
    return any(
        one.size <= _MOST_COMMON and one.distance <= ONE_SLIP and sorted(one.text) == sorted(word)
        for one in candidates(word, listed)
    )


def _is_habit(word: str, listed: Dictionary) -> bool:
    """Whether a repeated word may be a common one that the author always misspells."""
    return len(word) >= _HABIT_LETTERS and _is_near(word, listed, _HABIT)


def _is_plural(word: str, listed: Dictionary) -> bool:
    """Whether a word looks like the plural of a listed one that may have none: "informations"."""
    return word.endswith("s") and not word.endswith("ss") and not _is_unknown(word[:-1], listed)


def _is_near(word: str, listed: Dictionary, furthest: float) -> bool:
    if not (word.isascii() and 4 < len(word) <= LONGEST):
        return False
    return any(
        0 < one.distance <= furthest and one.size <= _COMMON_SIZE and not one.is_split
        for one in candidates(word, listed)
    )


def _forms(prose: Iterable[Paragraph], terms: set[str]) -> Counter[str]:
    """How often terms are written so within sentences; headings, code and texts in capitals do not count."""
    found: Counter[str] = Counter()
    for paragraph in prose:
        if paragraph.role is Role.HEADING or paragraph.text.isupper():
            continue
        starts = {start for start, _ in sentences(paragraph)}
        # A word like "GitHub" is protected by itself, and not as a part of code.
        protected = set(paragraph.protected)
        for one in _WORD.finditer(paragraph.text):
            word = bare_word(one[0])
            in_code = paragraph.touches_protected(*one.span()) and one.span() not in protected
            if word.lower() in terms and one.start() not in starts and not in_code:
                found[word] += 1
    return found


def names_in(paragraphs: Iterable[Paragraph]) -> frozenset[str]:
    """The words that seem to be names: capitalised within sentences more than once, and never in lower case.

    Headings do not count, as they may have capitals throughout, nor do texts in capitals.
    """
    capitalised: Counter[str] = Counter()
    within, small = set[str](), set[str]()
    for paragraph in paragraphs:
        if paragraph.role is Role.HEADING or paragraph.text.isupper():
            continue
        for start, end in sentences(paragraph):
            for found in _WORD.finditer(paragraph.text, start, end):
                word = bare_word(found[0])
                if not word[0].isupper():
                    small.add(word)
                    continue
                capitalised[word] += 1
                if _WITHIN.fullmatch(paragraph.text[max(start, found.start() - 2) : found.start()]):
                    within.add(word)
    return frozenset(
        word for word in within if capitalised[word] > 1 and word.lower() not in small and word.lower() not in _COMMON
    )


def _code_words(text: str, prose: Sequence[Paragraph]) -> set[str]:
    """The words of what is no prose, in small letters, with the parts of identifiers."""
    words = {word for code in _code(text, prose) for word in _CODE_WORD.findall(code)}
    return {part.lower() for word in words for part in (word, *_HUMP.findall(word))}


def _code(text: str, prose: Sequence[Paragraph]) -> Iterator[str]:
    """The text between the paragraphs, and the protected parts of them."""
    place = 0
    for paragraph in prose:
        for start, end in paragraph.segments:
            yield text[place:start]
            place = max(place, end)
        for start, end in paragraph.protected:
            yield paragraph.text[start:end]
    yield text[place:]
