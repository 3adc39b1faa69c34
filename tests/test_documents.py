"""What the documents say is true: their Python runs, their commands exist, their links lead somewhere, and an index
leads to each."""

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
    result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    for shown in re.findall(r"print\(.*\) +# (.*)", block):
        assert shown in result.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def heading_anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_headings_lead_to_one(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)]+)\)", path.read_text("utf-8"))
    for target, anchor in links:
        aim = path.parent / target if target else path
        if aim.suffix == ".md":
            assert anchor in heading_anchors(aim), f"{target}#{anchor}"


def test_the_index_leads_to_every_document() -> None:
    reached: set[Path] = set()
    pending = [ROOT / "docs/index.md"]
    while pending:
        path = pending.pop().resolve()
        if path in reached or path.suffix != ".md":
            continue
        reached.add(path)
        links = re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text("utf-8"))
        pending += [path.parent / target for target in links]
    assert {path.resolve() for path in ROOT.glob("docs/**/*.md")} <= reached


def test_every_result_has_its_finding_in_the_index() -> None:
    folder = ROOT / "docs/results"
    lines = (folder / "index.md").read_text("utf-8").splitlines()
    told = {found[1] for line in lines if (found := re.match(r"- \[.+?\]\((.+?)\): \S+", line))}
    pages = {path.relative_to(folder).as_posix() for path in folder.glob("**/*.md")}
    assert pages - told == {"index.md", "former-model.md"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_in_documents_exist(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", path.read_text("utf-8"), re.M):
        name = target[0] or target[1]
        assert re.search(rf"^{name}:", makefile, re.M), name


def test_the_walks_through_the_code_name_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:[\w-]+/)+[\w-]+\.\w+)`", text)
    assert len(named) > 25
    assert [name for name in named if not (ROOT / name).exists()] == []
