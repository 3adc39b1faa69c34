"""The restoration of old text in a document that the user may be editing, confirmed by its change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lsp_server.documents.document import Documents, EditorDocument
from lsp_server.documents.hunks import Hunk
from lsp_server.runs.live_run import LiveRun
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError

_RETRIES = 50
_REFUSED = "the editor refused to take the text back"


@dataclass(frozen=True)
class PendingRestoration:
    """A restoring edit that was sent, and the text that the document must have after it."""

    run: LiveRun
    hunks: list[Hunk]
    wanted: str


class Restorer:
    """The edits that revert a run's text, one after the other; repeated if the user's edits intervene."""

    def __init__(
        self,
        documents: Documents,
        apply: Callable[[str, EditorDocument, Edit], Awaitable[bool]],
        await_change: Callable[[], Awaitable[None]],
    ) -> None:
        self._documents = documents
        self._apply = apply
        self._await_change = await_change
        self._restoring: PendingRestoration | None = None
        self._turn = asyncio.Lock()

    async def take_back(self, run: LiveRun) -> bool:
        """Revert all of a run's text as one edit; False if there is nothing to revert."""
        async with self._turn:
            if run.kind == "revise":
                hunks = list(run.hunks)
                await self._put_back(run, hunks, run.label)
                return bool(hunks)
            return await self._take_out(run)

    async def put_back(self, run: LiveRun, hunks: list[Hunk]) -> None:
        """Revert some of a run's changes as one edit."""
        label = " ".join(["Reviser change", *(hunk.id for hunk in hunks)])
        async with self._turn:
            await self._put_back(run, hunks, label)

    def expects(self, document: EditorDocument) -> bool:
        """Whether a document has the text that the edit under way leads to."""
        restoring = self._restoring
        return restoring is not None and restoring.run.uri == document.uri and restoring.wanted == document.text

    def settle(self, document: EditorDocument) -> LiveRun | None:
        """The run whose changes were reverted, if the edit under way has just been carried out; else None."""
        restoring = self._restoring
        if restoring is None or not self.expects(document):
            return None
        self._restoring = None
        restoring.run.hunks.put_back(restoring.hunks)
        return restoring.run

    async def _take_out(self, run: LiveRun) -> bool:
        for _ in range(_RETRIES):
            document = self._document(run)
            change = run.restoration(document.text)
            if change is None:
                return False
            applied, settled = await self._restore(run, [], run.label, document, change)
            # A user's change may have arrived in one message with this edit, so that the text was never as expected.
            if settled or (applied and run.left):
                return True
        raise ReviserError(_REFUSED)

    async def _put_back(self, run: LiveRun, hunks: list[Hunk], label: str) -> None:
        for _ in range(_RETRIES):
            hunks = [hunk for hunk in run.hunks if hunk in hunks]
            if not hunks:
                return
            document = self._document(run)
            change = run.hunks.restoration(document.text, hunks)
            applied, _ = await self._restore(run, hunks, label, document, change)
            if applied:
                # A user's change arrived before this edit, or with it. If the text does not show whether
                # the old text was restored, it is better not restored than restored twice.
                run.hunks.forget([hunk for hunk in hunks if hunk.hidden])
        raise ReviserError(_REFUSED)

    async def _restore(
        self, run: LiveRun, hunks: list[Hunk], label: str, document: EditorDocument, change: Edit
    ) -> tuple[bool, bool]:
        """Send an edit; returns whether the editor reports success, and whether the document shows it."""
        self._restoring = PendingRestoration(run, hunks, change.apply_to(document.text))
        try:
            applied = await self._ask(label, document, change)
            return applied, self._restoring is None
        finally:
            self._restoring = None

    async def _ask(self, label: str, document: EditorDocument, change: Edit) -> bool:
        """Send an edit and wait for the change of the document; returns whether the editor reports success."""
        version = document.version
        applied = await self._apply(label, document, change)
        if applied and document.version == version:
            await self._await_change()
        if document.version == version:
            raise ReviserError(_REFUSED)
        return applied

    def _document(self, run: LiveRun) -> EditorDocument:
        """A run's document, which may have been closed meanwhile."""
        document = self._documents.get(run.uri)
        if document is None:
            raise ReviserError("the document was closed")
        return document
