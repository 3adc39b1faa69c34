"""How often a proofreader's changes are right, and a calibration by which its dial says so.

    python -m benchmarks calibration [--pairs FILE …] [--finished FILE …] [--sets bea-dev,jfleg-dev]
        [--fit NAMES] [--limit N] [--write PAGE] [--coefficients FILE]

The model's changes down to a probability of 0.05 are collected, each with a verdict. A calibration is fitted on one half of the texts
of the files, and the page shows the other half, and the public sets. These are for measuring: their licences do
not allow to fit what is given away to them. So a calibration that is fitted to one of them is shown, but not written.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.proofreading import sets
from benchmarks.proofreading.calibration.candidates import TextProposals, look
from benchmarks.proofreading.calibration.curve import all_candidates, by_kind, curve
from benchmarks.proofreading.calibration.fitting import fitted, shifted
from benchmarks.proofreading.calibration.page import Fit, Halves, page, summary
from benchmarks.proofreading.calibration.sources import (
    Source,
    finished_source,
    name_of,
    pairs_source,
    public_source,
)
from benchmarks.proofreading.command import get_sets
from benchmarks.protocol.runs import Cache, default_cache
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.calibration import RAW, Calibration
from reviser.proofreading.proofreader import Proofreader
from reviser.session.engine import load_engine

_DEV = ("bea-dev", "jfleg-dev")


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """Which model is calibrated on which texts, and where the results go."""

    model: Annotated[str | None, Option("a folder or a name", default="the bundled one")] = None
    pairs: Annotated[
        tuple[str, ...],
        Option("files of JSON lines with before and after", metavar="FILE", together=True),
    ] = ()
    finished: Annotated[
        tuple[str, ...],
        Option(
            "files of texts to be left alone; FIELD=FILE for another field of JSON lines than text",
            metavar="FILE",
            together=True,
        ),
    ] = ()
    sets: Annotated[
        str, Option("public dev sets, with commas between; none for no set", metavar="NAMES")
    ] = ",".join(_DEV)
    fit: Annotated[
        str | None,
        Option(
            "what to fit to, with commas between: names of sets, of files without their endings, FILE-finished",
            metavar="NAMES",
            default="all files",
        ),
    ] = None
    choose: Annotated[
        str | None,
        Option(
            "choose an offset for all changes on half of these, in steps of 0.25", metavar="NAMES"
        ),
    ] = None
    limit: Annotated[
        str | None, Option("texts of each, or NAME=COUNT with commas between", metavar="COUNT")
    ] = None
    cache: Annotated[Path | None, Option("file of what was found before")] = None
    threads: Annotated[int | None, Option("threads of the model")] = None
    yes: Annotated[bool, Option("accept the sets' licences: research and evaluation only")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    json: Annotated[Path | None, Option("also write the figures to this JSON file")] = None
    coefficients: Annotated[
        Path | None,
        Option("write the calibration there: reviser/proofreading/calibration.json is used"),
    ] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        CalibrationOptions,
        run,
        arguments,
        prog="python -m benchmarks calibration",
        about=__doc__,
    )


def run(chosen: CalibrationOptions) -> None:
    """Collect, fit, and tell."""
    for path in filter(None, (chosen.write, chosen.json, chosen.coefficients)):
        check_output(path)
    sources = _sources(chosen)
    names = [source.name for source in sources]
    free = [source.name for source in sources if not source.restricted]
    fit = _named(chosen.fit, names, "--fit") if chosen.fit else free
    choose = _named(chosen.choose, names, "--choose") if chosen.choose else []
    if not fit:
        raise ReviserError("there is nothing to fit to: give --pairs and --finished, or --fit")
    restricted = [name for name in fit if name not in free]
    if restricted and chosen.coefficients:
        raise ReviserError(
            f"the licence of {restricted[0]} does not allow what is given away to be fitted to it: "
            "leave out --coefficients, or fit to files alone"
        )
    looked, model = _looked(chosen, sources)
    calibration = _calibration(looked, fit, choose, model)
    halves = _halves(looked, {*fit, *choose})
    result = Fit(
        calibration,
        tuple(fit),
        tuple(choose),
        tuple(
            Halves(
                name,
                curve(name, texts, RAW),
                curve(name, texts, calibration),
                tuple(by_kind(texts, calibration)),
            )
            for name, texts in halves.items()
            if all_candidates(texts)
        ),
    )
    print(summary(result), end="")
    _write(chosen, result, {source.name: len(source.texts) for source in sources})


def _sources(chosen: CalibrationOptions) -> list[Source]:
    public = [] if chosen.sets in ("", "none") else chosen.sets.split(",")
    for name in public:
        sets.check_name(name)
        if name not in _DEV:
            raise ReviserError(
                f"nothing is fitted or chosen on {name}; there are {', '.join(_DEV)}"
            )
    files = [name_of(path) for path in chosen.pairs]
    finished = [_with_field(given) for given in chosen.finished]
    files += [f"{name_of(path)}-finished" for path, _ in finished]
    names = [*files, *public]
    if not names:
        raise ReviserError("there are no texts: give --pairs, --finished or --sets")
    if len({*names}) < len(names):
        raise ReviserError("two of the texts have the same name")
    limits = _limits(chosen.limit, names)
    if public:
        get_sets(agreed=chosen.yes)
    return [
        *(pairs_source(path, limits[name_of(path)]) for path in chosen.pairs),
        *(
            finished_source(path, field, limits[f"{name_of(path)}-finished"])
            for path, field in finished
        ),
        *(public_source(sets.read_set(name), limits[name]) for name in public),
    ]


def _with_field(given: str) -> tuple[str, str]:
    """A file of finished texts, and the field that they are in."""
    field, equals, path = given.partition("=")
    return (path, field) if equals and not Path(given).exists() else (given, "text")


def _limits(given: str | None, names: Sequence[str]) -> dict[str, int | None]:
    """How many texts to take of each; None for all."""
    limits: dict[str, int | None] = dict.fromkeys(names)
    for part in given.split(",") if given else ():
        name, _, count = part.rpartition("=")
        if not count.isdecimal() or int(count) < 1:
            raise ReviserError("--limit is a number, or NAME=COUNT with commas between")
        for one in _named(name, names, "--limit") if name else names:
            limits[one] = int(count)
    return limits


def _named(given: str, names: Sequence[str], option: str) -> list[str]:
    found = given.split(",")
    for name in found:
        if name not in names:
            raise ReviserError(f"{option}: there is no {name} among {', '.join(names)}")
    return found


def _looked(
    chosen: CalibrationOptions, sources: Sequence[Source]
) -> tuple[dict[str, list[TextProposals]], str]:
    """The texts with their candidates, and the model's digest."""
    engine = load_engine(chosen.model, threads=chosen.threads)
    proofreader = Proofreader(engine.policy, engine.tokenizer)
    model: str = getattr(engine.policy, "digest", "")
    if not model:
        raise ReviserError("this model has no weights to tell it by")
    with Cache(chosen.cache or default_cache()) as cache:
        return {source.name: look(proofreader, model, source, cache) for source in sources}, model


def _calibration(
    looked: dict[str, list[TextProposals]], fit: Sequence[str], choose: Sequence[str], model: str
) -> Calibration:
    def first_half(names: Sequence[str]) -> list[TextProposals]:
        return [text for name in names for text in looked[name] if text.is_for_fitting]

    found = fitted(all_candidates(first_half(fit)), model)
    return shifted(found, all_candidates(first_half(choose))) if choose else found


def _halves(
    looked: dict[str, list[TextProposals]], used: set[str]
) -> dict[str, list[TextProposals]]:
    """The texts to report on: all together, and of each source; the whole of those that nothing was fitted to."""
    each = {
        name: [text for text in texts if name not in used or not text.is_for_fitting]
        for name, texts in looked.items()
    }
    return {"all": [text for texts in each.values() for text in texts], **each}


def _write(chosen: CalibrationOptions, result: Fit, sizes: dict[str, int]) -> None:
    command = f"python -m benchmarks calibration {shlex.join(chosen.words)}"
    files = [*chosen.pairs, *(_with_field(given)[0] for given in chosen.finished)]
    files += [str(path) for path in (chosen.model, chosen.cache) if path]
    for file in files:
        command = command.replace(file, Path(file).name)
    if chosen.write:
        write_atomically(chosen.write, page(command, result, sizes).encode())
    if chosen.json:
        data = json.dumps(asdict(result), indent=1, default=str)
        write_atomically(chosen.json, f"{data}\n".encode())
    if chosen.coefficients:
        data = json.dumps(result.calibration.to_dict(), indent=1)
        write_atomically(chosen.coefficients, f"{data}\n".encode())
        print(f"calibration: {chosen.coefficients}", file=sys.stderr)
