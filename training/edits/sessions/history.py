"""Sessions from a git history: the edits that each commit made to a file of prose.

A commit counts for a file if it changes some of its lines and neither adds nor removes any. Lines are compared word
by word.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.next_edits.differences import changed_words
from training.edits.sessions.session import EditSession, line_starts

LONGEST_TEXT = 40_000
"""Characters of a text, at the most."""
MOST_EDITS = 80
SUFFIXES = ("*.md", "*.mdx", "*.markdown", "*.rst", "*.adoc", "*.tex")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(r"index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})")
_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_NO_WORDS = re.compile(r"[\W\d_]*|[0-9a-f]{7,}|\S*://\S*")
_NOT_PROSE = re.compile(r"^\s*(```|~~~|[|{}<\[(]|\.\. |:\w+:|!\[|import |export |title:|---|#!)")


@dataclass
class _FileChange:
    """One commit's change of one file: changed lines by number from 0, or `apart` if lines were added or removed."""

    path: str
    blob: str = ""
    lines: dict[int, tuple[str, str]] = field(default_factory=dict)
    apart: bool = False


def sessions_of(
    repository: Path, *, least: int = 2, most_commits: int | None = None, of_each: int | None = None
) -> Iterator[EditSession]:
    """Yields the sessions of a git history, the latest first, at most `of_each` of a commit; raises `ReviserError` if
    there is no repository."""
    if not repository.is_dir():
        raise ReviserError(f"{repository} is no folder")
    name = repository.parent.name if repository.name in {"repo", ".git"} else repository.name
    with _Blobs(repository) as blobs:
        for commit, changes in _commits(repository, most_commits):
            yielded = 0
            for change in changes:
                if yielded == of_each:
                    break
                if change.apart or not change.lines or len(change.lines) > MOST_EDITS:
                    continue
                found = _edits_by_line(change)
                if not least <= sum(map(len, found.values())) <= MOST_EDITS:
                    continue
                text = blobs.text(change.blob)
                edits = _placed(text, change, found) if text is not None else ()
                if text is not None and len(edits) >= least and any(map(_of_words, edits)):
                    yielded += 1
                    yield EditSession(text, edits, name, commit, change.path)


def _of_words(edit: Edit) -> bool:
    """Whether an edit changes words, not only numbers, punctuation or addresses."""
    return not (_NO_WORDS.fullmatch(edit.old) and _NO_WORDS.fullmatch(edit.new))


def _edits_by_line(change: _FileChange) -> dict[int, list[Edit]]:
    found = {}
    for number, (old, new) in change.lines.items():
        edits = word_edits(old, new)
        if edits is None:
            return {}
        found[number] = edits
    return found


def word_edits(old: str, new: str) -> list[Edit] | None:
    """The word-by-word edits of a line; None if the line was rewritten entirely or is not prose."""
    return None if _NOT_PROSE.match(old) or _NOT_PROSE.match(new) else changed_words(old, new)


def _placed(text: str, change: _FileChange, found: dict[int, list[Edit]]) -> tuple[Edit, ...]:
    starts = line_starts(text)
    fences = [match.start() for match in _FENCE.finditer(text)]
    edits = []
    for number in sorted(found):
        if number >= len(starts):
            return ()
        if bisect_right(fences, starts[number]) % 2:
            continue
        for edit in found[number]:
            placed = edit.moved(starts[number])
            if text[placed.start : placed.end] != placed.old:
                return ()
            edits.append(placed)
    return tuple(edits)


def _commits(repository: Path, most: int | None) -> Iterator[tuple[str, list[_FileChange]]]:
    """Yields every commit that is not a merge, with its changes of files of prose."""
    command = ["git", f"--git-dir={_git_folder(repository)}", "log", "--no-merges", "--no-renames", "-p", "-U0"]
    command += ["--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-filter=M"]
    command += ["--format=commit %H"] + ([f"--max-count={most}"] if most else [])
    with subprocess.Popen([*command, "--", *SUFFIXES], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield from _parsed(line.decode("utf-8", "replace").rstrip("\r\n") for line in process.stdout)
        said = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    if process.returncode:
        raise ReviserError(f"git cannot read {repository}: {(said or 'no answer').splitlines()[0]}")


def _git_folder(repository: Path) -> Path:
    return repository / ".git" if (repository / ".git").is_dir() else repository


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str, list[_FileChange]]]:
    commit, changes = "", list[_FileChange]()
    removed, added = list[str](), list[str]()
    first = 0
    for line in lines:
        change = changes[-1] if changes else None
        if line.startswith("-") and change is not None and first:
            removed.append(line[1:])
            continue
        if line.startswith("+") and change is not None and first:
            added.append(line[1:])
            continue
        if change is not None and first:
            _keep_hunk(change, first, removed, added)
            removed, added, first = [], [], 0
        if line.startswith("commit ") and len(line) >= 47:
            if changes:
                yield commit, changes
            commit, changes = line[7:], []
        elif line.startswith("diff --git "):
            changes.append(_FileChange(line.rpartition(" b/")[2]))
        elif change is not None and (hunk := _HUNK.match(line)):
            same = (hunk[2] or "1") == (hunk[4] or "1")
            change.apart |= not same
            first = int(hunk[1]) if same else 0
        elif change is not None and (blobs := _INDEX.match(line)):
            change.blob = blobs[1]
    if changes and first:
        _keep_hunk(changes[-1], first, removed, added)
    if changes:
        yield commit, changes


def _keep_hunk(change: _FileChange, first: int, removed: Sequence[str], added: Sequence[str]) -> None:
    if len(removed) != len(added):
        change.apart = True
        return
    for number, pair in enumerate(zip(removed, added, strict=True), start=first - 1):
        change.lines[number] = pair


class _Blobs:
    """The contents of a repository's files by object id, read through one git process."""

    def __init__(self, repository: Path) -> None:
        self._process = subprocess.Popen(
            ["git", f"--git-dir={_git_folder(repository)}", "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> _Blobs:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def text(self, blob: str) -> str | None:
        """The text of a file; None if it is missing, too long, or not UTF-8."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(blob.encode() + b"\n")
        asked.flush()
        head = answers.readline().split()
        if len(head) != 3:
            return None
        data = answers.read(int(head[2]) + 1)[:-1]
        if len(data) > 2 * LONGEST_TEXT:
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None
        return text if len(text) <= LONGEST_TEXT and "\r" not in text else None
