"""The summary of a run: main figures, what is missing, settings and hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.measures.statistics import RunSummary
from benchmarks.protocol.results import REAL, Results
from benchmarks.report.blocks import Facts, Section
from benchmarks.report.figures import rate_with_interval, with_interval
from benchmarks.report.tables import Table
from reviser.core.counts import counted

_Row = TypeVar("_Row", bound=Mapping[str, object])


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


def _find(rows: Sequence[_Row], **wanted: str) -> _Row | None:
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
