"""Settings as editors send them, and which documents they let the model into."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lsp_server.settings import CompletionSettings, ServerSettings, read_settings
from reviser.proofreading.suggestion import Kind

NOTE = "file:///home/ann/notes/a%20note.md"


@pytest.mark.parametrize(
    "language",
    ["plaintext", "text", "markdown", "restructuredtext", "rst", "latex", "tex", "html", "git-commit",
     "gitcommit", "mail"],
)  # fmt: skip
def test_prose_is_on_by_default(language: str) -> None:
    assert ServerSettings().allows(NOTE, language)


@pytest.mark.parametrize("language", ["python", "c", "typescript", "json", "lua", ""])
def test_code_is_off_by_default(language: str) -> None:
    assert not ServerSettings().allows(NOTE, language)


def test_a_language_can_be_switched() -> None:
    settings, problems = read_settings({"languages": {"markdown": False, "python": True}})
    assert not problems
    assert not settings.allows(NOTE, "markdown")
    assert settings.allows(NOTE, "python")
    assert settings.allows(NOTE, "plaintext")
    everything, _ = read_settings({"languages": {"*": True, "c": False}})
    assert everything.allows(NOTE, "cobol")
    assert not everything.allows(NOTE, "c")


@pytest.mark.parametrize(
    ("globs", "allowed"),
    [
        ({"*.md": False}, False),
        ({"**/notes/**": False}, False),
        ({"notes/*.md": False}, True),
        ({"home/*/notes/a note.md": False}, False),
        ({"home/*.md": False}, True),
        ({"*.md": False, "a*.md": True}, True),
        ({"a*.md": True, "*.md": False}, False),
        ({"*.tx?": False}, True),
    ],
)
def test_the_last_glob_that_fits_decides(globs: dict[str, bool], allowed: bool) -> None:
    settings, problems = read_settings({"globs": globs})
    assert not problems
    assert settings.allows(NOTE, "markdown") == allowed


def test_off_is_off_for_all() -> None:
    settings, _ = read_settings({"enabled": False, "languages": {"*": True}, "globs": {"*": True}})
    assert not settings.allows(NOTE, "markdown")


def test_names_are_in_camel_case_and_checked() -> None:
    settings, problems = read_settings(
        {
            "model": "",
            "topK": 20,
            "checkStepsBack": False,
            "unloadAfterS": 5,
            "temperature": "hot",
            "completion": {"unit": "line", "maxActions": 0, "candidates": True},
            "live": {"editsPerSecond": 5},
            "colour": "red",
        }
    )
    assert settings.model is None
    assert settings.top_k == 20
    assert not settings.check_steps_back
    assert settings.unload_after_s == 5
    assert settings.completion.unit == "line"
    assert settings.live.edits_per_second == 5
    assert settings.temperature == ServerSettings().temperature
    assert settings.completion.max_actions == ServerSettings().completion.max_actions
    assert problems == [
        "the setting completion.maxActions cannot be 0",
        "the setting completion.candidates cannot be True",
        "the setting temperature cannot be 'hot'",
        "there is no setting colour",
    ]


@pytest.mark.parametrize("data", [None, {}, {"completion": None}])
def test_nothing_sent_means_the_defaults(data: object) -> None:
    assert read_settings(data) == (ServerSettings(), [])


@pytest.mark.parametrize("data", [3, "on", [], {"completion": 7}, {"live": []}])
def test_what_is_no_settings_is_said(data: object) -> None:
    settings, problems = read_settings(data)
    assert settings == ServerSettings()
    assert len(problems) == 1


def in_vs_code(section: str) -> dict[str, Any]:
    """The settings of a section that the extension for VS Code has."""
    manifest = Path(__file__).parents[2] / "editors" / "vscode" / "package.json"
    properties = json.loads(manifest.read_text("utf-8"))["contributes"]["configuration"]["properties"]
    start = f"reviser.{section}."
    return {name.removeprefix(start): field for name, field in properties.items() if name.startswith(start)}


def test_the_extension_for_vs_code_knows_the_settings_of_suggestions() -> None:
    defaults = {name: field["default"] for name, field in in_vs_code("completion").items()}
    settings, problems = read_settings({"completion": defaults})
    assert not problems
    assert settings == ServerSettings()
    assert len(defaults) == len(fields(CompletionSettings))


@pytest.mark.parametrize("confidence", [-0.1, 1.1, "high", None])
def test_how_sure_a_suggestion_must_be_is_a_chance(confidence: Any) -> None:
    settings, problems = read_settings({"completion": {"confidence": confidence}})
    assert settings == ServerSettings()
    assert problems == [f"the setting completion.confidence cannot be {confidence!r}"]


def test_the_extension_for_vs_code_knows_the_settings_of_diagnostics() -> None:
    known = in_vs_code("diagnostics")
    defaults = {name: field["default"] for name, field in known.items()}
    settings, problems = read_settings({"diagnostics": defaults})
    assert not problems
    assert settings == ServerSettings()
    assert settings.diagnostics.confidence is None
    assert known["kinds"]["items"]["enum"] == [kind.value for kind in Kind]


def test_kinds_go_by_their_names_with_spaces_or_hyphens() -> None:
    settings, problems = read_settings({"diagnostics": {"kinds": ["verb-form", "case"]}})
    assert not problems
    assert settings.diagnostics.kinds == (Kind.VERB_FORM, Kind.CASE)
    for wrong in ("spelling", ["grammar"], [1]):
        settings, problems = read_settings({"diagnostics": {"kinds": wrong}})
        assert problems == [f"the setting diagnostics.kinds cannot be {wrong!r}"]
        assert settings == ServerSettings()
