"""Which of two continuations judges prefer."""

from __future__ import annotations

from benchmarks.protocol.results import Results
from benchmarks.report import paper_tables
from benchmarks.report.blocks import Plot, Section
from benchmarks.report.figures import GREY, QUOTED, beside, colours_of, rate_with_interval
from benchmarks.report.plots import Mark, intervals


def arena_section(results: Results) -> Section:
    measured = results["arena"]
    if not measured:
        return Section("Arena", ())
    rows = [
        (
            row["first"],
            row["second"],
            row["judge"],
            rate_with_interval(row["win_rate"]),
            f"{row['wins']} / {row['losses']} / {row['ties']}",
            f"{row['invalid']} of {row['asked']}",
            rate_with_interval(row["shown_first"]),
            rate_with_interval(row["agreement"]) if row["agreement"] else "–",
        )
        for row in measured
    ]
    quoted = [
        (
            f"{entry.reviser} {QUOTED}",
            entry.baseline,
            "Skywork-Critic-8B",
            f"{entry.reviser_wins:.2f}".rstrip("0").rstrip(".") + "%",
            *["–"] * 4,
        )
        for entry in paper_tables.ARENAS
    ]
    columns = (
        "contestant",
        "against",
        "judge",
        "win rate",
        "wins / losses / ties",
        "invalid",
        "for the one shown first",
        "same both ways",
    )
    table = beside(columns, rows, quoted, names=3)
    colours = colours_of(results)
    marks = [
        Mark(
            f"{row['first']} against {row['second']}",
            rate["share"],
            rate["low"],
            rate["high"],
            colour=colours[row["second"]],
        )
        for row in measured
        if (rate := row["win_rate"])["share"] is not None
    ]
    marks += [
        Mark(f"{entry.reviser} against {entry.baseline}", entry.reviser_wins / 100, quoted=True, colour=GREY)
        for entry in paper_tables.ARENAS
    ]
    plot = Plot(
        "win-rates",
        "Win rates with Wilson intervals; hollow: the paper's",
        intervals("Win rates", marks, show="{:.0%}".format, limits=(0, 1), at=0.5),
    )
    note = (
        "A judge sees the prompt and both continuations, in an order drawn for each example. A tie, or a "
        "contradiction between both orders, counts as half a win. A likelihood judge prefers the "
        "predictable."
    )
    return Section("Arena", (note, table, plot))
