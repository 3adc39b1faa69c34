"""What several tests share: the published trajectories and the GPT-2 tokenizer."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from reviser.tokenizer import Gpt2Tokenizer
from reviser.trajectory import Trajectory, load_trajectories

ROOT = Path(__file__).parent.parent
PAPER_TRAJECTORIES = ROOT / "examples" / "paper_trajectories.json"


def pytest_configure() -> None:
    """Let children take Ctrl-C: in the background a shell has it ignored, and they would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def gpt2() -> Gpt2Tokenizer:
    return Gpt2Tokenizer()


@pytest.fixture(scope="session")
def published() -> list[Trajectory]:
    return load_trajectories(PAPER_TRAJECTORIES, PAPER_TRAJECTORIES.read_text("utf-8"))
