"""The protocol as VS Code and Neovim speak it, with the capabilities they were recorded with."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from lsp_server.documents.document import EditorDocument, EditorPosition

pytestmark = pytest.mark.asyncio(loop_scope="module")

URI = "file:///home/ann/draft.md"
TEXT = "It was a quiet day 😀.\nThe cat sat on the mat and it was la"


class Buffer:
    """The client's text, and what the server asked to be done to it."""

    def __init__(self, client: LanguageClient, text: str, encoding: Any) -> None:
        self.client = client
        self.document = EditorDocument(URI, "markdown", 1, text, encoding)
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        client.buffer = self  # type: ignore[attr-defined]
        item = types.TextDocumentItem(URI, "markdown", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params)
        assert params.edit.document_changes
        (change,) = params.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == self.document.version
        (edit,) = change.edits
        assert isinstance(edit, types.TextEdit)
        self.replace(edit.range, edit.new_text)
        return types.ApplyWorkspaceEditResult(applied=True)

    def replace(self, range: types.Range, text: str) -> None:
        start, end = (EditorPosition(at.line, at.character) for at in (range.start, range.end))
        self.document.replace(start, end, text)
        self.document.version += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.document.version, URI),
                [types.TextDocumentContentChangePartial(text=text, range=range)],
            )
        )

    @property
    def end(self) -> types.Position:
        place = self.document.place(self.document.length)
        return types.Position(place.line, place.column)

    async def settle(self, state: str) -> Any:
        """Wait for the run under way to come to this state."""
        while True:
            status: Any = await self.command("reviser.status", {})
            if status["state"] == state:
                return status

    async def command(self, name: str, argument: dict[str, Any]) -> Any:
        return await self.client.workspace_execute_command_async(types.ExecuteCommandParams(name, arguments=[argument]))


CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "reviser", "lsp"])


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["visual_studio_code", "neovim"])
async def client(request: pytest.FixtureRequest, model: Path, lasting_editor: object) -> AsyncIterator[LanguageClient]:
    """A client with the capabilities of a real one and a server started as editors do; the engine is one that runs
    already."""
    client = await CONFIG.start()
    assert isinstance(client, LanguageClient)
    client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)

    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        buffer: Buffer = client.buffer  # type: ignore[attr-defined]
        return buffer.apply(params)

    client.feature(types.WORKSPACE_APPLY_EDIT)(apply)
    client.set_configuration(
        {"model": str(model), "sharedEngine": True, "live": {"maxActions": 100}, "completion": {"confidence": 0}},
        section="reviser",
    )
    capabilities = client_capabilities(request.param)
    client.answer = await client.initialize_session(  # type: ignore[attr-defined]
        types.InitializeParams(capabilities=capabilities)
    )
    yield client
    await client.shutdown_session()
    await client.stop()


@pytest.fixture
def buffer(client: LanguageClient) -> Iterator[Buffer]:
    yield Buffer(client, TEXT, client.answer.capabilities.position_encoding)  # type: ignore[attr-defined]
    document = types.TextDocumentIdentifier(URI)
    client.text_document_did_close(types.DidCloseTextDocumentParams(document))


async def test_what_the_server_offers(client: LanguageClient) -> None:
    offered = client.answer.capabilities  # type: ignore[attr-defined]
    assert offered.inline_completion_provider
    assert offered.completion_provider.resolve_provider
    assert offered.text_document_sync.change == types.TextDocumentSyncKind.Incremental
    assert offered.code_action_provider.code_action_kinds == ("quickfix", "refactor.rewrite", "source.fixAll.reviser")
    assert set(offered.execute_command_provider.commands) >= {
        "reviser.continue", "reviser.infill", "reviser.stop", "reviser.undo", "reviser.setModel",
        "reviser.status", "reviser.accept", "reviser.reject",
    }  # fmt: skip
    expected = client.capabilities and client.capabilities.general
    encodings = (expected and expected.position_encodings) or ["utf-16"]
    assert offered.position_encoding == encodings[0]


async def test_completions_and_their_details(client: LanguageClient, buffer: Buffer) -> None:
    answer = await client.text_document_completion_async(
        types.CompletionParams(types.TextDocumentIdentifier(URI), buffer.end)
    )
    assert isinstance(answer, types.CompletionList)
    assert 1 < len(answer.items) <= 3
    for item in answer.items:
        edit = item.text_edit
        assert isinstance(edit, types.TextEdit)
        assert edit.new_text.startswith("la")
        assert edit.range.end == buffer.end
        assert edit.range.start.character == buffer.end.character - 2
        resolved = await client.completion_item_resolve_async(item)
        assert isinstance(resolved.documentation, types.MarkupContent)
        assert resolved.documentation.value == edit.new_text


async def test_ghost_text(client: LanguageClient, buffer: Buffer) -> None:
    params = types.InlineCompletionParams(
        types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
        types.TextDocumentIdentifier(URI),
        buffer.end,
    )
    answer = await client.text_document_inline_completion_async(params)
    assert isinstance(answer, types.InlineCompletionList)
    (item,) = answer.items
    assert item.range == types.Range(buffer.end, buffer.end)
    assert item.insert_text


async def test_a_live_run_from_a_code_action(client: LanguageClient, buffer: Buffer) -> None:
    place = types.Range(types.Position(0, 9), types.Position(0, 9))
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(URI),
            place,
            types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Invoked),
        )
    )
    assert actions
    titles = [action.title for action in actions]
    assert titles == ["Reviser: revise this paragraph", "Reviser: write here", "Reviser: continue at the end"]
    await buffer.command("reviser.infill", {"uri": URI, "position": {"line": 0, "character": 9}})
    await buffer.settle("idle")
    assert buffer.edits
    text = buffer.document.text
    assert text.startswith(TEXT[:9])
    assert text.endswith(TEXT[9:])
    assert len(text) > len(TEXT)
    reports: list[Any] = list(client.progress_reports.values())[-1]
    assert isinstance(reports[0], types.WorkDoneProgressBegin)
    assert reports[0].cancellable
    assert isinstance(reports[-1], types.WorkDoneProgressEnd)
    undone = len(buffer.edits)
    await buffer.command("reviser.undo", {"uri": URI})
    assert buffer.document.text == TEXT
    assert len(buffer.edits) == undone + 1


async def test_accepting_a_run_keeps_it(client: LanguageClient, buffer: Buffer) -> None:
    await buffer.command("reviser.continue", {"uri": URI})
    await buffer.settle("idle")
    written = buffer.document.text
    kept = await buffer.command("reviser.accept", {"uri": URI})
    assert kept["state"] == "accepted"
    assert buffer.document.text == written
    assert written.startswith(TEXT)
    unasked = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Automatic)
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(URI), types.Range(buffer.end, buffer.end), unasked)
    )
    assert not actions


async def test_settings_are_pulled_and_change_at_once(client: LanguageClient, buffer: Buffer) -> None:
    client.set_configuration(False, section="reviser.enabled")
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    await buffer.settle("off")
    client.set_configuration(True, section="reviser.enabled")
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    await buffer.settle("idle")
