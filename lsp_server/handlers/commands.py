"""The handlers of the commands of `workspace/executeCommand`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pygls.exceptions import JsonRpcInternalError

from lsp_server.documents.document import EditorDocument
from lsp_server.documents.hunks import Hunk
from lsp_server.documents.sources import format_of_document, source_of
from lsp_server.documents.surroundings import paragraph
from lsp_server.messages import ChangesParams, RunParams, Status, Target
from lsp_server.next_edits.offers import ACCEPT, ACCEPT_ALL, FOLLOW, LABEL, REFUSE, alike
from lsp_server.proofreading.fixes import text_edits
from lsp_server.protocol import invalid
from lsp_server.runs.editor import place
from lsp_server.runs.live_run import LiveRun
from lsp_server.server import ReviserServer
from reviser.core.errors import ReviserError
from reviser.editor.findings import touched
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format

Handler = TypeVar("Handler", bound=Callable[..., Any])

_LARGEST = 2**31 - 1  # of the protocol's numbers
_SHOWN = 60

_commands: list[tuple[str, Any]] = []


def command(name: str) -> Callable[[Handler], Handler]:
    """A decorator for the handler of a command, which takes one object, described by `Target`, or nothing."""

    def mark(handler: Handler) -> Handler:
        _commands.append((name, handler))
        return handler

    return mark


def register(server: ReviserServer) -> None:
    """Register all decorated handlers with a server."""
    for name, handler in _commands:
        server.command(name)(handler)


@command("reviser.continue")
async def continue_(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    document, target = await _writable(ls, arguments)
    at = target.position or (target.range and target.range.end)
    offset = document.offset(place(at)) if at else None
    return ls.editor.describe(await ls.runs.continue_(document, offset))


@command("reviser.infill")
async def infill(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    document, target = await _writable(ls, arguments)
    if target.range is None and target.position is None:
        raise invalid("reviser.infill needs a range or a position")
    start, end = _span(document, target)
    return ls.editor.describe(await ls.runs.infill(document, start, end))


@command("reviser.revise")
async def revise(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    """Revise a range, or the paragraph at a position."""
    document, target = await _writable(ls, arguments)
    if target.range is None and target.position is None:
        raise invalid("reviser.revise needs a range or a position")
    start, end = _span(document, target)
    if start == end:
        start, end = paragraph(document.text, start)
    if not document.text[start:end].strip():
        raise invalid("there is no text here to revise")
    return ls.editor.describe(await ls.runs.revise(document, start, end))


@command("reviser.reviseParagraph")
async def revise_paragraph(ls: ReviserServer, *arguments: Any) -> int:
    """Fix all findings in the paragraph at a position, as one edit; returns how many there were."""
    document, target = await _writable(ls, arguments)
    if target.range is None and target.position is None:
        raise invalid("reviser.reviseParagraph needs a position or a range")
    if format_of_document(document) is Format.UNKNOWN:
        raise invalid(f"it is not known what is prose in this document ({document.language})")
    run = ls.runs.current
    if run and run.uri == document.uri:
        raise invalid("the model is writing in this document; stop it first")
    start, _ = paragraph(document.text, _span(document, target)[0])
    _, end = paragraph(document.text, _span(document, target)[1])
    if not document.text[start:end].strip():
        raise invalid("there is no text here to revise")
    try:
        found = await ls.checking.read_now(document, start, end)
    except ReviserError as error:
        raise JsonRpcInternalError(str(error)) from None
    if not found:
        ls.editor.say("there is nothing to change")
    elif not await ls.editor.apply_all("Reviser paragraph", document, text_edits(document, found)):
        raise JsonRpcInternalError("the editor did not make the changes")
    return len(found)


@command("reviser.ignoreFinding")
def ignore_finding(ls: ReviserServer, *arguments: Any) -> None:
    """Ignore a finding from now on: the one at a position or range."""
    document, target = _placed(ls, arguments, "reviser.ignoreFinding")
    here = _at(document, target, ls.checking.findings(document))
    if not here:
        raise invalid("nothing is found here that could be ignored")
    if _change_list(lambda: ls.lists.ignore(source_of(document), document.text, here[0])) is None:
        ls.editor.say(f"{here[0].says} is ignored until the editor ends: this document has no file")
    ls.checking.leave(document)


@command(ACCEPT)
async def accept_next_edit(ls: ReviserServer, *arguments: Any) -> int:
    """Make the next edit at a position or range; returns how many were made."""
    document, offer = _offer(ls, arguments, ACCEPT)
    return await _make(ls, document, [offer])


@command(ACCEPT_ALL)
async def accept_all_next_edits(ls: ReviserServer, *arguments: Any) -> int:
    """Make all next edits that follow the same edit as the one at a position or range, as one edit; returns how many
    were made."""
    document, offer = _offer(ls, arguments, ACCEPT_ALL)
    return await _make(ls, document, alike(offer, ls.next_edits.offers(document)))


async def _make(ls: ReviserServer, document: EditorDocument, offers: list[Suggestion]) -> int:
    if not await ls.editor.apply_all(LABEL, document, text_edits(document, offers)):
        raise JsonRpcInternalError("the editor did not make the changes")
    return len(offers)


@command(REFUSE)
def refuse_next_edit(ls: ReviserServer, *arguments: Any) -> None:
    """Do not offer the next edit at a position or range any more, and its like less."""
    ls.next_edits.refuse(*_offer(ls, arguments, REFUSE))


@command(FOLLOW)
def follow_edits(ls: ReviserServer, *arguments: Any) -> None:
    """Look for next edits now, not at the next pause."""
    ls.next_edits.hurry(ls.document(_target(ls, arguments).uri))


def _offer(ls: ReviserServer, arguments: tuple[Any, ...], name: str) -> tuple[EditorDocument, Suggestion]:
    """The next edit that a command is about."""
    document, target = _placed(ls, arguments, name)
    here = _at(document, target, ls.next_edits.offers(document))
    if not here:
        raise invalid("no next edit is offered here")
    return document, here[0]


def _placed(ls: ReviserServer, arguments: tuple[Any, ...], name: str) -> tuple[EditorDocument, Target]:
    """The document and target of a command that needs a place."""
    target = _target(ls, arguments)
    document = ls.document(target.uri)
    if target.range is None and target.position is None:
        raise invalid(f"{name} needs a position or a range")
    return document, target


def _at(document: EditorDocument, target: Target, found: list[Suggestion]) -> list[Suggestion]:
    """The suggestions for exactly the range of a command, else those that it touches."""
    start, end = _span(document, target)
    exact = [one for one in found if (one.start, one.end) == (start, end)]
    return exact or touched(found, document.slice, start, end)


@command("reviser.addWord")
def add_word(ls: ReviserServer, *arguments: Any) -> str:
    """Add a word to the project's list or to the user's; returns the path of the list."""
    target = _target(ls, arguments)
    document = ls.document(target.uri)
    word, owner = target.word, target.words or "project"
    if not word:
        raise invalid('reviser.addWord needs a "word"')
    path = _change_list(lambda: ls.lists.add_word(source_of(document), word, owner))  # type: ignore[arg-type]
    ls.checking.leave_word(word)
    return str(path)


def _change_list(change: Callable[[], Path | None]) -> Path | None:
    try:
        return change()
    except ReviserError as error:
        raise JsonRpcInternalError(str(error)) from None


@command("reviser.stop")
async def stop(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    run = await ls.runs.stop()
    return ls.editor.describe(run) if run else None


@command("reviser.undo")
@command("reviser.reject")
async def take_back(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    """`reviser.undo` and `reviser.reject`: the last run, or the one named, leaves as one edit."""
    run = _run(ls, arguments)
    try:
        await ls.runs.take_back(run)
    except ReviserError as error:
        raise JsonRpcInternalError(str(error)) from None
    return ls.editor.describe(run)


@command("reviser.accept")
async def accept(ls: ReviserServer, *arguments: Any) -> RunParams | None:
    run = _run(ls, arguments)
    await ls.runs.accept(run)
    return ls.editor.describe(run)


@command("reviser.acceptChange")
def accept_change(ls: ReviserServer, *arguments: Any) -> ChangesParams:
    """Keep one change of a revision: the one named, or the one at a position."""
    document, hunks = _changes(ls, arguments)
    ls.runs.keep_changes(document.uri, hunks)
    return ls.editor.describe_changes(document)


@command("reviser.rejectChange")
async def reject_change(ls: ReviserServer, *arguments: Any) -> ChangesParams:
    """Put the old text of one change back: the one named, or the one at a position."""
    document, hunks = _changes(ls, arguments)
    return await _put_back(ls, document, hunks)


@command("reviser.acceptAllChanges")
def accept_all_changes(ls: ReviserServer, *arguments: Any) -> ChangesParams:
    document = ls.document(_target(ls, arguments).uri)
    ls.runs.keep_changes(document.uri, ls.runs.changes(document.uri))
    return ls.editor.describe_changes(document)


@command("reviser.rejectAllChanges")
async def reject_all_changes(ls: ReviserServer, *arguments: Any) -> ChangesParams:
    document = ls.document(_target(ls, arguments).uri)
    return await _put_back(ls, document, ls.runs.changes(document.uri))


async def _put_back(ls: ReviserServer, document: EditorDocument, hunks: list[Hunk]) -> ChangesParams:
    try:
        await ls.runs.put_back_changes(document.uri, hunks)
    except ReviserError as error:
        raise JsonRpcInternalError(str(error)) from None
    return ls.editor.describe_changes(document)


def _changes(ls: ReviserServer, arguments: tuple[Any, ...]) -> tuple[EditorDocument, list[Hunk]]:
    """The changes that a command is about: the one named, the one at a place, or else the nearest in its line."""
    target = _target(ls, arguments)
    document = ls.document(target.uri)
    hunks = ls.runs.changes(document.uri)
    if target.change_id is not None:
        found = [hunk for hunk in hunks if hunk.id == target.change_id]
    elif target.range is None and target.position is None:
        raise invalid("say which change: with its changeId, a position or a range")
    else:
        start, end = _span(document, target)
        found = [hunk for hunk in hunks if hunk.start <= end and start <= hunk.end]
        if start == end:
            found = sorted(found or _in_line(document, hunks, start), key=_nearest_to(start))[:1]
    if not found:
        raise invalid("there is no change here to keep or put back")
    return document, found


def _in_line(document: EditorDocument, hunks: list[Hunk], offset: int) -> list[Hunk]:
    line = document.place(offset).line
    return [hunk for hunk in hunks if document.place(hunk.start).line <= line <= document.place(hunk.end).line]


def _nearest_to(offset: int) -> Callable[[Hunk], int]:
    return lambda hunk: max(hunk.start - offset, offset - hunk.end)


def _span(document: EditorDocument, target: Target) -> tuple[int, int]:
    """The offsets of a target's range, start first, or of its position twice."""
    first = target.range.start if target.range else target.position
    last = target.range.end if target.range else target.position
    assert first is not None
    assert last is not None
    start, end = sorted((document.offset(place(first)), document.offset(place(last))))
    return start, end


@command("reviser.setModel")
def set_model(ls: ReviserServer, *arguments: Any) -> Status:
    from reviser.checkpoints.library import find_model

    model = _target(ls, arguments).model
    try:
        # A remote model is checked only when it is first used.
        if model and not model.startswith("openai:"):
            find_model(model)
    except ReviserError as error:
        raise invalid(str(error)) from None
    ls.choose_model(model or None)
    return ls.status()


@command("reviser.setEnabled")
def set_enabled(ls: ReviserServer, *arguments: Any) -> Status:
    """Turn the model on or off for one document; without an argument, toggle it."""
    target = _target(ls, arguments)
    document = ls.document(target.uri)
    on = not ls.allows(document) if target.enabled is None else target.enabled
    ls.switch(document, on)
    return ls.status(document)


@command("reviser.status")
def status(ls: ReviserServer, *arguments: Any) -> Status:
    uri = _target(ls, arguments).uri
    return ls.status(ls.document(uri) if uri else None)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_place(value: Any) -> bool:
    numbers = [value.get(name) for name in ("line", "character")] if isinstance(value, dict) else []
    return bool(numbers) and all(type(at) is int and 0 <= at <= _LARGEST for at in numbers)


def _is_range(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_place(value.get(name)) for name in ("start", "end"))


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_owner(value: Any) -> bool:
    return value in ("project", "user")


_TEXT = ("a string", _is_text)
_ARGUMENT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "uri": _TEXT,
    "position": ('an object with the numbers "line" and "character"', _is_place),
    "range": ('an object with the positions "start" and "end"', _is_range),
    "runId": _TEXT,
    "changeId": _TEXT,
    "enabled": ("true or false", _is_switch),
    "model": _TEXT,
    "word": _TEXT,
    "words": ('"project" or "user"', _is_owner),
}


def _target(ls: ReviserServer, arguments: tuple[Any, ...]) -> Target:
    """The argument of a command; raises an error with a plain sentence if it is invalid."""
    if len(arguments) > 1:
        raise invalid(f"the commands of Reviser take one object, not {len(arguments)} arguments")
    argument = arguments[0] if arguments else {}
    if not isinstance(argument, dict):
        raise invalid(f"the commands of Reviser take one object, not {_shown(argument)}")
    for name, (wanted, fits) in _ARGUMENT.items():
        value = argument.get(name)
        if value is not None and not fits(value):
            raise invalid(f'"{name}" must be {wanted}, not {_shown(value)}')
    known = {name: argument[name] for name in _ARGUMENT if argument.get(name) is not None}
    return ls.protocol._converter.structure(known, Target)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


async def _writable(ls: ReviserServer, arguments: tuple[Any, ...]) -> tuple[EditorDocument, Target]:
    """The document of a run and its target; raises an error if the editor or the settings forbid writing there."""
    target = _target(ls, arguments)
    document = ls.document(target.uri)
    await ls.settled()
    if not ls.client.applies_edits:
        raise invalid("this editor does not let servers edit (workspace/applyEdit)")
    if not ls.allows(document):
        raise invalid(f"Reviser is switched off for this document ({document.language})")
    ls.completer.stop()
    return document, target


def _run(ls: ReviserServer, arguments: tuple[Any, ...]) -> LiveRun:
    target = _target(ls, arguments)
    run = ls.runs.find(target.uri, target.run_id)
    if run is None:
        raise invalid("there is no run to do this to")
    return run
