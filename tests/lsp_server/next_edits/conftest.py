"""An editor that draws next edits, and a text to edit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.toy_editor import URI, ToyEditor, toy_editor

# The texts are so short that less is certain in them than in what people edit.
SETTINGS: dict[str, Any] = {"nextEdits": {"enabled": True, "delayMs": 50, "confidence": 0.3}}
TEXT = """# Sending e-mail

You get an e-mail. Each e-mail has a subject, and `e-mail` is code.

We write an e-mail today. An e-mail is sent.

Another e-mail is here.
"""
FIRST = TEXT.index("e-mail", TEXT.index("get"))
EDITED = TEXT[:FIRST] + "email" + TEXT[FIRST + 6 :]
DONE = TEXT.replace("e-mail", "email").replace("`email`", "`e-mail`")


@pytest.fixture(scope="module")
def lasting(model: Path) -> Iterator[ToyEditor]:
    with toy_editor(model, SETTINGS | {"completion": {"enabled": False}}) as editor:
        yield editor


@pytest.fixture
def editor(lasting: ToyEditor) -> ToyEditor:
    lasting.reset()
    return lasting


def open_and_edit(editor: ToyEditor, text: str = TEXT, language: str = "markdown") -> list[dict[str, Any]]:
    """Open a text, make its second "e-mail" an "email", and wait for the offers."""
    editor.open(text, language)
    second = text.index("e-mail", text.index("e-mail") + 1)
    editor.edit(second + 1, second + 2, "")
    return offered(editor)


def offered(editor: ToyEditor) -> list[dict[str, Any]]:
    """The next edits that the server has told, for the text as it is, once there are any."""
    editor.wait(lambda: offers(editor) and last_news(editor)["version"] == editor.versions[URI])
    return offers(editor)


def last_news(editor: ToyEditor) -> dict[str, Any]:
    news = editor.notifications("reviser/nextEdits")
    return news[-1] if news else {"edits": [], "version": 0}


def offers(editor: ToyEditor) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = last_news(editor)["edits"]
    return found


def settle(editor: ToyEditor) -> list[dict[str, Any]]:
    """What is offered once the edits in the present version have been followed."""
    asked = {"textDocument": {"uri": URI, "version": editor.versions[URI]}, "position": editor.position(0)}
    editor.request("textDocument/copilotInlineEdit", asked)
    return offers(editor)


def stands(editor: ToyEditor, offer: dict[str, Any]) -> bool:
    """Whether the old text of an offer is where it says."""
    start, end = (editor._offset(URI, offer["range"][key]) for key in ("start", "end"))
    return bool(editor.text[start:end] == offer["old"])
