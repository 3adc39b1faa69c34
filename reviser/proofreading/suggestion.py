"""Suggestions: edits with a kind, a confidence and a reason, as all stages make them and all interfaces show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from reviser.core.edits import Edit, apply_edits
from reviser.prose.switches import name_of

NEXT_EDIT: Final = "next edit"
"""The rule of suggestions that follow a person's edits."""
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


class Level(StrEnum):
    """How much a finding matters; by default it is a warning."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Evidence(NamedTuple):
    """The inputs of a calibration besides the probability of an edit.

    `others` is the sum of the probabilities of the other edits in the sentence. `reading` is the gain in left-to-right
    log-probability of the sentence by the edit (`reviser.proofreading.evidence.readings`); None if it was not read.
    """

    others: float = 0.0
    reading: float | None = None


NO_EVIDENCE: Final = Evidence()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An edit of whole words that is offered; `reason` explains it if more than its kind is known, and `rule` is the
    name of the rule that made it, if one did. `is_own` says that a project's own rule did, whose word counts.

    Places are in a paragraph's text for the suggestions of a stage, and in the document for the result.
    """

    edit: Edit
    kind: Kind
    confidence: float = 1.0
    reason: str = ""
    evidence: Evidence = NO_EVIDENCE
    rule: str = ""
    level: Level = Level.WARNING
    is_own: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names by which comments switch such suggestions off: those of the kind and of the rule."""
        return frozenset(name_of(name) for name in (self.kind.value, self.rule) if name)

    @property
    def start(self) -> int:
        return self.edit.start

    @property
    def end(self) -> int:
        """The offset at which the old text ends."""
        return self.edit.end

    @property
    def old(self) -> str:
        return self.edit.old

    @property
    def new(self) -> str:
        return self.edit.new

    @property
    def says(self) -> str:
        """The instruction to the user, in a few words."""
        if not self.old.strip():
            return f"put in {quoted(self.new.strip())}"
        if not self.new.strip():
            return f"take out {quoted(self.old.strip())}"
        return f"{quoted(self.old)} → {quoted(self.new)}"

    def shown(self, slice: Callable[[int, int], str]) -> tuple[int, int]:
        """The range to mark: the old text, or for an insertion the word before it. `slice` returns ranges of the
        document."""
        if self.old.strip():
            return self.start, self.end
        low = max(self.start - _LOOKED_AROUND, 0)
        if found := _LAST_WORD.search(slice(low, self.start)):
            return low + found.start(), self.end
        found = _FIRST_WORD.match(slice(self.end, self.end + _LOOKED_AROUND))
        return self.start, self.end + found.end() if found else self.end

    def moved(self, by: int) -> Suggestion:
        """The same suggestion with its offset increased by `by`."""
        return replace(self, edit=self.edit.moved(by)) if by else self


def quoted(text: str) -> str:
    """A text in quotation marks, for use in a sentence."""
    return f"“{' '.join(text.split()) or text}”"


def with_suggestions(text: str, suggestions: Sequence[Suggestion]) -> str:
    """A text after some suggested edits."""
    return apply_edits(text, [one.edit for one in suggestions])
