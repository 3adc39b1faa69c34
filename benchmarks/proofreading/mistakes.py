"""Texts with known mistakes: which kinds a corrector finds, and how much of what it changes is right.

A set of one's own is a file of JSON lines, each with a text `before`, the same text `after` correction, and the
`kind` of the mistake; without a kind, each change has the kind that its words tell. A line whose texts are
the same is finished, and is to be left alone.
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
    """A text, what is to become of it, and the kind of its mistakes if that is known."""

    before: str
    after: str
    kind: str | None = None


@dataclass(frozen=True)
class MistakeSet:
    """Passages under a name, each on one line."""

    name: str
    passages: tuple[MistakenPassage, ...]

    @property
    def sources(self) -> list[str]:
        return [passage.before for passage in self.passages]


@dataclass(frozen=True)
class KindCounts:
    """How many mistakes of a kind there are, and how many were corrected as wanted."""

    kind: str
    wanted: int
    right: int


@dataclass(frozen=True)
class ByKind:
    """What a corrector reached: over all changes, and the kinds, the most frequent first."""

    f: FScore
    kinds: tuple[KindCounts, ...]


def read_mistakes(path: Path) -> MistakeSet:
    """A set from JSON lines; line breaks and runs of spaces in a text become single spaces."""
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
    """What makes two changes of one text the same: where they are and what they put there."""
    return change.start, change.end, change.new


def by_kind(passages: Sequence[MistakenPassage], made: Sequence[str]) -> ByKind:
    """Changes that are right, over all and of each kind."""
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
