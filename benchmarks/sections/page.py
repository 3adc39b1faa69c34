"""The report of a run: one self-contained page and one Markdown file, the paper's figures beside the measured.

Everything is read from the run's folder, so a report can be made again at any time. The paper's rows are marked,
because they have other data, judges and evaluators.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.protocol.results import Results
from benchmarks.protocol.runs import RunFolder
from benchmarks.report.rendering import ReportSample, Section, as_markdown, as_page
from benchmarks.sections.parts import (
    arena_section,
    costs_section,
    lengths_section,
    mauve_section,
    missing_section,
    perplexity_section,
    samples_of,
    settings_section,
    summary_note,
    summary_table,
    writing_section,
)
from reviser.cli.options import Argument, Option
from reviser.core.files import write_atomically


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of `report`: the run."""

    folder: Annotated[Path, Argument("the folder of a run")]
    json: Annotated[bool, Option("print JSON")] = False


def run(options: ReportOptions) -> None:
    """Writes the report of a run again."""
    found = RunFolder.existing(options.folder)
    write_report(found)
    if options.json:
        print(json.dumps(found.read_json("results.json"), ensure_ascii=False))
    else:
        print(f"wrote {options.folder / 'report.html'} and {options.folder / 'report.md'}", file=sys.stderr)


def write_report(folder: RunFolder) -> None:
    """Writes `report.html` and `report.md` to a run's folder."""
    results: Results = folder.read_json("results.json")
    sections = sections_of(results, samples_of(folder, results))
    title = "Continuation benchmark"
    write_atomically(folder.file("report.md"), as_markdown(title, sections).encode())
    write_atomically(folder.file("report.html"), as_page(title, results["provenance"], sections).encode())


def sections_of(results: Results, samples: Sequence[ReportSample] = ()) -> list[Section]:
    """The sections of the report that have results."""
    parts = [
        Section("Summary", (summary_note(results), summary_table(results))),
        missing_section(results),
        arena_section(results),
        perplexity_section(results),
        mauve_section(results),
        writing_section(results),
        lengths_section(results),
        costs_section(results),
        Section("Samples", tuple(samples)),
        settings_section(results),
    ]
    return [part for part in parts if part.blocks]


def summary_text(results: Results) -> str:
    """The summary for a terminal."""
    lines = [summary_note(results), "", summary_table(results).markdown()]
    lines += [f"Not measured: {entry['what']}: {entry['why']}" for entry in results["missing"]]
    return "\n".join(lines).rstrip("\n")
