"""The capabilities of the connected editor, read from its `initialize` request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types


@dataclass(frozen=True)
class Client:
    """The capabilities of the connected editor that the server makes use of."""

    versions_edits: bool = False
    applies_edits: bool = False
    shows_progress: bool = False
    draws_runs: bool = False
    has_ghost_text: bool = False
    has_configuration: bool = False
    registers_configuration: bool = False
    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    shows_related: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> Client:
        """The capabilities that a client has declared; what it does not mention is False."""
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        documents = capabilities.text_document or types.TextDocumentClientCapabilities()
        edits = workspace.workspace_edit
        window = capabilities.window
        changes = workspace.did_change_configuration
        refreshes = bool(workspace.diagnostics and workspace.diagnostics.refresh_support)
        pulls = documents.diagnostic
        pushed = documents.publish_diagnostics
        experimental: Any = capabilities.experimental
        return cls(
            # Only versioned edits can hold file operations, so an editor with these has those.
            versions_edits=bool(edits and (edits.document_changes or edits.resource_operations)),
            applies_edits=bool(workspace.apply_edit),
            shows_progress=bool(window and window.work_done_progress),
            draws_runs=isinstance(experimental, dict) and bool(experimental.get("reviser")),
            has_ghost_text=documents.inline_completion is not None,
            has_configuration=bool(workspace.configuration),
            registers_configuration=bool(changes and changes.dynamic_registration),
            # An editor that cannot be asked to refresh would miss everything found after its request.
            pulls_diagnostics=pulls is not None and (refreshes or pushed is None),
            refreshes_diagnostics=refreshes,
            shows_related=bool((pulls and pulls.related_information) or (pushed and pushed.related_information)),
        )
