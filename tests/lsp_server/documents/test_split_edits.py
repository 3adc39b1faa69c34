"""An editor that carries out one edit of the server as several changes, as VS Code may."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp_server.toy_editor import URI, ToyEditor

TEXT = "Before.\n\nAfter."


def test_a_run_knows_its_own_edits_in_parts(editor: ToyEditor, monkeypatch: pytest.MonkeyPatch) -> None:
    def report_in_parts(uri: str, change: dict[str, Any]) -> None:
        """The end of what is inserted first, then the rest before it, in one message."""
        whole, start = change["text"], change["range"]["start"]
        middle = len(whole) // 2
        parts = [
            {"range": change["range"], "text": whole[middle:]},
            {"range": {"start": start, "end": start}, "text": whole[:middle]},
        ]
        document = {"uri": uri, "version": editor.versions[uri]}
        editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": parts})

    editor.open(TEXT)
    monkeypatch.setattr(editor, "_report", report_in_parts)
    editor.command("reviser.continue", uri=URI, position=editor.position(len("Before.")))
    last = editor.wait_for_end()
    assert last["state"] == "finished"
    assert last["actions"] > 1
    assert editor.mirror() == editor.text
    assert len(editor.text) > len(TEXT)
    editor.command("reviser.undo", uri=URI)
    assert editor.text == editor.mirror() == TEXT
