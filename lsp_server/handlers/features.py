"""The handlers of the protocol's own methods."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lsprotocol import types

from lsp_server.capabilities import Client
from lsp_server.documents.document import EditorDocument, EditorPosition
from lsp_server.documents.sources import format_of_document
from lsp_server.messages import INLINE_EDIT, TEXT, InlineEdits, TextResult
from lsp_server.next_edits.following import MOST_AT_ONCE
from lsp_server.next_edits.offers import inline_edits
from lsp_server.next_edits.offers import quick_fixes as fixes_of_next_edits
from lsp_server.proofreading.diagnostics import hover as hover_over
from lsp_server.proofreading.fixes import FIX_ALL, fix_all, quick_fixes
from lsp_server.protocol import invalid
from lsp_server.runs.editor import is_token_of, place, range_of
from lsp_server.server import ReviserServer
from reviser.core.counts import counted
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.editor.findings import touched
from reviser.prose import Format

logger = logging.getLogger(__name__)

SECTION = "reviser"
_LABEL = 60
_QUOTED = 30
_LAST_WORD = re.compile(r"\w*\Z")


Handler = TypeVar("Handler", bound=Callable[..., Any])

_features: list[tuple[str, Any, Any]] = []


def feature(method: str, options: Any = None) -> Callable[[Handler], Handler]:
    """A decorator for the handler of a method of the protocol."""

    def mark(handler: Handler) -> Handler:
        _features.append((method, handler, options))
        return handler

    return mark


def register(server: ReviserServer) -> None:
    """Register all decorated handlers with a server."""
    for method, handler, options in _features:
        server.feature(method, options)(handler)


@feature(types.INITIALIZE)
def initialize(ls: ReviserServer, params: types.InitializeParams) -> None:
    ls.client = Client.of(params.capabilities)
    ls.documents.encoding = ls.workspace.position_encoding  # type: ignore[assignment]
    options = params.initialization_options
    ls.initial_settings(options.get(SECTION, options) if isinstance(options, dict) else None)


@feature(types.INITIALIZED)
async def initialized(ls: ReviserServer, params: types.InitializedParams) -> None:
    if ls.client.registers_configuration:
        registration = types.Registration(
            id="settings",
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
        )
        ls.client_register_capability(types.RegistrationParams([registration]))
    try:
        await pull_settings(ls)
    finally:
        ls.settings_known.set()
    logger.info("reviser %s is ready", ls.version)


@feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
async def settings_changed(ls: ReviserServer, params: types.DidChangeConfigurationParams) -> None:
    if ls.client.has_configuration:
        await pull_settings(ls)
    elif isinstance(params.settings, dict):
        ls.take_settings(params.settings.get(SECTION, params.settings))


async def pull_settings(ls: ReviserServer) -> None:
    if ls.client.has_configuration:
        item = types.ConfigurationItem(section=SECTION)
        answer = await ls.workspace_configuration_async(types.ConfigurationParams([item]))
        ls.take_settings(answer[0] if answer else None)


@feature(types.SHUTDOWN)
async def shutdown(ls: ReviserServer, params: None) -> None:
    await ls.close("the editor is closing")


@feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: ReviserServer, params: types.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    ls.runs.close(item.uri)
    document = ls.documents.open(item.uri, item.language_id, item.version, item.text)
    ls.editor.show_changes(document)
    ls.checking.open(document)
    ls.next_edits.open(document)
    ls.prepare()


@feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: ReviserServer, params: types.DidChangeTextDocumentParams) -> None:
    document = ls.document(params.text_document.uri)
    # Joining the whole text of a long document is slow, and only several changes need it.
    before = document.text if len(params.content_changes) > 1 else ""
    changes = [_take(document, event) for event in params.content_changes]
    for change in changes:
        ls.checking.follow(document, change)
    sent = ls.runs.as_sent(document, before, changes)
    for change in sent:
        ours = ls.runs.follow(document, change)
        ls.next_edits.follow(document, change, by_person=not ours and len(sent) <= MOST_AT_ONCE)
        if not ours:
            ls.completer.removal(document.uri).follow(change)
            ls.completer.typed()
    document.version = params.text_document.version
    ls.runs.followed(document)
    ls.checking.followed(document)
    ls.next_edits.followed(document)


def _take(document: EditorDocument, event: types.TextDocumentContentChangeEvent) -> Edit:
    if isinstance(event, types.TextDocumentContentChangeWholeDocument):
        return document.replace_all(event.text)
    return document.replace(place(event.range.start), place(event.range.end), event.text)


@feature(types.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: ReviserServer, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.runs.close(uri)
    ls.completer.close(uri)
    ls.checking.close(uri)
    ls.next_edits.close(uri)
    ls.switches.pop(uri, None)
    ls.documents.close(uri)
    ls.diagnostics.close(uri)
    ls.shown_edits.pop(uri, None)


@feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
async def inline_completion(ls: ReviserServer, params: types.InlineCompletionParams) -> types.InlineCompletionList:
    document = ls.document(params.text_document.uri)
    offset = document.offset(place(params.position))
    invoked = params.context.trigger_kind == types.InlineCompletionTriggerKind.Invoked
    count = ls.settings.completion.candidates if invoked else 1
    texts = await _suggest(ls, "inline", document, offset, count, invoked)
    selected = params.context.selected_completion_info
    if selected is None:
        here = types.Range(params.position, params.position)
        items = [types.InlineCompletionItem(text, range=here) for text in texts]
    else:
        items = _extending(document, offset, selected, texts)
    return types.InlineCompletionList(items)


def _extending(
    document: EditorDocument, offset: int, selected: types.SelectedCompletionInfo, texts: list[str]
) -> list[types.InlineCompletionItem]:
    """Inline items that extend the item selected in the editor's own list, so that one key accepts both."""
    typed = document.text[document.offset(place(selected.range.start)) : offset]
    return [
        types.InlineCompletionItem(typed + text, range=selected.range)
        for text in texts
        if (typed + text).startswith(selected.text)
    ]


@feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(resolve_provider=True))
async def completion(ls: ReviserServer, params: types.CompletionParams) -> types.CompletionList:
    document = ls.document(params.text_document.uri)
    mode = ls.settings.completion.list
    # An editor with ghost text would show each suggestion twice, and Tab would be ambiguous.
    if mode == "off" or (mode == "auto" and ls.client.has_ghost_text):
        return types.CompletionList(is_incomplete=False, items=[])
    offset = document.offset(place(params.position))
    count = ls.settings.completion.candidates
    texts = await _suggest(ls, "list", document, offset, count, invoked=False)
    items = [_item(document, offset, text, rank) for rank, text in enumerate(texts)]
    return types.CompletionList(is_incomplete=True, items=items)


def _item(document: EditorDocument, offset: int, text: str, rank: int) -> types.CompletionItem:
    """A list entry that replaces the word being typed, since editors filter by it."""
    found = _LAST_WORD.search(document.text, max(offset - 64, 0), offset)
    start = found.start() if found else offset
    whole = document.text[start:offset] + text
    label = " ".join(whole.split())
    return types.CompletionItem(
        label=label if len(label) <= _LABEL else label[: _LABEL - 1] + "…",
        kind=types.CompletionItemKind.Text,
        detail="Reviser",
        sort_text=f"{rank:02}",
        filter_text=whole,
        insert_text_format=types.InsertTextFormat.PlainText,
        text_edit=types.TextEdit(range_of(document, start, offset), whole),
        data={"text": whole},
    )


@feature(types.COMPLETION_ITEM_RESOLVE)
def resolve(ls: ReviserServer, item: types.CompletionItem) -> types.CompletionItem:
    """The whole text of an entry whose label is shortened."""
    text = item.data.get("text") if isinstance(item.data, dict) else None
    if isinstance(text, str):
        item.documentation = types.MarkupContent(types.MarkupKind.PlainText, text)
    return item


async def _suggest(
    ls: ReviserServer, kind: Any, document: EditorDocument, offset: int, count: int, invoked: bool
) -> list[str]:
    await ls.settled()
    if not ls.allows(document) or not ls.settings.completion.enabled or ls.runs.current:
        return []
    started = time.perf_counter()
    try:
        texts = await ls.completer.suggest(kind, document, offset, count, invoked=invoked)
    except ReviserError as error:
        ls.report(str(error))
        return []
    taken = 1000 * (time.perf_counter() - started)
    ls.trace(f"{counted(len(texts), 'suggestion')} for version {document.version} in {taken:.0f} ms")
    return texts


@feature(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    types.DiagnosticOptions(identifier=SECTION, inter_file_dependencies=False, workspace_diagnostics=False),
)
async def diagnostics(ls: ReviserServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    document = ls.document(params.text_document.uri)
    return await ls.diagnostics.answer(document, params.previous_result_id)


@feature(INLINE_EDIT)
async def inline_edit(ls: ReviserServer, params: Any) -> InlineEdits:
    """The next edit that is nearest to the cursor, for clients that ask for it as they ask Copilot's server."""
    try:
        uri, version = params.textDocument.uri, params.textDocument.version
        here = EditorPosition(int(params.position.line), int(params.position.character))
    except (AttributeError, TypeError, ValueError):
        raise invalid(f'{INLINE_EDIT} needs a "textDocument" with "uri" and "version", and a "position"') from None
    document = ls.document(uri)
    if ls.next_edits.is_on(document):
        await ls.next_edits.settled(document)
    if version != document.version or ls.documents.get(uri) is not document:
        return InlineEdits([])
    return inline_edits(document, ls.next_edits.offers(document), document.offset(here))


@feature(types.TEXT_DOCUMENT_HOVER)
def hover(ls: ReviserServer, params: types.HoverParams) -> types.Hover | None:
    """The finding under the mouse pointer."""
    document = ls.document(params.text_document.uri)
    offset = document.offset(place(params.position))
    ls.checking.look_at(document, offset)
    found = touched(ls.checking.findings(document), document.slice, offset, offset)
    return hover_over(document, found[0]) if found else None


@feature(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, FIX_ALL]),
)
def code_actions(ls: ReviserServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    document = ls.document(params.text_document.uri)
    start, end = (document.offset(place(at)) for at in (params.range.start, params.range.end))
    ls.checking.look_at(document, start)
    only = params.context.only
    wanted = only or [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite]
    actions: list[types.CodeAction] = []
    found = ls.checking.findings(document)
    if _fits(types.CodeActionKind.QuickFix, wanted):
        here = touched(found, document.slice, start, end)
        actions += quick_fixes(document, here, found, ls.editor.workspace_edit)
        offers = ls.next_edits.offers(document)
        offered = touched(offers, document.slice, start, end)
        actions += fixes_of_next_edits(document, offered, offers, ls.editor.workspace_edit)
    if _fits(types.CodeActionKind.RefactorRewrite, wanted):
        actions += _rewrites(ls, document, params)
    if _fits(FIX_ALL, wanted):
        actions += fix_all(document, found, ls.editor.workspace_edit)
    return actions


def _rewrites(ls: ReviserServer, document: EditorDocument, params: types.CodeActionParams) -> list[types.CodeAction]:
    if not ls.allows(document) or not ls.client.applies_edits:
        return []
    invoked = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
    return [
        types.CodeAction(
            title=title,
            kind=types.CodeActionKind.RefactorRewrite,
            command=types.Command(title, command, arguments=[argument]),
        )
        for title, command, argument in _offers(ls, document, params.range, invoked)
    ]


def _fits(kind: str, wanted: Sequence[str]) -> bool:
    return any(_is_under(kind, one) for one in wanted)


def _is_under(kind: str, wanted: str) -> bool:
    return kind == wanted or kind.startswith(f"{wanted}.") or not wanted


def _offers(
    ls: ReviserServer, document: EditorDocument, range: types.Range, invoked: bool
) -> list[tuple[str, str, Any]]:
    """The commands that can be offered at a range. If not `invoked`, only those about an existing run."""
    about = {"uri": document.uri}
    run = ls.runs.last(document.uri)
    if run and run.running:
        return [("Reviser: stop", "reviser.stop", about)]
    offers = _change_offers(ls, document, range)
    if run and run.state in ("finished", "stopped") and run.kind != "revise":
        offers += [("Reviser: accept", "reviser.accept", about), ("Reviser: reject", "reviser.reject", about)]
    if invoked:
        here = about | {"range": ls.protocol._converter.unstructure(range)}
        selected = range.start != range.end
        title = "Reviser: write the selection anew" if selected else "Reviser: write here"
        if selected:
            offers.append(("Reviser: revise the selection", "reviser.revise", here))
        elif format_of_document(document) is not Format.UNKNOWN:
            offers.append(("Reviser: revise this paragraph", "reviser.reviseParagraph", here))
        offers += [(title, "reviser.infill", here), ("Reviser: continue at the end", "reviser.continue", about)]
    return offers


def _change_offers(ls: ReviserServer, document: EditorDocument, range: types.Range) -> list[tuple[str, str, Any]]:
    """The commands about the changes of a revision: about each that the range touches, and about all."""
    about = {"uri": document.uri}
    start, end = document.offset(place(range.start)), document.offset(place(range.end))
    hunks = ls.runs.changes(document.uri)
    offers: list[tuple[str, str, Any]] = []
    for hunk in hunks:
        if hunk.start <= end and start <= hunk.end:
            this = about | {"changeId": hunk.id}
            change = " → ".join(_quoted(text) for text in (hunk.old, hunk.new) if text)
            back = f"Put back: {_quoted(hunk.old)}" if hunk.old else f"Take out: {change}"
            gone = "" if hunk.new else " is gone"
            offers += [
                (f"Keep this change: {change}{gone}", "reviser.acceptChange", this),
                (back, "reviser.rejectChange", this),
            ]
    if hunks:
        offers += [
            (f"Reviser: keep all changes ({len(hunks)})", "reviser.acceptAllChanges", about),
            (f"Reviser: put back all changes ({len(hunks)})", "reviser.rejectAllChanges", about),
        ]
    return offers


def _quoted(text: str) -> str:
    """A text, shortened and quoted, as a part of a title."""
    line = " ".join(text.split()) or "space"
    return f"“{line if len(line) <= _QUOTED else line[: _QUOTED - 1] + '…'}”"


@feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
def progress_cancelled(ls: ReviserServer, params: types.WorkDoneProgressCancelParams) -> None:
    run = ls.runs.current
    if run and is_token_of(run, params.token):
        ls.runs.halt("you cancelled it")


@feature(TEXT)
def text(ls: ReviserServer, params: Any) -> TextResult:
    """`reviser/text`: the server's copy of a document, so that a client can compare it with its own."""
    uri = getattr(params, "uri", None)
    document = ls.document(None if uri is None else str(uri))
    return TextResult(document.text, document.version)
