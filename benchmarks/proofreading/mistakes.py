"""Texts with known mistakes: recall by kind of mistake, and the precision of the changes.

A user's own set is a file of JSON lines, each with a text `before`, the same text `after` correction, and the
`kind` of the mistake; without it, the kind of each change is derived from its words. If both texts are the same,
the text is correct and should be left unchanged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.proofreading.scores import FScore, f_score
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.proofreading.changes import changes
from reviser.proofreading.suggestion import Suggestion


@dataclass(frozen=True)
class MistakenPassage:
    """A text, its correction, and the kind of its mistakes if known."""

    before: str
    after: str
    kind: str | None = None


@dataclass(frozen=True)
class MistakeSet:
    """A named set of passages, each a single line."""

    name: str
    passages: tuple[MistakenPassage, ...]

    @property
    def sources(self) -> list[str]:
        return [passage.before for passage in self.passages]


@dataclass(frozen=True)
class KindCounts:
    """The number of mistakes of a kind, and the number corrected as wanted."""

    kind: str
    wanted: int
    right: int


@dataclass(frozen=True)
class ByKind:
    """The result of a corrector: over all changes, and by kind, the most frequent first."""

    f: FScore
    kinds: tuple[KindCounts, ...]


def read_mistakes(path: Path) -> MistakeSet:
    """Reads a set from JSON lines; line breaks and runs of spaces in a text become single spaces."""
    passages = []
    for number, line in enumerate(read_utf8(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            before, after = (" ".join(entry[key].split()) for key in ("before", "after"))
            kind = entry.get("kind")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise ReviserError(
                f"{path}, line {number}: expected a JSON object with the texts before and after"
            ) from None
        passages.append(MistakenPassage(before, after, None if kind is None else str(kind)))
    if not passages:
        raise ReviserError(f"{path} has no lines")
    return MistakeSet(path.stem, tuple(passages))


Place = tuple[int, int, str]


def place_of(change: Suggestion) -> Place:
    """The identity of a change of a text: its span and its new text."""
    return change.start, change.end, change.new


def by_kind(passages: Sequence[MistakenPassage], made: Sequence[str]) -> ByKind:
    """Counts right changes, over all and by kind."""
    counts, all_wanted, all_right = [], Counter[str](), Counter[str]()
    for passage, text in zip(passages, made, strict=True):
        wanted = changes(passage.before, passage.after)
        places = {place_of(change) for change in changes(passage.before, " ".join(text.split()))}
        right = [change for change in wanted if place_of(change) in places]
        counts.append([(len(right), len(places), len(wanted))])
        all_wanted.update(passage.kind or str(change.kind) for change in wanted)
        all_right.update(passage.kind or str(change.kind) for change in right)
    kinds = (KindCounts(kind, count, all_right[kind]) for kind, count in all_wanted.most_common())
    return ByKind(f_score(counts), tuple(kinds))
