"""Which evidence tells right changes from wrong ones, and the calibration that weighs it.

    python -m benchmarks deciding --pairs FILE … --finished FILE … --measured FILE --cache FOLDER [--limit COUNT]
        [--write PAGE] [--coefficients FILE]

The model's changes are collected with verdicts and with all evidence that the model can give on them. Ways to weigh it are fitted to the
files of --pairs (before and after correction) and --finished (texts to be left alone), and measured on JFLEG's and BEA-2019's dev sets, on
the corrected sentences of the latter, and on the finished texts of --measured. Pairs whose corrected text is one of the latter are left out.
"""

from __future__ import annotations

import json
import random
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from benchmarks.proofreading import sets
from benchmarks.proofreading.calibration.sources import finished_source, name_of, pairs_source
from benchmarks.proofreading.command import get_sets
from benchmarks.proofreading.deciding.collecting import Plain, Sample, collect
from benchmarks.proofreading.deciding.figures import proposals
from benchmarks.proofreading.deciding.page import Study, evidence_table, page
from benchmarks.proofreading.deciding.weighing import (
    CHOSEN,
    WAYS,
    Weighing,
    as_calibration,
    fitted,
)
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.calibration import RAW
from reviser.proofreading.proofreader import Proofreader
from reviser.session.engine import load_engine

CORRECTED: Final = ("jfleg-dev", "bea-dev")
REFERENCES: Final = "bea-refs"
_TARGETS: Final = {REFERENCES: (0.93, 0.95)}
_OF_FILES: Final = (0.97, 0.98)


@dataclass(frozen=True, kw_only=True)
class DecidingOptions:
    """Which model proposes changes for which texts, and where the results go."""

    model: Annotated[str | None, Option("a folder or a name", default="the bundled one")] = None
    pairs: Annotated[
        tuple[str, ...],
        Option("fit to these: JSON lines with before and after", metavar="FILE", together=True),
    ] = ()
    finished: Annotated[
        tuple[str, ...],
        Option("fit to these: JSON lines with a finished text", metavar="FILE", together=True),
    ] = ()
    measured: Annotated[
        str | None, Option("measure on these finished texts: JSON lines", metavar="FILE")
    ] = None
    limit: Annotated[
        str, Option("texts of each, or NAME=COUNT with commas between", metavar="COUNT")
    ] = "300"
    cache: Annotated[Path, Option("folder of what was collected", metavar="DIR")] = Path("deciding")
    threads: Annotated[int | None, Option("threads of the model")] = None
    yes: Annotated[bool, Option("accept the sets' licences: research and evaluation only")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    coefficients: Annotated[
        Path | None,
        Option("write the calibration there: reviser/proofreading/calibration.json is used"),
    ] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        DecidingOptions, run, arguments, prog="python -m benchmarks deciding", about=__doc__
    )


def run(chosen: DecidingOptions) -> None:
    """Collect, fit, and tell."""
    for path in filter(None, (chosen.write, chosen.coefficients)):
        check_output(path)
    if not chosen.pairs or chosen.measured is None:
        raise ReviserError(
            "there is nothing to fit to or to measure on: give --pairs and --measured"
        )
    get_sets(agreed=chosen.yes)
    engine = load_engine(chosen.model, threads=chosen.threads)
    model: str = getattr(engine.policy, "digest", "")
    if not model:
        raise ReviserError("this model has no weights to tell it by")
    proofreader = Proofreader(engine.policy, engine.tokenizer, calibration=RAW)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    found = {
        name: collect(proofreader, engine.policy, name, texts, chosen.cache)
        for name, texts in _texts(chosen).items()
    }
    study = _study(chosen, found)
    some = [one for texts in study.fit.values() for one in proposals(texts)]
    ways = {name: fitted(features, some) for name, features in WAYS.items()}
    print(evidence_table(study, ways), end="")
    _write(chosen, study, ways, model)


def _study(chosen: DecidingOptions, found: dict[str, list[Sample]]) -> Study:
    assert chosen.measured is not None
    measured = name_of(chosen.measured)
    names = [name_of(path) for path in (*chosen.pairs, *chosen.finished)]
    corrected = {name: found[name] for name in CORRECTED}
    return Study(
        {name: found[name] for name in names},
        corrected,
        {REFERENCES: found[REFERENCES], measured: found[measured]},
        {**_TARGETS, measured: _OF_FILES},
        {name: sum(text.wanted for text in texts) for name, texts in corrected.items()},
    )


def _texts(chosen: DecidingOptions) -> dict[str, list[Plain]]:
    """All texts, by the names of their sources."""
    assert chosen.measured is not None
    measured = [one.text for one in finished_source(chosen.measured, "text", None).texts]
    apart = set(measured)
    found: dict[str, Iterator[Plain]] = {}
    for path in chosen.pairs:
        found[name_of(path)] = (
            Plain(one.text, one.references)
            for one in pairs_source(path, None).texts
            if apart.isdisjoint(one.references)
        )
    for path in chosen.finished:
        found[name_of(path)] = (
            Plain(one.text)
            for one in finished_source(path, "text", None).texts
            if one.text not in apart
        )
    found[name_of(chosen.measured)] = map(Plain, measured)
    found |= _public()
    limits = _limits(chosen.limit, list(found))
    return {name: list(islice(texts, limits[name])) for name, texts in found.items()}


def _public() -> dict[str, Iterator[Plain]]:
    """The dev sets, the second in an order of its own: it is sorted by how well its writers know English."""
    jfleg, bea = map(sets.read_set, CORRECTED)
    order = list(range(len(bea.sources)))
    random.Random(0).shuffle(order)
    texts, references, finished = bea.sources, bea.reference_texts, bea.finished
    return {
        jfleg.name: (
            Plain(text, tuple(several))
            for text, several in zip(jfleg.sources, jfleg.reference_texts, strict=True)
        ),
        bea.name: (Plain(texts[number], tuple(references[number])) for number in order),
        REFERENCES: (Plain(finished[number]) for number in order),
    }


def _limits(given: str, names: Sequence[str]) -> dict[str, int]:
    limits: dict[str, int] = {}
    everywhere = 300
    for part in given.split(","):
        name, _, count = part.rpartition("=")
        if not count.isdecimal() or int(count) < 1:
            raise ReviserError("--limit is a number, or NAME=COUNT with commas between")
        if not name:
            everywhere = int(count)
        elif name in names:
            limits[name] = int(count)
        else:
            raise ReviserError(f"--limit: there is no {name} among {', '.join(names)}")
    return {name: limits.get(name, everywhere) for name in names}


def _write(chosen: DecidingOptions, study: Study, ways: dict[str, Weighing], model: str) -> None:
    command = f"python -m benchmarks deciding {shlex.join(chosen.words)}"
    for file in (*chosen.pairs, *chosen.finished, chosen.measured or "", str(chosen.cache)):
        command = command.replace(file, Path(file).name) if file else command
    if chosen.write:
        write_atomically(chosen.write, page(command, study, ways, model).encode())
    if chosen.coefficients:
        data = json.dumps(as_calibration(ways[CHOSEN], model).to_dict(), indent=1)
        write_atomically(chosen.coefficients, f"{data}\n".encode())
        print(f"calibration: {chosen.coefficients}", file=sys.stderr)
