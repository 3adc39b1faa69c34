"""What was found in a document, kept in its place while the document changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from reviser.core.edits import Edit
from reviser.proofreading.suggestion import Suggestion

_revisions = itertools.count(1)


def touched(findings: Iterable[Suggestion], slice: Callable[[int, int], str], start: int, end: int) -> list[Suggestion]:
    """The findings that are marked at some place between two."""
    spans = ((one, one.shown(slice)) for one in findings)
    return [one for one, (first, last) in spans if first <= end and start <= last]


class Findings:
    """The findings of one document, in order and none over another, always about its present text.

    Those before the last change stand in `_before`; those behind it in `_after`, from the last to the first, and
    `_shift` characters later than they say. So a change costs what it moves past, not what there is.
    """

    def __init__(self) -> None:
        self._before: list[Suggestion] = []
        self._after: list[Suggestion] = []
        self._shift = 0
        self.revision = next(_revisions)

    def __iter__(self) -> Iterator[Suggestion]:
        yield from self._before
        for one in reversed(self._after):
            yield one.moved(self._shift)

    def __len__(self) -> int:
        return len(self._before) + len(self._after)

    def follow(self, change: Edit) -> None:
        """Move with a change of the document; what it touches is found no more."""
        self.touch()
        change = change.core
        while self._before and self._before[-1].end >= change.start:
            self._after.append(self._before.pop().moved(-self._shift))
        while self._after and self._after[-1].start + self._shift <= change.end:
            one = self._after.pop().moved(self._shift)
            if one.end < change.start:
                self._before.append(one)
        self._shift += change.growth

    def take(self, spans: Iterable[tuple[int, int]], found: Iterable[Suggestion]) -> bool:
        """Take over what was found in some stretches of the text as it is; returns whether that is news."""
        stretches = sorted(spans)
        known = list(self)
        kept = [one for one in known if not _is_in(one, stretches)]
        kept += found
        kept.sort(key=lambda one: (one.start, one.end))
        return self._replace(known, kept)

    def leave_out(self, unwanted: Callable[[Suggestion], bool]) -> bool:
        """Forget some findings; returns whether there were any."""
        known = list(self)
        return self._replace(known, [one for one in known if not unwanted(one)])

    def clear(self) -> bool:
        return self.leave_out(lambda one: True)

    def touch(self) -> None:
        """Whoever has seen the findings has to look again."""
        self.revision = next(_revisions)

    def _replace(self, known: list[Suggestion], wanted: list[Suggestion]) -> bool:
        if wanted == known:
            return False
        self._before, self._after, self._shift = wanted, [], 0
        self.touch()
        return True


def _is_in(finding: Suggestion, stretches: Sequence[tuple[int, int]]) -> bool:
    low, high = 0, len(stretches)
    while low < high:
        middle = (low + high) // 2
        if stretches[middle][1] <= finding.start:
            low = middle + 1
        else:
            high = middle
    return low < len(stretches) and stretches[low][0] <= finding.start
