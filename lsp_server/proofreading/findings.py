"""What was found in a document, kept in its place while the document changes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_server.documents.document import Change

_revisions = itertools.count(1)
_LAST_WORD = re.compile(r"\w+(?:['’]\w+)*\W*\Z|\S+\s*\Z")
_FIRST_WORD = re.compile(r"\s*\w+|\s*\S")
_LOOKED_BACK = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """`new` had better stand in the place of `old`, which stands at character `start`."""

    start: int
    old: str
    new: str
    confidence: float
    kind: str

    @property
    def end(self) -> int:
        return self.start + len(self.old)

    @property
    def change(self) -> Change:
        return Change(self.start, self.old, self.new)

    def shown(self, text: str) -> tuple[int, int]:
        """What is marked: the old text, or beside a gap the word before it."""
        if self.old.strip():
            return self.start, self.end
        low = max(self.start - _LOOKED_BACK, 0)
        if found := _LAST_WORD.search(text[low : self.start]):
            return low + found.start(), self.end
        found = _FIRST_WORD.match(text, self.end)
        return self.start, found.end() if found else self.end


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

    def take(self, spans: Iterable[tuple[int, int]], found: Iterable[Finding], text: str) -> bool:
        """Take over what was found in some stretches of the text; returns whether that is news."""
        stretches = sorted(spans)
        kept = [one for one in self._all if not _is_in(one, stretches)]
        kept += [one for one in found if text.startswith(one.old, one.start)]
        kept.sort(key=lambda one: (one.start, one.end))
        if kept == self._all:
            return False
        self._all = kept
        self.touch()
        return True

    def clear(self) -> bool:
        return bool(self._all) and self.take([(0, self._all[-1].end + 1)], [], "")

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
