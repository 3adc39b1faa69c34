"""Findings as editors show them: diagnostics, pulled or pushed, and what is said of one under the mouse."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Protocol

from lsprotocol import types

from lsp_server.capabilities import Client
from lsp_server.documents.document import Document, Documents
from lsp_server.proofreading.checking import Checking
from lsp_server.runs.editor import range_of
from reviser.proofreading.editing.findings import Finding, quoted

SOURCE = "reviser"
# Editors draw hints faintly, if at all: these are matters of style more often than mistakes.
_HINTS = frozenset({"punctuation", "case", "word order", "other"})
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_LONGEST_SENTENCE = 300
# Seconds in which news are gathered before they are sent.
_PUSH_AFTER = 0.05
_REFRESH_AFTER = 0.3


def diagnostic(document: Document, finding: Finding, *, related: bool) -> types.Diagnostic:
    hint = finding.kind in _HINTS
    return types.Diagnostic(
        range=range_of(document, *finding.shown(document.slice)),
        message=f"{finding.says} ({finding.kind})",
        severity=types.DiagnosticSeverity.Hint if hint else types.DiagnosticSeverity.Information,
        code=finding.kind,
        source=SOURCE,
        related_information=_related(document, finding) if related else None,
        data={
            "old": finding.old,
            "new": finding.new,
            "kind": finding.kind,
            "confidence": round(finding.confidence, 4),
        },
    )


def _related(
    document: Document, finding: Finding
) -> list[types.DiagnosticRelatedInformation] | None:
    """The sentence as it would be, where the words alone do not say it."""
    words = [len(text.split()) for text in (finding.old, finding.new)]
    if words == [1, 1]:
        return None
    text = document.text
    low = max(finding.start - _LONGEST_SENTENCE, 0)
    start = max(
        (found.end() for found in _SENTENCE_END.finditer(text, low, finding.start)), default=low
    )
    found = _SENTENCE_END.search(text, finding.end, finding.end + _LONGEST_SENTENCE)
    end = found.start() + 1 if found else min(finding.end + _LONGEST_SENTENCE, len(text))
    whole = text[start : finding.start] + finding.new + text[finding.end : end]
    location = types.Location(document.uri, range_of(document, start, end))
    return [types.DiagnosticRelatedInformation(location, f"it would be: {quoted(whole)}")]


def hover(document: Document, finding: Finding) -> types.Hover:
    lines = [
        finding.says,
        f"kind: {finding.kind}",
        f"confidence: {round(100 * finding.confidence)} %",
    ]
    content = types.MarkupContent(types.MarkupKind.PlainText, "\n".join(lines))
    return types.Hover(content, range_of(document, *finding.shown(document.slice)))


class Sender(Protocol):
    """What of the server diagnostics are sent through."""

    @property
    def client(self) -> Client: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def checking(self) -> Checking: ...

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None: ...
    def workspace_diagnostic_refresh(self, params: None) -> object: ...


class Diagnostics:
    """Answers editors that ask for diagnostics, and tells the others; news that come together are told once."""

    def __init__(self, server: Sender) -> None:
        self._server = server
        self._waiting: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._shown: dict[str, bool] = {}
        self._known: dict[str, list[Finding]] = {}

    def of(self, document: Document) -> list[types.Diagnostic]:
        related = self._server.client.shows_related
        found = self._server.checking.findings(document)
        return [diagnostic(document, one, related=related) for one in found]

    async def answer(self, document: Document, known: str | None) -> types.DocumentDiagnosticReport:
        """The diagnostics of a document; an editor that cannot be told of later ones waits for them."""
        client = self._server.client
        if not client.pulls_diagnostics:
            return types.RelatedFullDocumentDiagnosticReport([])
        if not client.refreshes_diagnostics:
            await self._server.checking.settled(document)
        if self._server.documents.get(document.uri) is not document:
            return types.RelatedFullDocumentDiagnosticReport([])
        id = str(self._server.checking.revision(document))
        if id == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(id)
        self._known[document.uri] = self._server.checking.findings(document)
        return types.RelatedFullDocumentDiagnosticReport(self.of(document), result_id=id)

    def show(self, document: Document) -> None:
        """There may be news of a document."""
        pulls = self._server.client.pulls_diagnostics
        if pulls and not self._server.client.refreshes_diagnostics:
            return
        self._waiting.add(document.uri)
        if self._timer is None:
            after, tell = (_REFRESH_AFTER, self._refresh) if pulls else (_PUSH_AFTER, self._push)
            self._timer = asyncio.get_running_loop().call_later(after, self._tell, tell)

    def close(self, uri: str) -> None:
        """A document has been closed: nothing is shown of it any more."""
        self._known.pop(uri, None)
        if self._shown.pop(uri, False):
            params = types.PublishDiagnosticsParams(uri, [])
            self._server.text_document_publish_diagnostics(params)

    def _tell(self, tell: Callable[[list[Document]], None]) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, set()
        tell([one for uri in waiting if (one := self._server.documents.get(uri)) is not None])

    def _push(self, documents: list[Document]) -> None:
        for document in documents:
            items = self.of(document)
            # Nothing after nothing is no news.
            if items or self._shown.get(document.uri):
                self._shown[document.uri] = bool(items)
                params = types.PublishDiagnosticsParams(document.uri, items, document.version)
                self._server.text_document_publish_diagnostics(params)

    def _refresh(self, documents: list[Document]) -> None:
        """Ask to be asked, unless the editor knows: typing alone moves what it shows already."""
        checking = self._server.checking
        if any(
            _plain(checking.findings(document)) != _plain(self._known.get(document.uri, []))
            for document in documents
        ):
            self._server.workspace_diagnostic_refresh(None)


def _plain(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.old, one.new) for one in findings]
