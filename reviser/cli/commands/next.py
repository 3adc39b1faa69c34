"""`reviser next`: suggestions of what else to change in texts, after the edits that a person has made in them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviser.cli.asking import ChangeReview
from reviser.cli.commands.generate import (
    DiffOption,
    EncodingOption,
    InPlaceOption,
    InteractiveOption,
    OutputOption,
    ThreadsOption,
)
from reviser.cli.commands.revise import DocumentSummary, summary
from reviser.cli.completion import complete_format, complete_model
from reviser.cli.delivery import Delivery
from reviser.cli.entry import complain
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.core.edits import Edit
    from reviser.next_edits.following import EditFollower
    from reviser.next_edits.prompt import RecentEdit
    from reviser.proofreading.project.folders import Gathered
    from reviser.proofreading.suggestion import Suggestion
    from reviser.prose import Format
    from reviser.session.documents import DocumentFile

LONGEST: Final = 2_000_000
"""The length of the longest text in which edits are looked for, in characters."""
_TEXT_ALONE: Final = "none"


@dataclass(frozen=True, kw_only=True)
class NextOptions:
    """The options of `next`: the texts, what they are compared with, and the destination of the results."""

    files: Annotated[tuple[Path, ...], Argument("text files, and folders with documents; - reads standard input")]
    since: Annotated[
        Path | None, Option("a file with the text before the edits", metavar="OLD_FILE", default="the last commit")
    ] = None
    model: Annotated[
        str | None,
        Option(
            "a model that has learned next edits, by name or path", default="the text alone", complete=complete_model
        ),
    ] = None
    encoding: EncodingOption = None
    in_place: InPlaceOption = False
    interactive: InteractiveOption = False
    output: OutputOption = None
    diff: DiffOption = False
    json: Annotated[bool, Option("print JSON: each change, its place, confidence, kind and reason")] = False
    confidence: Annotated[
        float | None,
        Option(
            "how likely a change must be, from 0 to 1", default="from where on 85 in 100 were right", least=0, most=1
        ),
    ] = None
    format: Annotated[
        str | None, Option("format of the text, such as markdown; by default from its name", complete=complete_format)
    ] = None
    threads: ThreadsOption = None


def next_(options: NextOptions) -> None:
    """Make an edit in a few places, and see where else it belongs, as a unified diff.

    The difference to the last commit of git, or to --since OLD_FILE, is what you have edited. Where
    the same edit is likely to be wanted again, it is suggested: in the same text, and in the other
    files. Only prose is changed. Files are not changed unless --in-place or --interactive is given.

    Exit status: 0, done, with or without changes; 1, another program changed a file during the run: then
    it is left alone, and the result is saved beside it; 2, an error in the command, a file or a model.
    """
    delivery = Delivery(
        in_place=options.in_place,
        interactive=options.interactive,
        output=options.output,
        diff=options.diff,
        json=options.json,
    )
    if status := _FollowingJob(options, delivery).run():
        raise typer.Exit(status)


@dataclass(frozen=True)
class _Compared:
    """A document, its format, and the edits that were made in it."""

    document: DocumentFile
    format: Format
    made: Sequence[Edit]


@dataclass
class _FollowingJob:
    """One run of `next`: finds the edits that were made, and writes out the changes that follow from them."""

    options: NextOptions
    delivery: Delivery
    several: bool = False
    asking: ChangeReview = field(default_factory=ChangeReview)
    summaries: list[DocumentSummary] = field(default_factory=list)
    suggested: int = 0

    def run(self) -> int:
        """Suggest or make the following changes; returns the exit status."""
        import json

        from reviser.core.files import STREAM
        from reviser.proofreading.project.folders import gathered
        from reviser.proofreading.project.settings import settings_for

        options = self.options
        self.several = len(options.files) > 1 or any(file.is_dir() for file in options.files)
        if self.several and options.since:
            raise ReviserError("--since is the text of one file before the edits")
        if STREAM in options.files and not options.since:
            raise ReviserError("standard input is in no commit of git: name the text before the edits with --since")
        found = gathered(options.files, settings_for(options.files).excludes)
        if not found.documents:
            raise ReviserError(f"there are no documents in {', '.join(map(str, options.files))} that are not ignored")
        if self.several and options.output:
            raise ReviserError("--output takes the result of one file")
        self.delivery.check(found.documents)
        compared, status = self._compare(found)
        follower = self._follower()
        if not any(one.made for one in compared):
            since = options.since or "the last commit"
            typer.echo(f"no edits since {since} that could be made elsewhere", err=True)
        for number, one in enumerate(compared):
            others = [other for at, other in enumerate(compared) if at != number]
            try:
                self._follow(one, others, follower)
            except ReviserError as error:
                if not self.several:
                    raise
                status = max(status, complain(error))
            if self.asking.is_over:
                break
        if self.delivery.json:
            shown = self.summaries if self.several else self.summaries[0]
            typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        elif any(one.made for one in compared) and not self.suggested:
            typer.echo("nothing else to change", err=True)
        return status

    def _compare(self, found: Gathered) -> tuple[list[_Compared], int]:
        """The documents with the edits made in them, and the exit status (2 if a document could not be read)."""
        compared = []
        status = 0
        for path in found.documents:
            try:
                compared.append(self._compared(path))
            except ReviserError as error:
                if found.passes_over(path, error):
                    continue
                if not self.several:
                    raise
                status = max(status, complain(error))
        return compared, status

    def _compared(self, path: Path) -> _Compared:
        from reviser.core.files import input_name
        from reviser.next_edits.history import meant_edits
        from reviser.proofreading.request import Request
        from reviser.session.documents import DocumentFile

        document = DocumentFile.read(path, self.options.encoding)
        format = Request(0.0, format=self.options.format).format_of(path, document.text)
        if len(document.text) > LONGEST:
            raise ReviserError(
                f"{input_name(path)} has {len(document.text):,} characters; edits are followed in up to {LONGEST:,}"
            )
        old = self._old_text(path)
        made = meant_edits(old, document.text) if old is not None else []
        return _Compared(document, format, made)

    def _old_text(self, path: Path) -> str | None:
        """The text of a file before the edits; None if the file is new."""
        from reviser.checking.changed import committed
        from reviser.core.files import input_name
        from reviser.session.charsets import read_text
        from reviser.session.documents import DocumentFile

        if self.options.since is not None:
            return DocumentFile.read(self.options.since, self.options.encoding).text
        data = committed(path)
        if data is None:
            return None
        text, _ = read_text(data, f"{input_name(path)} at the last commit", self.options.encoding)
        return text.replace("\r\n", "\n")

    def _follower(self) -> EditFollower:
        from reviser.next_edits.following import follower

        if self.options.model is None:
            return follower()
        from reviser.cli.progress import working
        from reviser.session.engine import load_engine

        with working("loading the model"):
            engine = load_engine(self.options.model, threads=self.options.threads)
        return follower(engine)

    def _follow(self, one: _Compared, others: Sequence[_Compared], follower: EditFollower) -> None:
        from reviser.cli.progress import working
        from reviser.core.files import STREAM, input_name
        from reviser.next_edits.following import EditedDocument
        from reviser.next_edits.prompt import recent_edit
        from reviser.proofreading.document import Draft, Proofread
        from reviser.proofreading.suggestion import with_suggestions

        document = one.document
        elsewhere: list[RecentEdit] = [
            recent_edit(other.document.text, edit) for other in others for edit in other.made
        ]
        began = time.perf_counter()
        with working("looking for more places"):
            found = follower.suggestions(
                EditedDocument(document.text, one.format, one.made, elsewhere), self.options.confidence
            )
        seconds = time.perf_counter() - began
        self.suggested += len(found)
        done = Proofread(Draft(document.text, one.format), with_suggestions(document.text, found), tuple(found), 0)
        name = input_name(document.path) if self.several and document.path != STREAM else ""
        changes: Sequence[Suggestion] = self.asking.ask(done, name) if self.delivery.interactive else found
        if self.delivery.json:
            self.summaries.append(summary(document, done, self.options.model or _TEXT_ALONE, seconds))
            return
        shown = document.path.as_posix().lstrip("/") if name else None
        self.delivery.put(document, with_suggestions(document.text, changes), shown)
        if self.delivery.writes and found:
            typer.echo(f"{input_name(document.path)}: {counted(len(changes), 'change')} made", err=True)
