"""How often the changes that a proofreader makes are right, at several settings of its dial.

    python -m benchmarks dial [--pairs FILE …] [--finished FILE …] [--sets bea-dev,jfleg-dev] [--at 0.25,0.5,0.9]
        [--limit N] [--write PAGE]

This is the whole program, as `reviser revise` runs it: unknown words, rules for sure mistakes, all looks of the
model and all vetoes. Each change gets a verdict as if it were made alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from rich.console import Console
from rich.progress import track

from benchmarks.proofreading.calibration.chosen import TextOptions, chosen_sources, shown_command
from benchmarks.proofreading.calibration.curve import Share
from benchmarks.proofreading.calibration.page import share_text
from benchmarks.proofreading.calibration.sources import Source
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.session.engine import Engine, load_engine

_AT_ONCE: Final = 64
_EXPLAINED: Final = """
The whole program corrects each text with its dial at the place that the row names. A change is right if it is by itself: on bea-dev an
annotator made the same edit (ERRANT), on jfleg-dev and on pairs of texts it brings the text nearer to a corrected one, in words and
marks, and in finished texts no change is. bea-dev has one annotator, so a change that another would have made may count as wrong.
"Texts with mistakes" are all sources that are not of finished texts together. Intervals are Wilson's, 95 %.
"""


@dataclass(frozen=True, kw_only=True)
class DialOptions(TextOptions):
    """At which settings a model proofreads texts."""

    at: Annotated[str, Option("settings of the dial, with commas between", metavar="NUMBERS")] = "0.25,0.5,0.9"
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None


@dataclass(frozen=True)
class Made:
    """What was changed in the texts of a source: how many changes are right, and how many texts have none."""

    source: str
    finished: bool
    texts: int
    alone: int
    share: Share


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(DialOptions, run, arguments, prog="python -m benchmarks dial", about=__doc__)


def run(chosen: DialOptions) -> None:
    """Proofread at each setting, and tell."""
    if chosen.write:
        check_output(chosen.write)
    settings = _settings(chosen.at)
    sources = chosen_sources(chosen)
    engine = load_engine(chosen.model, threads=chosen.threads)
    found = {dial: [_made(engine, dial, source) for source in sources] for dial in settings}
    table = _table(found)
    print(table, end="")
    if chosen.write:
        command = shown_command("dial", chosen, chosen.model)
        facts = {
            "Model": f"weights {getattr(engine.policy, 'digest', '') or 'unknown'}",
            "Data": ", ".join(f"{one.name} ({len(one.texts):,} texts)" for one in sources),
        }
        title = "# The dial: how often the changes that are made are right"
        page = f"{title}\n\n{provenance(command, **facts)}{_EXPLAINED}\n{table}"
        write_atomically(chosen.write, page.encode())


def _settings(given: str) -> list[float]:
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        raise ReviserError("--at is numbers with commas between, as in 0.5,0.9") from None
    if not all(0 <= one <= 1 for one in found):
        raise ReviserError("--at: the dial goes from 0 to 1")
    return found


def _made(engine: Engine, dial: float, source: Source) -> Made:
    proofreader = Proofreader(engine.policy, engine.tokenizer, confidence=dial)
    right = made = alone = 0
    starts = range(0, len(source.texts), _AT_ONCE)
    for at in track(starts, f"{source.name} at {dial:g}", console=Console(stderr=True)):
        some = source.texts[at : at + _AT_ONCE]
        for text, done in zip(some, proofreader.proofread_all([Draft(one.text) for one in some]), strict=True):
            alone += not done.changes
            made += len(done.changes)
            right += sum(map(text.is_right, done.changes))
    finished = source.sort == "finished"
    return Made(source.name, finished, len(source.texts), alone, Share(right=right, made=made))


def _table(found: dict[float, list[Made]]) -> str:
    rows = []
    for dial, several in found.items():
        mistaken = [one for one in several if not one.finished]
        whole = [_together(mistaken)] if len(mistaken) > 1 else []
        for one in (*whole, *several):
            alone = f"{100 * one.alone / one.texts:.1f} %"
            row = (f"{dial:g}", one.source, f"{one.texts:,}", f"{one.share.made:,}")
            rows.append((*row, "–" if one.finished else share_text(one.share), alone))
    columns = ("dial", "texts of", "texts", "changes", "right", "texts left alone")
    return Table(columns, tuple(rows)).markdown()


def _together(several: Sequence[Made]) -> Made:
    return Made(
        "texts with mistakes",
        False,
        sum(one.texts for one in several),
        sum(one.alone for one in several),
        Share(right=sum(one.share.right for one in several), made=sum(one.share.made for one in several)),
    )
