"""What several tests share: the published trajectories and the GPT-2 tokenizer."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.trajectory import Trajectory, load_trajectories

ROOT = Path(__file__).parent.parent
PAPER_TRAJECTORIES = ROOT / "examples" / "paper_trajectories.json"

# The suite draws the same examples every time, so that a change is judged by what it changed; `make fuzz`
# draws new ones, mostly more. A busy machine may take long over any example.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("REVISER_EXAMPLES", "same"))


def pytest_configure() -> None:
    """Let children take Ctrl-C: in the background a shell has it ignored, and they would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the million objects of libraries and tests, now or later: they stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def gpt2() -> Gpt2Tokenizer:
    return Gpt2Tokenizer()


@pytest.fixture(scope="session")
def published() -> list[Trajectory]:
    return load_trajectories(PAPER_TRAJECTORIES, PAPER_TRAJECTORIES.read_text("utf-8"))
