"""The extension for VS Code is packaged from its own folder alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import ROOT

EXTENSION = ROOT / "editors" / "vscode"


def test_its_scripts_stay_in_its_folder() -> None:
    scripts = json.loads((EXTENSION / "package.json").read_text())["scripts"]
    assert not [line for line in scripts.values() if ".." in line]
    assert (EXTENSION / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.slow
def test_it_is_packaged_outside_the_repository(tmp_path: Path) -> None:
    """With the packages that `make vscode` has installed."""
    if not (EXTENSION / "node_modules").is_dir():
        pytest.skip("the extension's packages are not installed; see `make vscode`")
    copy = tmp_path / "extension"
    shutil.copytree(EXTENSION, copy, symlinks=True)
    shutil.rmtree(copy / "dist", ignore_errors=True)
    subprocess.run(["npm", "run", "package"], cwd=copy, check=True, capture_output=True)
    with ZipFile(copy / "dist" / "reviser.vsix") as package:
        assert {"extension/LICENSE.txt", "extension/dist/extension.js"} <= set(package.namelist())
