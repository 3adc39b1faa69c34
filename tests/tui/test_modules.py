"""The list of the editor's modules is whole, and none of them reaches for one that comes after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import tui

FOLDER = Path(tui.__file__).parent


def imported(module: str) -> Iterator[str]:
    """The editor's modules that a module imports, also those that it imports late."""
    for node in ast.walk(ast.parse((FOLDER / f"{module}.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tui."):
            yield str(node.module).removeprefix("tui.")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name.partition(".")[0] for alias in node.names]
            assert "tui" not in (*names, getattr(node, "module", None)), "from tui.module import …"


def test_arrows_point_one_way() -> None:
    listed = re.findall(r"^ +(\w+)\.py", tui.__doc__ or "", re.MULTILINE)
    assert sorted(listed) == sorted(p.stem for p in FOLDER.glob("*.py") if p.stem != "__init__")
    for place, module in enumerate(listed):
        later = set(imported(module)) & set(listed[place:])
        assert not later, f"{module} imports {later}, which comes after it"
