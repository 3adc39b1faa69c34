"""Doubts: changes that are seldom right in good prose, and therefore need more confidence."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviser.proofreading import english
from reviser.proofreading.guard.usage import asks_for_one, singles
from reviser.proofreading.suggestion import Kind
from reviser.prose import Paragraph, Role, sentences

_BEFORE = re.compile(r"([\w'’]+)\s+\Z")
_NEXT = re.compile(r"\s+([\w'’]+)")
_PLURAL = re.compile(r"[a-z]{2,}[^sui]s")
_IS = re.compile(r"\s+(?:is|was)\b")
_ALL = re.compile(r"\b(?:all|what)\b[^.;:!?]*\Z", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:e\.g|i\.e)\.\Z", re.IGNORECASE)
_LAST = re.compile(r"\s*(?:and|or|etc)\b")
# A comma before, and a few words since then, as in "spaces, tabs or newlines".
_SERIES = re.compile(r",(?:\s+[^\s,;:]+){1,3}\s*\Z")
_GRAMMAR = frozenset({Kind.AGREEMENT, Kind.NOUN_NUMBER, Kind.VERB_FORM, Kind.WORD_FORM, Kind.ARTICLE})
_NUMBERED = (frozenset(("this", "these")), frozenset(("that", "those")))
# After these a verb has its plain form.
_BEFORE_PLAIN = (
    english.MODALS
    | english.PERMITTING
    | frozenset(
        [
            "to",
            "do",
            "does",
            "did",
            "don't",
            "doesn't",
            "didn't",
            "can't",
            "cannot",
            "won't",
            "shall",
            "let's",
            "please",
        ]
    )
    | frozenset(["i", "you", "he", "she", "it", "we", "they", "who"])
)


def is_doubtful(
    kind: Kind, old: str, new: str, paragraph: Paragraph, start: int, is_name: Callable[[str], bool] | None = None
) -> bool:
    """Whether a change of `old`, at offset `start` of a paragraph, is seldom right; `is_name` tells listed names."""
    text, end = paragraph.text, start + len(old)
    return (
        _makes_sentence(kind, paragraph)
        or _writes_out(kind, old, paragraph)
        or _needs_no_change(kind, old, new, text, start)
        or _shortens(kind, old, new, text[:start])
        or _points_elsewhere(old, new, text[end:])
        or _sums_up(old, new, text[:start], text[end:])
        or _beside_code(kind, paragraph, start, end)
        or _goes_on(old, new)
        or _ends(old, new, text[end:])
        or _measures(old, new, text[:start], text[end:])
        or (is_name is not None and _renames(kind, old, new, paragraph, start, is_name))
    )


def _makes_sentence(kind: Kind, paragraph: Paragraph) -> bool:
    """Whether a grammatical correction is made in a heading or a cell, which have a grammar of their own."""
    fixed = (Kind.SPELLING, Kind.EXTRA_WORD, Kind.JOINED_OR_SPLIT)
    return paragraph.role in (Role.HEADING, Role.CELL) and kind not in fixed


def _writes_out(kind: Kind, old: str, paragraph: Paragraph) -> bool:
    """Whether a note, which may do without articles, gets one: "Returns path to file"."""
    return (
        kind is Kind.ARTICLE
        and not old.strip()
        and paragraph.role.fragment
        and not paragraph.text.rstrip().endswith((".", "!", "?"))
    )


def _goes_on(old: str, new: str) -> bool:
    """Whether the full stop at the end of a sentence becomes a comma."""
    return old.strip() == "." and new.strip() == ","


def _ends(old: str, new: str, behind: str) -> bool:
    """Whether a paragraph gets a final mark, which may be missing on purpose, as in a list or before code."""
    return not old.strip() and new.strip() in (".", "!", "?") and not behind.strip()


def _measures(old: str, new: str, before: str, behind: str) -> bool:
    """Whether "in" is inserted between a verb and a plural without an article, which may be a unit: "count in
    tokens"."""
    if old.strip().casefold() != "in" or new.strip():
        return False
    word, unit = _BEFORE.search(f"{before[-40:]} "), _NEXT.match(f" {behind.lstrip()}")
    return word is not None and unit is not None and bool(_PLURAL.fullmatch(unit[1]))


def _needs_no_change(kind: Kind, old: str, new: str, text: str, start: int) -> bool:
    """Whether a plural becomes a singular although no neighbouring word requires that."""
    return singles(kind, old, new) and not asks_for_one(text, start, start + len(old))


def _shortens(kind: Kind, old: str, new: str, before: str) -> bool:
    """Whether an -ing form becomes a plain verb although no word requires that: "the URL reversing function"."""
    stem = old.casefold().removesuffix("ing")
    if kind is not Kind.VERB_FORM or stem == old.casefold():
        return False
    if new.casefold() not in (stem, f"{stem}e", stem[:-1]):
        return False
    found = _BEFORE.search(before[-40:])
    return found is None or found[1].casefold().replace("’", "'") not in _BEFORE_PLAIN


def _points_elsewhere(old: str, new: str, behind: str) -> bool:
    """Whether "these" without a noun becomes "this", or the reverse: the noun is in another sentence."""
    if frozenset((old.casefold(), new.casefold())) not in _NUMBERED:
        return False
    found = _NEXT.match(behind)
    return found is None or found[1].casefold().replace("’", "'") in english.AUXILIARIES


def _sums_up(old: str, new: str, before: str, behind: str) -> bool:
    """Whether "does" changes in "all the tag does is", where the subject is far away."""
    if {old.casefold(), new.casefold()} != {"do", "does"}:
        return False
    return bool(_IS.match(behind) and _ALL.search(before[-60:]))


def _beside_code(kind: Kind, paragraph: Paragraph, start: int, end: int) -> bool:
    """Whether grammar changes beside inline code, which may be a word of any class."""
    if kind not in _GRAMMAR:
        return False
    text = paragraph.text
    first = len(text[:start].rstrip())
    last = len(text) - len(text[end:].lstrip())
    return any(span.end == first or span.start == last for span in paragraph.protected)


def is_series_comma(old: str, new: str, text: str, start: int) -> bool:
    """Whether a comma before the last item of a series, or after "e.g.", is inserted or removed: both are right."""
    end = start + len(old)
    if {old.strip(), new.strip()} != {"", ","}:
        return False
    before, behind = text[max(start - 60, 0) : start], text[end:]
    return bool(_EXAMPLE.search(before) or (_LAST.match(behind) and _SERIES.search(before)))


def _renames(kind: Kind, old: str, new: str, paragraph: Paragraph, start: int, is_name: Callable[[str], bool]) -> bool:
    """Whether a capitalised word within a sentence becomes something that is no listed name: "Flaskr", "Flask"."""
    if kind not in (Kind.SPELLING, Kind.WORD_FORM, Kind.OTHER) or not old.istitle():
        return False
    if is_name(new) or any(start == first for first, _ in sentences(paragraph)):
        return False
    return bool(re.search(r"[\w,]\s\Z", paragraph.text[:start]))
