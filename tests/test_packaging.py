"""The package: what it declares is what it imports, and a wheel works where there is no compiler."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from reviser.cli.extras import APPS
from reviser.core.extras import EXTRAS
from tests.conftest import ROOT
from tests.test_layout import FILES, PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Programs that are measured beside ours where they are installed, or that load our code themselves.
NOT_OURS_TO_INSTALL = {"llama_cpp", "vllm"}


def distributions(requirements: list[str]) -> set[str]:
    """The distributions that requirements name, this one's extras expanded."""
    found: set[str] = set()
    for requirement in requirements:
        match = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", requirement)
        assert match
        if match[1] == "reviser":
            for extra in match[2].split(","):
                found |= distributions(PROJECT["optional-dependencies"][extra])
        else:
            found.add(normalised(match[1]))
    return found


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(file: Path) -> Iterator[str]:
    """The packages of others that a file imports, anywhere in it, save for types alone."""
    waiting: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        named = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [str(node.module)]
        for name in named:
            package = name.partition(".")[0]
            if package not in sys.stdlib_module_names and package not in PACKAGES:
                yield package


def test_what_is_imported_is_declared() -> None:
    brings = packages_distributions()
    core = distributions(PROJECT["dependencies"])
    of_extras = {package for packages in EXTRAS.values() for package in packages}
    used = {package for file in FILES.values() for package in imported(file)} - NOT_OURS_TO_INSTALL
    from_core = {p for p in used if {normalised(name) for name in brings.get(p, [p])} & core}
    assert used - from_core <= of_extras
    assert core == {normalised(name) for package in from_core for name in brings[package]}


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_it_is_named_for(extra: str) -> None:
    declared = distributions(PROJECT["optional-dependencies"][extra])
    brings = packages_distributions()
    for package in EXTRAS[extra]:
        names = {normalised(name) for name in brings.get(package, [package])}
        assert names & declared, f"{package} is not in [{extra}]"


@pytest.mark.parametrize("extra", ["bench", "kernels", "train"])
def test_extras_that_run_models_in_torch_bring_it(extra: str) -> None:
    assert "torch" in distributions(PROJECT["optional-dependencies"][extra])


@pytest.mark.parametrize("extra", ["lsp", "mcp", "prose", "tui"])
def test_front_ends_do_not_bring_torch(extra: str) -> None:
    heavy = distributions(PROJECT["optional-dependencies"]["train"])
    assert not distributions(PROJECT["optional-dependencies"][extra]) & heavy
    assert "torch" not in distributions(PROJECT["dependencies"])


def test_the_licences_of_code_and_weights_come_along() -> None:
    assert PROJECT["license"] == "MIT AND Apache-2.0"
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git knows, so that a build leaves nothing here."""
    copy = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


def wheel(source: Path, out: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, source]
    subprocess.run(command, check=True, env=os.environ | environment)
    [made] = out.iterdir()
    return made


@pytest.mark.parametrize("name", sorted(APPS))
def test_a_module_of_the_user_is_not_taken_for_one_of_ours(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit('mine was taken')")
    code = (
        "from pathlib import Path; from reviser.cli.extras import load_extra; "
        f"print(Path(load_extra('{name}', 'all').__file__).parent)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(ROOT / name)


@pytest.mark.slow
def test_a_wheel_continues_a_draft_where_there_is_no_compiler(source: Path, tmp_path: Path) -> None:
    made = wheel(source, tmp_path / "wheels")
    assert re.fullmatch(r"reviser-[\d.]+-py3-none-(linux|macosx)_\w+\.whl", made.name)
    venv.create(tmp_path / "empty", with_pip=True)
    programs = tmp_path / "empty" / "bin"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CC"))} | {
        "PATH": str(programs)
    }
    assert shutil.which("cc", path=environment["PATH"]) is None

    def run(*words: str | Path) -> str:
        return subprocess.run(
            list(map(str, words)), capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        ).stdout

    run(programs / "pip", "install", "--quiet", "--only-binary", ":all:", made)
    assert "torch" not in run(programs / "pip", "list")
    assert run(programs / "reviser", "--version").count("\n") == 1
    draft = ROOT / "examples" / "draft.txt"
    written = run(programs / "reviser", "continue", draft, "--max-actions", "20")
    assert len(written) > len(draft.read_text("utf-8"))
    # The packages beside the engine take no name in this environment, and their commands find them.
    [site] = (tmp_path / "empty" / "lib").glob("python3*/site-packages")
    assert not [name for name in (*APPS, "tests") if list(site.glob(f"{name}*"))]
    assert "LLaDA-8B" in run(programs / "reviser", "bench", "flops")
    lacking = subprocess.run(
        [programs / "reviser", "lsp"], capture_output=True, text=True, check=False, env=environment
    )
    assert "pip install 'reviser[lsp]'" in lacking.stderr


@pytest.mark.slow
def test_a_wheel_without_kernels_has_another_name(source: Path, tmp_path: Path) -> None:
    made = wheel(source, tmp_path / "wheels", REVISER_NATIVE="0")
    assert made.name.endswith("-py3-none-any.whl")
    with ZipFile(made) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"reviser"}
    known = subprocess.run(
        ["git", "ls-files", "reviser", *APPS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    places = {file if file.startswith("reviser/") else f"reviser/apps/{file}" for file in known}
    assert places - {*names} == {"reviser/native/.gitignore"}
