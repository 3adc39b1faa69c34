"""Findings in documentation that a reader has judged, as tables by reading and by kind.

    python -m benchmarks findings docs/results/findings.jsonl [--write PAGE]

The file has a finding a line, in JSON: `reading`, `project`, `file`, `line`, `kind`, `confidence`, `before`, `old`,
`new`, `after`, and the reader's `verdict`: right if a careful editor of that documentation would make the change, taste
if both ways of writing are good English, wrong otherwise. `name` is true if a name was respelt.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from benchmarks.report.provenance import write_page
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, read_utf8

VERDICTS: Final = ("right", "taste", "wrong")
_KEYS: Final = frozenset(("reading", "project", "kind", "old", "new", "verdict", "name"))


@dataclass(frozen=True, kw_only=True)
class FindingsOptions:
    """Options of the command: the judged findings, and the page."""

    judged: Annotated[Path, Argument("findings with verdicts, in JSON lines", metavar="FILE")]
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def run(chosen: FindingsOptions) -> None:
    """Prints the tables, and writes them to a page."""
    if chosen.write:
        check_output(chosen.write)
    findings = read_findings(chosen.judged)
    text = tables(findings)
    print(text, end="")
    if chosen.write:
        command = f"python -m benchmarks findings {shlex.join(chosen.words)}"
        write_page(chosen.write, "Findings in documentation that nobody had looked at", command, text)


def read_findings(path: Path) -> list[dict[str, Any]]:
    """The judged findings in a file; raises `ReviserError` for a line that is none."""
    found = []
    for number, line in enumerate(read_utf8(path).splitlines(), 1):
        try:
            one = json.loads(line)
        except ValueError:
            one = None
        if not isinstance(one, dict) or not one.keys() >= _KEYS or one["verdict"] not in VERDICTS:
            raise ReviserError(f"{path}, line {number}: this is no finding with a verdict")
        found.append(one)
    return found


def tables(findings: Sequence[dict[str, Any]]) -> str:
    """The counts of verdicts by reading and by kind."""
    projects = len({one["project"] for one in findings})
    names = sum(one["name"] for one in findings)
    by_reading = _table("reading", findings)
    told = f"{len(findings)} findings in {projects} projects; {names} of them respell a name."
    return f"{by_reading}\n{told}\n\n{_table('kind', findings)}"


def _table(column: str, findings: Sequence[dict[str, Any]]) -> str:
    counts = Counter((one[column], one["verdict"]) for one in findings)
    totals = Counter(one[column] for one in findings)
    rows = [_row(name, [counts[name, verdict] for verdict in VERDICTS]) for name, _ in totals.most_common()]
    all_of = Counter(one["verdict"] for one in findings)
    rows.append(_row("all", [all_of[verdict] for verdict in VERDICTS]))
    return Table((column, "found", *VERDICTS, "right, %"), tuple(rows)).markdown()


def _row(name: str, counts: Sequence[int]) -> tuple[str, ...]:
    total = sum(counts)
    share = f"{100 * counts[0] / total:.0f}" if total else ""
    return (name, str(total), *map(str, counts), share)
