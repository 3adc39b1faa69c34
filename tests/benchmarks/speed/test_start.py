"""The start of a command: processes are measured by themselves, and one that fails is no figure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.speed.start import ProcessCost, StartTimes, run, spend, table
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from reviser.model.layout import Quantisation
from reviser.native import available
from tests.lsp_server.models import save_tiny_model


def test_processor_time_and_memory_are_those_of_the_process(tmp_path: Path) -> None:
    idle = spend([sys.executable, "-c", "import time; time.sleep(0.5)"], tmp_path)
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    large = "held = bytearray(200 << 20); held[::4096] = b'x' * len(held[::4096])"
    at_work = spend([sys.executable, "-c", f"{large}\n{busy}"], tmp_path)
    assert idle.seconds < 0.5 <= at_work.seconds
    assert at_work.megabytes > idle.megabytes + 150
    with pytest.raises(ReviserError, match="ended with status 3"):
        spend([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_the_table() -> None:
    start = StartTimes.of("a command", [ProcessCost(0.5, 150), ProcessCost(0.4, 160), ProcessCost(0.7, 155)])
    assert "| a command | 0.400 | 0.500 | 155 |" in table([start])


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Quantised, as the embedded model is: what has full weights loads torch, all of which would be compiled.
    model = save_tiny_model(tmp_path / "tiny", quantisation=Quantisation(8))
    page = tmp_path / "start.md"
    assert run_with(run, ["--rounds", "1", "--model", str(model), "--write", str(page)]) == 0
    written = page.read_text("utf-8")
    assert "- Command: `python -m benchmarks start --rounds 1 --model" in written
    assert "| reviser continue, one action |" in written
    assert "| Python with numpy |" in capsys.readouterr().out
