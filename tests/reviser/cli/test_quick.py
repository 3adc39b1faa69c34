"""The quick way into a command reads plain words as Typer does, leaves all others to it, and loads little."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from reviser import native
from reviser.cli.commands.generate import ContinueOptions, InfillOptions
from reviser.cli.options import with_fields
from reviser.cli.quick import COMMANDS, NeedsFullParser, quick_command, read_options

HEAVY = {
    *("torch", "transformers", "textual", "pydantic", "rich", "pygls", "numba", "markdown_it"),
    # These take a tenth of the start, and nothing plain needs them.
    *("typer", "click", "statistics", "hashlib", "tempfile", "tokenizers", "gzip"),
}
MOST_MODULES = 300

words = st.lists(
    st.sampled_from(
        [
            *("-n", "-m", "-i", "-o", "--number", "--model", "--in-place", "--output", "--seed"),
            *("--at", "--to", "--diff", "--json", "--watch", "--top-p", "--check-steps-back"),
            *("draft.txt", "-", "3", "0", "0.5", "1.5", "-1", "nan", "1:3", "tiny"),
            *("--number=2", "--model=tiny", "--top-p=0.25", "--seed=", "-n2", "--mod", "--help"),
            *("--no-json", "--", "--json=1"),
        ]
    ),
    max_size=6,
)


def by_typer(options: type, given: list[str]) -> Any:
    """What Typer makes of words; None where it refuses them."""
    found: list[Any] = []

    def command(options: Any) -> None:
        found.append(options)

    command.__annotations__["options"] = options
    app = typer.Typer()
    app.command()(with_fields(command))
    try:
        app(given, standalone_mode=False)
    except Exception:
        return None
    return found[0] if found else None


@pytest.mark.parametrize("options", [ContinueOptions, InfillOptions])
@given(st.data())
def test_what_is_read_is_what_typer_reads(options: type, data: st.DataObject) -> None:
    given = data.draw(words)
    try:
        quick = read_options(options, given)
    except NeedsFullParser:
        return
    assert quick == by_typer(options, given)


def test_plain_words_are_read_here_and_all_others_are_not() -> None:
    plain = ["draft.txt", "--in-place", "-n", "1", "--max-actions", "8", "--temperature=0"]
    assert read_options(ContinueOptions, plain) == ContinueOptions(
        file=Path("draft.txt"), in_place=True, number=1, max_actions=8, temperature=0.0
    )
    assert quick_command(["continue", *plain]) is not None
    assert quick_command(["infill", "--at", "1:3", "-"]) is not None
    for other in (
        [],
        ["replay", "run.json"],
        ["continue"],
        ["continue", "--help"],
        ["continue", "a", "b"],
        ["continue", "a", "--number", "0"],
        ["continue", "a", "--min-p", "2"],
        ["continue", "a", "--temperature", "warm"],
        ["continue", "a", "--model"],
        ["infill", "a"],
    ):
        assert quick_command(other) is None, other
    assert set(COMMANDS) == {"continue", "infill"}


@pytest.mark.skipif(not native.available(), reason="the native library was not built")
def test_continuing_loads_little(tmp_path: Path) -> None:
    """Modules are counted, since time depends on the machine: what is loaded for one action of the embedded model."""
    (tmp_path / "draft.txt").write_text("The cat sat on")
    code = f"""
import sys
from reviser.__main__ import main
sys.argv = ["reviser", "continue", {str(tmp_path / "draft.txt")!r}, "--max-actions", "1", "--model", "default"]
try:
    main()
except SystemExit as stop:
    assert not stop.code
print("MODULES", *sys.modules)
"""
    run = [sys.executable, "-c", code]
    shown = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    modules = shown.split("MODULES")[1].split()
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert "numpy.random" not in modules
    assert "reviser.native.decoder" in modules
    assert len(modules) < MOST_MODULES


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted on Linux")
@pytest.mark.parametrize("wanted", [None, "2"])
def test_numpy_starts_no_threads_unless_they_are_asked_for(wanted: str | None) -> None:
    code = """
import os
from pathlib import Path
from reviser.cli.quick import quick_command
assert quick_command(["continue", "draft.txt"])
import numpy
print(len([*Path("/proc/self/task").iterdir()]), os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    if wanted:
        environment["OPENBLAS_NUM_THREADS"] = wanted
    run = [sys.executable, "-c", code]
    shown = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    threads, setting = shown.stdout.split()
    assert setting == str(wanted)
    if wanted is None:
        assert threads == "1"
