"""What contestants cost, beside an autoregressive model."""

from __future__ import annotations

from benchmarks.measures import flops
from benchmarks.protocol.results import Results
from benchmarks.report.blocks import Block, Plot, Section
from benchmarks.report.figures import GREY, colours_of, plain
from benchmarks.report.plots import Mark, intervals


def costs_section(results: Results) -> Section:
    measured = {
        entry["name"]: flops.MeasuredCost(**entry["flops"]) for entry in results["contestants"] if entry["flops"]
    }
    colours = colours_of(results)
    marks = [Mark(f"{name}, counted", entry.counted, colour=colours[name]) for name, entry in measured.items()]
    marks += [
        Mark(f"{figure.method}, {figure.variant}", figure.multiplier, quoted=True, colour=GREY)
        for figure in flops.figures()
        if figure.multiplier != 1 or figure.method == "AR"
    ]
    steps = results["settings"]["setup"]["diffusion_steps"]
    here = flops.diffusion(flops.REFERENCE, flops.LENGTH, steps)
    marks.append(
        Mark(
            f"SEDD and MDLM in this run, T_dec={steps}",
            here / flops.REFERENCE.autoregressive(flops.LENGTH),
            colour=GREY,
        )
    )
    plot = Plot(
        "flops",
        "Inference cost as a multiple of an autoregressive model's, logarithmic; hollow: the paper's",
        intervals("Inference cost", marks, show=plain, log=True, at=1.0),
    )
    note = (
        "Multiply-accumulates of matrix products alone, by the paper's formulas. Predicted: its formula at "
        "the measured move fraction and mean length. Counted: the actions that were really taken. With the "
        "prompt: also what reading it costs both models."
    )
    table: tuple[Block, ...] = (flops.measured_table(measured),) if measured else ()
    return Section("Cost", (note, *table, plot))
