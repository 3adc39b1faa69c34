"""`reviser models` on damaged and hostile files, as a user runs it: one sentence, little memory, no file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import commands
from tests.reviser.checkpoints.hostile import HOSTILE, released

pytest.importorskip("gguf")

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the most memory is read from /proc")

IMPORTED = (
    "a zip bomb",
    "plain text",
    "tensors that share one number",
    "a billion layers",
    "a context too long for its weights",
    "a deeply nested configuration",
    "weights that are not numbers",
    "GGUF with a list without end",
)
SHOWN = ("a context of a trillion", "a deeply nested configuration", "layers without tensors")


@dataclass(frozen=True)
class Ended:
    """A process that has ended, and the most memory it had, in bytes."""

    status: int
    stdout: str
    stderr: str
    memory: int


# The kernel's own account of a process begins with what it had when it was forked, the same for all of them.
TELLING = """
import atexit, os
from pathlib import Path

def tell():
    Path(os.environ["STATUS"]).write_bytes(Path("/proc/self/status").read_bytes())

atexit.register(tell)
"""


def reviser(folder: Path, *arguments: str | Path) -> Ended:
    (folder / "telling").mkdir()
    (folder / "telling" / "sitecustomize.py").write_text(TELLING)
    path = os.pathsep.join([str(folder / "telling"), os.environ.get("PYTHONPATH", "")])
    surroundings = {"REVISER_HOME": str(folder / "home"), "STATUS": str(folder / "status")}
    done = commands.reviser(*arguments, env=os.environ | surroundings | {"PYTHONPATH": path})
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
    return Ended(done.returncode, done.stdout, done.stderr, int(peak) * 1024)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The memory of an import that succeeds, of a file of a few hundred kilobytes."""
    folder = tmp_path_factory.mktemp("usual")
    done = reviser(folder, "models", "import", released(folder / "it.pt"))
    assert done.status == 0, done.stderr
    return done.memory


def size_of(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


@pytest.mark.parametrize("case", IMPORTED)
def test_what_cannot_be_imported(tmp_path: Path, usual: int, case: str) -> None:
    name, make, sentence = HOSTILE[case]
    source = make(tmp_path / name)
    done = reviser(tmp_path, "models", "import", source)
    assert done.status == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "home").exists()
    assert done.memory < usual + 4 * size_of(source) + (64 << 20)


@pytest.mark.parametrize("case", SHOWN)
def test_what_cannot_be_shown(tmp_path: Path, usual: int, case: str) -> None:
    name, make, sentence = HOSTILE[case]
    source = make(tmp_path / name)
    done = reviser(tmp_path, "models", "info", source)
    assert done.status == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert done.memory < usual + 4 * size_of(source) + (64 << 20)
