"""What the panel beside the text shows."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.driving import drive, until
from tests.tui.test_snapshots import show_recording, still_app
from tui.app import EditorApp


def test_the_picture_among_the_figures_is_as_wide_as_the_panel(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        show_recording(app, 195)
        await pilot.press("f4")
        panel = app.desk.panel
        panel.activate("Figures")

        def picture() -> str:
            lines = str(panel.query_one("#Figures", Static).render()).splitlines()
            return lines[lines.index("When each part was written") + 1]

        widths = set()
        for size in ((120, 36), (80, 24), (40, 30), (120, 36)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: len(picture()) == panel.size.width - 4)
            widths.add(panel.size.width)
        assert len(widths) > 1

    drive(still_app(tmp_path), script, (120, 36))
