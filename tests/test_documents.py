"""What the documents say is true: their Python runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", blocks(ROOT / "docs/engine.md", "python"))
def test_python_in_the_guide_runs(block: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    for shown in re.findall(r"print\(.*\) +# (.*)", block):
        assert shown in result.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_in_documents_exist(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", path.read_text("utf-8"), re.M):
        name = target[0] or target[1]
        assert re.search(rf"^{name}:", makefile, re.M), name
