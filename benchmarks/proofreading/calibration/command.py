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
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.proofreading.calibration.candidates import TextProposals, look
from benchmarks.proofreading.calibration.chosen import TextOptions, chosen_sources, named, shown_command
from benchmarks.proofreading.calibration.curve import all_candidates, by_kind, curve
from benchmarks.proofreading.calibration.fitting import fitted, shifted
from benchmarks.proofreading.calibration.page import Fit, Halves, page, summary
from benchmarks.proofreading.calibration.sources import Source
from benchmarks.protocol.runs import Cache, default_cache
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.guard.calibration import RAW, Calibration
from reviser.proofreading.pipeline import Proofreader
from reviser.session.engine import load_engine


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(TextOptions):
    """How a model is calibrated on texts, and where the results go."""

    fit: Annotated[
        str | None,
        Option(
            "what to fit to, with commas between: names of sets, of files without their endings, FILE-finished",
            metavar="NAMES",
            default="all files",
        ),
    ] = None
    choose: Annotated[
        str | None, Option("choose an offset for all changes on half of these, in steps of 0.25", metavar="NAMES")
    ] = None
    cache: Annotated[Path | None, Option("file of what was found before")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    json: Annotated[Path | None, Option("also write the figures to this JSON file")] = None
    coefficients: Annotated[
        Path | None, Option("write the calibration there: reviser/proofreading/guard/calibration.json is used")
    ] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(CalibrationOptions, run, arguments, prog="python -m benchmarks calibration", about=__doc__)


def run(chosen: CalibrationOptions) -> None:
    """Collect, fit, and tell."""
    for path in filter(None, (chosen.write, chosen.json, chosen.coefficients)):
        check_output(path)
    sources = chosen_sources(chosen)
    names = [source.name for source in sources]
    free = [source.name for source in sources if not source.restricted]
    fit = named(chosen.fit, names, "--fit") if chosen.fit else free
    choose = named(chosen.choose, names, "--choose") if chosen.choose else []
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
            Halves(name, curve(name, texts, RAW), curve(name, texts, calibration), tuple(by_kind(texts, calibration)))
            for name, texts in halves.items()
            if all_candidates(texts)
        ),
    )
    print(summary(result), end="")
    _write(chosen, result, {source.name: len(source.texts) for source in sources})


def _looked(chosen: CalibrationOptions, sources: Sequence[Source]) -> tuple[dict[str, list[TextProposals]], str]:
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


def _halves(looked: dict[str, list[TextProposals]], used: set[str]) -> dict[str, list[TextProposals]]:
    """The texts to report on: all together, and of each source; the whole of those that nothing was fitted to."""
    each = {
        name: [text for text in texts if name not in used or not text.is_for_fitting] for name, texts in looked.items()
    }
    return {"all": [text for texts in each.values() for text in texts], **each}


def _write(chosen: CalibrationOptions, result: Fit, sizes: dict[str, int]) -> None:
    command = shown_command("calibration", chosen, chosen.model, chosen.cache)
    if chosen.write:
        write_atomically(chosen.write, page(command, result, sizes).encode())
    if chosen.json:
        data = json.dumps(asdict(result), indent=1, default=str)
        write_atomically(chosen.json, f"{data}\n".encode())
    if chosen.coefficients:
        data = json.dumps(result.calibration.to_dict(), indent=1)
        write_atomically(chosen.coefficients, f"{data}\n".encode())
        print(f"calibration: {chosen.coefficients}", file=sys.stderr)
