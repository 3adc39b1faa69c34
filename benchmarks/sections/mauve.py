"""How near continuations are to the real ones as distributions."""

from __future__ import annotations

from benchmarks.protocol.results import Results
from benchmarks.report import paper_tables
from benchmarks.report.blocks import Plot, Section
from benchmarks.report.figures import GREY, QUOTED, beside, colours_of
from benchmarks.report.plots import Mark, intervals


def mauve_section(results: Results) -> Section:
    measured = results["mauve"]
    if not measured:
        return Section("MAUVE", ())
    rows = [
        (
            row["contestant"],
            row["features"],
            f"{row['score']:.4f}",
            f"{row['spread']:.4f}",
            f"{row['smoothed']:.4f}",
            str(row["texts"]),
            str(row["clusters"]),
        )
        for row in measured
    ]
    quoted = [
        (f"{name} {QUOTED}", "BERT pseudo-log-likelihood", f"{value:.4f}", "–", "–", "3000", "–")
        for name, value in paper_tables.MAUVE.items()
    ]
    columns = ("contestant", "features", "MAUVE", "deviation over clusterings", "smoothed", "texts", "clusters")
    colours = colours_of(results)
    marks = [
        Mark(
            f"{row['contestant']}, {row['features']}",
            row["score"],
            max(0.0, row["score"] - row["spread"]),
            min(1.0, row["score"] + row["spread"]),
            colour=colours[row["contestant"]],
        )
        for row in measured
    ]
    marks += [Mark(name, value, quoted=True, colour=GREY) for name, value in paper_tables.MAUVE.items()]
    plot = Plot(
        "mauve",
        "MAUVE, with the deviation over clusterings; hollow: the paper's",
        intervals("MAUVE", marks, show="{:.2f}".format, limits=(0, 1)),
    )
    note = (
        "How far continuations and the real ones overlap as distributions, each cut to 100 GPT-2 tokens; "
        "higher is closer. Scores with different features or numbers of texts do not compare."
    )
    return Section("MAUVE", (note, beside(columns, rows, quoted, names=2), plot))
