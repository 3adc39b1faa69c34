"""`reviser revise`: the model suggests changes to a text, line by line."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reviser.cli.commands.generate import (
    Choosing,
    FileArgument,
    InPlaceOption,
    JsonOption,
    MaxActionsOption,
    MinPOption,
    ModelOption,
    OutputOption,
    SeedOption,
    TemperatureOption,
    ThreadsOption,
    TopKOption,
    TopPOption,
    TrajectoryOption,
    offset_of,
)
from reviser.cli.delivery import choose_one, is_coloured, print_diff, write_result
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.decoding.rollout import Sampler
    from reviser.session.documents import Document
    from reviser.session.engine import Engine

_HELP = """\
y  take this change
n  leave this text as it was
a  take this change and all that follow
d  leave this text and all that follows
q  the same as d
?  this help
"""


def revise(
    file: FileArgument,
    model: ModelOption = None,
    in_place: InPlaceOption = False,
    interactive: Annotated[
        bool,
        typer.Option("--interactive", "-p", help="Ask about each change, then change the file."),
    ] = False,
    output: OutputOption = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print a unified diff, as it does by default.")
    ] = False,
    json: JsonOption = False,
    range: Annotated[
        str | None,
        typer.Option(help="Only these lines, or this part.", metavar="LINE[:COL]-LINE[:COL]"),
    ] = None,
    trajectory: TrajectoryOption = None,
    max_actions: MaxActionsOption = 128,
    temperature: TemperatureOption = 0.0,
    sureness: Annotated[
        float | None,
        typer.Option(
            help="How many times as likely as leaving a text a change must be (2); 0 takes any.",
            min=0,
            max=1000,
        ),
    ] = None,
    top_k: TopKOption = 50,
    top_p: TopPOption = 1.0,
    min_p: MinPOption = 0.0,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Suggest changes to a text, as a unified diff.

    Each line is revised on its own, in sight of the nearest lines, and left alone unless the model is
    sure enough. The file stays as it is unless --in-place or --interactive is given. Exit status 1 means
    that it was changed by someone else during the run: then it stays, and the result is kept beside it.
    """
    from reviser.core.files import STREAM, check_output, input_name, write_output
    from reviser.core.trajectory import dump_trajectories
    from reviser.session.documents import Document, check_writable

    choose_one(in_place=in_place, interactive=interactive, output=output, diff=diff, json=json)
    if interactive and file == STREAM:
        raise ReviserError("standard input cannot be both the text and the answers")
    if in_place or interactive:
        check_writable(file)
    for target in filter(None, (output, trajectory)):
        check_output(target)
    document = Document.read(file)
    start, end = range_in(document.text, range)
    sampler = next(Choosing(temperature, top_k, top_p, min_p, seed, 1).samplers())
    done = _revise(document, _load(model, threads), sampler, max_actions, sureness, start, end)
    if trajectory:
        recorded = dump_trajectories(passage.trajectory for passage in done.passages)
        write_output(trajectory, recorded.encode("utf-8"))
    if json:
        typer.echo(done.summary(file))
        return
    if done.text == document.text:
        typer.echo(f"{input_name(file)}: nothing to change", err=True)
    if interactive:
        write_result(document, ask_each(document.text, done.text), file)
    elif in_place or output:
        write_result(document, done.text, file if in_place else output or STREAM)
    else:
        print_diff(document, done.text)


@dataclass(frozen=True)
class Passage:
    """A piece of the text, before and after, and the run that revised it."""

    line: int
    before: str
    after: str
    ending: str
    actions: int
    trajectory: Trajectory


@dataclass(frozen=True)
class Revised:
    """The text after all its passages."""

    text: str
    passages: tuple[Passage, ...]
    seconds: float

    def summary(self, file: Path) -> str:
        import json

        changed = [part for part in self.passages if part.before != part.after]
        data: dict[str, Any] = {
            "file": str(file),
            "model": self.passages[0].trajectory.model if self.passages else None,
            "text": self.text,
            "passages": len(self.passages),
            "changes": [
                {
                    "line": part.line,
                    "before": part.before,
                    "after": part.after,
                    "actions": part.actions,
                    "ending": part.ending,
                }
                for part in changed
            ],
            "actions": sum(part.actions for part in self.passages),
            "seconds": round(self.seconds, 3),
        }
        return json.dumps(data, ensure_ascii=False, indent=2)


def _load(model: str | None, threads: int | None) -> Engine:
    from reviser.cli.live import working
    from reviser.session.engine import load_engine

    with working("loading the model"):
        return load_engine(model, threads=threads)


def _revise(
    document: Document,
    engine: Engine,
    sampler: Sampler,
    max_actions: int,
    sureness: float | None,
    start: int,
    end: int,
) -> Revised:
    from reviser.cli.live import working
    from reviser.core.trajectory import Trajectory
    from reviser.decoding.lookahead import MARGIN

    session = engine.session(document.text)
    sure = MARGIN if sureness is None else sureness
    passages = []
    grown = 0
    began = time.perf_counter()
    places = session.passages(start, end)
    with working("revising") as tell:
        for number, (first, last) in enumerate(places, start=1):
            tell(f"revising passage {number} of {len(places)}")
            before = document.text[first:last]
            run = session.revise(
                first + grown, last + grown, sampler, max_actions=max_actions, margin=sure
            )
            actions = sum(1 for _ in run)
            passages.append(
                Passage(
                    document.text.count("\n", 0, first) + 1,
                    before,
                    run.written,
                    str(run.rollout.ending),
                    actions,
                    Trajectory.record(run.rollout, engine.tokenizer, engine.name),
                )
            )
            grown += len(run.written) - len(before)
    return Revised(session.text, tuple(passages), time.perf_counter() - began)


def range_in(text: str, given: str | None) -> tuple[int, int]:
    """The character offsets of LINE-LINE or LINE:COL-LINE:COL; whole lines include their last."""
    if given is None:
        return 0, len(text)
    found = re.fullmatch(r"(\d+)(:\d+)?-(\d+)(:\d+)?", given)
    if not found:
        raise ReviserError(f"{given} is not a range; write LINE-LINE or LINE:COL-LINE:COL")
    start = offset_of(text, found[1] + (found[2] or ":1"))
    end = offset_of(text, found[3] + (found[4] or ":1"))
    if not found[4]:
        newline = text.find("\n", end)
        end = len(text) if newline < 0 else newline
    if end < start:
        raise ReviserError(f"{given} ends before it starts")
    return start, end


# Asking ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """Lines that one text has and the other has not; `kept` lines are before it, since the last."""

    kept: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    line: int


def changes_between(before: str, after: str) -> Iterator[Change]:
    """The changes from one text to another, and at last what both end with."""
    from difflib import SequenceMatcher

    from reviser.session.replay import patch_lines

    old, new = patch_lines(before), patch_lines(after)
    kept: tuple[str, ...] = ()
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            kept = tuple(old[i:j])
            continue
        # Lines are revised one by one, so where they pair up each is a change of its own.
        pieces = j - i if j - i == m - k else 1
        for n in range(pieces):
            last = n == pieces - 1
            lines = slice(i + n, j if last else i + n + 1), slice(k + n, m if last else k + n + 1)
            yield Change(kept, tuple(old[lines[0]]), tuple(new[lines[1]]), i + n + 1)
            kept = ()
    yield Change(kept, (), (), len(old) + 1)


def ask_each(before: str, after: str) -> str:
    """Show the changes one by one, ask about each, and return the text with those that were taken."""
    *changes, rest = changes_between(before, after)
    made: list[str] = []
    for_all: bool | None = None
    for number, change in enumerate(changes, start=1):
        taken = for_all
        if taken is None:
            _show(change)
            answer = _ask(f"Take this change ({number} of {len(changes)}) [y,n,a,d,q,?]? ")
            taken = answer in "ya"
            for_all = None if answer in "yn" else taken
        made += [*change.kept, *(change.after if taken else change.before)]
    return "".join([*made, *rest.kept])


def _show(change: Change) -> None:
    coloured = is_coloured()
    typer.secho(f"@@ line {change.line} @@", fg="cyan" if coloured else None)
    for mark, lines, colour in (
        (" ", change.kept[-1:], None),
        ("-", change.before, "red"),
        ("+", change.after, "green"),
    ):
        for line in lines:
            typer.secho(mark + line.rstrip("\r\n"), fg=colour if coloured else None)


def _ask(question: str) -> str:
    while True:
        typer.secho(question, nl=False, bold=is_coloured())
        answer = sys.stdin.readline()
        if not answer:
            return "d"  # nobody is there to ask
        answer = answer.strip().lower()
        if answer in ("y", "n", "a", "d", "q"):
            return answer
        typer.echo(_HELP, nl=False)
