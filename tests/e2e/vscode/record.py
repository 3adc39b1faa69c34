"""Records a live run in VS Code as a GIF: `python -m tests.e2e.vscode.record run.gif [--model NAME]`.

It needs what `make test-editors` installs. A model writes faster than one can read, and than pictures of a
window can be taken: it is let on for a moment at a time, and the pictures are shown at an even pace.
"""

from __future__ import annotations

import io
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image, ImageChops
from playwright.sync_api import ViewportSize, sync_playwright

from reviser.checkpoints.library import find_model
from tests.e2e.vscode.conftest import CHROMIUM_FLAGS, EDITORS, EXTENSION, PROGRAM, ROOT, find_chromium
from tests.e2e.vscode.workbench import CodeServer, Workbench, write_settings
from tests.lsp_server.processes import children

DRAFT = ROOT / "examples" / "draft.txt"
SIZE: ViewportSize = {"width": 860, "height": 480}

LOOKS = {
    "breadcrumbs.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.fontSize": 17,
    "editor.lineNumbers": "off",
    "editor.folding": False,
    "editor.occurrencesHighlight": "off",
    "editor.padding.top": 8,
    "editor.renderLineHighlight": "none",
    "editor.scrollbar.vertical": "hidden",
    "editor.overviewRulerBorder": False,
    "editor.wordWrap": "on",
    "editor.unicodeHighlight.ambiguousCharacters": False,
    "workbench.activityBar.location": "hidden",
    "reviser.completion.enabled": False,
    # Only the process that writes is there to be halted.
    "reviser.diagnostics.enabled": False,
    # One edit for each moment of the model's, at once.
    "reviser.live.editsPerSecond": 1000,
}


def record(window: Workbench, moment: float) -> list[Image.Image]:
    """The window from the key that starts a run to its end, each time that something has changed."""
    pictures = [_picture(window)]
    (engine,) = children(window.language_server())
    with _halted(engine):
        window.press("Control+Alt+Enter")
        window.wait(lambda: window.model_cursor() is not None)
        # The user's cursor goes where it does not hide the model's.
        window.press("Control+Home")
        while window.model_cursor() is not None:
            _let_on(engine, moment)
            window.page.wait_for_timeout(120)
            picture = _picture(window)
            if ImageChops.difference(picture, pictures[-1]).getbbox():
                pictures.append(picture)
    return pictures


def _picture(window: Workbench) -> Image.Image:
    """The editor without the bars around it: the status bar's rate is not the model's here."""
    part = window.page.locator(".part.editor").screenshot(type="png")
    return Image.open(io.BytesIO(part)).convert("RGB")


@contextmanager
def _halted(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def _let_on(process: int, moment: float) -> None:
    os.kill(process, signal.SIGCONT)
    time.sleep(moment)
    os.kill(process, signal.SIGSTOP)


def run_unwatched(window: Workbench) -> tuple[str, float]:
    """A run at full speed, taken back: what it wrote, and the seconds from its first edit to its last.

    After it the model is loaded, and the same seed writes the same again.
    """
    before = window.text()
    window.press("Control+Alt+Enter")
    window.wait(lambda: window.text() != before)
    start = time.monotonic()
    window.wait(lambda: window.model_cursor() is None)
    took = time.monotonic() - start
    window.wait_for_status("Reviser is idle")
    text = window.text()
    window.press("Control+z")
    window.wait(lambda: window.text() == before)
    window.press("Control+Home", "Control+End")
    window.page.wait_for_timeout(500)
    return text, took


def save_gif(pictures: list[Image.Image], shown_ms: int, path: Path) -> None:
    """Few colours, and only what changes."""
    palette = _sample(pictures).quantize(96, dither=Image.Dither.NONE)
    first, *others = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=[1200, *[shown_ms] * (len(others) - 1), 3000],
        loop=0,
        optimize=True,
    )
    seconds = (4200 + shown_ms * (len(others) - 1)) / 1000
    megabytes = path.stat().st_size / 1e6
    print(f"{path}: {len(pictures)} pictures of {first.size}, {seconds:.1f} s, {megabytes:.2f} MB")


def _sample(pictures: list[Image.Image]) -> Image.Image:
    """Some of the pictures side by side: all colours that there are."""
    some = pictures[:: max(len(pictures) // 8, 1)]
    width, height = some[0].size
    sample = Image.new("RGB", (width * len(some), height))
    for index, picture in enumerate(some):
        sample.paste(picture, (index * width, 0))
    return sample


def main(
    gif: Annotated[Path, typer.Argument(help="The file to write.")],
    model: Annotated[str | None, typer.Option(help="Name or folder.")] = None,
    text: Annotated[Path, typer.Option(help="A file, shown as one paragraph.")] = DRAFT,
    seed: int = 0,
    actions: Annotated[int, typer.Option(help="Actions of the run, at most.")] = 140,
    moment: Annotated[float, typer.Option(help="Seconds between two pictures.")] = 0.006,
    shown: Annotated[int, typer.Option(help="Milliseconds that each is shown.")] = 80,
) -> None:
    """Record a run in VS Code as a moving picture."""
    settings = {
        "reviser.model": str(find_model(model).resolve()),
        "reviser.server.path": str(PROGRAM),
        "reviser.seed": seed,
        "reviser.live.maxActions": actions,
    }
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = CodeServer(EDITORS, EXTENSION, Path(home) / "home")
        draft = Path(home) / "draft" / "draft.md"
        draft.parent.mkdir()
        write_settings(draft.parent / ".vscode", LOOKS | settings)
        draft.write_text(" ".join(text.read_text().split()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        with server.running():
            window = Workbench(browser, server, draft.parent)
            window.page.set_viewport_size(SIZE)
            window.open(draft.name)
            window.wait_for_status("Reviser is idle")
            window.command("View: Close Primary Side Bar")
            _, took = run_unwatched(window)
            print(f"at full speed the run took {took:.1f} s on the screen")
            save_gif(record(window, moment), shown, gif)
            print(window.text())
            browser.close()


if __name__ == "__main__":
    typer.run(main)
