"""Ctrl-C during a run in a process of its own."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.commands import start
from tests.conftest import ROOT


def assert_ctrl_c_saves(words: Sequence[str], out: Path, has_begun: Callable[[], object]) -> None:
    """`python -m training` with these words ends well, has saved its state in `out`, and says how to go on."""
    process = start(*words, cwd=ROOT, program="training")
    while not has_begun():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert b"--resume" in said
    assert (out / "latest" / "training.pt").exists()
    assert not (out / "model").exists()
