"""The command that measures programs that proofread: arguments, the sets' licences, and files of results."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.proofreading import sets
from benchmarks.proofreading.correctors import NAMES, check_name
from benchmarks.proofreading.measure import FINISHED, Result, measured, measured_kinds
from benchmarks.proofreading.mistakes import MistakeSet, read_mistakes
from benchmarks.proofreading.page import markdown, page, summary
from benchmarks.proofreading.sets import ProofSet
from benchmarks.report.provenance import surroundings
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically


def _arguments(given: Sequence[str] | None, prog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=prog, description="Measure programs that proofread.", allow_abbrev=False
    )
    parser.add_argument("--sets", help=f"with commas between; by default {','.join(sets.SETS)}")
    parser.add_argument(
        "--correctors",
        help=f"with commas between: {', '.join(NAMES)}, model:NAME=MODEL, or file:NAME=PATH for lines made elsewhere",
    )
    parser.add_argument(
        "--kinds", type=Path, metavar="FILE", help="JSON lines: before, after, kind"
    )
    parser.add_argument("--limit", type=int, help="only the first sentences of each set")
    parser.add_argument("--examples", type=int, default=5, help="examples of each sort on the page")
    parser.add_argument("--yes", action="store_true", help="accept the licences of the sets")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for .md, .json and .html")
    parser.add_argument(
        "--plain-sources", type=Path, metavar="DIR", help="write the plain sentences, and no more"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, prog: str = "reviser bench proofreading") -> int:
    """Measure as the arguments say; 1 if something that was asked for is missing, 2 for a mistake."""
    arguments = _arguments(given, prog)
    command = shlex.join([*prog.split(), *(sys.argv[1:] if given is None else given)])
    try:
        return _run(arguments, command)
    except ReviserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace, command: str) -> int:
    correctors = arguments.correctors.split(",") if arguments.correctors else list(NAMES)
    for name in correctors:
        check_name(name)
    if arguments.limit is not None and arguments.limit < 1:
        raise ReviserError("--limit must be at least 1")
    chosen = _chosen_sets(arguments)
    if arguments.plain_sources:
        write_plain(chosen, arguments.plain_sources)
        return 0
    results = []
    for set in chosen:
        for name in correctors:
            print(f"{set.name}: {name}", file=sys.stderr)
            shown = arguments.examples
            results.append(
                measured_kinds(set, name, shown)
                if isinstance(set, MistakeSet)
                else measured(set, name, shown)
            )
    _tell(results, arguments, command)
    return int(bool(arguments.correctors) and any(result.missing for result in results))


def _chosen_sets(arguments: argparse.Namespace) -> list[ProofSet | MistakeSet]:
    own = [read_mistakes(arguments.kinds)] if arguments.kinds else []
    # With a set of one's own, the public ones are measured only if they are named.
    names = arguments.sets.split(",") if arguments.sets else [] if own else list(sets.SETS)
    for name in names:
        sets.check_name(name)
    if names:
        get_sets(agreed=arguments.yes)
    public = [sets.read_set(name) for name in names]
    limit = arguments.limit
    return [
        *(replace(set, sentences=set.sentences[:limit]) for set in public),
        *(replace(set, passages=set.passages[:limit]) for set in own),
    ]


def get_sets(*, agreed: bool) -> None:
    """Fetch the sets, once the user has agreed to their licences."""
    if sets.are_here():
        return
    if not agreed:
        print(sets.LICENCE, file=sys.stderr)
        if not sys.stdin.isatty():
            raise ReviserError("the public sets are not here yet; --yes accepts their licences")
        if input("Fetch them (30 MB) for that? [y/N] ").strip().lower() not in ("y", "yes"):
            raise ReviserError("nothing was fetched")
    sets.fetch()


def write_plain(chosen: Sequence[ProofSet | MistakeSet], folder: Path) -> None:
    """The sentences as plain text, one on each line: SET.txt, and SET-refs.txt with finished ones."""
    _make(folder)
    for set in chosen:
        _write_lines(folder / f"{set.name}.txt", set.sources)
        if isinstance(set, ProofSet) and set.score == "errant":
            _write_lines(folder / f"{set.name}-{FINISHED}.txt", set.finished)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReviserError(f"{folder} cannot be made: {error.strerror}") from None


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def _tell(results: Sequence[Result], arguments: argparse.Namespace, command: str) -> None:
    facts = {"Command": command, **surroundings()}
    as_json = json.dumps(
        {"provenance": facts, "results": [_figures(result) for result in results]},
        ensure_ascii=False,
        indent=1,
    )
    print(as_json if arguments.json else summary(results), end="\n" if arguments.json else "")
    for result in results:
        if result.missing:
            print(f"{result.set}, {result.corrector}: {result.missing}", file=sys.stderr)
    if arguments.out:
        _make(arguments.out)
        for ending, text in (
            ("json", f"{as_json}\n"),
            ("md", markdown(results, command)),
            ("html", page(results, facts)),
        ):
            write_atomically(arguments.out / f"proofreading.{ending}", text.encode())
        print(f"page: {arguments.out / 'proofreading.html'}", file=sys.stderr)


def _figures(result: Result) -> dict[str, Any]:
    """A result as JSON has it: no sentence of any set."""
    return {key: value for key, value in asdict(result).items() if key != "examples"}
