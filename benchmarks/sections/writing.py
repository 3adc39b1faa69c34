"""How contestants write: their moves, and where they insert."""

from __future__ import annotations

from benchmarks.measures import statistics
from benchmarks.protocol.results import ContestantFacts, Results
from benchmarks.report import paper_tables
from benchmarks.report.blocks import Block, Plot, Section
from benchmarks.report.figures import GREY, colours_of
from benchmarks.report.plots import Bars, Curve, bars, curves
from reviser.core.vocabulary import MOVES


def writing_section(results: Results) -> Section:
    editors = {entry["name"]: entry for entry in results["contestants"] if entry["statistics"] is not None}
    if not editors:
        return Section("How they write", ())
    colours = colours_of(results)
    table = statistics.table(
        {name: statistics.RunSummary.from_dict(entry["statistics"] or {}) for name, entry in editors.items()}
    )
    note = (
        "All statistics are about the actions after the prompt. A backward revision is a backward move "
        "followed by an insertion before the place it left."
    )
    blocks: list[Block] = [note, table]
    if any(entry["distances"] for entry in editors.values()):
        blocks.append(_distances(editors, colours))
    if any(entry["positions"] for entry in editors.values()):
        blocks.append(_positions(editors, colours))
    return Section("How they write", tuple(blocks))


def _distances(editors: dict[str, ContestantFacts], colours: dict[str, int]) -> Plot:
    sizes = [delta for delta in MOVES if delta > 0]
    series = []
    for name, entry in editors.items():
        counts = {int(delta): count for delta, count in entry["distances"].items()}
        total = sum(counts.values())
        shares = tuple((counts.get(size, 0) + counts.get(-size, 0)) / total if total else None for size in sizes)
        series.append(Bars(name, shares, colour=colours[name]))
    for place, model in enumerate(("100M", "300M")):
        printed = [paper_tables.TRAJECTORIES[f"move_mass_{size}"][place] if size <= 8 else None for size in sizes]
        series.append(Bars(f"paper, {model} (1 to 8)", tuple(printed), quoted=True, colour=GREY - place))
    return Plot(
        "move-distances",
        "Share of the moves by their distance, in either direction",
        bars("Move distances", [str(size) for size in sizes], series, show="{:.0%}".format),
    )


def _positions(editors: dict[str, ContestantFacts], colours: dict[str, int]) -> Plot:
    series = [
        Curve(
            name,
            tuple((when, middle) for when, _, middle, _ in entry["positions"]),
            tuple((when, low, high) for when, low, _, high in entry["positions"]),
            colour=colours[name],
        )
        for name, entry in editors.items()
        if entry["positions"]
    ]
    return Plot(
        "insertion-positions",
        "Where insertions happen, from the prompt (0) to the end (1): median and middle half",
        curves(
            "Insertion positions over time",
            series,
            across="share of the run's actions",
            show_x="{:.0%}".format,
            show_y="{:.1f}".format,
            limits=(0.0, 1.0),
        ),
    )
