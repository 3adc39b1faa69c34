"""What was found in a document, kept in its place while the document changes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reviser.core.edits import Change

if TYPE_CHECKING:
    from reviser.proofreading.proofreader import Change as Found

WORD = re.compile(r"\w+(?:['’]\w+)*")
_revisions = itertools.count(1)
_LAST_WORD = re.compile(r"\w+(?:['’]\w+)*\W*\Z|\S+\s*\Z")
_FIRST_WORD = re.compile(r"\s*\w+|\s*\S")
_LOOKED_AROUND = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """`new` had better stand in the place of `old`, which stands at character `start`."""

    start: int
    old: str
    new: str
    confidence: float
    kind: str

    @classmethod
    def of(cls, found: Found, start: int = 0) -> Finding:
        """What was found in a stretch of the document that begins at `start`."""
        return cls(start + found.start, found.old, found.new, found.confidence, found.kind.value)

    @property
    def end(self) -> int:
        return self.start + len(self.old)

    @property
    def change(self) -> Change:
        return Change(self.start, self.old, self.new)

    def shown(self, slice: Callable[[int, int], str]) -> tuple[int, int]:
        """What is marked: the old text, or beside a gap the word before it. `slice` gives parts of the document."""
        if self.old.strip():
            return self.start, self.end
        low = max(self.start - _LOOKED_AROUND, 0)
        if found := _LAST_WORD.search(slice(low, self.start)):
            return low + found.start(), self.end
        found = _FIRST_WORD.match(slice(self.end, self.end + _LOOKED_AROUND))
        return self.start, self.end + found.end() if found else self.end

    @property
    def says(self) -> str:
        """What to do, in a few words."""
        if not self.old.strip():
            return f"put in {quoted(self.new.strip())}"
        if not self.new.strip():
            return f"take out {quoted(self.old.strip())}"
        return f"{quoted(self.old)} → {quoted(self.new)}"

    @property
    def word(self) -> str | None:
        """The word that could be listed so that nothing is found about it; None where it is about more or less than a word."""
        words = WORD.findall(self.old)
        return words[0] if len(words) == 1 and not words[0].isdigit() else None


def quoted(text: str) -> str:
    """A text as a part of a sentence."""
    return f"“{' '.join(text.split()) or text}”"


def touched(
    findings: Iterable[Finding], slice: Callable[[int, int], str], start: int, end: int
) -> list[Finding]:
    """The findings that are marked at some place between two."""
    spans = ((one, one.shown(slice)) for one in findings)
    return [one for one, (first, last) in spans if first <= end and start <= last]


class Findings:
    """The findings of one document, in order and none over another, always about its present text."""

    def __init__(self) -> None:
        self._all: list[Finding] = []
        self.revision = next(_revisions)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def follow(self, change: Change) -> None:
        """Move with a change of the document; what it touches is found no more."""
        self.touch()
        if not self._all:
            return
        change = change.core
        kept = []
        for one in self._all:
            if one.end < change.start:
                kept.append(one)
            elif one.start > change.end:
                kept.append(replace(one, start=one.start + change.growth))
        self._all = kept

    def take(self, spans: Iterable[tuple[int, int]], found: Iterable[Finding]) -> bool:
        """Take over what was found in some stretches of the text as it is; returns whether that is news."""
        stretches = sorted(spans)
        kept = [one for one in self._all if not _is_in(one, stretches)]
        kept += found
        kept.sort(key=lambda one: (one.start, one.end))
        if kept == self._all:
            return False
        self._all = kept
        self.touch()
        return True

    def leave_out(self, unwanted: Callable[[Finding], bool]) -> bool:
        """Forget some findings; returns whether there were any."""
        kept = [one for one in self._all if not unwanted(one)]
        if len(kept) == len(self._all):
            return False
        self._all = kept
        self.touch()
        return True

    def clear(self) -> bool:
        return self.leave_out(lambda one: True)

    def touch(self) -> None:
        """Whoever has seen the findings has to look again."""
        self.revision = next(_revisions)


def _is_in(finding: Finding, stretches: Sequence[tuple[int, int]]) -> bool:
    low, high = 0, len(stretches)
    while low < high:
        middle = (low + high) // 2
        if stretches[middle][1] <= finding.start:
            low = middle + 1
        else:
            high = middle
    return low < len(stretches) and stretches[low][0] <= finding.start
