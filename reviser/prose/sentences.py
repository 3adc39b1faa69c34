"""Sentences of an English paragraph."""

from __future__ import annotations

import re
from bisect import bisect_right

from reviser.prose.paragraphs import Paragraph
from reviser.prose.source import Span, names

# A mark that can end a sentence, the quotes and brackets that close with it, and the gap behind.
_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]*_]*|[。！？][」』”’）]*)(\s+|(?<=[。！？」』”’）])|\Z)")
_WORD_BEFORE = re.compile(r"(?:\w[\w&'’-]*\.)*\w[\w&'’-]*\Z")
_OPENING = "\"'“”‘’«([*_¿¡"

# Abbreviations behind which the sentence goes on, whatever follows.
_BEFORE_NAMES = names(
    """adm al approx attn brig capt cf ch col cmdr comdr dept dr drs ed eds e.g eq eqs esp est fig figs gen gov hon
    i.e lt lieut maj messrs mlle mme mr mrs ms mt mx nr nos op p pp para pres prof prop ref refs rep reps
    rev sec sen sens sgt sr sra ss st ste supt tab trans v viz vol vols vs"""
)
# Abbreviations that can also be the last word of a sentence: a capital behind them tells.
_ANYWHERE = names(
    """a.d a.m ave b.c blvd bros co corp d.c etc ext ft hr hrs ibid inc jr kg km lb lbs ltd max min mph no oz p.m
    ph.d plc rd resp sq u.k u.n u.s u.s.a univ jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed
    thu fri sat sun"""
)
# Words that start a sentence more likely than they go on with one behind an abbreviation.
_STARTERS = names(
    """a after also although an and as at before but by each every finally first for from further he her here his
    how however i if in instead it its let many most moreover my next no now of on one only our she since so
    some such that the their then there these they this those thus to today we what when where which while
    who why with yet you your"""
)


def sentences(paragraph: Paragraph) -> list[Span]:
    """The spans of the paragraph's sentences in its text, without the blanks between them."""
    text = paragraph.text
    ends = [span.end for span in paragraph.protected]
    found, start = [], 0
    for mark in _END.finditer(text):
        place = mark.start(1)
        after = bisect_right(ends, mark.start())
        if after < len(ends) and paragraph.protected[after].start <= mark.start() < place < ends[after]:
            continue
        if mark.end() < len(text) and not _ends_sentence(text, start, mark):
            continue
        found.append(Span(start, place))
        start = mark.end()
    if text[start:].strip():
        found.append(Span(start, start + len(text[start:].rstrip())))
    return [span for span in (_without_blanks(text, span) for span in found) if span.start < span.end]


def _without_blanks(text: str, span: Span) -> Span:
    start = span.start
    while start < span.end and text[start].isspace():
        start += 1
    return Span(start, span.end)


def _ends_sentence(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether the sentence from `start` ends at this mark; there is more text after it."""
    marks = mark.group()[: mark.start(1) - mark.start()]
    following = text[mark.end() : mark.end() + 40].lstrip(_OPENING)
    next_word = re.match(r"[\w'’]*", following)
    word = next_word.group() if next_word else ""
    if marks[0] in "。！？":
        return True
    if not following or following[0].islower():
        return False
    if following[0] in ",;:–—-)":
        return False
    stripped = marks.rstrip("\"'”’»)]*_")
    if stripped != ".":
        return True
    before = _WORD_BEFORE.search(text, max(start, mark.start() - 40), mark.start())
    last = before.group() if before else ""
    return _full_stop_ends(last, word, marks != stripped, at_start=mark.start() - len(last) <= start)


def _full_stop_ends(last: str, next_word: str, closed: bool, *, at_start: bool) -> bool:
    """Whether a full stop behind `last` and before `next_word` ends a sentence."""
    small = last.lower()
    starter = next_word.lower() in _STARTERS and next_word[:1].isupper()
    if small in _BEFORE_NAMES and not closed:
        return False
    if small == "no" and not closed:
        return not next_word[:1].isdigit()
    if small in _ANYWHERE and not closed:
        return starter
    if len(last) == 1 and last.isupper() and last != "I":  # an initial
        return starter
    if re.fullmatch(r"(?:\w\.)+\w", last):  # initials, other abbreviations
        return starter
    # "1." at the start of a text or of a sentence is a number in a list.
    return not (at_start and last.isdigit())
