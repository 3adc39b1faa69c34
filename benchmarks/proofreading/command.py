"""The command of the proofreading benchmark: options, the sets' licences, and the files of results."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from benchmarks.proofreading import sets
from benchmarks.proofreading.correctors import NAMES, check_name
from benchmarks.proofreading.measure import FINISHED, CorrectorResult, measured, measured_kinds
from benchmarks.proofreading.mistakes import MistakeSet, read_mistakes
from benchmarks.proofreading.page import markdown, page, summary
from benchmarks.proofreading.sets import ProofSet
from benchmarks.report.provenance import surroundings
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically

_PUBLIC = ",".join(sets.SETS)


@dataclass(frozen=True, kw_only=True)
class ProofreadingOptions:
    """Options of the benchmark: programs, sets and output files."""

    sets: Annotated[str | None, Option("public sets, with commas between", metavar="NAMES", default=_PUBLIC)] = None
    correctors: Annotated[
        str | None,
        Option(
            f"with commas between: {', '.join(NAMES)}, reviser@CONFIDENCE, model:NAME=MODEL, calibration:NAME=PATH for "
            "the bundled model with other coefficients, or file:NAME=PATH for lines made elsewhere",
            metavar="NAMES",
            default="all that are installed",
        ),
    ] = None
    kinds: Annotated[Path | None, Option("a set of your own: JSON lines with before, after, kind", metavar="FILE")] = (
        None
    )
    limit: Annotated[int | None, Option("only the first sentences of each set")] = None
    examples: Annotated[int, Option("examples of each sort on the page")] = 5
    yes: Annotated[bool, Option("accept the licences: research and evaluation only")] = False
    out: Annotated[Path | None, Option("write Markdown, JSON and a page with examples there", metavar="DIR")] = None
    plain_sources: Annotated[Path | None, Option("write the plain sentences there, and do no more", metavar="DIR")] = (
        None
    )
    json: Annotated[bool, Option("print JSON")] = False
    words: Words = ()


def run(arguments: ProofreadingOptions) -> int:
    """Runs the benchmark; returns 1 if something that was asked for is missing, else 0."""
    command = shlex.join(["reviser", "bench", "proofreading", *arguments.words])
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
                measured_kinds(set, name, shown) if isinstance(set, MistakeSet) else measured(set, name, shown)
            )
    _tell(results, arguments, command)
    return int(bool(arguments.correctors) and any(result.missing for result in results))


def _chosen_sets(arguments: ProofreadingOptions) -> list[ProofSet | MistakeSet]:
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
    """Fetches the sets after the user has agreed to their licences."""
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
    """Writes the sentences as plain text, one per line: SET.txt, and the corrected ones as SET-refs.txt."""
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


def _tell(results: Sequence[CorrectorResult], arguments: ProofreadingOptions, command: str) -> None:
    facts = {"Command": command, **surroundings()}
    as_json = json.dumps(
        {"provenance": facts, "results": [_figures(result) for result in results]}, ensure_ascii=False, indent=1
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


def _figures(result: CorrectorResult) -> dict[str, object]:
    """The JSON object of a result; it contains no sentence of any set."""
    return {key: value for key, value in asdict(result).items() if key != "examples"}
