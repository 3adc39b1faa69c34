"""The results of the everyday benchmark as Markdown, and as an HTML page with all texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.everyday.contest import ContestResult, ContestRun
from benchmarks.everyday.prompts import Opening
from benchmarks.measures.arena import ShareInterval
from benchmarks.report.rendering import Block, ReportSample, Section, as_page
from benchmarks.report.tables import Table

TITLE = "Everyday prompts"
NOTES = (
    "All runs go on from the same openings with the same seeds. In brackets: 95 % Wilson intervals. Perplexity is that "
    "of the continuation under the reader. Repeated: the share of 4-grams that occurred before. Steps back: runs that "
    "insert before what they wrote. Broken: runs with at least one broken join; by chance: as many as if all joins "
    "were random places of real text. Undivided: the critic's answers and its reading prefer the same one."
)
_CARET = "\u2038"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _interval(value: ShareInterval | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value.share:.1f} % ({100 * value.low:.1f} to {100 * value.high:.1f})"


def figures_table(outcome: ContestResult) -> Table:
    """A row for each contestant."""
    columns = (
        "contestant",
        "runs",
        "tokens",
        "perplexity",
        "repeated",
        "looping",
        "stopped",
        "moves",
        "steps back",
        "joins",
        "broken joins",
        "broken runs",
        "by chance",
    )
    rows = tuple(
        (
            entry.contestant,
            str(entry.runs),
            f"{entry.tokens:.0f}",
            f"{entry.perplexity:.1f}",
            _percent(entry.repeated_4),
            _percent(entry.looping),
            _percent(entry.stopped),
            _percent(entry.moves),
            _percent(entry.steps_back),
            str(entry.joins),
            str(entry.broken_joins),
            _interval(entry.broken_runs),
            _percent(entry.broken_by_chance),
        )
        for entry in outcome.figures
    )
    return Table(columns, rows)


def standings_table(outcome: ContestResult) -> Table | None:
    """The critic's preferences over all openings; None without a critic."""
    if not outcome.standings:
        return None
    columns = ("first", "second", "first is preferred", "wins", "ties", "losses", "undivided")
    rows = tuple(
        (
            entry.first,
            entry.second,
            _interval(entry.win_rate),
            str(entry.wins),
            str(entry.ties),
            str(entry.losses),
            _interval(entry.agreement),
        )
        for entry in outcome.standings
    )
    return Table(columns, rows, names=2)


def kinds_table(outcome: ContestResult) -> Table | None:
    """The critic's preferences by kind of opening; None without a critic."""
    if not outcome.standings:
        return None
    kinds = list(outcome.standings[0].by_kind)
    columns = ("kind", *(f"{entry.first} before {entry.second}" for entry in outcome.standings))
    rows = tuple((kind, *(_interval(entry.by_kind[kind]) for entry in outcome.standings)) for kind in kinds)
    return Table(columns, rows)


def tables(outcome: ContestResult) -> list[tuple[str, Table]]:
    """All tables with their titles."""
    found = [
        ("What was written", figures_table(outcome)),
        ("What the critic prefers", standings_table(outcome)),
        ("What the critic prefers, by kind", kinds_table(outcome)),
    ]
    return [(title, table) for title, table in found if table is not None]


def markdown(outcome: ContestResult, facts: Mapping[str, str]) -> str:
    """The results file: provenance and all figures."""
    head = "".join(f"- {name}: {value}\n" for name, value in facts.items())
    parts = "".join(f"## {title}\n\n{table.markdown()}\n" for title, table in tables(outcome))
    return f"# {TITLE}\n\n{head}\n{NOTES}\n\n{parts}".rstrip("\n") + "\n"


def marked(run: ContestRun, given: int) -> str:
    """A continuation with one caret at each join and two at a broken one; `given` characters precede it in the text."""
    pieces, at = [], 0
    for join in run.joins:
        place = max(join.at - given, 0)
        pieces += [run.text[at:place], _CARET * (2 if join.broken else 1)]
        at = place
    return "".join(pieces) + run.text[at:]


def page(outcome: ContestResult, openings: Sequence[Opening], facts: Mapping[str, str]) -> str:
    """One self-contained HTML page: the tables, then every opening with all its continuations."""
    sections = [
        Section(title, (*((NOTES,) if not at else ()), table)) for at, (title, table) in enumerate(tables(outcome))
    ]
    for kind in dict.fromkeys(opening.kind for opening in openings):
        blocks = [block for opening in openings if opening.kind == kind for block in _opening(opening, outcome)]
        sections.append(Section(kind, tuple(blocks)))
    return as_page(TITLE, facts, sections)


def _opening(opening: Opening, outcome: ContestResult) -> Iterator[Block]:
    texts = [
        (f"{run.contestant}, seed {run.seed}, {run.ending}, {run.moves} moves, {len(run.joins)} joins", run)
        for run in outcome.runs
        if run.opening == opening.id
    ]
    yield ReportSample(opening.text, tuple((told, marked(run, len(opening.text)), None) for told, run in texts))
    for verdict in outcome.verdicts:
        if verdict.opening == opening.id:
            preferred = {1.0: verdict.first, 0.0: verdict.second}.get(verdict.preference.points)
            said = f"prefers {preferred}" if preferred else "sees a tie"
            yield f"{opening.id}, seed {verdict.seed}, {verdict.first} or {verdict.second}: the critic {said}"
