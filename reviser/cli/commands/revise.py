"""`reviser revise`: a model proofreads texts, and changes what is wrong in them and nothing else."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from reviser.cli.asking import ChangeReview
from reviser.cli.commands.generate import (
    DiffOption,
    EncodingOption,
    InPlaceOption,
    InteractiveOption,
    ModelOption,
    OutputOption,
    ThreadsOption,
    TrajectoryOption,
    offset_of,
)
from reviser.cli.completion import complete_format, complete_kinds
from reviser.cli.delivery import Delivery, write_trajectories
from reviser.cli.entry import complain
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.proofreading.document import Draft, Proofread
    from reviser.proofreading.pipeline import Proofreader
    from reviser.proofreading.project.folders import Gathered
    from reviser.proofreading.project.settings import ProjectSettings
    from reviser.proofreading.request import Request
    from reviser.proofreading.suggestion import Suggestion
    from reviser.session.documents import DocumentFile
    from reviser.session.engine import Engine


@dataclass(frozen=True, kw_only=True)
class CorrectionOptions:
    """The options of proofreading: what to look for, and with which model."""

    model: ModelOption = None
    encoding: EncodingOption = None
    confidence: Annotated[
        float | None, Option("how confident the model must be in a change, from 0 to 1 (0.5)", least=0, most=1)
    ] = None
    only: Annotated[
        str | None,
        Option("only changes of these kinds, such as spelling,article", metavar="KINDS", complete=complete_kinds),
    ] = None
    except_: Annotated[
        str | None, Option("no changes of these kinds", metavar="KINDS", flags=("--except",), complete=complete_kinds)
    ] = None
    ignore: Annotated[
        tuple[Path, ...],
        Option("a file of words that are never changed, one a line, besides .reviser/words.txt", metavar="FILE"),
    ] = ()
    format: Annotated[
        str | None, Option("format of the text, such as markdown; by default from its name", complete=complete_format)
    ] = None
    threads: ThreadsOption = None

    def request(self, settings: ProjectSettings) -> Request:
        """The request that results from these options and the settings of a project; options take precedence."""
        from reviser.proofreading.request import Request
        from reviser.session.charsets import encoding_named

        if self.encoding is not None:
            encoding_named(self.encoding)
        return Request.made(
            settings,
            confidence=settings.dial(self.confidence),
            only=self.only,
            without=self.except_,
            format=self.format,
            ignore=self.ignore,
            report=complain,
        )


@dataclass(frozen=True, kw_only=True)
class ReviseOptions(CorrectionOptions):
    """The options of `revise`: the texts, and the destination of the changes."""

    files: Annotated[tuple[Path, ...], Argument("text files, and folders with documents; - reads standard input")]
    in_place: InPlaceOption = False
    interactive: InteractiveOption = False
    output: OutputOption = None
    diff: DiffOption = False
    json: Annotated[bool, Option("print JSON: each change, its place, confidence and kind")] = False
    range: Annotated[str | None, Option("only these lines, or this part", metavar="LINE[:COL]-LINE[:COL]")] = None
    trajectory: TrajectoryOption = None


def revise(options: ReviseOptions) -> None:
    """Proofread texts: suggest corrections, as a unified diff.

    Only prose is changed, never code, links, formulas or other syntax. A change is made if the model is
    confident enough in it. Files are not changed unless --in-place or --interactive is given. In a folder,
    documents that are hidden or ignored by git are skipped.

    Exit status: 0, done, with or without changes; 1, another program changed a file during the run: then
    it is left alone, and the result is saved beside it; 2, an error in the command, a file or a model.
    """
    from reviser.proofreading.project.settings import settings_for

    settings = settings_for(options.files)
    delivery = Delivery(
        in_place=options.in_place,
        interactive=options.interactive,
        output=options.output,
        diff=options.diff,
        json=options.json,
        trajectory=options.trajectory,
    )
    job = RevisionJob(options, delivery, options.request(settings), settings)
    if status := job.run():
        raise typer.Exit(status)


@dataclass
class RevisionJob:
    """One run of `revise`: proofreads files and writes out the results."""

    options: ReviseOptions
    delivery: Delivery
    request: Request
    settings: ProjectSettings
    several: bool = False
    asking: ChangeReview = field(default_factory=ChangeReview)
    trajectories: list[Trajectory] = field(default_factory=list)
    summaries: list[DocumentSummary] = field(default_factory=list)
    changed: int = 0

    def run(self) -> int:
        """Proofread the files; returns the exit status."""
        import json

        from reviser.cli.progress import working
        from reviser.proofreading.pipeline import Proofreader
        from reviser.session.engine import load_engine

        found = self._gather()
        given = [] if self.several else [self._read(found.documents[0])]
        with working("loading the model"):
            engine = load_engine(self.options.model or self.settings.model, threads=self.options.threads)
        confidence, kinds = self.request.confidence, self.request.kinds
        reader = Proofreader(engine.policy, engine.tokenizer, confidence=confidence, kinds=kinds)
        try:
            status = self._proofread_all(found, given, reader, engine)
        finally:
            write_trajectories(self.delivery, self.trajectories)
        if self.delivery.json:
            shown = self.summaries if self.several else self.summaries[0]
            typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return status

    def _gather(self) -> Gathered:
        """The documents to read; raises `ReviserError` for options that do not apply to them."""
        from reviser.proofreading.project.folders import gathered

        files = self.options.files
        self.several = len(files) > 1 or any(file.is_dir() for file in files)
        found = gathered(files, self.settings.excludes)
        if not found.documents:
            skipped = f"; {found.told}" if found.skipped else ""
            raise ReviserError(
                f"there are no documents in {', '.join(map(str, files))} that are neither hidden, excluded nor "
                f"ignored by git{skipped}"
            )
        self.delivery.check(found.documents)
        if self.several and self.delivery.output:
            raise ReviserError("--output takes the result of one file")
        if self.several and self.options.range:
            raise ReviserError("--range takes one file")
        return found

    def _proofread_all(self, found: Gathered, given: list[DocumentFile], reader: Proofreader, engine: Engine) -> int:
        """Proofread the files, of which those in `given` were read already; returns the exit status."""
        status = 0
        read = 0
        for path in found.documents:
            try:
                document = given.pop(0) if given else self._read(path)
                self._take(document, reader, engine)
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

        document = DocumentFile.read(path, self.options.encoding)
        # What is wrong with the command is said before the model is loaded.
        self._draft(document)
        return document

    def _draft(self, document: DocumentFile) -> Draft:
        """The draft of a document: its text, format and the part to proofread."""
        from reviser.proofreading.document import Draft
        from reviser.prose import Span

        path, text = document.path, document.text
        within = Span(*range_in(text, self.options.range))
        request = self.request
        return Draft(text, request.format_of(path, text), request.words(path), within, request.rules(path))

    def _take(self, document: DocumentFile, reader: Proofreader, engine: Engine) -> None:
        """Proofread a document, and write out the result."""
        from reviser.checking.findings import unread_words
        from reviser.core.files import STREAM, input_name
        from reviser.proofreading.recording import recorded
        from reviser.proofreading.suggestion import with_suggestions

        delivery, path, name = self.delivery, document.path, input_name(document.path)
        began = time.perf_counter()
        done = self._proofread(document, reader)
        seconds = time.perf_counter() - began
        for line, characters in unread_words(done.draft):
            typer.echo(
                f"{name}: line {line} has a word of {counted(characters, 'character')}, which is not read", err=True
            )
        if not done.changes and not self.several and not delivery.json:
            typer.echo(f"{name}: nothing to change", err=True)
        changes: Sequence[Suggestion] = done.changes
        if delivery.interactive:
            changes = self.asking.ask(done, name if self.several else "")
        self.changed += bool(done.changes)
        if delivery.trajectory:
            vocabulary = engine.policy.vocabulary
            self.trajectories.append(recorded(document.text, changes, engine.tokenizer, vocabulary, engine.name))
        if delivery.json:
            self.summaries.append(summary(document, done, engine.name, seconds))
            return
        shown = path.as_posix().lstrip("/") if self.several and path != STREAM else None
        delivery.put(document, with_suggestions(document.text, changes), shown)
        if delivery.writes and done.changes:
            typer.echo(f"{name}: {counted(len(changes), 'change')} made", err=True)

    def _proofread(self, document: DocumentFile, reader: Proofreader) -> Proofread:
        """The result of proofreading a document, without the changes that its project ignores."""
        from reviser.cli.progress import working
        from reviser.core.files import input_name
        from reviser.proofreading.suggestion import with_suggestions

        draft = self._draft(document)
        name = f"{input_name(document.path)}: " if self.several else ""
        with working(f"{name}proofreading") as tell:
            done = reader.proofread(draft, lambda read, of: tell(f"{name}proofreading, sentence {read} of {of}"))
            wanted = self.request.wanted(document.path, draft, done.changes)
        return replace(done, changes=wanted, text=with_suggestions(draft.text, wanted))


class ChangeSummary(TypedDict):
    """A change as JSON holds it; line and column count from 1, the offset from 0."""

    line: int
    column: int
    offset: int
    old: str
    new: str
    confidence: float
    kind: str
    reason: str


class DocumentSummary(TypedDict):
    """A proofread document as JSON holds it."""

    file: str
    model: str
    format: str
    text: str
    sentences: int
    changes: list[ChangeSummary]
    unread: list[dict[str, int]]
    seconds: float


def summary(document: DocumentFile, done: Proofread, model: str, seconds: float) -> DocumentSummary:
    """The JSON summary of a proofread document."""
    from reviser.checking.findings import unread_words

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
                "reason": change.reason,
            }
            for change in done.changes
        ],
        "unread": [word._asdict() for word in unread_words(done.draft)],
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
