"""`reviser revise`: a model proofreads texts, and changes what is wrong in them and nothing else."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from reviser.cli.commands.generate import (
    EncodingOption,
    InPlaceOption,
    ModelOption,
    OutputOption,
    ThreadsOption,
    TrajectoryOption,
    offset_of,
)
from reviser.cli.completion import complete_format, complete_kinds
from reviser.cli.delivery import choose_one, is_coloured, print_diff, write_result
from reviser.cli.entry import complain
from reviser.core.counts import counted
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.proofreading.document import Proofread
    from reviser.proofreading.pipeline import Proofreader
    from reviser.proofreading.project.folders import Gathered
    from reviser.proofreading.request import Request
    from reviser.proofreading.suggestion import Suggestion
    from reviser.session.documents import DocumentFile
    from reviser.session.engine import Engine

_HELP = """\
y  take this change
n  leave this text as it was
a  take this change and all that follow in this file
d  leave this text and all that follows in this file
q  the same as d, and look at no more files
?  this help
"""

ConfidenceOption = Annotated[
    float | None, typer.Option(help="How confident the model must be in a change, from 0 to 1 (0.5).", min=0, max=1)
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        help="Only changes of these kinds, such as spelling,article.", metavar="KINDS", autocompletion=complete_kinds
    ),
]
ExceptOption = Annotated[
    str | None,
    typer.Option("--except", help="No changes of these kinds.", metavar="KINDS", autocompletion=complete_kinds),
]
IgnoreOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="A file of words that are never changed, one a line, besides .reviser/words.txt.", metavar="FILE"
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        help="Format of the text, such as markdown; by default from its name.", autocompletion=complete_format
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReviseOptions:
    """What to proofread, which changes to make, and where they go."""

    files: Annotated[
        list[Path],
        typer.Argument(help="Text files, and folders with documents; - reads standard input.", show_default=False),
    ]
    model: ModelOption = None
    encoding: EncodingOption = None
    in_place: InPlaceOption = False
    interactive: Annotated[
        bool, typer.Option("--interactive", "-p", help="Ask about each change, then change the file.")
    ] = False
    output: OutputOption = None
    diff: Annotated[bool, typer.Option("--diff", help="Print a unified diff, as it does by default.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print JSON: each change, its place, confidence and kind.")] = (
        False
    )
    confidence: ConfidenceOption = None
    only: OnlyOption = None
    except_: ExceptOption = None
    ignore: IgnoreOption = None
    format: FormatOption = None
    range: Annotated[
        str | None, typer.Option(help="Only these lines, or this part.", metavar="LINE[:COL]-LINE[:COL]")
    ] = None
    trajectory: TrajectoryOption = None
    threads: ThreadsOption = None


def revise(options: ReviseOptions) -> None:
    """Proofread texts: suggest corrections, as a unified diff.

    Only prose is changed, never code, links, formulas or other syntax. A change is made if the model is
    confident enough in it. Files are not changed unless --in-place or --interactive is given. In a folder,
    documents that are hidden or ignored by git are skipped.

    Exit status: 0, done, with or without changes; 1, another program changed a file during the run: then
    it is left alone, and the result is saved beside it; 2, an error in the command, a file or a model.
    """
    choose_one(
        in_place=options.in_place,
        interactive=options.interactive,
        output=options.output,
        diff=options.diff,
        json=options.json,
    )
    from reviser.proofreading.project.settings import settings_for
    from reviser.proofreading.request import Request

    settings = settings_for(options.files)
    job = Job(
        Delivery(options.in_place, options.interactive, options.output, options.json, options.trajectory),
        Request.made(
            settings,
            confidence=settings.dial(options.confidence),
            only=options.only,
            without=options.except_,
            format=options.format,
            ignore=options.ignore or (),
        ),
        settings.excludes,
        options.range,
        options.model or settings.model,
        options.threads,
        options.encoding,
    )
    if status := job.run(options.files):
        raise typer.Exit(status)


@dataclass(frozen=True)
class Delivery:
    """Where results go."""

    in_place: bool
    interactive: bool
    output: Path | None
    json: bool
    trajectory: Path | None

    @property
    def writes(self) -> bool:
        """Whether texts are written, not what is different in them."""
        return self.in_place or self.interactive or self.output is not None

    def check(self, paths: Sequence[Path], several: bool) -> None:
        from reviser.core.files import STREAM, check_output
        from reviser.session.documents import check_writable

        if several and self.output:
            raise ReviserError("--output takes the result of one file")
        if self.interactive and STREAM in paths:
            raise ReviserError("standard input cannot be both the text and the answers")
        if self.in_place or self.interactive:
            for path in paths:
                check_writable(path)
        for target in filter(None, (self.output, self.trajectory)):
            check_output(target)


@dataclass
class Asking:
    """Shows changes one by one and asks about each."""

    is_over: bool = False

    def ask(self, done: Proofread, name: str = "") -> list[Suggestion]:
        """The changes that were taken; without the others they leave the document's structure alone."""
        from reviser.proofreading.document import safe_selection

        taken: list[Suggestion] = []
        for_all: bool | None = None
        for number, change in enumerate(done.changes, start=1):
            wanted = for_all
            if wanted is None:
                _show(done.draft.text, taken, change, name)
                answer = _ask(f"Take this change ({number} of {len(done.changes)}) [y,n,a,d,q,?]? ")
                wanted = answer in "ya"
                for_all = None if answer in "yn" else wanted
                self.is_over = answer == "q"
            taken += [change] if wanted else []
        return safe_selection(done.draft, taken)


def _show(text: str, taken: Sequence[Suggestion], change: Suggestion, name: str) -> None:
    coloured = is_coloured()
    place = f"{name}, line" if name else "line"
    line = text.count("\n", 0, change.start) + 1
    head = f"@@ {place} {line} @@ {change.kind}, {change.confidence:.2f}"
    typer.secho(head, fg="cyan" if coloured else None)
    for mark, some, colour in (("-", taken, "red"), ("+", [*taken, change], "green")):
        for shown in _lines(text, change, some):
            typer.secho(mark + shown.rstrip("\r"), fg=colour if coloured else None)


def _lines(text: str, around: Suggestion, changes: Sequence[Suggestion]) -> Iterator[str]:
    """The lines that a change is in, with some changes made."""
    start = text.rfind("\n", 0, around.start) + 1
    end = text.find("\n", around.end)
    end = len(text) if end < 0 else end
    pieces, at = list[str](), start
    for change in changes:
        if start <= change.start and change.end <= end:
            pieces += [text[at : change.start], change.new]
            at = change.end
    yield from "".join([*pieces, text[at:end]]).split("\n")


def _ask(question: str) -> str:
    while True:
        typer.secho(question, nl=False, bold=is_coloured())
        answer = sys.stdin.readline()
        if not answer:
            return "q"  # nobody is there to ask
        answer = answer.strip().lower()
        if answer in ("y", "n", "a", "d", "q"):
            return answer
        typer.echo(_HELP, nl=False)


@dataclass
class Job:
    """One command: a model, what to look for, and where the results go."""

    delivery: Delivery
    request: Request
    excludes: Callable[[Path], bool]
    range: str | None
    model: str | None
    threads: int | None
    encoding: str | None = None
    several: bool = False
    asking: Asking = field(default_factory=Asking)
    trajectories: list[Trajectory] = field(default_factory=list)
    summaries: list[DocumentSummary] = field(default_factory=list)
    changed: int = 0

    def run(self, files: Sequence[Path]) -> int:
        """Proofread the files; returns the exit status."""
        import json

        from reviser.core.files import write_output
        from reviser.core.trajectory import dump_trajectories
        from reviser.proofreading.project.folders import gathered

        self.several = len(files) > 1 or any(file.is_dir() for file in files)
        found = gathered(files, self.excludes)
        paths = found.documents
        if not paths:
            skipped = f"; {found.told}" if found.skipped else ""
            raise ReviserError(
                f"there are no documents in {', '.join(map(str, files))} that are neither hidden, excluded nor ignored by git{skipped}"
            )
        self.delivery.check(paths, self.several)
        if self.several and self.range:
            raise ReviserError("--range takes one file")
        given = [] if self.several else [self._read(paths[0])]
        engine = self._load()
        reader = self._proofreader(engine)
        try:
            status = self._proofread_all(found, given, reader, engine)
        finally:
            if self.delivery.trajectory and self.trajectories:
                recorded = dump_trajectories(self.trajectories)
                write_output(self.delivery.trajectory, recorded.encode("utf-8"))
        if self.delivery.json:
            shown = self.summaries if self.several else self.summaries[0]
            typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return status

    def _proofread_all(self, found: Gathered, given: list[DocumentFile], reader: Proofreader, engine: Engine) -> int:
        """Proofread the files, of which the first ones may have been read; returns the exit status."""
        status = 0
        read = 0
        for path in found.documents:
            try:
                document = given.pop(0) if given else self._read(path)
                self._proofread(document, reader, engine)
                read += 1
            except ReviserError as error:
                if found.passes_over(path, error):
                    continue
                # One bad file among several does not keep the others from being read.
                if not self.several:
                    raise
                status = max(status, complain(error))
            if self.asking.is_over:
                break
        nothing = self.several and read and not self.changed and not self.delivery.json
        told = f"{counted(read, 'file')}: nothing to change" if nothing else ""
        if said := "; ".join(filter(None, (told, found.told))):
            typer.echo(said, err=True)
        return status

    def _read(self, path: Path) -> DocumentFile:
        from reviser.session.documents import DocumentFile

        document = DocumentFile.read(path, self.encoding)
        # What is wrong with the command is said before the model is loaded.
        self.request.format_of(path, document.text)
        self.request.words(path)
        range_in(document.text, self.range)
        return document

    def _load(self) -> Engine:
        from reviser.cli.progress import working
        from reviser.session.engine import load_engine

        with working("loading the model"):
            return load_engine(self.model, threads=self.threads)

    def _proofreader(self, engine: Engine) -> Proofreader:
        from reviser.proofreading.pipeline import Proofreader

        return Proofreader(
            engine.policy, engine.tokenizer, confidence=self.request.confidence, kinds=self.request.kinds
        )

    def _proofread(self, document: DocumentFile, reader: Proofreader, engine: Engine) -> None:
        from reviser.cli.progress import working
        from reviser.core.files import input_name
        from reviser.proofreading.document import Draft
        from reviser.proofreading.recording import recorded
        from reviser.proofreading.suggestion import with_suggestions
        from reviser.prose import Span

        path = document.path
        format = self.request.format_of(path, document.text)
        within = Span(*range_in(document.text, self.range))
        draft = Draft(document.text, format, self.request.words(path), within)
        began = time.perf_counter()
        with working("proofreading") as tell:
            name = f"{input_name(path)}: " if self.several else ""
            done = reader.proofread(draft, lambda read, of: tell(f"{name}proofreading, sentence {read} of {of}"))
            wanted = self.request.wanted(path, draft, done.changes)
            done = replace(done, changes=wanted, text=with_suggestions(draft.text, wanted))
        seconds = time.perf_counter() - began
        if not done.changes and not self.several and not self.delivery.json:
            typer.echo(f"{input_name(path)}: nothing to change", err=True)
        changes: Sequence[Suggestion] = done.changes
        if self.delivery.interactive:
            changes = self.asking.ask(done, input_name(path) if self.several else "")
        self.changed += bool(done.changes)
        if self.delivery.trajectory:
            vocabulary = engine.policy.vocabulary
            self.trajectories.append(recorded(document.text, changes, engine.tokenizer, vocabulary, engine.name))
        if self.delivery.json:
            self.summaries.append(summary(document, done, engine.name, seconds))
        else:
            self._deliver(document, with_suggestions(document.text, changes))
            if self.delivery.writes and done.changes:
                made = counted(len(changes), "change")
                typer.echo(f"{input_name(path)}: {made} made", err=True)

    def _deliver(self, document: DocumentFile, text: str) -> None:
        from reviser.core.files import STREAM

        delivery, path = self.delivery, document.path
        if delivery.writes:
            write_result(document, text, delivery.output or path)
        else:
            name = path.as_posix().lstrip("/") if self.several and path != STREAM else None
            print_diff(document, text, name)


class ChangeSummary(TypedDict):
    """A change as JSON holds it; line and column count from 1, the offset from 0."""

    line: int
    column: int
    offset: int
    old: str
    new: str
    confidence: float
    kind: str


class DocumentSummary(TypedDict):
    """A proofread document as JSON holds it."""

    file: str
    model: str
    format: str
    text: str
    sentences: int
    changes: list[ChangeSummary]
    seconds: float


def summary(document: DocumentFile, done: Proofread, model: str, seconds: float) -> DocumentSummary:
    """What is told about a proofread document as JSON."""
    text = document.text
    return {
        "file": str(document.path),
        "model": model,
        "format": str(done.draft.format),
        "text": done.text,
        "sentences": done.sentences,
        "changes": [
            {
                "line": text.count("\n", 0, change.start) + 1,
                "column": change.start - text.rfind("\n", 0, change.start),
                "offset": change.start,
                "old": change.old,
                "new": change.new,
                "confidence": round(change.confidence, 4),
                "kind": str(change.kind),
            }
            for change in done.changes
        ],
        "seconds": round(seconds, 3),
    }


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
