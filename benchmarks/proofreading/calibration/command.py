"""How often a proofreader's changes are right, and a calibration by which its dial says so.

    python -m benchmarks calibration [--pairs FILE …] [--finished FILE …] [--sets bea-dev,jfleg-dev]
        [--fit NAMES] [--limit N] [--write PAGE] [--coefficients FILE]

The model's changes down to a probability of 0.05 are collected, each with a verdict. A calibration is fitted on one
half of the texts of the files, and the page shows the other half, and the public sets. These are for measuring:
their licences do not allow to fit what is given away to them. So a calibration that is fitted to one of them is
shown, but not written.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from benchmarks.proofreading import sets
from benchmarks.proofreading.calibration.candidates import TextProposals, look
from benchmarks.proofreading.calibration.curve import EXPLAINED, all_candidates, page
from benchmarks.proofreading.calibration.fitting import PENALTY, fitted
from benchmarks.proofreading.calibration.sources import (
    NamedTexts,
    finished_source,
    name_of,
    pairs_source,
    public_source,
)
from benchmarks.proofreading.command import get_sets
from benchmarks.protocol.runs import RunCache, default_cache
from benchmarks.report.provenance import write_page
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.pipeline import Proofreader
from reviser.session.engine import load_engine

DEV_SETS: Final = ("bea-dev", "jfleg-dev")


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """Which model is calibrated on which texts, and where the results go."""

    model: Annotated[str | None, Option("a folder or a name", default="the bundled one")] = None
    pairs: Annotated[
        tuple[str, ...], Option("files of JSON lines with before and after", metavar="FILE", together=True)
    ] = ()
    finished: Annotated[
        tuple[str, ...],
        Option(
            "files of texts to be left alone; FIELD=FILE for another field of JSON lines than text",
            metavar="FILE",
            together=True,
        ),
    ] = ()
    sets: Annotated[str, Option("public dev sets, with commas between; none for no set", metavar="NAMES")] = ",".join(
        DEV_SETS
    )
    limit: Annotated[str | None, Option("texts of each, or NAME=COUNT with commas between", metavar="COUNT")] = None
    threads: Annotated[int | None, Option("threads of the model")] = None
    yes: Annotated[bool, Option("accept the sets' licences: research and evaluation only")] = False
    fit: Annotated[
        str | None,
        Option(
            "what to fit to, with commas between: names of sets, of files without their endings, FILE-finished",
            metavar="NAMES",
            default="all files",
        ),
    ] = None
    cache: Annotated[Path | None, Option("file of what was found before")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    coefficients: Annotated[
        Path | None, Option("write the calibration there: reviser/proofreading/guard/calibration.json is used")
    ] = None
    words: Words = ()


def run(chosen: CalibrationOptions) -> None:
    """Collect, fit, and tell."""
    for path in filter(None, (chosen.write, chosen.coefficients)):
        check_output(path)
    sources = chosen_sources(chosen)
    free = [source.name for source in sources if not source.restricted]
    fit = named(chosen.fit, [source.name for source in sources], "--fit") if chosen.fit else free
    if not fit:
        raise ReviserError("there is nothing to fit to: give --pairs and --finished, or --fit")
    restricted = [name for name in fit if name not in free]
    if restricted and chosen.coefficients:
        raise ReviserError(
            f"the licence of {restricted[0]} does not allow what is given away to be fitted to it: "
            "leave out --coefficients, or fit to files alone"
        )
    looked, model = _looked(chosen, sources)
    calibration = fitted(all_candidates([text for name in fit for text in looked[name] if text.is_for_fitting]), model)
    halves = {name: texts for name, texts in _halves(looked, {*fit}).items() if all_candidates(texts)}
    text = page(halves, calibration)
    print(text, end="")
    if chosen.write:
        facts = {
            "Model": f"weights {model}",
            "Data": ", ".join(f"{source.name} ({len(source.texts):,} texts)" for source in sources),
            "Fitted to": f"one half of {', '.join(fit)}; penalty {PENALTY:g}",
        }
        write_page(chosen.write, "How often changes are right", _command(chosen), f"{EXPLAINED}\n{text}", **facts)
    if chosen.coefficients:
        write_atomically(chosen.coefficients, f"{json.dumps(calibration.to_dict(), indent=1)}\n".encode())
        print(f"calibration: {chosen.coefficients}", file=sys.stderr)


def _looked(chosen: CalibrationOptions, sources: Sequence[NamedTexts]) -> tuple[dict[str, list[TextProposals]], str]:
    """The texts with their candidates, and the model's digest."""
    engine = load_engine(chosen.model, threads=chosen.threads)
    proofreader = Proofreader(engine.policy, engine.tokenizer)
    model: str = getattr(engine.policy, "digest", "")
    if not model:
        raise ReviserError("this model has no weights to tell it by")
    with RunCache(chosen.cache or default_cache()) as cache:
        return {source.name: look(proofreader, model, source, cache) for source in sources}, model


def _halves(looked: dict[str, list[TextProposals]], used: set[str]) -> dict[str, list[TextProposals]]:
    """The texts to report on: all together, and of each source; the whole of those that nothing was fitted to."""
    each = {
        name: [text for text in texts if name not in used or not text.is_for_fitting] for name, texts in looked.items()
    }
    return {"all": [text for texts in each.values() for text in texts], **each}


# Texts ---------------------------------------------------------------------------------------------


def chosen_sources(chosen: CalibrationOptions) -> list[NamedTexts]:
    """The texts that a command was given."""
    public = [] if chosen.sets in ("", "none") else chosen.sets.split(",")
    for name in public:
        sets.check_name(name)
        if name not in DEV_SETS:
            raise ReviserError(f"nothing is fitted or chosen on {name}; there are {', '.join(DEV_SETS)}")
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
        *(finished_source(path, field, limits[f"{name_of(path)}-finished"]) for path, field in finished),
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
        for one in named(name, names, "--limit") if name else names:
            limits[one] = int(count)
    return limits


def named(given: str, names: Sequence[str], option: str) -> list[str]:
    found = given.split(",")
    for name in found:
        if name not in names:
            raise ReviserError(f"{option}: there is no {name} among {', '.join(names)}")
    return found


def _command(chosen: CalibrationOptions) -> str:
    """The command as a page shows it: files without their folders."""
    command = f"python -m benchmarks calibration {shlex.join(chosen.words)}"
    files = [*chosen.pairs, *(_with_field(given)[0] for given in chosen.finished), chosen.model, chosen.cache]
    for file in filter(None, files):
        command = command.replace(str(file), Path(file).name)
    return command
