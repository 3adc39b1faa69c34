"""The report of a run: one self-contained page and one Markdown file, the paper's figures beside the measured.

Everything comes from the run's folder, so a report can be made again at any time. The paper's rows are
marked as such wherever they stand: other data, other judges, other evaluators.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.protocol.results import Results
from benchmarks.protocol.runs import RunFolder
from benchmarks.report.blocks import Plot, ReportSample, Section
from benchmarks.report.plots import alone
from benchmarks.report.rendering import as_markdown, as_page, sections_markdown
from benchmarks.sections.arena import arena_section
from benchmarks.sections.costs import costs_section
from benchmarks.sections.lengths import lengths_section
from benchmarks.sections.mauve import mauve_section
from benchmarks.sections.perplexity import perplexity_section
from benchmarks.sections.reproduction import reproduction_sections
from benchmarks.sections.samples import samples_of
from benchmarks.sections.summary import missing_section, settings_section, summary_note, summary_table
from benchmarks.sections.writing import writing_section
from reviser.core.files import write_atomically


def write_report(folder: RunFolder) -> None:
    """Put `report.html`, `report.md` and the plots as files into a run's folder."""
    results: Results = folder.read_json("results.json")
    sections = sections_of(results, samples_of(folder, results))
    title = "Continuation benchmark"
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Plot):
                write_atomically(folder.file("plots", f"{block.name}.svg"), alone(block.svg).encode())
    write_atomically(folder.file("report.md"), as_markdown(title, sections).encode())
    write_atomically(folder.file("report.html"), as_page(title, results["provenance"], sections).encode())


def sections_of(results: Results, samples: Sequence[ReportSample] = ()) -> list[Section]:
    """The parts of the report that there is something to say in."""
    parts = [
        Section("Summary", (summary_note(results), summary_table(results))),
        *reproduction_sections(results),
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


def tables_of(results: Results) -> str:
    """All that the report says in words and tables, as Markdown: no plots, no samples."""
    kept = []
    for section in sections_of(results):
        blocks = tuple(block for block in section.blocks if not isinstance(block, Plot | ReportSample))
        if blocks and section.title != "Settings and hardware":
            kept.append(Section(section.title, blocks))
    return sections_markdown(kept)


def summary_text(results: Results) -> str:
    """The summary for a terminal."""
    lines = [summary_note(results), "", summary_table(results).markdown()]
    lines += [f"Not measured: {entry['what']}: {entry['why']}" for entry in results["missing"]]
    return "\n".join(lines).rstrip("\n")
