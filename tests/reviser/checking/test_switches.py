"""Comments in documents switch findings of `check` off, and unused ones are reported on request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviser.editor.incremental import IncrementalChecker
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.prose import Format
from tests.commands import reviser
from tests.reviser.proofreading.scripted import GPT2, Scripted

TEXT = """\
He have the the letter.

<!-- reviser: off -->

She have a an idea.

<!-- reviser: on -->
<!-- reviser: ignore-next-line agreement, extra-word -->
It is the the end, and he have no doubt.

<!-- reviser: off article -->

They know it.
"""


@pytest.fixture(autouse=True)
def _embedded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)


def test_comments_switch_findings_off(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(TEXT)
    told = json.loads(reviser("check", path, "--output-format", "json").stdout)
    assert {one["line"] for one in told["findings"]} == {1}
    (unused,) = told["unused_comments"]
    assert (unused["line"], unused["text"]) == (11, "<!-- reviser: off article -->")
    # The same from the cache, and as text.
    again = reviser("check", path, "--unused-comments", "--explain")
    assert again.returncode == 1
    lines = again.stdout.splitlines()
    assert f"{path}:11:1: unused comment: <!-- reviser: off article -->" in lines
    assert any(line.startswith("    With “he”") for line in lines)
    assert "unused" not in reviser("check", path).stdout
    path.write_text(TEXT.partition("\n\n")[2])
    assert reviser("check", path).returncode == 0
    assert reviser("check", path, "--unused-comments").returncode == 1


def test_comments_hold_for_documents_that_are_being_written() -> None:
    reader = Proofreader(Scripted({"have": ("has", 0.99)}), GPT2)
    checker = IncrementalChecker(reader.proofread)
    text = "<!-- reviser: off -->\n\nThe cat have it.\n\n<!-- reviser: on -->\n\nThe dog have it.\n"
    found = [one for part in checker.check(Draft(text, Format.MARKDOWN)) for one in part.changes]
    assert [text[: one.start].count("\n") for one in found] == [6]
    # The same pieces without the comments.
    plain = text.replace("reviser:", "another:")
    found = [one for part in checker.check(Draft(plain, Format.MARKDOWN)) for one in part.changes]
    assert [plain[: one.start].count("\n") for one in found] == [2, 6]
