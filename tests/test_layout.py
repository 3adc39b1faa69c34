"""The layout of the repository: no circles between modules, no arrows upward, no crowded folders."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("reviser", "training", "benchmarks", "lsp_server", "tui")
# What each may import besides itself. The command line loads the others by name, which is no import.
BELOW = {
    "reviser": set(),
    "training": {"reviser"},
    "lsp_server": {"reviser"},
    "tui": {"reviser"},
    "benchmarks": {"reviser", "training", "lsp_server"},
}
MOST_MODULES = 14
MOST_PARAMETERS = 14
MOST_LINES = 500
MOST_LINES_OF_FUNCTION = 60
# What is still longer, and is to become shorter: nothing is added here.
LONG_FILES = {"training.edits.edit_samples", "training.samples.generator"}
LONG_FUNCTIONS = {"benchmarks.sections.arena.arena_section", "benchmarks.sections.perplexity.perplexity_section"}


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(file): file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))}


@cache
def nodes(file: Path) -> list[ast.AST]:
    """All that a module says."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def imports(file: Path) -> Iterator[str]:
    """Our modules that a file imports, anywhere in it: late, or for types alone, too."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide where an arrow leads"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            named = [name if name in FILES else str(node.module) for name in inner]
        else:
            continue
        yield from (name for name in named if name in FILES)


@cache
def arrows() -> dict[str, set[str]]:
    """What each module imports."""
    return {module: set(imports(file)) - {module} for module, file in FILES.items()}


def test_no_modules_import_each_other() -> None:
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


FOLDERS = sorted(module for module, file in FILES.items() if file.stem == "__init__")


@pytest.mark.parametrize("parent", FOLDERS)
def test_no_folders_import_each_other(parent: str) -> None:
    """The folders in a folder, each with all that is below it.

    Modules that stand beside folders, as an app or a pipeline does, bind them together: of those only circles of
    modules are wrong.
    """

    def folder_of(module: str) -> str:
        return ".".join(module.split(".")[: parent.count(".") + 2])

    folders: dict[str, set[str]] = {}
    for module, targets in arrows().items():
        if (folder := folder_of(module)) in FOLDERS and module.startswith(f"{parent}."):
            named = {folder_of(target) for target in targets if target.startswith(f"{parent}.")}
            folders.setdefault(folder, set()).update(named & set(FOLDERS) - {folder})
    try:
        TopologicalSorter(folders).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_point_one_way(package: str) -> None:
    upward = [
        f"{module} imports {target}"
        for module, targets in arrows().items()
        for target in targets
        if module.partition(".")[0] == package and target.partition(".")[0] not in BELOW[package] | {package}
    ]
    assert not upward


def test_the_engine_knows_none_of_its_front_ends() -> None:
    front_ends = ("reviser.cli", "reviser.mcp")
    inward = [
        f"{module} imports {target}"
        for module, targets in arrows().items()
        for target in targets
        if module.startswith("reviser.")
        and target.startswith(front_ends)
        and not module.startswith((*front_ends, "reviser.__main__"))
    ]
    assert not inward


@pytest.mark.parametrize("root", [*PACKAGES, "tests"])
def test_folders_are_small_and_say_what_they_are_for(root: str) -> None:
    for folder in {file.parent for file in (ROOT / root).rglob("*.py")}:
        if "documents" in folder.parts and root == "tests" and "prose" in folder.parts:
            continue  # documents to be read, not modules
        modules = [file for file in folder.glob("*.py") if file.stem != "__init__"]
        assert len(modules) <= MOST_MODULES, f"{folder.relative_to(ROOT)} needs subfolders"
        package = folder / "__init__.py"
        assert package.exists(), f"{folder.relative_to(ROOT)} is not a package"
        if root != "tests":
            assert ast.get_docstring(ast.parse(package.read_text("utf-8"))), f"{package}: no sentence"


def classes(body: list[ast.stmt]) -> Iterator[str]:
    """The names of classes, wherever they are made; those inside of a class are its own."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield statement.name
        else:
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from classes(getattr(statement, part, []))


def test_no_two_classes_share_a_name() -> None:
    """Whoever looks for a class by its name finds one."""
    places: dict[str, list[str]] = {}
    for module, file in FILES.items():
        for name in classes(ast.parse(file.read_text("utf-8")).body):
            places.setdefault(name, []).append(module)
    assert not {name: modules for name, modules in places.items() if len(modules) > 1}


def functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is compiled, or runs on a GPU: then it takes numbers and arrays alone, and calls next to nothing."""
    marks = {ast.unparse(mark).partition("(")[0] for mark in function.decorator_list}
    return bool(marks & {"compiled", "triton.jit", "_jit"})


def test_files_are_short() -> None:
    long = {module for module, file in FILES.items() if len(file.read_text("utf-8").splitlines()) > MOST_LINES}
    assert {module for module in long if ".kernels." not in module} <= LONG_FILES


def test_functions_are_short() -> None:
    long = {
        f"{module}.{function.name}"
        for module, file in FILES.items()
        for function in functions(file)
        if (function.end_lineno or 0) - function.lineno >= MOST_LINES_OF_FUNCTION and not is_kernel(function)
    }
    assert long <= LONG_FUNCTIONS


def test_long_lists_of_parameters_are_settings_objects() -> None:
    long = []
    for module, file in FILES.items():
        for function in functions(file):
            if is_kernel(function):
                continue
            given = function.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            if count > MOST_PARAMETERS:
                long.append(f"{module}.{function.name} takes {count}")
    assert not long


def test_one_module_reads_command_lines_beside_typer() -> None:
    """`python -m training` and `python -m benchmarks` also run on machines without Typer."""
    for module, file in FILES.items():
        if module == "reviser.cli.options":
            continue
        names = {alias.name for node in nodes(file) if isinstance(node, ast.Import) for alias in node.names}
        assert not names & {"argparse", "optparse", "getopt"}, module
