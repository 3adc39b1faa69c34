"""Commands by name, `python -m training NAME` and `python -m benchmarks NAME`: each is there, and documents name no other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from benchmarks.__main__ import COMMANDS as MEASUREMENTS
from tests.conftest import ROOT
from training.__main__ import _MODULES as TRAINING
from training.__main__ import COMMANDS as LISTED

MODULES = {
    "benchmarks": {name: f"benchmarks.{module}" for name, (module, _) in MEASUREMENTS.items()},
    "training": TRAINING,
}
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "Makefile"]


@pytest.mark.parametrize("package", MODULES)
def test_every_command_has_a_main(package: str) -> None:
    for name, module in MODULES[package].items():
        tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text("utf-8"))
        assert any(
            isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body
        ), name
    assert TRAINING.keys() == LISTED.keys()


def test_documents_name_commands_that_exist() -> None:
    named = {
        found
        for path in DOCUMENTS
        for found in re.findall(r"-m (training|benchmarks)[ .](\w+)", path.read_text("utf-8"))
    }
    known = {(package, name) for package, names in MODULES.items() for name in names}
    assert len(named) > 15
    assert named - known == {("benchmarks", "NAME"), ("training", "NAME")}


@pytest.mark.parametrize("package", MODULES)
def test_an_unknown_name_is_said_in_a_sentence(package: str) -> None:
    command = [sys.executable, "-m", package]
    unknown = subprocess.run([*command, "dance"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("reviser: there is no ")
    assert unknown.stderr.count("\n") == 1
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in helped.stdout for name in MODULES[package])
