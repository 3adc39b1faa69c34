"""What git says has changed, in real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reviser.checking.changed import changed_files
from reviser.core.errors import ReviserError


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = (tmp_path / "repository").resolve()
    (folder / "docs").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name in ("same.md", "docs/unstaged.md", "staged.md", "gone.md", "später.md"):
        (folder / name).write_text("One.\n")
    return folder


def test_staged_unstaged_and_new_files(repository: Path) -> None:
    # Before the first commit everything is new.
    git(repository, "add", "same.md")
    names = {"same.md", "docs/unstaged.md", "staged.md", "gone.md", "später.md"}
    assert changed_files([repository]) == {repository / name for name in names}
    (repository / ".gitignore").write_text("ignored.md\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    assert changed_files([repository]) == set()
    (repository / "docs" / "unstaged.md").write_text("Two.\n")
    (repository / "staged.md").write_text("Two.\n")
    git(repository, "add", "staged.md")
    (repository / "gone.md").unlink()
    (repository / "später.md").write_text("Two.\n")
    (repository / "new.md").write_text("Two.\n")
    (repository / "ignored.md").write_text("Two.\n")
    wanted = {"docs/unstaged.md", "staged.md", "später.md", "new.md"}
    # Of the whole repository, also when asked in a folder of it.
    assert changed_files([repository / "docs"]) == {repository / name for name in wanted}
    assert changed_files([repository / "same.md"]) == {repository / name for name in wanted}


def test_since_a_revision(repository: Path) -> None:
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    git(repository, "switch", "-qc", "branch")
    (repository / "staged.md").write_text("Two.\n")
    git(repository, "commit", "-qam", "two")
    git(repository, "switch", "-q", "main")
    (repository / "same.md").write_text("Elsewhere.\n")
    git(repository, "commit", "-qam", "elsewhere")
    git(repository, "switch", "-q", "branch")
    assert changed_files([repository]) == set()
    # What others did on main since is not this branch's.
    assert changed_files([repository], "main") == {repository / "staged.md"}
    with pytest.raises(ReviserError, match="there is no revision --output=x in"):
        changed_files([repository], "--output=x")


def test_where_there_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="in no git repository"):
        changed_files([tmp_path])
    with pytest.raises(ReviserError, match="there is no folder"):
        changed_files([tmp_path / "none" / "a.md"])
