"""An installation without torch: what works there, and what says which extra is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from reviser.cli.extras import load_extra
from reviser.core.extras import EXTRAS
from tests.conftest import PAPER_TRAJECTORIES, ROOT
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.toy_editor import toy_editor

mcp = pytest.importorskip("mcp")

# Packages that are not there, as far as Python can tell.
BLOCKER = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in {absent}:
            raise ModuleNotFoundError(f"No module named {{package!r}}", name=package)

sys.meta_path.insert(0, Absent())
"""
FRONT_ENDS = ("lsp", "mcp", "prose", "tui")
HEAVY = {package for extra, packages in EXTRAS.items() if extra not in FRONT_ENDS for package in packages}
LIGHT = HEAVY | {package for extra in FRONT_ENDS for package in EXTRAS[extra]} - {
    # Others may bring these along: tokenizers loads one itself, and tiktoken another.
    "anyio",
    "attrs",
    "regex",
}


def block(folder: Path, absent: set[str], patch: pytest.MonkeyPatch) -> None:
    (folder / "sitecustomize.py").write_text(BLOCKER.format(absent=sorted(absent)), "utf-8")
    patch.setenv("PYTHONPATH", str(folder))
    gone = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False)
    assert b"ModuleNotFoundError" in gone.stderr


@pytest.fixture
def light(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children have what `pip install reviser` brings."""
    block(tmp_path_factory.mktemp("light"), LIGHT, monkeypatch)


@pytest.fixture
def torchless(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children have what `pip install 'reviser[lsp,tui,mcp,prose]'` brings."""
    block(tmp_path_factory.mktemp("torchless"), HEAVY, monkeypatch)


@pytest.fixture(scope="module")
def full_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "full")


def reviser(*words: str | Path, program: str = "reviser", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        cwd=ROOT,
    )


def printed(*words: str | Path) -> str:
    result = reviser(*words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.usefixtures("light")
def test_the_model_that_comes_along_writes_and_proofreads(tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    text = "She put the the lamp on the table. The rain fell on the roof.\n"
    draft.write_text(text, "utf-8")
    written = printed("continue", draft, "--seed", "1", "--max-actions", "8")
    assert written.startswith(text.strip())
    assert len(written) > len(text)
    assert "+She put the lamp on the table." in reviser("revise", draft).stdout
    assert printed("infill", draft, "--at", "1:9", "--max-actions", "4").startswith("She put ")


@pytest.mark.usefixtures("light")
def test_models_are_listed_and_described(full_model: Path) -> None:
    assert printed("--version").startswith("reviser ")
    assert "default" in printed("models", "list")
    assert "134.5 million" in printed("models", "info", "default")
    assert "F32" in printed("models", "info", full_model)


@pytest.mark.usefixtures("light")
def test_what_needs_no_model_works() -> None:
    assert '"matches": true' in printed("replay", PAPER_TRAJECTORIES, "--format", "json")
    assert "Dream" in printed("bench", "flops")
    assert "revision" in printed("bench", "stats", PAPER_TRAJECTORIES)


COMMANDS = {
    "train": "train",
    "models export default out": "torch",
    "models import README.md": "torch",
    "models pull smollm2": "torch",
    "bench": "bench",
    "bench run default --data builtin": "bench",
    "bench speed": "bench",
    "bench reproduce": "all",
    "bench lsp": "lsp",
    "lsp": "lsp",
    "mcp .": "mcp",
    "tui": "tui",
}


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_says_which_extra_it_needs(words: str) -> None:
    result = reviser(*words.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("reviser: this command needs ")
    assert result.stderr.endswith(f"pip install 'reviser[{COMMANDS[words]}]'\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize(
    ("program", "name", "extra"),
    [("training", "ppo", "torch"), ("training", "mistakes", "train"), ("benchmarks", "infill", "torch")],
)
def test_other_programs_say_so_too(program: str, name: str, extra: str) -> None:
    result = reviser(name, program=program)
    assert result.returncode == 2
    assert result.stderr.endswith(f"pip install 'reviser[{extra}]'\n")


@pytest.mark.usefixtures("light")
def test_a_model_that_needs_torch_says_so(full_model: Path) -> None:
    draft = ROOT / "examples" / "draft.txt"
    result = reviser("continue", draft, "--model", full_model)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "reviser: the model full, which is not quantised, needs torch; install it with: pip install 'reviser[torch]'\n"
    )
    result = reviser("continue", draft, REVISER_NATIVE="0")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "reviser: a model without compiled kernels (REVISER_NATIVE=0 switches them off) needs torch; "
        "install it with: pip install 'reviser[torch]'\n"
    )


def test_a_module_of_our_own_that_is_missing_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError):
        load_extra("benchmarks.nothing", "bench")


@pytest.mark.usefixtures("torchless")
def test_the_language_server_completes() -> None:
    with toy_editor(Path("default"), {"model": None}, fresh=True) as editor:
        editor.open("The rain fell on")
        assert editor.ghost_text()


@pytest.mark.usefixtures("torchless")
def test_an_editor_is_told_which_extra_a_model_needs(full_model: Path) -> None:
    with toy_editor(full_model, fresh=True) as editor:
        editor.open("The rain fell on")
        assert not editor.ghost_text()
        assert "reviser[torch]" in str(editor.received)


@pytest.mark.usefixtures("torchless")
def test_the_terminal_editor_loads() -> None:
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "tui").rglob("*.py")
        if file.stem != "__main__"
    ]
    code = "from importlib import import_module\nfor name in {}: import_module(name)"
    subprocess.run([sys.executable, "-c", code.format(modules)], check=True, cwd=ROOT)


@pytest.mark.usefixtures("torchless")
def test_agents_are_served(tmp_path: Path) -> None:
    command = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "reviser", "mcp", str(tmp_path)],
        env={"PYTHONPATH": os.environ["PYTHONPATH"]},
    )

    async def tools() -> list[str]:
        async with mcp.Client(command) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "act" in anyio.run(tools)


def test_a_machine_without_kernels_is_told_that_it_is_slow() -> None:
    notice = "compiled kernels are missing, so models run slowly, in torch: REVISER_NATIVE=0"
    for words in (("--version",), ("models", "info", "default")):
        assert reviser(*words, REVISER_NATIVE="0").stdout.count(notice) == 1
        assert notice not in reviser(*words).stdout
