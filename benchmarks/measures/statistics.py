"""The paper's ten trajectory statistics, computed from recorded runs of a Reviser.

All are about the actions after the prompt. Fractions are of the actions other than Stop, so that Insert and
Move add up to one in the paper's action set. A place is relative to the continuation, from 0 (right after the
prompt) to 1 (its end); the first insertion counts as an append. Each statistic is a ratio of two sums over
runs, so long runs weigh more than short ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import paper_tables
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option
from reviser.core.actions import Insert, Move, Stop
from reviser.core.canvas import Canvas
from reviser.core.errors import BadTrajectory, ReviserError
from reviser.core.files import read_utf8
from reviser.core.trajectory import Trajectory, load_trajectories

RESAMPLES = 1000


@dataclass(frozen=True)
class Insertion:
    """An insertion after `step` actions, at `place` of a continuation that was `length` tokens long."""

    step: int
    place: int
    length: int

    @property
    def at_end(self) -> bool:
        return self.place == self.length

    @property
    def position(self) -> float | None:
        return self.place / self.length if self.length else None


@dataclass(frozen=True)
class Walk:
    """The actions of one run: its insertions and moves, and the numbers of tokens written and actions taken."""

    model: str | None
    seeded: int
    actions: int
    stops: int
    tokens: int
    insertions: tuple[Insertion, ...]
    distances: tuple[int, ...]
    revises: bool

    @property
    def moves(self) -> int:
        return len(self.distances)

    @cached_property
    def positions(self) -> list[float]:
        return [place for entry in self.insertions if (place := entry.position) is not None]


def walk(trajectory: Trajectory) -> Walk:
    """Replays a recorded run on a canvas."""
    canvas = Canvas(trajectory.vocabulary)
    ids, seeded = trajectory.action_ids, trajectory.seed_actions
    insertions: list[Insertion] = []
    distances: list[int] = []
    stops, left_behind, revises = 0, 0, False
    try:
        for id in ids[:seeded]:
            if not canvas.vocabulary.is_marker(id):
                canvas.apply(canvas.action(id))
        canvas.protect(trajectory.prefix_tokens, trajectory.suffix_tokens, canvas.cursor)
        for step, id in enumerate(ids[seeded:]):
            action, place = canvas.action(id), canvas.cursor - canvas.low
            if isinstance(action, Insert):
                insertions.append(Insertion(step, place, canvas.high - canvas.low))
                revises = revises or place < left_behind
            elif isinstance(action, Move):
                distances.append(action.delta)
                # The furthest place that a backward move has left so far.
                left_behind = max(left_behind, place) if action.delta < 0 else left_behind
            stops += isinstance(action, Stop)
            # No text depends on a move that only Stop follows, and some published runs end with
            # one that today's mask refuses.
            closing = ids[seeded + step + 1 :] == (canvas.vocabulary.stop_id,)
            if not (closing and isinstance(action, Move)):
                canvas.apply(action)
    except ReviserError as error:
        raise BadTrajectory(f"it cannot be followed: {error}") from None
    return Walk(
        model=trajectory.model,
        seeded=seeded,
        actions=len(ids) - seeded,
        stops=stops,
        tokens=canvas.high - canvas.low,
        insertions=tuple(insertions),
        distances=tuple(distances),
        revises=revises,
    )


def walks(trajectories: Iterable[Trajectory]) -> list[Walk]:
    """The walk of each trajectory; raises `BadTrajectory` with the number of one that cannot be replayed."""
    done = []
    for number, trajectory in enumerate(trajectories):
        try:
            done.append(walk(trajectory))
        except BadTrajectory as error:
            raise BadTrajectory(f"trajectory {number}: {error}") from None
    return done


@dataclass(frozen=True)
class Statistic:
    """A ratio of two sums over runs, with its name in JSON and in the paper's table."""

    key: str
    label: str
    above: Callable[[Walk], float]
    below: Callable[[Walk], float]


def _mass(distance: int) -> Statistic:
    return Statistic(
        f"move_mass_{distance}",
        "Move-distance mass on 1/2/4/8 moves",
        lambda walk: sum(abs(delta) == distance for delta in walk.distances),
        lambda walk: walk.moves,
    )


def _acting(walk: Walk) -> int:
    return walk.actions - walk.stops


STATISTICS = (
    Statistic(
        "actions_per_output_token", "Actions per output token", lambda walk: walk.actions, lambda walk: walk.tokens
    ),
    Statistic("insert_fraction", "Insert fraction", lambda walk: len(walk.insertions), _acting),
    Statistic("move_fraction", "Move fraction", lambda walk: walk.moves, _acting),
    Statistic(
        "mean_move_distance",
        "Mean absolute move distance",
        lambda walk: sum(map(abs, walk.distances)),
        lambda walk: walk.moves,
    ),
    *map(_mass, (1, 2, 4, 8)),
    Statistic(
        "backward_move_fraction",
        "Fraction backward moves",
        lambda walk: sum(delta < 0 for delta in walk.distances),
        lambda walk: walk.moves,
    ),
    Statistic(
        "mean_insertion_position",
        "Mean insertion relative position",
        lambda walk: sum(walk.positions),
        lambda walk: len(walk.positions),
    ),
    Statistic(
        "end_append_fraction",
        "Fraction end-appends (cursor at end)",
        lambda walk: sum(entry.at_end for entry in walk.insertions),
        lambda walk: len(walk.insertions),
    ),
    Statistic(
        "non_end_append_fraction",
        "Fraction non end-appends",
        lambda walk: sum(not entry.at_end for entry in walk.insertions),
        lambda walk: len(walk.insertions),
    ),
    Statistic(
        "backward_revision_fraction", "Examples with ≥ 1 backward revision", lambda walk: walk.revises, lambda walk: 1
    ),
)


@dataclass(frozen=True)
class Estimate:
    """A measured value and the interval that holds it in 95 of 100 resamplings of the runs."""

    value: float
    low: float
    high: float


def estimates(walks: Sequence[Walk]) -> dict[str, Estimate | None]:
    """Computes every statistic over the runs; None if its denominator is 0."""
    weights = _resamplings(len(walks))
    return {statistic.key: _estimate(statistic, walks, weights) for statistic in STATISTICS}


def _resamplings(runs: int) -> NDArray[np.float64]:
    """The count of each run in each resampling; the draws are always the same."""
    random = np.random.default_rng(0)
    return random.multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES).astype(np.float64)


def _estimate(statistic: Statistic, walks: Sequence[Walk], weights: NDArray[np.float64]) -> Estimate | None:
    above = np.array([statistic.above(walk) for walk in walks], dtype=np.float64)
    below = np.array([statistic.below(walk) for walk in walks], dtype=np.float64)
    if not below.sum():
        return None
    divisors = weights @ below
    drawn = (weights @ above)[divisors > 0] / divisors[divisors > 0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(float(above.sum() / below.sum()), float(low), float(high))


@dataclass(frozen=True)
class RunSummary:
    """The statistics of some runs, by their keys; None for one whose denominator is 0."""

    trajectories: int
    estimates: Mapping[str, Estimate | None]

    def value(self, key: str) -> float | None:
        found = self.estimates[key]
        return found.value if found else None

    def to_dict(self) -> dict[str, object]:
        """As JSON holds them: values, and the interval of each."""
        return {
            "trajectories": self.trajectories,
            **{key: self.value(key) for key in self.estimates},
            "intervals": {key: [entry.low, entry.high] if entry else None for key, entry in self.estimates.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunSummary:
        """Restores a summary from the result of `to_dict`."""
        found = {
            key: None if edges is None or data[key] is None else Estimate(data[key], *edges)
            for key, edges in data["intervals"].items()
        }
        return cls(data["trajectories"], found)


def summary(walks: Sequence[Walk]) -> RunSummary:
    """Computes the statistics of runs."""
    return RunSummary(len(walks), estimates(walks))


def by_model(walks: Sequence[Walk]) -> dict[str, list[Walk]]:
    """Groups the runs by model, in order of appearance."""
    groups: dict[str, list[Walk]] = {}
    for entry in walks:
        groups.setdefault(entry.model or "unnamed", []).append(entry)
    return groups


def table(summaries: Mapping[str, RunSummary]) -> Table:
    """The paper's table, with a column for each summary of measured runs."""
    rows = []
    for label, part in groupby(STATISTICS, key=lambda statistic: statistic.label):
        same = list(part)
        printed = [[paper_tables.TRAJECTORIES[each.key][at] for each in same] for at in (0, 1)]
        texts = [", ".join(map(_shown, same, values)) for values in printed]
        rows.append((label, *texts, *(_found(same, entry) for entry in summaries.values())))
    return Table(("statistic", "paper 100M", "paper 300M", *summaries), tuple(rows))


def _shown(statistic: Statistic, value: float) -> str:
    share = "fraction" in statistic.key or "mass" in statistic.key
    return f"{value:.1%}" if share else f"{value:.2f}"


def _found(statistics: Sequence[Statistic], entry: RunSummary) -> str:
    """One value with its interval, or several values without."""
    found = [entry.estimates[statistic.key] for statistic in statistics]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return "–"
    shown = zip(statistics, known, strict=True)
    values = ", ".join(_shown(statistic, one.value) for statistic, one in shown)
    if len(known) > 1:
        return values
    low, high = (_shown(statistics[0], edge) for edge in (known[0].low, known[0].high))
    return f"{values} ({low} to {high})"


@dataclass(frozen=True, kw_only=True)
class StatsOptions:
    """The options of `stats`: the recorded runs."""

    file: Annotated[Path, Argument("trajectory file (JSON); - reads standard input")]
    json: Annotated[bool, Option("print JSON")] = False


def run(options: StatsOptions) -> None:
    """Prints the statistics of a trajectory file: of all runs, and of each model."""
    everything = walks(load_trajectories(options.file, read_utf8(options.file)))
    models = {name: summary(group) for name, group in by_model(everything).items()}
    if options.json:
        by_name = {name: entry.to_dict() for name, entry in models.items()}
        print(json.dumps(summary(everything).to_dict() | {"models": by_name}, indent=1))
        return
    if len(models) > 1:
        models["all"] = summary(everything)
    counts = ", ".join(f"{name}: {entry.trajectories}" for name, entry in models.items())
    print(f"Runs: {counts}. In brackets: 95% intervals over runs.\n\n{table(models).markdown()}")
