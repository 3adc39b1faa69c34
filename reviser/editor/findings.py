"""The findings in a document, moved along while the document changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from reviser.core.edits import Edit
from reviser.proofreading.suggestion import Suggestion

_revisions = itertools.count(1)


def touched(findings: Iterable[Suggestion], slice: Callable[[int, int], str], start: int, end: int) -> list[Suggestion]:
    """The findings whose marked text overlaps a range."""
    spans = ((one, one.shown(slice)) for one in findings)
    return [one for one, (first, last) in spans if first <= end and start <= last]


class Findings:
    """The findings of one document, in order and without overlaps, always with places in its present text.

    Those before the last change are in `_before`; those after it in `_after`, from last to first, with offsets that are
    `_shift` characters too low. So the cost of a change depends on the findings between it and the last one, not on
    their number.
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
        """Move the findings along with a change of the document; those that it touches are removed."""
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
        """Replace the findings in some ranges of the present text; returns whether anything has changed."""
        stretches = sorted(spans)
        known = list(self)
        kept = [one for one in known if not _is_in(one, stretches)]
        kept += found
        kept.sort(key=lambda one: (one.start, one.end))
        return self._replace(known, kept)

    def leave_out(self, unwanted: Callable[[Suggestion], bool]) -> bool:
        """Remove the findings for which `unwanted` is true; returns whether there were any."""
        known = list(self)
        return self._replace(known, [one for one in known if not unwanted(one)])

    def clear(self) -> bool:
        return self.leave_out(lambda one: True)

    def touch(self) -> None:
        """Mark the findings as changed, so that they are shown again."""
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
