"""What several tests share: the published trajectories and the GPT-2 tokenizer."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.trajectory import Trajectory, load_trajectories

ROOT = Path(__file__).parent.parent
PAPER_TRAJECTORIES = ROOT / "examples" / "paper_trajectories.json"

# Where programs look for a user's files, as folders of the tests' home.
HOME_FOLDERS = {
    "HOME": "",
    "USERPROFILE": "",
    "LOCALAPPDATA": "AppData/Local",
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_RUNTIME_DIR": "run",
    "XDG_STATE_HOME": ".local/state",
}

# The suite draws the same examples every time, so that a change is judged by what it changed; `make fuzz`
# draws new ones, mostly more. A busy machine may take long over any example.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("REVISER_EXAMPLES", "same"))


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests, and all processes that they start, a home of their own, and Ctrl-C.

    In the background a shell has Ctrl-C ignored, which children would inherit.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _leave_home(config)


def _leave_home(config: pytest.Config) -> None:
    """Move to an empty home, which goes with the tests. Of the user's own, only pip's index and cache stay known."""
    user = Path.home()
    pip = Path(os.environ.get("XDG_CONFIG_HOME") or user / ".config") / "pip" / "pip.conf"
    if pip.is_file():
        os.environ.setdefault("PIP_CONFIG_FILE", str(pip))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or user / ".cache") / "pip"
    os.environ.setdefault("PIP_CACHE_DIR", str(cache))
    # The path is short, for there will be sockets in it.
    home = tempfile.TemporaryDirectory(prefix="reviser-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name in ("REVISER_HOME", "REVISER_MODEL"):
        os.environ.pop(name, None)
    for name, folder in HOME_FOLDERS.items():
        place = Path(home.name) / folder
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[name] = str(place)


def pytest_unconfigure() -> None:
    """Let the interpreter's end collect what was kept from collection: libraries report as leaked what that leaves."""
    gc.unfreeze()


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
