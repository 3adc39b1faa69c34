"""The hooks for pre-commit: they fit the command, and real pre-commit runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.reviser.checking.test_changed import git
from tests.reviser.cli.test_revise import GUIDE, RIGHT, TEXT, model_of_these

HOOKS = ROOT / ".pre-commit-hooks.yaml"


def hooks() -> list[dict[str, Any]]:
    return yaml.safe_load(HOOKS.read_text("utf-8"))


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook["id"])
def test_their_commands_exist(hook: dict[str, Any]) -> None:
    program, *words = hook["entry"].split()
    assert program == "reviser"
    command = [sys.executable, "-m", program, *words, "--help"]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pre-commit in an environment of its own."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    command = [folder / "bin" / "pip", "install", "--quiet", "pre-commit"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("pre-commit cannot be installed: " + done.stderr.strip().rpartition("\n")[2])
    return folder / "bin" / "pre-commit"


@pytest.mark.slow
def test_real_pre_commit_runs_them(
    pre_commit: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered, used = tmp_path / "offered", tmp_path / "used"
    for folder in (offered, used):
        folder.mkdir()
        git(folder, "init", "-q")
    (offered / HOOKS.name).write_bytes(HOOKS.read_bytes())
    git(offered, "add", ".")
    git(offered, "commit", "-qm", "hooks")
    # The command that is tested is the one that is installed here.
    taken = "".join(
        f"    - id: {hook['id']}\n      language: system\n      additional_dependencies: []\n" for hook in hooks()
    )
    head = git_output(offered, "rev-parse", "HEAD")
    (used / ".pre-commit-config.yaml").write_text(f"repos:\n- repo: {offered}\n  rev: {head}\n  hooks:\n{taken}")
    (used / "guide.md").write_text(GUIDE)
    (used / "note.txt").write_text(TEXT)
    (used / "requirements.txt").write_text("teh mat\n")
    (used / "code.py").write_text("# It were happy.\n")
    git(used, "add", ".")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("REVISER_MODEL", str(model_of_these(tmp_path_factory)))
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [pre_commit, "run", *words]
        return subprocess.run(command, cwd=used, capture_output=True, text=True, check=False)

    found = run("reviser-check", "--all-files")
    assert found.returncode == 1, found.stderr
    assert "guide.md:7:3: spelling: recieve → receive" in found.stdout
    assert "note.txt:3:4: agreement: were → was" in found.stdout
    assert "5 mistakes in 2 of 2 files" in found.stdout
    fixed = run("reviser-fix", "--all-files")
    assert fixed.returncode == 1
    assert "files were modified by this hook" in fixed.stdout
    assert (used / "note.txt").read_text() == RIGHT
    git(used, "add", ".")
    clean = run("reviser-check", "--all-files")
    assert clean.returncode == 0, clean.stdout
    message = used / ".git" / "COMMIT_EDITMSG"
    message.write_text(TEXT)
    words = ["--hook-stage", "commit-msg", "--commit-msg-filename", str(message)]
    said = run("reviser-commit-message", *words)
    assert said.returncode == 1, said.stdout + said.stderr
    assert "COMMIT_EDITMSG:1:16: spelling: teh → the" in said.stdout


def git_output(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()
