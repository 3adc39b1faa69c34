"""The results of the proofreading benchmark as tables, Markdown, and a self-contained HTML page with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.proofreading.examples import EXPLAINED
from benchmarks.proofreading.measure import CorrectorResult
from benchmarks.proofreading.scores import Interval
from benchmarks.report.provenance import provenance
from benchmarks.report.rendering import ReportSample, Section, as_page
from benchmarks.report.tables import Table

TITLE = "Proofreading"
NOTES = (
    "In hundredths; in brackets the middle 95 % of 1000 resamplings of the sentences. GLEU is JFLEG's, F0.5 is "
    "MaxMatch on CoNLL-2014 and ERRANT on BEA-2019, and changes of words on sets of one's own. Left alone: finished "
    "sentences that were not changed."
)
NOT_TO_BE_PASSED_ON = (
    "The sentences of the public sets are here to be looked at; their licences do not let you pass this page on."
)


def scores_table(results: Sequence[CorrectorResult]) -> Table:
    """A row for each corrector on each set."""
    rows = []
    for result in results:
        f = result.f
        figures = (
            result.gleu,
            f.f if f else None,
            f.precision if f else None,
            f.recall if f else None,
            result.left_alone,
        )
        rows.append((result.set, result.corrector, *map(_percent, figures)))
    columns = ("set", "corrector", "GLEU", "F0.5", "precision", "recall", "left alone")
    return Table(columns, tuple(rows), names=2)


def _percent(value: Interval | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value.value:.1f} ({100 * value.low:.1f} to {100 * value.high:.1f})"


def kinds_tables(results: Sequence[CorrectorResult]) -> dict[str, Table]:
    """For each set: the share of each kind of mistakes that each corrector corrected."""
    by_set: dict[str, list[CorrectorResult]] = {}
    for result in results:
        if result.kinds:
            by_set.setdefault(result.set, []).append(result)
    return {name: _kinds_table(of_set) for name, of_set in by_set.items()}


def _kinds_table(results: Sequence[CorrectorResult]) -> Table:
    found = [{entry.kind: entry for entry in result.kinds.kinds} for result in results if result.kinds]
    rows = tuple(
        (kind, str(entry.wanted), *(f"{100 * kinds[kind].right / kinds[kind].wanted:.0f}" for kinds in found))
        for kind, entry in found[0].items()
    )
    columns = ("kind", "mistakes", *(result.corrector for result in results))
    return Table(columns, rows)


def summary(results: Sequence[CorrectorResult]) -> str:
    """The text printed in the terminal: scores, kinds, and what could not be measured."""
    parts = [scores_table(results).markdown()]
    parts += [
        f"Recall by kind of mistake, {name} (in hundredths):\n\n{table.markdown()}"
        for name, table in kinds_tables(results).items()
    ]
    return "\n".join(parts)


def markdown(results: Sequence[CorrectorResult], command: str) -> str:
    """The results file: provenance and all figures; no sentence of any set."""
    return f"# {TITLE}\n\n{provenance(command)}\n{NOTES}\n\n{summary(results)}"


def page(results: Sequence[CorrectorResult], facts: Mapping[str, str]) -> str:
    """The HTML page: all figures, and examples of each corrector on each set."""
    sections = [Section("Scores", (NOTES, scores_table(results)))]
    for name, table in kinds_tables(results).items():
        sections.append(Section(f"Recall by kind: {name}", ("In hundredths.", table)))
    for result in results:
        blocks: list[str | ReportSample] = [NOT_TO_BE_PASSED_ON]
        for verdict, several in result.examples.items():
            if several:
                blocks.append(f"{verdict.capitalize()}: {EXPLAINED[verdict]}.")
            for example in several:
                texts = ((result.corrector, example.made, None), ("a person", example.wanted, None))
                blocks.append(ReportSample(example.source, texts))
        if len(blocks) > 1:
            sections.append(Section(f"{result.corrector} on {result.set}", tuple(blocks)))
    return as_page(TITLE, facts, sections)
