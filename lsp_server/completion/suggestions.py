"""Post-processing of suggestions: length, overlap with the text that follows, removed text, and the cache.

Nothing here talks to a model or to an editor.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_server.documents.document import Edit
from lsp_server.settings import Unit

_WORD = re.compile(r"\s*\S+")
_LINE = re.compile(r"[\r\n]*[^\r\n]+")
_SENTENCE = re.compile(r"""\s*\S.*?(?:[.!?…]+["'”’»)\]]*(?=\s)|(?=\n\s*\n))""", re.DOTALL)
_UNITS = {"word": _WORD, "line": _LINE, "sentence": _SENTENCE}
_OVER = re.compile(r"""[.!?…]["'”’»)\]]*\s*\Z""")
_CLAUSE_END = re.compile(r"""[,;:.!?…–—]["'”’»)\]]*(?=\s)""")
# A word or punctuation mark; and the units compared to detect repetition: words and closing marks.
_PART = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_TELLS = re.compile(r"""[\w)\]}"”’»]""")
# Characters that prose does not contain and editors do not show well; a suggestion ends before them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


def first_unit(text: str, unit: Unit) -> str | None:
    """The first word, line or sentence of `text`, if more text follows and shows that it is complete; else None."""
    found = _UNITS[unit].match(text)
    return found.group() if found and found.end() < len(text) else None


def whole_clause(text: str) -> str:
    """`text` up to its last punctuation mark, if it stops in the middle of a sentence."""
    if _OVER.search(text):
        return text
    marks = list(_CLAUSE_END.finditer(text))
    return text[: marks[-1].end()] if marks else text


def trim(text: str, unit: Unit) -> str:
    """`text` cut before unprintable characters, and after its first word, line or sentence if that is the `unit`."""
    text = _UNPRINTABLE.split(text, maxsplit=1)[0]
    whole = first_unit(text, unit)
    return text if whole is None else whole


def without_repetition(text: str, after: str) -> str:
    """`text` without the parts, at its end, that repeat `after`, the text behind the cursor."""
    while (shorter := _without_one_repetition(text, after)) != text:
        text = shorter
    return text


def _without_one_repetition(text: str, after: str) -> str:
    """`text` without an end that overlaps the start of `after`, or without all from where it repeats `after`."""
    lead = _lead(after)
    if lead and (at := _find_whole(text, lead)) is not None:
        text = text[:at]
    if _goes_on_in_line(after):
        text = _without_shared_words(text, after)
    for size in range(min(len(text), len(after)), 0, -1):
        if text.endswith(after[:size]) and _parts_words(text, len(text) - size, after, size):
            text = text[:-size]
            break
    # Before a line's end or a space, another space is of no use.
    return text.rstrip() if not after or after[0].isspace() else text


def _goes_on_in_line(after: str) -> bool:
    """Whether more text follows in the cursor's own line. A following line may begin as the suggestion does."""
    return re.match(r"[^\S\r\n]*[^\s]", after) is not None


def _without_shared_words(text: str, after: str) -> str:
    """`text` cut where it repeats the rest of the line: at its start, at two words in common, or at its end."""
    parts = list(_PART.finditer(text))
    words = [part.group() for part in parts]
    following = _PART.findall(after)
    pair = next((n for n in range(2, len(following) + 1) if _count_words(following[:n]) == 2), 0)
    for index in range(len(words)):
        ahead = words[index:]
        shared = _shared_start(ahead, following)
        said = any(map(_TELLS.match, following[:shared]))
        if said and (index == 0 or shared == len(ahead) or (pair and shared >= pair)):
            head = text[: parts[index].start()]
            # Its last space is needed where the line has none there itself.
            return head if head.strip() and not after[0].isspace() else head.rstrip(" \t")
    return text


def _shared_start(one: list[str], other: list[str]) -> int:
    differing = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _count_words(parts: list[str]) -> int:
    return sum(part[0].isalnum() for part in parts)


def _lead(after: str) -> str:
    """The first words of the text that follows, enough of them that a match is no coincidence."""
    found = re.match(r"\W*\w+(?:\W+\w+){1,3}", after)
    lead = found.group() if found else re.split(r"[\r\n]", after.lstrip(), maxsplit=1)[0]
    return lead.strip() if len(lead.strip()) >= 4 else ""


def _find_whole(text: str, part: str) -> int | None:
    """The offset at which `part` occurs in `text` as whole words, including space before it; None if it does not."""
    at = text.find(part)
    while at >= 0:
        if not _inside_word(text, at):
            return len(text[:at].rstrip())
        at = text.find(part, at + 1)
    return None


def _parts_words(text: str, at: int, after: str, size: int) -> bool:
    """Whether an overlap is more than letters within a word: it starts or ends at a word's edge."""
    return not _inside_word(text, at) or (not _inside_word(after, size) and any(map(str.isalnum, after[:size])))


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _is_letter(text[at - 1]) and _is_letter(text[at])


def _is_letter(character: str) -> bool:
    return character.isalnum() or character in "'’_"


def repeats(text: str, removed: str) -> bool:
    """Whether a suggestion brings back removed text, or the start of it."""
    new, old = " ".join(text.split()), " ".join(removed.split())
    if not new or not old:
        return False
    return _starts_with(new, old) or _starts_with(old, new)


def _starts_with(text: str, start: str) -> bool:
    return text.startswith(start) and not _inside_word(text, len(start))


@dataclass
class Removal:
    """The text that the user last removed, and its offset; forgotten when they write something else there."""

    at: int = 0
    text: str = ""

    def follow(self, change: Edit) -> None:
        if not change.old:
            self._follow_insertion(change)
        elif change.new:
            # A replacement: an editor's own completion, or a correction.
            self.text = ""
        elif self.text and change.end == self.at:
            self.at, self.text = change.start, change.old + self.text
        elif self.text and change.start == self.at:
            self.text += change.old
        else:
            self.at, self.text = change.start, change.old

    def _follow_insertion(self, change: Edit) -> None:
        if not self.text or change.start > self.at:
            return
        if change.start == self.at and change.new.strip():
            # Typing the removed text again takes it back, letter by letter.
            known = self.text.startswith(change.new)
            self.text = self.text[len(change.new) :] if known else ""
        self.at += len(change.new)

    def near(self, offset: int) -> str:
        """The removed text, if it was removed at `offset`; else an empty string."""
        return self.text if self.at == offset else ""


@dataclass(frozen=True)
class Context:
    """The text before and after a cursor as the model gets it, with `\\n` as the only line ending."""

    document: str
    before: str
    after: str


class SuggestionCache:
    """Suggestions by their context, found again while the user types what they say."""

    def __init__(self, size: int = 64) -> None:
        self._size = size
        self._known: OrderedDict[Context, list[str]] = OrderedDict()

    def put(self, context: Context, text: str) -> None:
        known = self._known.setdefault(context, [])
        if text not in known:
            known.append(text)
        self._known.move_to_end(context)
        while len(self._known) > self._size:
            self._known.popitem(last=False)

    def find(self, context: Context) -> Iterator[str]:
        """The rests of cached suggestions after what has been typed of them, latest first."""
        for place, texts in reversed(self._known.items()):
            if place.document != context.document or place.after != context.after:
                continue
            if not context.before.startswith(place.before):
                continue
            typed = context.before[len(place.before) :]
            for text in texts:
                if len(text) > len(typed) and text.startswith(typed):
                    yield text[len(typed) :]

    def forget(self) -> None:
        """Remove all, because another model would suggest something else."""
        self._known.clear()


class RequestTiming:
    """The delay before a request to the model, from how fast the user types and how fast the model answers.

    A model that answers between two keys gets requests at once. A slower one would only keep the processor busy if
    every key sent a request, so requests wait for a pause a little longer than the usual gap between keys. Even typing
    has no such pause, so a request is sent after some time all the same.
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._asked: float | None = None
        self._gap: float | None = None
        self._answer: float | None = None

    def key(self, now: float) -> None:
        """Record a key at the time `now`, in seconds."""
        if self._last is not None and (gap := now - self._last) < 2.0:
            self._gap = _blend(self._gap, gap)
        self._last = now

    def asked(self, now: float) -> None:
        """Record a request to the model at the time `now`, in seconds."""
        self._asked = now

    def answered(self, seconds: float, *, whole: bool = True, long: bool = False) -> None:
        """Record how many seconds an answer took. One cut short (not `whole`) or longer than usual (`long`) gives only
        a bound.
        """
        if long:
            telling = whole and (self._answer is None or seconds < self._answer)
        else:
            telling = whole or (self._answer is not None and seconds > self._answer)
        if telling:
            self._answer = _blend(self._answer, seconds)

    def delay(self, now: float, least: float, most: float) -> float:
        """Seconds to wait from `now` with a request: at least `least` after the last key, at most `most` after the last
        request.
        """
        since_key = now - self._last if self._last is not None else math.inf
        wait = least - since_key
        gap = self._gap or 0.0
        if self._answer is None or self._answer >= 0.8 * gap:
            since_asked = now - self._asked if self._asked is not None else math.inf
            wait = max(wait, min(1.3 * gap - since_key, most - since_asked))
        return max(wait, 0.0)


def _blend(average: float | None, value: float) -> float:
    return value if average is None else 0.7 * average + 0.3 * value
