"""A new run never takes the place of an old one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from reviser.cli.options import run_with
from training.dagger import run as dagger
from training.ppo import run as ppo
from training.trainer import run

MAINS: dict[str, tuple[Callable[[Sequence[str]], int], list[str]]] = {
    "run": (partial(run_with, run.run), ["tiny", "--data", "nothing"]),
    "dagger": (partial(run_with, dagger.run), ["tiny", "--init", "nothing", "--data", "nothing", "--edits", "nothing"]),
    "ppo": (partial(run_with, ppo.run), ["nothing", "--data", "nothing", "--iterations", "1"]),
}


@pytest.mark.parametrize("kind", MAINS)
@pytest.mark.parametrize("left", ["latest", "model"])
def test_a_folder_that_holds_a_run_is_refused(
    kind: str, left: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main, words = MAINS[kind]
    (tmp_path / left).mkdir()
    (tmp_path / left / "weights").write_bytes(b"of hours")
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == [left, "weights"]
    # With --resume the folder is right, and what is missing is another thing.
    assert main([*words, "--out", str(tmp_path), "--resume"]) == 2
    assert "holds a run already" not in capsys.readouterr().err
