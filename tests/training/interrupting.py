"""Ctrl-C during a run in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.conftest import ROOT


def assert_ctrl_c_saves(words: Sequence[str], out: Path, has_begun: Callable[[], object]) -> None:
    """`python -m training` with these words ends well, has saved its state in `out`, and says how to go on."""
    command = [sys.executable, "-m", "training", *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    while not has_begun():
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "--resume" in said
    assert (out / "latest" / "training.pt").exists()
    assert not (out / "model").exists()
