"""The editor with a model behind a completions endpoint: runs, branches, and what it says where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.model.layout import Quantisation
from tests.lsp_server.models import save_tiny_model
from tests.reviser.remote.servers import served
from tests.tui.driving import QUICK, drive, notes, run_to_the_end, until
from tui.app import EditorApp
from tui.settings import TuiSettings

TEXT = "It was"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", quantisation=Quantisation(8))


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with served(model, "--rows", "1") as address:
        yield address


def editor(folder: Path, settings: TuiSettings) -> EditorApp:
    """An editor that loads its model as the settings say."""
    folder.mkdir()
    file = folder / "file.txt"
    file.write_text(TEXT)
    return EditorApp([file], settings, journals=folder / "journals")


def test_a_served_model_writes_in_the_editor_and_branches(model: Path, url: str, tmp_path: Path) -> None:
    app = editor(tmp_path / "there", replace(QUICK, model=f"openai:{url}#tiny={model}"))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("ctrl+end", "f5")
        await run_to_the_end(app, pilot)
        run = app.sheet.run
        assert run is not None
        assert draft.text == TEXT + run.tip.text_from(run.original) != TEXT
        run.scrub(3, app.clock())
        await pilot.press("f9")
        await run_to_the_end(app, pilot)
        assert len(run.path[3].children) == 2
        assert app.writer.model_name == f"tiny at {url}"
        await pilot.press("ctrl+k", "ctrl+z")
        assert draft.text == TEXT

    drive(app, script)


def test_a_served_model_does_not_proofread_and_the_editor_says_why(tmp_path: Path) -> None:
    """With the embedded model, which was trained to revise."""

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.proofreading._failure)
        await pilot.press("alt+j")
        assert "name a model on this machine" in notes(app)
        assert app.sheet.draft.text == TEXT

    with served(None, "--rows", "1") as address:
        settings = replace(QUICK, model=f"openai:{address}", proofread=True)
        drive(editor(tmp_path / "there", settings), script)


def test_a_server_that_is_not_there_is_named_in_a_sentence(tmp_path: Path) -> None:
    app = editor(tmp_path / "nobody", replace(QUICK, model="openai:http://127.0.0.1:9"))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        await until(pilot, lambda: "cannot be reached" in notes(app))
        assert app.sheet.draft.text == TEXT

    drive(app, script)
