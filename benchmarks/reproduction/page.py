"""The Markdown page of a reproduction: tables, and trends over budgets."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.protocol.results import REAL, Row
from benchmarks.report.tables import Table
from benchmarks.reproduction.judging import SHORT, all_judged
from benchmarks.reproduction.scales import NAMES, StagedScale, label
from benchmarks.reproduction.training import ModelPlaces


def page(out: Path, scale: StagedScale, head: str) -> str:
    """The page of all results so far."""
    judged = all_judged(out, scale)
    parts = [f"# The paper's comparison at several budgets\n\n{head}", _about(scale)]
    parts.append(f"## Training\n\n{_training(out, scale).markdown()}")
    for results in judged:
        parts.append(_of_budget(results))
    parts.append(f"## Over budgets\n\n{over_budgets(judged)}")
    missing = sorted({f"- {e['what']}: {e['why']}" for r in judged for e in r["missing"]})
    if missing:
        parts.append("## Not measured\n\n" + "\n".join(missing))
    return "\n\n".join(parts) + "\n"


def _about(scale: StagedScale) -> str:
    settings = scale.settings
    return (
        f"{settings.model}, {settings.rows} rows of {settings.row_length} ids a step, learning rate "
        f"{settings.peak_rate:g} "
        f"to {settings.final_rate:g}, constant until the last {settings.cooldown:.0%} of a run. All start from random "
        "weights. "
        "Models see the same texts in as many steps of as many ids; AR, SEDD and MDLM see the same rows. "
        "Runs of smaller budgets branch off the longest. *Reviser* learns by the paper's policy, *Reviser-ours* by "
        "the recipe of the embedded model."
    )


def _training(out: Path, scale: StagedScale) -> Table:
    rows = []
    for name in NAMES:
        for budget in scale.budgets:
            path = ModelPlaces(out, name).record(budget)
            if path.exists():
                entry = json.loads(path.read_text("utf-8"))
                rows.append(
                    (
                        *(name, label(budget), f"{entry['ids'] / 1e6:,.1f}"),
                        *(f"{entry['steps']:,}", f"{entry['parameters'] / 1e6:.1f}"),
                        *(f"{entry['loss']:.3f}", f"{entry['ids_per_s'] / 1e3:,.0f}"),
                        f"{entry['training_seconds'] / 60:.1f}",
                    )
                )
    return Table(
        (
            *("model", "budget", "million ids", "steps", "million weights", "loss at the end"),
            *("thousand ids/s", "minutes"),
        ),
        tuple(rows),
    )


def _of_budget(results: Row) -> str:
    parts = [f"## {label(results['budget'])} ids"]
    rows = [
        (
            *(row["contestant"], row["evaluator"], _number(row["mean"]), _number(row["median"])),
            *(_number(row["without_short"]), f"{row['short']} of {results['texts'][row['contestant']]}"),
        )
        for row in results["perplexity"]
    ]
    if rows:
        parts.append(
            Table(
                (
                    *("contestant", "evaluator", "mean evalPPL", "median evalPPL"),
                    *(f"mean without texts under {SHORT} characters", "such texts"),
                ),
                tuple(rows),
            ).markdown()
        )
    if results["mauve"]:
        mauve = [(row["contestant"], row["features"], f"{row['score']:.4f}") for row in results["mauve"]]
        parts.append(Table(("contestant", "features", "MAUVE"), tuple(mauve)).markdown())
    if results["arena"]:
        arena = [
            (
                *(row["judge"], row["first"], row["second"], str(row["examples"])),
                *(_share(row["win_rate"]), _share(row["agreement"])),
            )
            for row in results["arena"]
        ]
        columns = ("judge", "first", "second", "examples", "first wins", "same in both orders")
        parts.append(Table(columns, tuple(arena)).markdown())
    if results["agreement"]:
        same = [(row["judge"], row["first"], row["second"], _share(row)) for row in results["agreement"]]
        parts.append(Table(("the critic and", "first", "second", "prefer the same"), tuple(same), names=3).markdown())
    return "\n\n".join(parts)


def over_budgets(judged: Sequence[Row]) -> str:
    """The distance of each model from AR at each budget, and the trend."""
    if not judged:
        return "Nothing is judged yet."
    parts = []
    for evaluator in dict.fromkeys(row["evaluator"] for r in judged for row in r["perplexity"]):
        ratios = _ratios(judged, evaluator)
        columns = ["median evalPPL / AR's", *(label(results["budget"]) for results in judged)]
        rows = [
            (name, *(f"{points[b]:.2f}" if b in points else "–" for b in _budgets(judged)))
            for name, points in ratios.items()
        ]
        if rows:
            parts.append(f"Under {evaluator}:\n\n{Table(tuple(columns), tuple(rows)).markdown()}")
        parts += [f"{name}: {trend(points)}" for name, points in ratios.items() if name.startswith("Reviser")]
    parts += _others_over_budgets(judged)
    return "\n\n".join(parts) or "There is no AR to compare with."


def _others_over_budgets(judged: Sequence[Row]) -> list[str]:
    """MAUVE and arena win rates at each budget."""
    budgets = tuple(label(results["budget"]) for results in judged)
    mauve: dict[tuple[str, ...], dict[int, str]] = {}
    arena: dict[tuple[str, ...], dict[int, str]] = {}
    for results in judged:
        for row in results["mauve"]:
            key = (row["contestant"], row["features"])
            mauve.setdefault(key, {})[results["budget"]] = f"{row['score']:.4f}"
        for met in results["arena"]:
            pair = (met["first"], met["second"], met["judge"])
            arena.setdefault(pair, {})[results["budget"]] = _share(met["win_rate"])
    tables = []
    columns: tuple[str, ...]
    for columns, found in ((("MAUVE", "features"), mauve), (("how often", "wins against", "judge"), arena)):
        rows = tuple((*key, *(values.get(budget, "–") for budget in _budgets(judged))) for key, values in found.items())
        if rows:
            tables.append(Table((*columns, *budgets), rows, names=len(columns)).markdown())
    return tables


def _budgets(judged: Sequence[Row]) -> list[int]:
    return [results["budget"] for results in judged]


def _ratios(judged: Sequence[Row], evaluator: str) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for results in judged:
        values = {row["contestant"]: row["median"] for row in results["perplexity"] if row["evaluator"] == evaluator}
        if values.get("AR"):
            for name, value in values.items():
                if name not in ("AR", REAL) and value:
                    found.setdefault(name, {})[results["budget"]] = value / values["AR"]
    return found


def trend(points: dict[int, float]) -> str:
    """A sentence on the trend of ratios over budgets, with a caution since the points are few."""
    if len(points) < 2:
        return "one budget shows no trend."
    xs = [math.log(budget) for budget in points]
    ys = [math.log(ratio) for ratio in points.values()]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    values = list(points.values())
    rising = [b > a for a, b in pairwise(values)]
    steady = "at every step" if all(rising) or not any(rising) else "but not at every step"
    told = f"with ten times the ids the ratio changes by a factor of {10**slope:.2f}, {steady}"
    if slope >= 0:
        return f"{told}: in this range it does not come nearer to AR."
    crossing = math.exp(mean_x - mean_y / slope)
    return (
        f"{told}. A straight line through these {len(points)} points (in logarithms) "
        f"would meet AR at {crossing:.1e} ids; "
        "that is far outside of what was measured, and no prediction."
        if crossing > 10 * max(points)
        else f"{told}. A straight line through these {len(points)} points (in logarithms) "
        f"meets AR at {crossing:.1e} ids."
    )


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _share(interval: Row | None) -> str:
    if interval is None or interval["share"] is None:
        return "–"
    return f"{interval['share']:.1%} ({interval['low']:.1%} to {interval['high']:.1%})"
