"""Records a live run in VS Code as a GIF: `python -m tests.e2e.vscode.record run.gif [--model NAME]`.

It needs what `make test-editors` installs.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.e2e.vscode.conftest import CHROMIUM_FLAGS, EDITORS, EXTENSION, PROGRAM, find_chromium
from tests.e2e.vscode.workbench import CodeServer, Workbench

TEXT = """# The lighthouse

The lighthouse had been dark for three years when Ann came back to the island. She climbed the stairs,"""

LOOKS = {
    "breadcrumbs.enabled": False,
    "editor.fontSize": 17,
    "editor.lineNumbers": "off",
    "editor.folding": False,
    "editor.occurrencesHighlight": "off",
    "editor.renderLineHighlight": "none",
    "editor.scrollbar.vertical": "hidden",
    "editor.wordWrap": "on",
    "editor.unicodeHighlight.ambiguousCharacters": False,
    "reviser.completion.enabled": False,
    "workbench.activityBar.location": "hidden",
}

Frame = tuple[Image.Image, float]


def record(window: Workbench, seconds: float) -> list[Frame]:
    """The window from the key that starts a run to its end, each picture with its time."""
    frames: list[Frame] = []

    def look() -> None:
        picture = Image.open(io.BytesIO(window.page.screenshot(type="png"))).convert("RGB")
        frames.append((picture, time.monotonic()))

    look()
    window.press("Control+Alt+Enter")
    window.wait(lambda: window.model_cursor() is not None)
    deadline = time.monotonic() + seconds
    while window.model_cursor() is not None and time.monotonic() < deadline:
        look()
    window.press("Escape")
    window.wait(lambda: window.model_cursor() is None)
    look()
    return frames


def save_gif(frames: list[Frame], path: Path) -> None:
    """Few colours and only what changes, in the time it took."""
    first = frames[0][0]
    palette = frames[len(frames) // 2][0].quantize(160, dither=Image.Dither.NONE)
    pictures = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in frames
    ]
    times = [time for _, time in frames]
    shown = [int(1000 * (after - before)) for before, after in pairwise(times)]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=[min(max(wait, 40), 1500) for wait in shown] + [2500],
        loop=0,
        optimize=True,
    )
    print(f"{path}: {len(frames)} pictures of {first.size}, {path.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gif", type=Path)
    parser.add_argument("--model", default="", help="name or folder; the default model otherwise")
    parser.add_argument("--text", default=TEXT, help="what the run continues")
    parser.add_argument("--seconds", type=float, default=12.0, help="the longest it may take")
    parser.add_argument("--actions", type=int, default=120, help="actions of the run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = CodeServer(EDITORS, EXTENSION, Path(home) / "home")
        folder = Path(home) / "draft"
        folder.mkdir()
        (folder / "draft.md").write_text(options.text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        with server.running():
            window = Workbench(browser, server, folder)
            window.page.set_viewport_size({"width": 860, "height": 400})
            window.set(
                LOOKS
                | {
                    "reviser.model": options.model,
                    "reviser.server.path": str(PROGRAM),
                    "reviser.live.maxActions": options.actions,
                }
            )
            window.open("draft.md")
            window.wait_for_status("Reviser is idle")
            window.command("View: Close Primary Side Bar")
            # A first run, taken back, so that the recording does not wait for the model to be loaded.
            window.press("Control+Alt+Enter")
            window.wait(lambda: window.text() != "" and window.tinted("fresh"))
            window.press("Escape")
            window.wait(lambda: window.model_cursor() is None)
            window.press("Control+z")
            window.page.wait_for_timeout(500)
            save_gif(record(window, options.seconds), options.gif)
            browser.close()


if __name__ == "__main__":
    main()
