"""The tests' own surroundings: a home that is not the user's, and an end without complaints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import HOME_FOLDERS, ROOT
from tests.interpreting import needs_triton

ENVIRONMENT = """
import json, os
from pathlib import Path

def test_where_this_is() -> None:
    assert all(Path(os.environ[name]).is_dir() for name in {names})
    Path("seen.json").write_text(json.dumps(dict(os.environ)), "utf-8")
"""


def run_tests(*words: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_tests_do_not_see_the_users_models(tmp_path: Path) -> None:
    for place in (".local/share/reviser", "own"):
        model = tmp_path / place / "models" / "smollm2"
        model.mkdir(parents=True)
        (model / "config.json").write_text("{}", "utf-8")
    name = "test_a_command_says_which_extra_it_needs[models pull smollm2]"
    users = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / ".local" / "share")}
    done = run_tests(f"tests/test_light_install.py::{name}", **users)
    assert done.returncode == 0, done.stdout
    done = run_tests(f"tests/test_light_install.py::{name}", REVISER_HOME=str(tmp_path / "own"))
    assert done.returncode == 0, done.stdout


def test_the_home_goes_with_the_tests(tmp_path: Path) -> None:
    (tmp_path / "test_ours.py").write_text(ENVIRONMENT.format(names=list(HOME_FOLDERS)), "utf-8")
    done = run_tests("-p", "tests.conftest", "test_ours.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    seen = json.loads((tmp_path / "seen.json").read_text("utf-8"))
    assert all(seen[name].startswith(seen["HOME"]) for name in HOME_FOLDERS)
    assert seen["HOME"] != os.environ["HOME"]
    assert not Path(seen["HOME"]).exists()


@needs_triton
def test_a_green_run_ends_without_a_report_of_leaks(tmp_path: Path) -> None:
    (tmp_path / "test_ours.py").write_text("import triton\n\ndef test_nothing(): pass\n", "utf-8")
    done = run_tests("-p", "tests.conftest", "test_ours.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "leaked" not in done.stderr


@needs_triton
def test_a_command_ends_without_a_report_of_leaks() -> None:
    module = "reviser.cli.garbage_collection"
    code = f"from {module} import without_garbage_collection\nwith without_garbage_collection(): import triton"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
