"""How the models of a reproduction were trained, and which of the paper's rankings hold for them."""

from __future__ import annotations

from typing import cast

from benchmarks.protocol.results import Rate, Results, SettingsFacts
from benchmarks.report.blocks import Section
from benchmarks.report.figures import plain, rate_with_interval
from benchmarks.report.tables import Table

_HOLDS = {True: "holds", False: "does not hold", None: "open"}


def reproduction_sections(results: Results) -> list[Section]:
    """How the models of a reproduction were trained, and which of the paper's rankings hold for them."""
    made = results.get("reproduction") or {}
    training = Table(
        ("model", "steps", "million ids", "loss at the end", "weights, MB", "thousand ids/s", "seconds"),
        tuple(
            (
                name,
                f"{entry['steps']:,}",
                f"{entry['ids'] / 1e6:.1f}",
                f"{entry['loss']:.3f}",
                f"{entry['weights_mb']:.0f}",
                f"{entry['ids_per_s'] / 1e3:.1f}",
                f"{entry['seconds']:.0f}",
            )
            for name, entry in made.get("training", {}).items()
        ),
    )
    rankings = Table(
        ("measure", "the paper's ranking", "measured", "here"),
        tuple(
            (entry["measure"], entry["claim"], _as_measured(entry["measured"]), _HOLDS[entry["holds"]])
            for entry in made.get("findings", ())
        ),
        names=2,
    )
    found = [entry["holds"] for entry in made.get("findings", ())]
    recipes = {_recipe(entry["settings"]) for entry in made.get("training", {}).values()}
    trained = (
        f"{'; '.join(sorted(recipes))}. All models have the same layers, width, heads and MLP and saw the same texts, the same number of ids "
        "and the same schedule. Losses are in nats for each id: of the next one (AR), of the next action "
        "(Reviser), and bounds (SEDD, MDLM), so they do not compare. Seconds are with compiling and saving."
    )
    ranked = (
        "How the paper ranks its smaller models, under each judge, evaluator and kind of features here: of "
        f"{len(found)} comparisons {found.count(True)} hold, {found.count(False)} do not and {found.count(None)} are "
        "open. One holds if the 95% intervals agree with it, does not if they contradict it, and is open if they "
        "overlap. An evaluator that is one of the models finds its own texts likely. A mean perplexity can be the work "
        "of a few texts, very short ones above all; the median is not."
    )
    parts = (
        Section("Training", (trained, training) if training.rows else ()),
        Section("The paper's rankings", (ranked, rankings) if rankings.rows else ()),
    )
    return [part for part in parts if part.blocks]


def _recipe(settings: SettingsFacts) -> str:
    rows = settings["rows"] * settings["accumulate"]
    return (
        f"{settings['model']}, {rows} rows of {settings['row_length']} ids a step, learning rate "
        f"{settings['peak_rate']:g} to {settings['final_rate']:g}, seed {settings['seed']}"
    )


def _as_measured(values: Rate | dict[str, float | None]) -> str:
    if "share" in values:
        return rate_with_interval(cast(Rate, values))
    return ", ".join(f"{name} {'–' if value is None else plain(value)}" for name, value in values.items())
