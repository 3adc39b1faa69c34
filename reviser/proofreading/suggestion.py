"""A suggestion: an edit with its kind, a confidence and a reason, whoever makes it and whichever door shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from reviser.core.edits import Edit, apply_edits

WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_LAST_WORD = re.compile(r"\w+(?:['’]\w+)*\W*\Z|\S+\s*\Z")
_FIRST_WORD = re.compile(r"\s*\w+|\s*\S")
_LOOKED_AROUND: Final = 80


class Kind(StrEnum):
    """The kinds of mistakes that a proofreader corrects."""

    SPELLING = "spelling"
    AGREEMENT = "agreement"
    VERB_FORM = "verb form"
    NOUN_NUMBER = "noun number"
    WORD_FORM = "word form"
    ARTICLE = "article"
    PREPOSITION = "preposition"
    PUNCTUATION = "punctuation"
    CASE = "case"
    JOINED_OR_SPLIT = "joined or split words"
    CONFUSED_WORD = "confused word"
    WORD_ORDER = "word order"
    MISSING_WORD = "missing word"
    EXTRA_WORD = "extra word"
    OTHER = "other"


class Evidence(NamedTuple):
    """What a calibration weighs besides the probability of an edit.

    `others` is the sum of the model's chances of the other edits in the sentence. `reading` says by how much the
    sentence reads better, or worse, with the edit (`reviser.proofreading.evidence.readings`); None if that was not
    asked.
    """

    others: float = 0.0
    reading: float | None = None


NO_EVIDENCE: Final = Evidence()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An edit that is offered, from word to word; `reason` says why, where something more than its kind is known.

    Stages suggest edits of a paragraph's text. What a proofread document tells of are edits of the document.
    """

    edit: Edit
    kind: Kind
    confidence: float = 1.0
    reason: str = ""
    evidence: Evidence = NO_EVIDENCE

    @property
    def start(self) -> int:
        return self.edit.start

    @property
    def end(self) -> int:
        """Where the old text ends."""
        return self.edit.end

    @property
    def old(self) -> str:
        return self.edit.old

    @property
    def new(self) -> str:
        return self.edit.new

    @property
    def says(self) -> str:
        """What to do, in a few words."""
        if not self.old.strip():
            return f"put in {quoted(self.new.strip())}"
        if not self.new.strip():
            return f"take out {quoted(self.old.strip())}"
        return f"{quoted(self.old)} → {quoted(self.new)}"

    def shown(self, slice: Callable[[int, int], str]) -> tuple[int, int]:
        """What is marked: the old text, or beside a gap the word before it. `slice` gives parts of the document."""
        if self.old.strip():
            return self.start, self.end
        low = max(self.start - _LOOKED_AROUND, 0)
        if found := _LAST_WORD.search(slice(low, self.start)):
            return low + found.start(), self.end
        found = _FIRST_WORD.match(slice(self.end, self.end + _LOOKED_AROUND))
        return self.start, self.end + found.end() if found else self.end

    def moved(self, by: int) -> Suggestion:
        """The same suggestion where its text stands so many characters later."""
        return replace(self, edit=self.edit.moved(by)) if by else self


def quoted(text: str) -> str:
    """A text as a part of a sentence."""
    return f"“{' '.join(text.split()) or text}”"


def with_suggestions(text: str, suggestions: Sequence[Suggestion]) -> str:
    """A text with some of the edits that were suggested for it."""
    return apply_edits(text, [one.edit for one in suggestions])
