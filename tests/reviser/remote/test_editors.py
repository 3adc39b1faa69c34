"""An editor whose model runs behind a completions endpoint: suggestions, runs, and a server that goes away."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviser.model.layout import Quantisation
from tests.commands import start
from tests.conftest import ROOT
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.processes import children
from tests.lsp_server.toy_editor import URI, toy_editor
from tests.reviser.remote.servers import Wire, served

TEXT = "It was"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", quantisation=Quantisation(8))


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with served(model, "--rows", "4") as address:
        yield address


def there(address: str, model: Path) -> Any:
    return f"openai:{address}#tiny={model}"


def test_an_editor_suggests_with_a_model_that_is_served() -> None:
    """With the embedded model: one of random weights is sure of nothing among 50."""
    with served(None, "--rows", "4") as address:
        model: Any = f"openai:{address}"
        with toy_editor(model) as editor:
            editor.open("Once upon a")
            assert editor.ghost_text()[0].startswith(" time")


def test_an_editor_writes_with_a_model_that_is_served(model: Path, url: str) -> None:
    with toy_editor(there(url, model)) as editor:
        editor.open(TEXT)
        editor.command("reviser.continue", uri=URI, position=editor.position(len(TEXT)))
        ended = editor.wait_for_end()
        assert ended["state"] == "finished"
        assert editor.text.startswith(TEXT)
        assert editor.text != TEXT


def test_a_server_that_goes_away_stops_the_run_and_leaves_the_users_text(model: Path, url: str) -> None:
    wire = Wire(url, 3, cut=True)
    with toy_editor(there(wire.url, model)) as editor:
        editor.open(TEXT)
        editor.command("reviser.continue", uri=URI, position=editor.position(len(TEXT)))
        ended = editor.wait_for_end()
        assert ended["state"] == "stopped"
        assert "cannot be reached" in ended["reason"]
        # What was written until then goes in one step, and the user's own words are as they were.
        editor.command("reviser.undo", uri=URI)
        assert editor.text == TEXT
    wire.close()


def test_a_backend_that_was_started_by_hand_waits_for_editors(
    url: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    grace = 0.5
    shorter = f"from lsp_server.worker import process; process.GRACE = {grace}"
    backend = start("serve", "--backend", "vllm", there(url, model), cwd=ROOT, first=shorter)
    try:
        assert backend.stderr is not None
        assert b"write with tiny at http" in backend.stderr.readline()
        # Longer than an engine waits that an editor started.
        with pytest.raises(subprocess.TimeoutExpired):
            backend.wait(timeout=2 * grace)
        for _ in range(2):
            shared: dict[str, Any] = {"sharedEngine": True, "model": None}
            with toy_editor(model, shared) as editor:
                editor.open(TEXT)
                editor.command("reviser.continue", uri=URI, position=editor.position(len(TEXT)))
                assert editor.wait_for_end()["state"] == "finished"
                assert editor.text != TEXT
                assert not children(editor.process.pid)
                assert backend.poll() is None
        backend.send_signal(signal.SIGINT)
        assert backend.wait(timeout=30) == 0
        assert not list((tmp_path / "reviser").iterdir())
    finally:
        backend.kill()
        backend.wait()
