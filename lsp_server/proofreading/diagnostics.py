"""Findings as editors show them: diagnostics, pulled or pushed, and hover texts."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Protocol

from lsprotocol import types

from lsp_server.capabilities import Client
from lsp_server.documents.document import Documents, EditorDocument
from lsp_server.proofreading.checking import Checking
from lsp_server.runs.editor import range_of
from reviser.proofreading.suggestion import NEXT_EDIT, Suggestion, quoted

SOURCE = "reviser"
# Editors draw hints faintly, if at all: these are matters of style more often than mistakes.
_HINTS = frozenset({"punctuation", "case", "word order", "other"})
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_LONGEST_SENTENCE = 300
# Seconds in which updates are gathered before they are sent.
_PUSH_AFTER = 0.05
_REFRESH_AFTER = 0.3
# Seconds without a key before an editor gets the new positions of findings.
_PAUSE = 0.5
# The protocol cannot update a part of a document's diagnostics. After computing all of them, the server waits for
# the time that took, times this factor, before it does so again.
_REST = 4


def diagnostic(document: EditorDocument, finding: Suggestion, *, related: bool) -> types.Diagnostic:
    """A finding as editors know it; a next edit is no mistake, and says what it follows."""
    follows = finding.rule == NEXT_EDIT
    hint = follows or finding.kind in _HINTS
    return types.Diagnostic(
        range=range_of(document, *finding.shown(document.slice)),
        message=f"{finding.reason}: {finding.says}" if follows else f"{finding.says} ({finding.kind})",
        severity=types.DiagnosticSeverity.Hint if hint else types.DiagnosticSeverity.Information,
        code=NEXT_EDIT if follows else finding.kind,
        source=SOURCE,
        related_information=_related(document, finding) if related else None,
        data={"old": finding.old, "new": finding.new, "kind": finding.kind, "confidence": round(finding.confidence, 4)},
    )


def _related(document: EditorDocument, finding: Suggestion) -> list[types.DiagnosticRelatedInformation] | None:
    """The sentence as corrected; None where one word replaces one word."""
    words = [len(text.split()) for text in (finding.old, finding.new)]
    if words == [1, 1]:
        return None
    text = document.text
    low = max(finding.start - _LONGEST_SENTENCE, 0)
    start = max((found.end() for found in _SENTENCE_END.finditer(text, low, finding.start)), default=low)
    found = _SENTENCE_END.search(text, finding.end, finding.end + _LONGEST_SENTENCE)
    end = found.start() + 1 if found else min(finding.end + _LONGEST_SENTENCE, len(text))
    whole = text[start : finding.start] + finding.new + text[finding.end : end]
    location = types.Location(document.uri, range_of(document, start, end))
    return [types.DiagnosticRelatedInformation(location, f"it would be: {quoted(whole)}")]


def hover(document: EditorDocument, finding: Suggestion) -> types.Hover:
    lines = [finding.says, *([finding.reason] if finding.reason else []), f"kind: {finding.kind}"]
    lines.append(f"confidence: {round(100 * finding.confidence)} %")
    content = types.MarkupContent(types.MarkupKind.PlainText, "\n".join(lines))
    return types.Hover(content, range_of(document, *finding.shown(document.slice)))


class OfferedEdits(Protocol):
    """The next edits of all documents, of which diagnostics are made too."""

    def offers(self, document: EditorDocument) -> list[Suggestion]: ...
    def revision(self, document: EditorDocument) -> int: ...
    async def settled(self, document: EditorDocument) -> None: ...


class DiagnosticsHost(Protocol):
    """The parts of the server that diagnostics are made from and sent through."""

    @property
    def client(self) -> Client: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def checking(self) -> Checking: ...
    @property
    def next_edits(self) -> OfferedEdits: ...

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None: ...
    def workspace_diagnostic_refresh(self, params: None) -> object: ...


@dataclass(frozen=True)
class _SentDiagnostics:
    """The diagnostics that an editor has received of a document, and the revision of their positions."""

    texts: list[tuple[str, str, str]]
    revision: int


class Diagnostics:
    """The diagnostics of all documents, answered on request or pushed; several updates in a short time are sent as one.

    Editors move diagnostics with the text. So where typing has only moved findings, an editor is told when it pauses.
    """

    def __init__(self, server: DiagnosticsHost) -> None:
        self._server = server
        self._waiting: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._told: dict[str, _SentDiagnostics] = {}
        self._changed_at: dict[str, float] = {}
        self._free_at = 0.0

    def _of(self, document: EditorDocument) -> list[types.Diagnostic]:
        """The diagnostics of a document, recorded as sent to the editor."""
        began = time.monotonic()
        found = self._shown(document)
        self._told[document.uri] = self._now(document, found)
        related = self._server.client.shows_related
        items = [diagnostic(document, one, related=related) for one in found]
        now = time.monotonic()
        self._free_at = now + _REST * (now - began)
        return items

    def _shown(self, document: EditorDocument) -> list[Suggestion]:
        """The mistakes, and the next edits that do not correct one of them."""
        mistakes = self._server.checking.findings(document)
        edits = {one.edit for one in mistakes}
        return [*mistakes, *(one for one in self._server.next_edits.offers(document) if one.edit not in edits)]

    def _revision(self, document: EditorDocument) -> int:
        # Both count with the same counter.
        return max(self._server.checking.revision(document), self._server.next_edits.revision(document))

    def _now(self, document: EditorDocument, found: list[Suggestion]) -> _SentDiagnostics:
        return _SentDiagnostics([(one.old, one.new, one.reason) for one in found], self._revision(document))

    def _rest(self) -> float:
        """Seconds until diagnostics may be computed again."""
        return max(self._free_at - time.monotonic(), 0.0)

    async def answer(self, document: EditorDocument, known: str | None) -> types.DocumentDiagnosticReport:
        """The diagnostics of a document; if the editor cannot be told of later ones, after the check is complete."""
        client = self._server.client
        if not client.pulls_diagnostics:
            return types.RelatedFullDocumentDiagnosticReport([])
        if not client.refreshes_diagnostics:
            await asyncio.gather(self._server.checking.settled(document), self._server.next_edits.settled(document))
        # Meanwhile an editor cancels the request if the user types on.
        while str(self._revision(document)) != known and (rest := self._rest()):
            await asyncio.sleep(rest)
        if self._server.documents.get(document.uri) is not document:
            return types.RelatedFullDocumentDiagnosticReport([])
        id = str(self._revision(document))
        if id == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(id)
        return types.RelatedFullDocumentDiagnosticReport(self._of(document), result_id=id)

    def show(self, document: EditorDocument) -> None:
        """Update the editor's diagnostics of a document soon, if they have changed."""
        pulls = self._server.client.pulls_diagnostics
        if pulls and not self._server.client.refreshes_diagnostics:
            return
        self._changed_at[document.uri] = time.monotonic()
        self._tell_later(document, _REFRESH_AFTER if pulls else _PUSH_AFTER)

    def _tell_later(self, document: EditorDocument, after: float) -> None:
        self._waiting.add(document.uri)
        loop = asyncio.get_running_loop()
        due = loop.time() + max(after, self._rest())
        if self._timer is None or due < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due, self._tell)

    def close(self, uri: str) -> None:
        """Clear the diagnostics of a closed document."""
        self._changed_at.pop(uri, None)
        self._waiting.discard(uri)
        told = self._told.pop(uri, None)
        if told and told.texts and not self._server.client.pulls_diagnostics:
            params = types.PublishDiagnosticsParams(uri, [])
            self._server.text_document_publish_diagnostics(params)

    def _tell(self) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, set()
        documents = [one for uri in waiting if (one := self._server.documents.get(uri)) is not None]
        if self._server.client.pulls_diagnostics:
            # A client that pulls diagnostics moves them by itself.
            if any(self._is_news(document, moves=False) for document in documents):
                self._server.workspace_diagnostic_refresh(None)
            return
        for document in documents:
            self._push(document)

    def _push(self, document: EditorDocument) -> None:
        pause = self._changed_at[document.uri] + _PAUSE - time.monotonic()
        if self._is_news(document, moves=pause <= 0):
            items = self._of(document)
            params = types.PublishDiagnosticsParams(document.uri, items, document.version)
            self._server.text_document_publish_diagnostics(params)
        elif self._is_news(document, moves=True):
            self._tell_later(document, pause)

    def _is_news(self, document: EditorDocument, *, moves: bool) -> bool:
        """Whether the editor's diagnostics are out of date; findings that only moved count if `moves` is true."""
        now = self._now(document, self._shown(document))
        told = self._told.get(document.uri, _SentDiagnostics([], 0))
        if now.texts != told.texts:
            return True
        return moves and bool(now.texts) and now.revision != told.revision
