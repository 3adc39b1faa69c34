"""The matcher of rules: finds rules by the words they start with, then compares the rest word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from reviser.proofreading.language.speech import speech_in
from reviser.proofreading.rules.classes import Classes
from reviser.proofreading.rules.patterns import Conditions, Pattern, PatternReader, Rule
from reviser.proofreading.suggestion import Kind, Level
from reviser.prose import Paragraph, Span, sentences

ROUNDS: Final = 4
"""The most passes over a sentence: the correction of one rule may be corrected by another."""

DATES: Final = frozenset(
    (
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "april", "june", "july", "august", "september", "october", "november", "december"),
    )
)
"""Capitalised words that rules may name in lower case."""

_CORE = r"[\w@#/\\&+=~%$€£^<>{}|-]"
_TOKEN = re.compile(rf"{_CORE}+(?:['’.:]{_CORE}+)*|\S")
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")
_NUMBER = re.compile(r"[2-9]|[1-9]\d{1,2}")
_DIGITS_OF_YEAR: Final = 4
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
# Behind these a capital starts something. Commas and hyphens go on.
_GOES_ON = frozenset(",;-–&/'’@#")
# Behind these a clause begins.
_CLAUSE = frozenset((",", ";", ":", "(", ")", "–", "—", "and", "or", "but", "because"))


class Word(NamedTuple):
    """A word or a mark from `start` to `end`; `key` is the form that rules compare."""

    start: int
    end: int
    text: str
    key: str


class RuleMatch(NamedTuple):
    """A correction by rules: `new` replaces the text from `start` to `end`."""

    start: int
    end: int
    new: str
    confidence: float
    rules: tuple[str, ...]
    kind: Kind | None = None
    why: str = ""
    level: Level = Level.WARNING


def words_of(text: str, protected: Sequence[Span] = ()) -> list[Word]:
    """The words and marks of a sentence, between markers of its start and its end."""
    found = [Word(0, 0, "", "^")]
    for one in _TOKEN.finditer(text):
        start, end = one.span()
        if start - found[-1].end > 1:
            # Where something was left out, or set apart, nothing is one phrase.
            found.append(Word(start, start, "", ""))
        safe = not any(span.start < end and start < span.end for span in protected)
        found.append(Word(start, end, one[0], _key(one[0], found[-1].key) if safe else ""))
    return [*found, Word(len(text), len(text), "", "$")]


def _key(text: str, before: str) -> str:
    if _WORD.fullmatch(text):
        word = text.replace("’", "'").lower()
        if text.islower():
            return word
        opens = len(before) == 1 and not before.isalnum() and before not in _GOES_ON
        plain = text[1:].islower() or len(text) == 1
        if word in DATES or word.partition("'")[0] == "i" or (plain and opens):
            return word
        return "@"
    if _NUMBER.fullmatch(text) or _YEAR.fullmatch(text):
        return "##" if len(text) == _DIGITS_OF_YEAR else "#"
    if len(text) == 1 and not text.isalnum():
        return '"' if text in "“”" else text
    return ""


def _within(span: Span, others: Sequence[Span]) -> list[Span]:
    return [Span(one.start - span.start, one.end - span.start) for one in others]


class Matcher:
    """Rules compiled for matching."""

    def __init__(self, rules: Iterable[Rule], classes: Classes) -> None:
        """Raises `ReviserError` for a rule that cannot be read."""
        self._patterns: dict[str, list[Pattern]] = {}
        reader = PatternReader(classes)
        for rule in rules:
            for pattern in reader.patterns(rule):
                for key in pattern.elements[pattern.anchor].words:
                    self._patterns.setdefault(key, []).append(pattern)

    @property
    def keys(self) -> frozenset[str]:
        """The words and marks of which every match contains at least one."""
        return frozenset(self._patterns)

    def find(self, text: str, protected: Sequence[Span] = (), quoted: Sequence[Span] = ()) -> list[RuleMatch]:
        """The corrections by rules in a sentence, in order and without overlaps; `quoted` ranges are direct speech."""
        found = self._once(text, protected, quoted)
        if not found:
            return []
        # Where each character of the corrected text comes from; -1 for what was put in.
        places = _replaced([*range(len(text))], found)
        after = apply(text, found)
        every = list(found)
        for _ in range(ROUNDS):
            moved = [[_moved(one, places) for one in spans] for spans in (protected, quoted)]
            more = self._once(after, *moved)
            if not more:
                break
            places, after = _replaced(places, more), apply(after, more)
            every += more
        else:
            # Rules that never come to an end are no rules.
            return []
        if len(every) == len(found):
            return found
        sure = min(one.confidence for one in every)
        names = tuple(dict.fromkeys(name for one in every for name in one.rules))
        why = " ".join(dict.fromkeys(one.why for one in every if one.why))
        return [
            RuleMatch(*one, sure, names, every[0].kind, why, every[0].level)
            for one in _differences(text, after, places)
        ]

    def find_in(self, paragraph: Paragraph) -> list[tuple[Span, list[RuleMatch]]]:
        """The sentences of a paragraph with corrections by rules, which have places within the sentence."""
        text = paragraph.text
        if text.isupper():
            return []
        found, speech = [], None
        for span in sentences(paragraph):
            start, end = span
            inside = [one for one in paragraph.protected if one.start < end and start < one.end]
            if speech is None:
                speech = speech_in(text)
            some = self.find(text[start:end], _within(span, inside), _within(span, speech))
            if some:
                found.append((span, some))
        return found

    def _once(self, text: str, protected: Sequence[Span], quoted: Sequence[Span]) -> list[RuleMatch]:
        words = words_of(text, protected)
        keys = [word.key for word in words]
        found: list[tuple[int, int, RuleMatch]] = []
        for at, key in enumerate(keys):
            for pattern in self._patterns.get(key, ()):
                start = at - pattern.anchor
                if start < 0 or start + len(pattern.elements) > len(keys):
                    continue
                for offset, some in pattern.beside:
                    if keys[at + offset] not in some:
                        break
                else:
                    if not _matches(pattern, words, start):
                        continue
                    first, last = start + pattern.first, start + pattern.last
                    one = _correction(pattern, text, words, first, last)
                    if one and (pattern.rule.speech or not any(a <= one.start < b for a, b in quoted)):
                        found.append((first, -last, one))
        chosen: list[RuleMatch] = []
        for _, _, one in sorted(found, key=lambda one: one[:2]):
            if not chosen or chosen[-1].end <= one.start:
                chosen.append(one)
        return chosen


def _matches(pattern: Pattern, words: Sequence[Word], start: int) -> bool:
    """Whether the words from `start` on match a pattern with words in it, and its conditions hold."""
    for place, element in enumerate(pattern.elements, start):
        word = words[place]
        if element.same is not None and (not word.key or word.key != words[start + element.same].key):
            return False
        if element.test is not None and not (word.key and element.test(word.text)):
            return False
    end = start + len(pattern.elements)
    before = words[start - 1].key if start else ""
    behind = words[end].key if end < len(words) else ""
    return not (
        (before and before in pattern.before)
        or (behind and behind in pattern.behind)
        or not _holds(pattern.conditions, words, start + pattern.first)
    )


def _holds(conditions: Conditions, words: Sequence[Word], place: int) -> bool:
    """Whether the words of a sentence, and those before a place, meet the conditions of a rule."""
    return not (
        _has(words, conditions.unless_with)
        or (conditions.only_with and not _has(words, conditions.only_with))
        or _has(words[:place], conditions.unless)
        or _has(_clause(words, place), conditions.unless_in_clause)
    )


def _clause(words: Sequence[Word], end: int) -> Sequence[Word]:
    """The words of the clause that ends at a place."""
    start = next((at for at in range(end - 1, -1, -1) if words[at].key in _CLAUSE), 0)
    return words[start:end]


def _has(words: Sequence[Word], some: frozenset[str]) -> bool:
    return bool(some) and any(word.key in some for word in words)


def _correction(pattern: Pattern, text: str, words: Sequence[Word], first: int, last: int) -> RuleMatch | None:
    """The correction that a pattern makes of some words; None if it cannot be made."""
    elements = pattern.elements[pattern.first : pattern.last]
    put = []
    for piece in pattern.put:
        if isinstance(piece, str):
            put.append(piece)
            continue
        number = next((n for n, one in enumerate(elements) if one.number == piece), None)
        if number is None:
            continue
        word, known = words[first + number], elements[number].words
        own = word.text if word.key.partition("'")[0] == "i" else word.text.lower()
        put.append(known[word.key] if isinstance(known, Mapping) else own)
    old, new = words[first], " ".join(put)
    start, end = old.start, words[last - 1].end
    if not new:
        # What goes takes the space before it along; the first word of a sentence stays.
        before = words[first - 1].end
        return _found(before, end, "", pattern.rule) if first > 1 and before < start else None
    if "’" in text and "'" not in text:
        new = new.replace("'", "’")
    if old.text[0].isupper() and not (old.key.partition("'")[0] == "i" and first > 1):
        new = new[0].upper() + new[1:]
    return _found(start, end, new, pattern.rule) if new != text[start:end] else None


def _found(start: int, end: int, new: str, rule: Rule) -> RuleMatch:
    return RuleMatch(start, end, new, rule.confidence, (rule.name,), rule.kind, rule.why, rule.level)


def apply(text: str, found: Sequence[RuleMatch]) -> str:
    """The text after the corrections."""
    for one in reversed(found):
        text = text[: one.start] + one.new + text[one.end :]
    return text


def _replaced(places: list[int], found: Sequence[RuleMatch]) -> list[int]:
    for one in reversed(found):
        places = [*places[: one.start], *[-1] * len(one.new), *places[one.end :]]
    return places


def _moved(span: Span, places: Sequence[int]) -> Span:
    """The range in a later text of a range of the first text."""
    inside = [now for now, place in enumerate(places) if span.start <= place < span.end]
    return Span(inside[0], inside[-1] + 1) if inside else Span(0, 0)


def _differences(text: str, after: str, places: Sequence[int]) -> list[tuple[int, int, str]]:
    """The replacements (start, end, new text) that turn `text` into `after`; `places` has the offset in `text` of each
    character of `after`, negative for a new one."""
    found = []
    start, put = 0, ""
    for place, character in zip([*places, len(text)], [*after, ""], strict=True):
        if place < 0:
            put += character
            continue
        if put or place > start:
            found.append((start, place, put))
        start, put = place + 1, ""
    return [one for one in found if text[one[0] : one[1]] != one[2]]
