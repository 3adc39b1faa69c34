"""Statistics of a run, up to the step that is shown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from tui.runs.run import DraftRun
from tui.runs.tree import walk


@dataclass(frozen=True)
class Statistics:
    """Counts and times of the steps up to the one shown."""

    actions: int
    kinds: Counter[str]
    written: int
    branches: int
    actions_per_second: float | None
    # For each character that the run wrote, the number of the step that wrote it.
    order: tuple[int, ...]

    @classmethod
    def of(cls, run: DraftRun) -> Statistics:
        shown = run.path[1 : run.current.depth + 1]
        kinds = Counter(node.taken.kind for node in shown if node.taken is not None)
        order = tuple(author.depth for author in run.authors.written)
        live = not run.recorded and run.seconds > 0
        made = sum(1 for _ in walk(run.root)) - 1
        return cls(len(shown), kinds, len(order), len(run.leaves()), made / run.seconds if live else None, order)

    @property
    def moves(self) -> float:
        """The share of moves among the actions."""
        return self.kinds["move"] / self.actions if self.actions else 0.0

    @property
    def actions_per_token(self) -> float | None:
        """Actions for each inserted token; None before the first."""
        inserts = self.kinds["insert"]
        return self.actions / inserts if inserts else None

    def insertion_map(self, width: int) -> list[float]:
        """When each part of the text was written, from 0 (first) to 1 (last), in `width` parts from start to end."""
        count, last = len(self.order), max(self.order, default=0)
        if not count or not width:
            return []
        parts = min(width, count)
        bounds = [count * index // parts for index in range(parts + 1)]
        return [sum(self.order[a:b]) / ((b - a) * last) for a, b in pairwise(bounds)]
