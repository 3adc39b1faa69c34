"""The sections of a report, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.measures import flops, statistics
from benchmarks.measures.statistics import RunSummary
from benchmarks.protocol.records import Continuation, Prompt, read_records
from benchmarks.protocol.results import REAL, Results, Row
from benchmarks.protocol.runs import RunFolder
from benchmarks.report import paper_tables
from benchmarks.report.rendering import Block, Facts, ReportSample, Section
from benchmarks.report.tables import QUOTED, Table, beside, rate_with_interval, with_digits, with_interval
from reviser.core.counts import counted


def summary_note(results: Results) -> str:
    counts = results["prompts"]
    setup = results["settings"]["setup"]
    prompts = f"{counted(sum(counts.values()), 'prompt')} ({counted(len(counts), 'seed')})"
    return (
        f"{prompts} of {setup['prompt_tokens']} GPT-2 tokens from {Path(setup['data']).name}, to be continued to "
        f"{setup['total_tokens']}. In brackets: 95% intervals."
    )


def summary_table(results: Results) -> Table:
    """One row for each contestant with its main figures."""
    evaluators = list(dict.fromkeys(row["evaluator"] for row in results["perplexity"]))
    features = list(dict.fromkeys(row["features"] for row in results["mauve"]))
    judges = list(dict.fromkeys(row["judge"] for row in results["arena"]))
    first = results["arena"][0]["first"] if judges else ""
    columns = (
        "contestant",
        *(f"evalPPL, {name}" for name in evaluators),
        *(f"bits/byte, {name}" for name in evaluators),
        *(f"MAUVE, {name}" for name in features),
        *(f"{first} wins against it, {name}" for name in judges),
        "tokens",
        "stopped",
        "distinct-2",
        "repeated-4",
        "moves",
        "s/text",
    )
    return Table(
        columns,
        tuple(
            (
                entry["name"],
                *(_perplexity_of(results, entry["name"], name) for name in evaluators),
                *(_bits_of(results, entry["name"], name) for name in evaluators),
                *(_mauve_of(results, entry["name"], name) for name in features),
                *(_wins_against(results, entry["name"], name) for name in judges),
                f"{entry['tokens']:.0f}",
                f"{entry['endings'].get('stop', 0) / entry['texts']:.0%}",
                f"{entry['variety']['distinct_2']:.2f}",
                f"{entry['variety']['repeated_4']:.2f}",
                f"{RunSummary.from_dict(entry['statistics']).value('move_fraction'):.0%}"
                if entry["statistics"]
                else "–",
                f"{entry['seconds']:.2f}" if entry["name"] != REAL else "–",
            )
            for entry in results["contestants"]
        ),
    )


def _find(rows: Sequence[Row], **wanted: str) -> Row | None:
    return next((row for row in rows if wanted.items() <= row.items()), None)


def _perplexity_of(results: Results, contestant: str, evaluator: str) -> str:
    row = _find(results["perplexity"], contestant=contestant, evaluator=evaluator)
    return with_interval(row["mean"], row["interval"]) if row else "–"


def _bits_of(results: Results, contestant: str, evaluator: str) -> str:
    row = _find(results["perplexity"], contestant=contestant, evaluator=evaluator)
    return f"{row['bits_per_byte']:.3f}" if row else "–"


def _mauve_of(results: Results, contestant: str, features: str) -> str:
    row = _find(results["mauve"], contestant=contestant, features=features)
    return f"{row['score']:.4f}" if row else "–"


def _wins_against(results: Results, contestant: str, judge: str) -> str:
    row = _find(results["arena"], second=contestant, judge=judge)
    return rate_with_interval(row["win_rate"]) if row else "–"


def missing_section(results: Results) -> Section:
    rows = tuple((entry["what"], entry["why"]) for entry in results["missing"])
    return Section("Not measured", (Facts(rows),) if rows else ())


def settings_section(results: Results) -> Section:
    settings = results["settings"]
    setup = settings["setup"]
    rows = [(name, str(value)) for name, value in results["provenance"].items()]
    for name in ("models", "evaluators", "judges", "features"):
        rows.append((name, ", ".join(settings[name]) or "none"))
    rows.append(("judges asked both ways", "yes" if settings["both_ways"] else "no"))
    for name, value in setup.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        rows.append((name.replace("_", " "), shown))
    return Section("Settings and hardware", (Facts(tuple(rows)),))


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
    note = (
        "A judge sees the prompt and both continuations, in an order drawn for each example. A tie, or a "
        "contradiction between both orders, counts as half a win. A likelihood judge prefers the "
        "predictable."
    )
    return Section("Arena", (note, table))


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
    note = (
        "Perplexity of the continuation's tokens alone, given the prompt; lower is likelier, which is "
        "not the same as better. Evaluators with different tokenizers compare in bits per byte. "
        "Diffusion-style evaluators give upper bounds."
    )
    return Section("Perplexity", (note, beside(columns, rows, quoted, names=2)))


def _median(row: Row) -> str:
    """The median example's perplexity, with its interval where the run has one."""
    interval = row.get("median_interval")
    return with_interval(row["median"], interval, 2) if interval else with_digits(row["median"], 2)


def _over_seeds(row: Row) -> str:
    if row["seed_spread"] is None:
        return "–"
    means = row["by_seed"].values()
    return f"{with_digits(sum(means) / len(means), 2)} ± {with_digits(row['seed_spread'], 2)}"


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
    note = (
        "How far continuations and the real ones overlap as distributions, each cut to 100 GPT-2 tokens; "
        "higher is closer. Scores with different features or numbers of texts do not compare."
    )
    return Section("MAUVE", (note, beside(columns, rows, quoted, names=2)))


def writing_section(results: Results) -> Section:
    editors = {entry["name"]: entry for entry in results["contestants"] if entry["statistics"] is not None}
    if not editors:
        return Section("How they write", ())
    table = statistics.table(
        {name: statistics.RunSummary.from_dict(entry["statistics"] or {}) for name, entry in editors.items()}
    )
    note = (
        "All statistics are about the actions after the prompt. A backward revision is a backward move "
        "followed by an insertion before the place it left."
    )
    return Section("How they write", (note, table))


def lengths_section(results: Results) -> Section:
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
    return Section("Length and variety", (table,))


def costs_section(results: Results) -> Section:
    measured = {
        entry["name"]: flops.MeasuredCost(**entry["flops"]) for entry in results["contestants"] if entry["flops"]
    }
    steps = results["settings"]["setup"]["diffusion_steps"]
    here = flops.diffusion(flops.REFERENCE, flops.LENGTH, steps) / flops.REFERENCE.autoregressive(flops.LENGTH)
    note = (
        "Multiply-accumulates of matrix products alone, by the paper's formulas. Predicted: its formula at "
        "the measured move fraction and mean length. Counted: the actions that were really taken. With the "
        f"prompt: also what reading it costs both models. SEDD and MDLM in this run, with {steps} steps: {here:.1f} "
        "times."
    )
    table: tuple[Block, ...] = (flops.measured_table(measured),) if measured else ()
    return Section("Cost", (note, *table))


SAMPLES = 6


def samples_of(folder: RunFolder, results: Results) -> list[ReportSample]:
    """All contestants' continuations of the first prompts of the first seed."""
    seed = int(next(iter(results["prompts"])))
    prompts = read_records(folder.file("prompts", f"{seed}.jsonl"), Prompt)[:SAMPLES]
    written: dict[str, dict[str, Continuation]] = {}
    for entry in results["contestants"]:
        made = read_records(folder.file("generations", f"{entry['file']}.jsonl"), Continuation)
        written[entry["name"]] = {one.prompt_id: one for one in made if one.seed == seed}
    viewers = {entry["name"]: entry["viewer"] for entry in results["contestants"]}
    return [
        ReportSample(
            prompt.text,
            tuple(
                (name, texts[prompt.id].continuation, f"{viewers[name]}#{number}" if viewers[name] else None)
                for name, texts in written.items()
            ),
        )
        for number, prompt in enumerate(prompts)
    ]
