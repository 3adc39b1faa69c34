"""The measurement of a server: every document is written, and what is told adds up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.speed.serving import Server, Tally, main, processor_time, served_by_vllm, table
from reviser.core.errors import ReviserError


def test_a_server_is_measured_beside_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    words = ["--documents", "1", "3", "--actions", "2", "--rounds", "1", "--rows", "4"]
    assert main([*words, "--write", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("`reviser serve --http`") == 2
    text = page.read_text("utf-8")
    assert "- Command: `python -m benchmarks serving --documents 1 3" in text
    assert "- Load: " in text
    assert shown.strip() in text


def test_speeds_are_of_all_documents_and_beside_the_engines() -> None:
    tallies = [Tally("engine", 1, 2.0, 1.0, 100), Tally("over HTTP", 8, 4.0, None, 800)]
    first, second = table(tallies).rows
    assert first == ("engine", "1", "50.0", "1.00", "10.0")
    assert second == ("over HTTP", "8", "200.0", "4.00", "–")


def test_processor_time_is_that_of_all_processes_of_a_server() -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint(1, flush=True)\ntime.sleep(60)"
    nested = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])"
    child = subprocess.Popen([sys.executable, "-c", nested], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline()
        spent = processor_time(Server("nested", "", child.pid))
        assert spent is not None
        assert spent - time.process_time() > 0.4
        assert processor_time(Server("elsewhere", "", None)) is None
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def test_a_python_without_vllm_gets_a_sentence() -> None:
    if find_spec("vllm") is not None:
        pytest.skip("vLLM is installed here")
    with (
        pytest.raises(ReviserError, match=r"vLLM did not start: .*[Nn]o module"),
        served_by_vllm(Path(sys.executable), 1),
    ):
        pass
