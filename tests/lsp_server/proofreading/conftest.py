"""A tiny model that knows mistakes, and an editor that asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.toy_editor import CAPABILITIES, URI, ToyEditor
from tests.reviser.proofreading.scripted import Known
from tests.reviser.proofreading.taught import taught_model

KNOWN: Known = {"recieved": ("received", 0.9), "teh": ("the", 0.95), "boys goes": ("boys go", 0.9)}
LETTER = "He recieved a letter today."
ROAD = "She walked down teh long road."
HOME = "The boys goes home at night."
PLAIN = "The evening was quiet and dark."
TEXT = f"{LETTER}\n\n{ROAD}\n\n{PLAIN}\n\n{HOME}\n"
FIXED = TEXT.replace("recieved", "received").replace("teh", "the").replace("goes", "go")

PULL: dict[str, Any] = {"diagnostic": {"relatedInformation": True}}
PUSH: dict[str, Any] = {"publishDiagnostics": {"relatedInformation": True}}


def taught_editor_model(folder: Path) -> Path:
    """A model that finds the mistakes above, in these paragraphs."""
    documents = {f"{number}.txt": text + "\n" for number, text in enumerate((LETTER, ROAD, HOME, PLAIN))}
    return taught_model(folder, KNOWN, documents)


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_editor_model(tmp_path_factory.mktemp("models") / "taught")


@contextmanager
def checking_editor(
    model: Path,
    features: dict[str, Any],
    *,
    encoding: str = "utf-16",
    refreshes: bool = False,
    delay: int = 10,
    shared: bool = False,
    completes: bool = True,
    **settings: Any,
) -> Iterator[ToyEditor]:
    """An editor that shows diagnostics, in its own way."""
    on = {"enabled": True, "delayMs": delay, **settings}
    all_settings = {"diagnostics": on, "sharedEngine": shared, "completion": {"enabled": completes}}
    editor = ToyEditor(model, all_settings, encoding=encoding)
    workspace = CAPABILITIES["workspace"] | {"diagnostics": {"refreshSupport": refreshes}}
    try:
        editor.initialize(
            CAPABILITIES
            | {
                "workspace": workspace,
                "general": {"positionEncodings": [encoding, "utf-16"]},
                "textDocument": CAPABILITIES["textDocument"] | features,
            }
        )
        yield editor
    finally:
        editor.process.kill()
        editor.process.wait()


def pull(editor: ToyEditor, uri: str = URI, known: str | None = None) -> dict[str, Any]:
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    if known is not None:
        params["previousResultId"] = known
    answer: dict[str, Any] = editor.request("textDocument/diagnostic", params)
    return answer


def actions(editor: ToyEditor, start: int, end: int, uri: str = URI, **context: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = editor.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": editor.range(start, end, uri),
            "context": {"diagnostics": [], "triggerKind": 1} | context,
        },
    )
    return found


def choose(editor: ToyEditor, offered: list[dict[str, Any]], title: str) -> None:
    """Do what the action of a title says, as an editor does."""
    (action,) = [one for one in offered if one["title"] == title]
    for change in action.get("edit", {}).get("documentChanges", []):
        uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
        assert version == editor.versions[uri]
        editor.carry_out(uri, change["edits"])
    if command := action.get("command"):
        editor.request("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})


def marked(editor: ToyEditor, item: dict[str, Any], uri: str = URI) -> str:
    """The text that a diagnostic is about."""
    start, end = (editor._offset(uri, item["range"][key]) for key in ("start", "end"))
    return editor.texts[uri][start:end]


def olds(items: list[dict[str, Any]]) -> list[str]:
    return [item["data"]["old"] for item in items]
