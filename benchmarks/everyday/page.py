"""The everyday benchmark's results: Markdown, and a page on which a person can read the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from benchmarks.everyday.contest import ContestRun, CriticVerdict, Outcome
from benchmarks.everyday.prompts import Opening
from benchmarks.measures.arena import ShareInterval
from benchmarks.report.tables import Table

TITLE = "Everyday prompts"
NOTES = (
    "All runs go on from the same openings with the same seeds. In brackets: 95 % Wilson intervals. Perplexity is that "
    "of the continuation under the reader. Repeated: the share of 4-grams that occurred before. Steps back: runs that "
    "insert before what they wrote. Broken: runs with at least one broken join; by chance: as many as if all joins were "
    "random places of real text. Undivided: the critic's answers and its reading prefer the same one."
)
_STYLE = """
.opening { color: var(--muted, #666); white-space: pre-wrap; }
.run { white-space: pre-wrap; border-left: 3px solid #bbb; padding-left: .8em; margin: .6em 0; }
.run.broken { border-color: #c33; }
mark { background: #cfe8ff; color: inherit; padding: 0 .1em; }
mark.broken { background: #f8b4b4; }
mark.place::before { content: "\\2038"; }
.facts { font-size: .85em; color: #666; margin: 0; }
"""


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _interval(value: ShareInterval | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value.share:.1f} % ({100 * value.low:.1f} to {100 * value.high:.1f})"


def figures_table(outcome: Outcome) -> Table:
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


def standings_table(outcome: Outcome) -> Table | None:
    """Whom the critic prefers, over all openings; None where none was asked."""
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


def kinds_table(outcome: Outcome) -> Table | None:
    """The same by kind of opening."""
    if not outcome.standings:
        return None
    kinds = list(outcome.standings[0].by_kind)
    columns = ("kind", *(f"{entry.first} before {entry.second}" for entry in outcome.standings))
    rows = tuple((kind, *(_interval(entry.by_kind[kind]) for entry in outcome.standings)) for kind in kinds)
    return Table(columns, rows)


def tables(outcome: Outcome) -> list[tuple[str, Table]]:
    """All tables with their titles."""
    found = [
        ("What was written", figures_table(outcome)),
        ("What the critic prefers", standings_table(outcome)),
        ("What the critic prefers, by kind", kinds_table(outcome)),
    ]
    return [(title, table) for title, table in found if table is not None]


def markdown(outcome: Outcome, facts: Mapping[str, str]) -> str:
    """The results file: how it came about, and all figures."""
    head = "".join(f"- {name}: {value}\n" for name, value in facts.items())
    parts = "".join(f"## {title}\n\n{table.markdown()}\n" for title, table in tables(outcome))
    return f"# {TITLE}\n\n{head}\n{NOTES}\n\n{parts}".rstrip("\n") + "\n"


def marked(run: ContestRun, given: int) -> str:
    """A continuation as HTML, with a mark at each join; `given` characters of opening come before it."""
    pieces, at = [], 0
    for join in run.joins:
        place = max(join.at - given, 0)
        pieces.append(escape(run.text[at:place]))
        kind = "place broken" if join.broken else "place"
        value = "–" if join.strangeness is None else f"{join.strangeness:.2f}"
        pieces.append(f'<mark class="{kind}" title="{join.kind}, strangeness {value}"></mark>')
        at = place
    return "".join(pieces) + escape(run.text[at:])


def page(outcome: Outcome, openings: Sequence[Opening], facts: Mapping[str, str]) -> str:
    """One self-contained page: the tables, then every opening with all that was written after it."""
    sections = [
        f'<section id="t{number}"><h2>{escape(title)}</h2>'
        f"{f'<p>{escape(NOTES)}</p>' if not number else ''}"
        f'<div class="scroll">{table.html()}</div></section>\n'
        for number, (title, table) in enumerate(tables(outcome))
    ]
    kinds = list(dict.fromkeys(opening.kind for opening in openings))
    for kind in kinds:
        shown = "".join(_opening_html(opening, outcome) for opening in openings if opening.kind == kind)
        sections.append(f'<section id="{kind}"><h2>{kind}</h2>\n{shown}</section>\n')
    root = resources.files("benchmarks.report")
    return Template(root.joinpath("page.html").read_text("utf-8")).substitute(
        title=escape(TITLE),
        style=root.joinpath("page.css").read_text("utf-8") + _STYLE,
        lead="".join(f"<p class=facts>{escape(k)}: {escape(v)}</p>" for k, v in facts.items()),
        contents="".join(f'<a href="#{kind}">{kind}</a>' for kind in kinds),
        body="".join(sections),
    )


def _opening_html(opening: Opening, outcome: Outcome) -> str:
    runs = [run for run in outcome.runs if run.opening == opening.id]
    verdicts = [verdict for verdict in outcome.verdicts if verdict.opening == opening.id]
    body = "".join(_run_html(run, len(opening.text)) for run in runs)
    said = "".join(f"<li>{escape(_said(verdict))}</li>" for verdict in verdicts)
    return (
        f'<article><h3>{opening.id}</h3><div class="opening">{escape(opening.text)}</div>\n'
        f"{body}{f'<ul class=facts>{said}</ul>' if said else ''}</article>\n"
    )


def _run_html(run: ContestRun, given: int) -> str:
    kind = "run broken" if run.broken else "run"
    facts = f"{run.contestant}, seed {run.seed}, {run.ending}, {run.moves} moves, {len(run.joins)} joins"
    return f'<p class="facts">{escape(facts)}</p><div class="{kind}">{marked(run, given)}</div>\n'


def _said(verdict: CriticVerdict) -> str:
    preferred = {1.0: verdict.first, 0.0: verdict.second}.get(verdict.preference.points)
    said = f"prefers {preferred}" if preferred else "sees a tie"
    return f"seed {verdict.seed}, {verdict.first} or {verdict.second}: the critic {said}"
