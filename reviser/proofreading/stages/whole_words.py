"""Suggestions in whole words: edits of parts of words are extended, and get their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from reviser.core.edits import Edit
from reviser.proofreading.changes import changes, kind_of
from reviser.proofreading.document import Sentence
from reviser.proofreading.suggestion import Kind, Suggestion

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_FINAL = ".!?…;:,"


def from_word_to_word(sentence: Sentence, found: Sequence[Suggestion]) -> Iterator[Suggestion]:
    """Suggestions for the text of a sentence, which are in order, as whole-word suggestions for its paragraph.

    One that replaces several words, each by one, is divided. Any other stays one, to be made as a whole. A suggestion
    of the kind `OTHER` gets the kind that follows from the words.
    """
    text, low = sentence.text, sentence.span.start
    gap = len(text) - len(text.lstrip())
    place = -1
    for one in _whole(text, found):
        edit = one.edit
        written = _as_apostrophes(sentence.paragraph.text, edit.old, edit.new)
        after = _as_fragment(sentence, text[: edit.start] + written + text[edit.end :])
        if not after.strip() or after[:gap] != text[:gap]:
            continue
        parts = changes(text, after)
        if not parts:
            continue
        if not all(len(_WORD.findall(part.old)) == len(_WORD.findall(part.new)) == 1 for part in parts):
            start, end = parts[0].start, parts[-1].end
            new = after[start : len(after) - (len(text) - end)]
            told = kind_of(text[start:end], new, text[:start], text[end:])
            parts = [Suggestion(Edit(start, text[start:end], new), told)]
        if parts[0].start <= place:
            continue
        place = parts[-1].end
        for part in parts:
            yield replace(one, edit=part.edit.moved(low), kind=part.kind if one.kind is Kind.OTHER else one.kind)


def _whole(text: str, found: Sequence[Suggestion]) -> Iterator[Suggestion]:
    """The suggestions, with those for one word joined; the confidence is the lowest of theirs."""
    groups: list[list[Suggestion]] = []
    reached = -1
    for one in found:
        start, end = _reach(text, one.edit)
        if groups and one.edit.start < groups[-1][-1].edit.end:
            continue
        if groups and start < reached:
            groups[-1].append(one)
        else:
            groups.append([one])
        reached = max(reached, end)
    for group in groups:
        first, last = group[0].edit, group[-1].edit
        pieces = [first.new]
        for before, other in pairwise(group):
            pieces += [text[before.edit.end : other.edit.start], other.edit.new]
        whole = Edit(first.start, text[first.start : last.end], "".join(pieces))
        yield replace(group[0], edit=whole, confidence=min(one.confidence for one in group))


def _reach(text: str, edit: Edit) -> tuple[int, int]:
    """The start and end of the words that an edit changes."""
    start, end, old, new = edit.start, edit.end, edit.old, edit.new
    if _in_word(old[:1]) or _in_word(new[:1] or text[end : end + 1]):
        while start and _in_word(text[start - 1]):
            start -= 1
    if _in_word(old[-1:]) or _in_word(new[-1:] or text[edit.start - 1 : edit.start]):
        while end < len(text) and _in_word(text[end]):
            end += 1
    return start, end


def _in_word(character: str) -> bool:
    return character.isalnum() or character in ("'", "’", "_")


def _as_apostrophes(text: str, old: str, new: str) -> str:
    """New text with the apostrophes of its paragraph: straight ones, unless it has only curved ones."""
    if "’" in old or "'" in old:
        return new
    curved = "’" in text and "'" not in text
    return new.replace("'", "’") if curved else new.replace("’", "'")


def _as_fragment(sentence: Sentence, after: str) -> str:
    """A changed sentence without the capital and final mark that would turn a heading, item or caption into a
    sentence."""
    text, span = sentence.paragraph.text, sentence.span
    if not sentence.paragraph.role.fragment:
        return after
    if span.end == len(text) and text[-1:] not in _FINAL:
        after = after.rstrip(_FINAL + " ")
    old, new = _FIRST_WORD.search(text), _FIRST_WORD.search(after)
    if old is None or new is None or old.start() < span.start or re.match(r"i\b", old[0]):
        return after
    if old[0][0] != new[0][0] and old[0][0].upper() == new[0][0]:
        return after[: new.start()] + old[0][0] + after[new.start() + 1 :]
    return after
