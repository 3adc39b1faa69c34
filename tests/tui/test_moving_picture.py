"""The moving picture in the README is what the editor does today."""

from __future__ import annotations

import os

from tests.conftest import ROOT
from tests.tui.moving_picture import STORY, pictures, svg

PICTURE = ROOT / "docs" / "images" / "next-edits.svg"


def test_the_moving_picture_is_what_the_editor_does_today() -> None:
    shown = pictures()
    drawn = svg(shown)
    if os.environ.get("REDRAW"):
        PICTURE.write_text(drawn, "utf-8")
    assert len(shown) == len(STORY)
    assert drawn == PICTURE.read_text("utf-8"), "draw it again: python -m tests.tui.moving_picture"
    assert PICTURE.stat().st_size < 300_000
