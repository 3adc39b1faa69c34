"""`python -m benchmarks.proofreading`: measure programs that proofread, on public sets of learners' sentences."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.proofreading import sets
from benchmarks.proofreading.correctors import (
    PROGRAMS,
    NotInstalled,
    check_name,
    corrector,
    shown_name,
)
from benchmarks.proofreading.errant_score import ErrantMissing
from benchmarks.proofreading.measure import FINISHED, Result, corrected_by, left_alone, score
from benchmarks.proofreading.scores import Interval
from benchmarks.proofreading.sets import ProofSet
from benchmarks.tables import Table
from reviser.errors import ReviserError
from reviser.files import write_atomically


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proofreading", description=__doc__)
    parser.add_argument("--sets", default=",".join(sets.SETS), help="names, with commas between")
    parser.add_argument(
        "--correctors",
        default=",".join(PROGRAMS),
        help="names, with commas between; file:NAME=PATH for lines made elsewhere, in a file or SET.txt files",
    )
    parser.add_argument("--yes", action="store_true", help="accept the licences of the sets")
    parser.add_argument("--out", type=Path, help="folder for proofreading.md and .json")
    parser.add_argument(
        "--plain-sources",
        type=Path,
        metavar="DIR",
        help="write the plain sentences, and do no more",
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    arguments = _arguments(given)
    try:
        _run(arguments)
    except ReviserError as error:
        print(f"proofreading: {error}", file=sys.stderr)
        return 2
    return 0


def _run(arguments: argparse.Namespace) -> None:
    names = arguments.sets.split(",")
    correctors = arguments.correctors.split(",")
    for name in correctors:
        check_name(name)
    get_sets(agreed=arguments.yes)
    chosen = [sets.read_set(name) for name in names]
    if arguments.plain_sources:
        write_plain(chosen, arguments.plain_sources)
        return
    results = [measured(set, name) for set in chosen for name in correctors]
    text = table(results).markdown()
    print(text, end="")
    for result in results:
        if result.missing:
            print(f"{result.corrector}, {result.set}: {result.missing}", file=sys.stderr)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        found = json.dumps([asdict(result) for result in results], indent=1)
        write_atomically(arguments.out / "proofreading.json", f"{found}\n".encode())
        write_atomically(arguments.out / "proofreading.md", text.encode())


def get_sets(*, agreed: bool) -> None:
    """Fetch the sets, once the user has agreed to their licences."""
    if sets.are_here():
        return
    if not agreed:
        print(sets.LICENCE, file=sys.stderr)
        if not sys.stdin.isatty():
            raise ReviserError("the sets are not here yet; --yes accepts their licences")
        if input("Fetch them (30 MB) for that? [y/N] ").strip().lower() not in ("y", "yes"):
            raise ReviserError("nothing was fetched")
    sets.fetch()


def write_plain(chosen: Sequence[ProofSet], folder: Path) -> None:
    """The sentences as plain text, one on each line: SET.txt, and SET-refs.txt with finished ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for set in chosen:
        _write_lines(folder / f"{set.name}.txt", set.sources)
        if set.score == "errant":
            _write_lines(folder / f"{set.name}-{FINISHED}.txt", set.finished)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def measured(set: ProofSet, name: str) -> Result:
    """A corrector's result on a set; where that cannot be had, the reason."""
    try:
        result = score(set, corrected_by(corrector(name, set.name), set.sources), shown_name(name))
    except (NotInstalled, ErrantMissing) as error:
        return Result(set.name, shown_name(name), missing=str(error))
    if set.score != "errant":
        return result
    try:
        made = corrected_by(corrector(name, f"{set.name}-{FINISHED}"), set.finished)
    except NotInstalled as error:
        return replace(result, missing=str(error))
    return replace(result, left_alone=left_alone(set.finished, made))


def table(results: Sequence[Result]) -> Table:
    """A row for each corrector on each set, in hundredths, with intervals."""
    rows = tuple(
        (
            result.set,
            result.corrector,
            _percent(result.gleu),
            *map(
                _percent,
                (result.f.f, result.f.precision, result.f.recall) if result.f else (None,) * 3,
            ),
            _percent(result.left_alone),
        )
        for result in results
    )
    columns = ("set", "corrector", "GLEU", "F0.5", "precision", "recall", "left alone")
    return Table(columns, rows, names=2)


def _percent(value: Interval | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value.value:.1f} ({100 * value.low:.1f} to {100 * value.high:.1f})"


if __name__ == "__main__":
    sys.exit(main())
