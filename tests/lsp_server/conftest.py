"""A tiny model, and an editor whose server serves many tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviser.model.layout import Quantisation
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.toy_editor import IMPATIENT, ToyEditor, toy_editor


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantised, as the bundled model is: an engine starts without torch, and sooner."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", quantisation=Quantisation(8))


@pytest.fixture(scope="session")
def full_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its full weights: torch reads them, which takes seconds."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "full")


@pytest.fixture(scope="session")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that is busy for longer than a test takes to say something."""
    folder = tmp_path_factory.mktemp("models") / "slow"
    return save_tiny_model(folder, width=512, layers=16, quantisation=Quantisation(8))


@pytest.fixture(scope="session")
def reviser_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One whose vocabulary has Delete and Replace."""
    folder = tmp_path_factory.mktemp("models") / "revising"
    return save_tiny_model(folder, revises=True, quantisation=Quantisation(8))


@pytest.fixture(scope="session")
def lasting_editor(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToyEditor]:
    """Its engine is shared, so that other editors need not start one of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        with toy_editor(model, {"sharedEngine": True}) as editor:
            editor.open("It was")
            assert editor.ghost_text()
            yield editor


@pytest.fixture
def impatient_editor(lasting_editor: ToyEditor, model: Path) -> Iterator[ToyEditor]:
    """One whose server does not wait long for edits that do not come back as changes."""
    with toy_editor(model, {"sharedEngine": True}, first=IMPATIENT) as editor:
        yield editor


@pytest.fixture
def editor(lasting_editor: ToyEditor) -> ToyEditor:
    """An editor without documents and with the usual settings."""
    lasting_editor.reset()
    return lasting_editor
