"""How long and how varied continuations are, and how they end."""

from __future__ import annotations

from benchmarks.protocol.results import Results
from benchmarks.report.blocks import Plot, Section
from benchmarks.report.figures import colours_of
from benchmarks.report.plots import Curve, curves
from benchmarks.report.tables import Table

LENGTH_BIN = 10


def lengths_section(results: Results) -> Section:
    colours = colours_of(results)
    series = []
    for entry in results["contestants"]:
        counts: dict[int, int] = {}
        for length, count in entry["lengths"].items():
            place = int(length) // LENGTH_BIN
            counts[place] = counts.get(place, 0) + count
        # Steps: flat over each bin, and down to nothing at both ends.
        points = [(min(counts) * LENGTH_BIN, 0.0)]
        for place in range(min(counts), max(counts) + 1):
            share = counts.get(place, 0) / entry["texts"]
            points += [(place * LENGTH_BIN, share), ((place + 1) * LENGTH_BIN, share)]
        points.append((points[-1][0], 0.0))
        series.append(Curve(entry["name"], tuple(points), colour=colours[entry["name"]]))
    plot = Plot(
        "lengths",
        f"Length of continuations in the contestants' own tokens, in steps of {LENGTH_BIN}",
        curves("Length of continuations", series, across="tokens", show_x="{:.0f}".format, show_y="{:.0%}".format),
    )
    endings = list(dict.fromkeys(name for entry in results["contestants"] for name in entry["endings"]))
    table = Table(
        (
            "contestant",
            "texts",
            "mean tokens",
            *(f"ended by {name}" for name in endings),
            "distinct-1",
            "distinct-2",
            "distinct-3",
            "distinct-2 overall",
            "repeated-4",
            "looping",
        ),
        tuple(
            (
                entry["name"],
                str(entry["texts"]),
                f"{entry['tokens']:.1f}",
                *(f"{entry['endings'].get(name, 0) / entry['texts']:.1%}" for name in endings),
                *(f"{entry['variety'][f'distinct_{n}']:.3f}" for n in (1, 2, 3)),
                f"{entry['variety']['distinct_2_overall']:.3f}",
                f"{entry['variety']['repeated_4']:.3f}",
                f"{entry['variety']['looping']:.1%}",
            )
            for entry in results["contestants"]
        ),
    )
    return Section("Length and variety", (table, plot))
