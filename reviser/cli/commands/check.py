"""`reviser check`: a model looks for mistakes in many texts and says where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reviser.cli.commands.revise import CorrectionOptions
from reviser.cli.delivery import choose_one, print_diff, write_result
from reviser.cli.entry import complain
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.checking.checker import Checker
    from reviser.checking.findings import Checked, Failed, Source
    from reviser.proofreading.project.folders import Gathered
    from reviser.proofreading.project.settings import ProjectSettings


class OutputFormat(StrEnum):
    """The formats in which findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    DIFF = "diff"


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CorrectionOptions):
    """The options of `check`: what to read, and how findings are reported."""

    paths: Annotated[
        tuple[Path, ...], Argument("text files, and folders with documents (.); - reads standard input", default="")
    ] = ()
    output_format: Annotated[OutputFormat, Option("how findings are printed")] = OutputFormat.TEXT
    explain: Annotated[bool, Option("print the reason below each finding")] = False
    test_rules: Annotated[bool, Option("only test the project's own rules on their examples")] = False
    unused_comments: Annotated[bool, Option("also report comments that switch off nothing")] = False
    fix: Annotated[bool, Option("make the changes in the files themselves")] = False
    stdin_filename: Annotated[
        Path | None, Option("name of standard input, from which its format and settings follow", metavar="NAME")
    ] = None
    changed: Annotated[bool, Option("only files that differ from the last commit, or are new")] = False
    changed_since: Annotated[
        str | None, Option("only files that have changed since this branch left REV", metavar="REV")
    ] = None
    jobs: Annotated[
        int | None,
        Option("largest number of processes (by default one for two cores)", least=1, flags=("--jobs", "-j")),
    ] = None
    no_cache: Annotated[bool, Option("read all texts again, and store no results")] = False
    cache_dir: Annotated[
        Path | None, Option("folder for cached results, instead of your cache folder", metavar="FOLDER")
    ] = None


def check(options: CheckOptions) -> None:
    """Look for mistakes in texts: path:line:column: kind: old → new (confidence).

    Only prose is checked. In a folder, documents that are hidden or ignored by git are skipped. Results are cached, so
    only what has changed is read again. A project's settings are in the table tool.reviser of its pyproject.toml, or
    in .reviser/config.toml.

    Exit status: 0, nothing was found, or --fix has corrected all of it; 1, something was found; 2, an error in
    the command, a file or a model.
    """
    from reviser.checking.cache import cache_folder
    from reviser.checking.checker import Checker
    from reviser.proofreading.project.settings import settings_for

    choose_one(no_cache=options.no_cache, cache_dir=options.cache_dir)
    choose_one(changed=options.changed, changed_since=options.changed_since)
    by_changes = options.changed or options.changed_since is not None
    run = CheckRun(
        options.paths or (Path(),),
        options.output_format,
        options.fix,
        options.stdin_filename,
        options.explain,
        options.unused_comments,
    )
    run.check_words(by_changes)
    settings = settings_for(run.names)
    if options.test_rules:
        typer.echo(tested_rules(run.names, settings))
        return
    request, model = options.request(settings), options.model or settings.model
    folder = None if options.no_cache else options.cache_dir or cache_folder()
    checker = Checker(request, model, options.jobs, options.threads, folder, options.encoding)
    found = run.gather(settings)
    if by_changes:
        found = _changed_among(found, run.paths, options.changed_since)
    if status := run.check(checker, found):
        raise typer.Exit(status)


def tested_rules(paths: Sequence[Path], settings: ProjectSettings) -> str:
    """The number of a project's own rules, after all of them were tested; raises `ReviserError` for one that
    contradicts its examples."""
    from reviser.proofreading.project.rules import rules_for
    from reviser.proofreading.rules.english import own_rules
    from reviser.proofreading.rules.examples import check_examples

    files = {path / "any" if path.is_dir() else path for path in paths}
    texts = tuple(dict.fromkeys(one for path in sorted(files) for one in rules_for(path, settings.presets)))
    book = own_rules(texts)
    check_examples(book, all_needed=False)
    told = f"{counted(len(book.rules), 'rule')} and {counted(len(book.terms), 'term')} in {counted(len(texts), 'file')}"
    return f"{told}: all examples hold"


def _changed_among(found: Gathered, paths: Sequence[Path], since: str | None) -> Gathered:
    from reviser.checking.changed import changed_files

    changed = changed_files(paths, since)

    def is_changed(path: Path) -> bool:
        return path.parent.resolve() / path.name in changed

    documents = list(filter(is_changed, found.documents))
    skipped = [skipped for skipped in found.skipped if is_changed(skipped.path)]
    return replace(found, documents=documents, skipped=skipped)


@dataclass
class CheckRun:
    """One run of `check`: reads documents, reports findings, and fixes them if asked."""

    paths: Sequence[Path]
    output_format: OutputFormat
    fix: bool
    stdin_name: Path | None
    explains: bool = False
    reports_unused: bool = False
    outcomes: list[Checked | Failed] = field(default_factory=list)
    status: int = 0
    found: int = 0
    unclean: int = 0
    unread: int = 0

    @property
    def names(self) -> list[Path]:
        """The paths, with the name for standard input in place of `-`."""
        return [self._name(path) for path in self.paths]

    def _name(self, path: Path) -> Path:
        from reviser.core.files import STREAM

        return self.stdin_name if path == STREAM and self.stdin_name else path

    def check_words(self, by_changes: bool) -> None:
        """Raise `ReviserError` for options that contradict each other, before any work is done."""
        from reviser.core.files import STREAM
        from reviser.session.documents import check_writable

        if STREAM in self.paths:
            if self.fix:
                check_writable(STREAM)
            if by_changes:
                raise ReviserError("git does not know whether standard input has changed")
        elif self.stdin_name:
            raise ReviserError("--stdin-filename is for standard input: name it with -")

    def gather(self, settings: ProjectSettings) -> Gathered:
        """The documents to check."""
        from reviser.proofreading.project.folders import gathered

        return gathered(self.paths, lambda path: settings.excludes(self._name(path)))

    def check(self, checker: Checker, found: Gathered) -> int:
        """Check documents and report the findings; returns the exit status."""
        from reviser.checking.findings import Checked
        from reviser.cli.progress import counting

        sources = self._sources(checker, found)
        with counting("checking", len(sources)) as progress:
            for outcome in checker.check(sources, lambda read, of: progress.tell(f"checking, sentence {read} of {of}")):
                if not isinstance(outcome, Checked):
                    with progress.aside():
                        self._complain(outcome)
                else:
                    with progress.aside():
                        self._take(outcome)
                progress.advance()
                if self.output_format in (OutputFormat.JSON, OutputFormat.SARIF):
                    self.outcomes.append(outcome)
        self._finish(len(sources), found)
        return self.status

    def _sources(self, checker: Checker, found: Gathered) -> list[Source | Failed]:
        from reviser.checking.findings import Failed
        from reviser.session.documents import check_writable

        if self.fix:
            for path in found.documents:
                check_writable(path)
        sources = []
        for path in found.documents:
            source = checker.read(path, self._name(path))
            if not (isinstance(source, Failed) and found.passes_over(path, source.error)):
                sources.append(source)
        return sources

    def _take(self, checked: Checked) -> None:
        """Report the findings in a document, and fix them if asked."""
        from reviser.checking.reports import unused_line

        for word in checked.unread:
            typer.echo(f"{checked.source.name}: {word.told}", err=True)
        if self.reports_unused and (unused := checked.unused):
            self.status = max(self.status, 1)
            if self.output_format is OutputFormat.TEXT:
                _write(unused_line(checked, one) for one in unused)
        if not checked.result.changes:
            return
        self.found += len(checked.result.changes)
        self.unclean += 1
        self._print(checked)
        if not self.fix:
            self.status = max(self.status, 1)
            return
        document = checked.source.document
        try:
            write_result(document, checked.corrected, document.path)
        except ReviserError as error:
            self.status = max(self.status, complain(error))

    def _print(self, checked: Checked) -> None:
        from reviser.checking.reports import explained, github_line, text_line
        from reviser.core.files import STREAM

        line = {OutputFormat.TEXT: text_line, OutputFormat.GITHUB: github_line}.get(self.output_format)
        if line is not None:
            _write(
                f"{line(one)}\n    {explained(one)}" if self.explains and line is text_line else line(one)
                for one in checked.findings
            )
        elif self.output_format is OutputFormat.DIFF:
            document, name = checked.source.document, checked.source.name
            shown = None if name == STREAM else name.as_posix().lstrip("/")
            print_diff(document, checked.corrected, shown)

    def _complain(self, failed: Failed) -> None:
        from reviser.checking.reports import github_error

        self.status = complain(failed.error)
        self.unread += 1
        if self.output_format is OutputFormat.GITHUB:
            _write([github_error(failed)])

    def _finish(self, count: int, found: Gathered) -> None:
        from reviser.checking.reports import json_report
        from reviser.checking.sarif import sarif_report

        if self.output_format is OutputFormat.JSON:
            _write([json_report(self.outcomes, found.skipped)], errors="replace")
        elif self.output_format is OutputFormat.SARIF:
            _write([sarif_report(self.outcomes)], errors="replace")
        # Where nothing could be read, the reasons have been told.
        if not self.unread or count > self.unread or found.skipped:
            typer.echo(self._summary(count - self.unread, found.told), err=True)

    def _summary(self, count: int, skipped: str) -> str:
        """A summary: the number of findings, and of files that could not be read."""
        files = counted(count, "file")
        if self.found:
            told = f"{counted(self.found, 'mistake')} in {self.unclean} of {files}"
            told += ", fixed" if self.fix and not self.status else ""
        else:
            told = f"{files}: nothing to change"
        unread = f"{counted(self.unread, 'file')} not checked" if self.unread else ""
        return "; ".join(filter(None, (told, unread, skipped)))


def _write(lines: Iterator[str] | Sequence[str], errors: str = "surrogateescape") -> None:
    """Print lines in UTF-8; file names that are not UTF-8 keep their bytes unless `errors` says otherwise."""
    from reviser.core.files import STREAM, write_output

    text = "".join(f"{line}\n" for line in lines)
    write_output(STREAM, text.encode("utf-8", errors))
