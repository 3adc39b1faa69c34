"""How likely evaluators find continuations."""

from __future__ import annotations

from benchmarks.protocol.results import PerplexityRow, Results
from benchmarks.report import paper_tables
from benchmarks.report.blocks import Plot, Section
from benchmarks.report.figures import GREY, QUOTED, beside, colours_of, plain, with_digits, with_interval
from benchmarks.report.plots import Mark, intervals


def perplexity_section(results: Results) -> Section:
    measured = results["perplexity"]
    if not measured:
        return Section("Perplexity", ())
    rows = [
        (
            row["contestant"],
            row["evaluator"],
            with_interval(row["mean"], row["interval"], 2),
            _over_seeds(row),
            _median(row),
            with_digits(row["over_tokens"], 2),
            with_digits(row["median_token"], 2),
            f"{row['bits_per_byte']:.4f}",
            str(row["examples"]),
            str(row["empty"]),
        )
        for row in measured
    ]
    printed = {"GPT-2 Large": 0, "Dream-7B": 1}
    quoted = [
        (f"{name} {QUOTED}", evaluator, f"{values[place]:.4f}", *["–"] * 7)
        for evaluator, place in printed.items()
        for name, values in paper_tables.EVAL_PPL.items()
    ]
    columns = (
        "contestant",
        "evaluator",
        "mean over examples",
        "mean ± deviation of seeds",
        "median example",
        "over tokens",
        "median token",
        "bits/byte",
        "examples",
        "empty",
    )
    colours = colours_of(results)
    marks = [
        Mark(
            f"{row['contestant']}, {row['evaluator']}",
            row["mean"],
            row["interval"][0],
            row["interval"][1],
            colour=colours[row["contestant"]],
        )
        for row in measured
    ]
    marks += [
        Mark(f"{name}, {evaluator}", values[place], quoted=True, colour=GREY)
        for evaluator, place in printed.items()
        for name, values in paper_tables.EVAL_PPL.items()
    ]
    plot = Plot(
        "perplexity",
        "Mean perplexity over examples, on a logarithmic axis; hollow: the paper's",
        intervals("Perplexity of continuations", marks, show=plain, log=True),
    )
    note = (
        "Perplexity of the continuation's tokens alone, given the prompt; lower is likelier, which is "
        "not the same as better. Evaluators with different tokenizers compare in bits per byte. "
        "Diffusion-style evaluators give upper bounds."
    )
    return Section("Perplexity", (note, beside(columns, rows, quoted, names=2), plot))


def _median(row: PerplexityRow) -> str:
    """The median example's perplexity, with its interval where the run has one."""
    interval = row.get("median_interval")
    return with_interval(row["median"], interval, 2) if interval else with_digits(row["median"], 2)


def _over_seeds(row: PerplexityRow) -> str:
    if row["seed_spread"] is None:
        return "–"
    means = row["by_seed"].values()
    return f"{with_digits(sum(means) / len(means), 2)} ± {with_digits(row['seed_spread'], 2)}"
