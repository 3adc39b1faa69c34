"""A Model Context Protocol server: an agent opens, edits, undoes and saves documents by actions.

It only touches files in the folders that it was given; links and `..` are followed before that is
judged. Documents are edited in memory, and a file changes when its document is saved.

Each call runs in a thread of its own. Calls on one document are carried out one after the other; a long
one on one document does not hold up those on others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anyio
from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from reviser import __version__
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.session.action_editor import ActionEditor
from reviser.session.documents import DocumentFile, offset_at
from reviser.session.replay import unified_diff

# The most bytes of a document, and the most actions of a call.
LARGEST = 4 * 2**20
MOST_ACTIONS = 10_000
_INSTRUCTIONS = """\
Open a document, act on it, view or diff it, and save it. An action is an object with a field "action":
{"action": "move", "after": "text"} puts the cursor behind a text that occurs once; also "before": "text",
"line": 3 with "column": 1 (both from 1), "to": 120 (characters from the start) or "by": -4.
{"action": "insert", "text": "…"} writes at the cursor. {"action": "delete"} removes the character left of it,
{"action": "span_delete", "k": 12} the 12 characters left of it. {"action": "replace", "text": "x"} replaces
the character left of it and {"action": "swap"} exchanges the two left of it.
{"action": "span_move", "k": 5, "j": 40} carries the 5 characters left of the cursor to offset 40, and
"span_copy" copies them; with "right": true, those right of it.
A list of actions is carried out whole or not at all. `undo` counts single actions, not lists.
Nothing reaches the file before `save`."""


@dataclass
class OpenDocument:
    """A file under edit, and what it held when it was last read or written."""

    document: DocumentFile
    editor: ActionEditor

    @property
    def name(self) -> str:
        return self.document.path.name

    def place(self) -> str:
        cursor = self.editor.cursor
        return f"the cursor is at line {cursor.lines + 1}, column {cursor.column + 1}"


@dataclass
class Workspace:
    """The open documents, and the folders that they must be in."""

    folders: tuple[Path, ...]
    documents: dict[Path, OpenDocument] = field(default_factory=dict)

    @classmethod
    def of(cls, folders: Sequence[Path]) -> Workspace:
        if not folders:
            raise ReviserError("name the folders that may be edited")
        for folder in folders:
            if not folder.is_dir():
                raise ReviserError(f"there is no folder {folder}")
        return cls(tuple(Path(os.path.realpath(folder)) for folder in folders))

    def locate(self, path: str) -> Path:
        """The absolute path of a document, relative ones from the first folder; raises an error for a path outside
        of the folders."""
        refusal = ReviserError(f"{path!r} is not in a folder that may be edited")
        try:
            target = Path(os.path.realpath(self.folders[0] / path))
        except ValueError:  # a path with a null character
            raise refusal from None
        if not any(target.is_relative_to(folder) for folder in self.folders):
            raise refusal
        return target

    def open(self, path: str, protect: Sequence[tuple[int, int]], encoding: str | None = None) -> OpenDocument:
        target = self.locate(path)
        if target in self.documents:
            raise ReviserError(f"{path} is open already; close it to read it anew")
        if not target.is_file():
            raise ReviserError(f"there is no file {path}")
        if target.stat().st_size > LARGEST:
            raise ReviserError(f"{path} is larger than {LARGEST // 2**20} MB")
        document = DocumentFile.read(target, encoding)
        ranges = [_lines_range(document.text, first, last) for first, last in protect]
        editor = ActionEditor(document.text, protected=ranges, max_length=LARGEST)
        opened = OpenDocument(document, editor)
        self.documents[target] = opened
        return opened

    def get(self, path: str) -> OpenDocument:
        opened = self.documents.get(self.locate(path))
        if opened is None:
            raise ReviserError(f"{path} is not open")
        return opened

    def act(self, path: str, actions: Sequence[Mapping[str, Any]]) -> str:
        """Carry out actions, all or none; returns a diff of what they changed."""
        if len(actions) > MOST_ACTIONS:
            raise ReviserError(f"{counted(len(actions), 'action')} are more than the {MOST_ACTIONS} of a call")
        written = sum(len(action["text"]) for action in actions if _has_text(action))
        if written > LARGEST:
            raise ReviserError(f"the actions write more than {LARGEST // 2**20} MB")
        opened = self.get(path)
        editor = opened.editor
        before = editor.text
        editor.act_all(actions)
        try:
            if len(opened.document.encode(editor.text)) > LARGEST:
                raise ReviserError(f"{path} would be larger than {LARGEST // 2**20} MB")
        except ReviserError:
            editor.undo(len(actions))
            raise
        return _changes(opened, before)

    def undo(self, path: str, count: int) -> str:
        """Take back actions; returns a diff of what that changed."""
        opened = self.get(path)
        before = opened.editor.text
        opened.editor.undo(count)
        return _changes(opened, before)

    def save(self, path: str) -> OpenDocument:
        opened = self.get(path)
        target = opened.document.path
        # A link may have been put in its place since it was opened.
        if self.locate(str(target)) != target:
            raise ReviserError(f"{path} leads elsewhere now")
        if target.exists():
            opened.document.update(opened.editor.text)
        else:
            opened.document.write(opened.editor.text)
        opened.document = DocumentFile.read(target, opened.document.asked)
        return opened

    def close(self, path: str) -> None:
        self.get(path)
        del self.documents[self.locate(path)]


def _lines_range(text: str, first: int, last: int) -> tuple[int, int]:
    """The characters of lines `first` to `last`, both included and counted from 1."""
    start = offset_at(text, first, 1)
    end = text.find("\n", offset_at(text, last, 1))
    return start, len(text) if end < 0 else end


def shown_lines(text: str, first: int, last: int | None) -> str:
    """Lines with their numbers."""
    lines = text.split("\n")
    if not 1 <= first <= len(lines):
        raise ReviserError(f"there is no line {first}; the text has {counted(len(lines), 'line')}")
    chosen = lines[first - 1 : last]
    width = len(str(first + len(chosen) - 1))
    return "\n".join(f"{n:>{width}}  {line}" for n, line in enumerate(chosen, start=first))


def _has_text(action: Mapping[str, Any]) -> bool:
    return isinstance(action.get("text"), str)


@dataclass
class Calls:
    """Runs calls in threads, one at a time per document."""

    workspace: Workspace
    _locks: WeakValueDictionary[Path, anyio.Lock] = field(default_factory=WeakValueDictionary)

    async def run(self, path: str, work: Callable[[], str]) -> str:
        """What `work` on the document at `path` says, after the calls on it that came before."""
        try:
            lock = self._locks.setdefault(self.workspace.locate(path), anyio.Lock())
            async with lock:
                return await to_thread.run_sync(work)
        except ReviserError as error:
            # What the user can fix reaches the agent as a sentence, not as a crash.
            raise ToolError(str(error)) from None


@dataclass(frozen=True)
class Tools:
    """What an agent may call, by the names of the methods; their docstrings are what it reads."""

    workspace: Workspace
    calls: Calls

    async def open(
        self, path: str, protect_lines: list[tuple[int, int]] | None = None, encoding: str | None = None
    ) -> str:
        """Open a text file for editing. Lines of `protect_lines`, pairs of first and last line, cannot be changed.

        The file's bytes tell its encoding unless `encoding` does; it is written in the same one.
        """

        def work() -> str:
            opened = self.workspace.open(path, protect_lines or [], encoding)
            text = opened.editor.text
            lines = text.count("\n") + (not text.endswith("\n"))
            return f"{opened.name}: {counted(lines, 'line')}, {counted(len(text), 'character')}; {opened.place()}"

        return await self.calls.run(path, work)

    async def act(self, path: str, actions: list[dict[str, Any]]) -> str:
        """Carry out a list of actions on an open document, all or none; returns what changed."""
        return await self.calls.run(path, lambda: self.workspace.act(path, actions))

    async def view(self, path: str, first_line: int = 1, last_line: int | None = None) -> str:
        """The text of an open document as it stands, with line numbers, and where the cursor is."""

        def work() -> str:
            opened = self.workspace.get(path)
            shown = shown_lines(opened.editor.text, first_line, last_line)
            return f"{shown}\n({opened.place()})"

        return await self.calls.run(path, work)

    async def undo(self, path: str, count: int = 1) -> str:
        """Take back the last `count` actions of an open document; returns what that changed.

        `count` counts single actions, not calls of `act`: a call with a list of three actions is taken back
        with 3. Each entry of a list is one, moves included, and so is an insert however long its text. A call
        that was refused counts nothing.
        """
        return await self.calls.run(path, lambda: self.workspace.undo(path, count))

    async def diff(self, path: str) -> str:
        """A unified diff from the text as it was opened to the text as it stands."""

        def work() -> str:
            opened = self.workspace.get(path)
            return opened.editor.diff(opened.name) or "nothing is changed"

        return await self.calls.run(path, work)

    async def save(self, path: str) -> str:
        """Write an open document to its file, in one step; refuses if the file was changed meanwhile."""
        return await self.calls.run(path, lambda: f"saved {self.workspace.save(path).name}")

    async def close(self, path: str) -> str:
        """Close a document; what was not saved is lost."""

        def work() -> str:
            self.workspace.close(path)
            return "closed"

        return await self.calls.run(path, work)


def make_server(folders: Sequence[Path]) -> MCPServer[Any]:
    """The server for documents in these folders."""
    workspace = Workspace.of(folders)
    tools = Tools(workspace, Calls(workspace))
    server: MCPServer[Any] = MCPServer("reviser", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in (tools.open, tools.act, tools.view, tools.undo, tools.diff, tools.save, tools.close):
        server.add_tool(tool)
    return server


def _changes(opened: OpenDocument, before: str) -> str:
    name = opened.name
    diff = unified_diff(before, opened.editor.text, f"a/{name}", f"b/{name}")
    return f"{diff}({opened.place()})"
