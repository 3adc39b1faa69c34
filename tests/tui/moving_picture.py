"""The terminal editor at work, drawn as a moving picture.

    python -m tests.tui.moving_picture docs/images/next-edits.svg

The real editor takes the keys below, without a model. How long each state is shown is written down here and does not
depend on the machine, so the same editor draws the same picture, to the byte.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot

from tests.tui.driving import drive
from tui.app import EditorApp
from tui.settings import TuiSettings

TEXT = """# Watchdog

Watchdog sends an e-mail when a page is down, and an e-mail when
it is up again.

## Events

- `down`: sends an e-mail to the owner.
- `slow`: sends an e-mail to the owner if it lasts.
- `late`: sends an e-mail to you.

The field `e-mail` and <https://example.org/e-mail> keep their names.
"""
SIZE = (76, 16)
# Pixels of a cell, and of the frame around all.
CELL, LINE, EDGE, TITLE = 8.4, 19, 10, 30
INK, GROUND = "#d5d8df", "#17181c"


@dataclass(frozen=True)
class Press:
    """A key, the seconds for which its result is shown, what is said about it, and what is waited for."""

    key: str
    shown: float
    caption: str = ""
    wait: Callable[[EditorApp], object] | None = None


def _offers(app: EditorApp) -> int:
    return len(app.sheet.offers)


def _quiet(app: EditorApp) -> bool:
    return not app.desk.status_line.messages


STORY = (
    Press("", 1.5, "A text says “e-mail” in many places"),
    *[Press("down", 0.25)] * 2,
    *[Press("right", 0.07)] * 20,
    Press("backspace", 1.0, "Change one of them"),
    Press("", 3.0, "Pause: the others are offered, old beside new", _offers),
    Press("alt+down", 2.0, "Alt+↓ goes to the next, Alt+A accepts it, Alt+R rejects it"),
    Press("ctrl+k", 3.0, "Ctrl+K accepts all; code and addresses keep their names"),
    Press("", 0.2, "", _quiet),
    Press("ctrl+z", 2.5, "Ctrl+Z takes all of them back in one step", _offers),
)


Thing = TypeVar("Thing")
# What is drawn alike in a row: its column, its text and its style.
Piece = tuple[int, str, Style]
Row = tuple[Piece, ...]


@dataclass(frozen=True)
class Picture:
    """The screen at one moment, and for how long it is shown."""

    rows: tuple[Row, ...]
    caption: str
    shown: float


def pictures() -> list[Picture]:
    """The states of the editor while it takes the keys."""
    found: list[Picture] = []
    caption = ""
    now = 1000.0

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        nonlocal caption, now
        for press in STORY:
            if press.key:
                await pilot.press(press.key)
            # Time stands still but for the pauses of the story, so that every run draws the same.
            while press.wait is not None and not press.wait(app):
                now += 0.05
                await pilot.pause(0.01)
            await pilot.pause()
            caption = press.caption or caption
            rows = app.screen._compositor.render_strips()
            found.append(Picture(tuple(_row(strip) for strip in rows), caption, press.shown))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "README.md")
        path.write_text(TEXT)
        app = EditorApp([path], TuiSettings(proofread=False), journals=Path(folder, "journals"))
        app.clock = lambda: now
        drive(app, script, SIZE)
    return found


def _row(segments: Sequence[Segment]) -> Row:
    pieces: list[Piece] = []
    column = 0
    for style, group in groupby(segments, lambda one: one.style or Style.null()):
        text = "".join(segment.text for segment in group)
        pieces.append((column, text, style))
        column += cell_len(text)
    return tuple(pieces)


def svg(shown: Sequence[Picture]) -> str:
    """The pictures one after the other, again and again; a row that stays the same is drawn once."""
    times = [0.0]
    for picture in shown:
        times.append(times[-1] + picture.shown)
    width, height = SIZE[0] * CELL + 2 * EDGE, SIZE[1] * LINE + TITLE + EDGE
    # What a viewer that shows no motion shows: the offers.
    still = next(number for number, press in enumerate(STORY) if press.wait is _offers)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
        f'font-size="14" fill="{INK}">',
        '<rect width="100%" height="100%" rx="8" fill="#2a2b30"/>',
        f'<rect x="{EDGE}" y="{TITLE}" width="{SIZE[0] * CELL:g}" height="{SIZE[1] * LINE}" fill="{GROUND}"/>',
    ]
    captions = [picture.caption for picture in shown]
    for caption, visible in _different(captions):
        text = f'<text x="{width / 2:g}" y="20" text-anchor="middle" font-family="sans-serif">{escape(caption)}</text>'
        parts.append(_at_times(text, visible, times, still))
    for y in range(SIZE[1]):
        for row, visible in _different([picture.rows[y] for picture in shown]):
            if drawn := "".join(_drawn(piece, y) for piece in row):
                parts.append(_at_times(drawn, visible, times, still))
    return "\n".join([*parts, "</svg>\n"])


def _different(things: Sequence[Thing]) -> Iterator[tuple[Thing, list[bool]]]:
    """Each different thing, and in which pictures it is."""
    for thing in dict.fromkeys(things):
        yield thing, [one == thing for one in things]


def _at_times(drawn: str, visible: Sequence[bool], times: Sequence[float], still: int) -> str:
    if all(visible):
        return drawn
    changes = [number for number in range(len(visible)) if not number or visible[number] != visible[number - 1]]
    states = ("hidden", "visible")
    values = ";".join(states[visible[number]] for number in changes)
    keys = ";".join(f"{times[number] / times[-1]:.5g}" for number in changes)
    return (
        f'<g visibility="{states[visible[still]]}">{drawn}<animate attributeName="visibility" values="{values}" '
        f'keyTimes="{keys}" dur="{times[-1]:g}s" calcMode="discrete" repeatCount="indefinite"/></g>'
    )


def _drawn(piece: Piece, y: int) -> str:
    column, text, style = piece
    ink, ground = (
        color.get_truecolor().hex if color is not None else usual
        for color, usual in ((style.color, INK), (style.bgcolor, GROUND))
    )
    if style.reverse:
        ink, ground = ground, ink
    x, top = EDGE + column * CELL, TITLE + y * LINE
    parts = []
    if ground != GROUND:
        parts.append(f'<rect x="{x:g}" y="{top}" width="{cell_len(text) * CELL:g}" height="{LINE}" fill="{ground}"/>')
    words = text.strip()
    if words:
        x += cell_len(text[: len(text) - len(text.lstrip())]) * CELL
        looks = "".join(
            f' {name}="{value}"'
            for name, value, holds in (
                ("fill", ink, ink != INK),
                ("font-weight", "bold", style.bold),
                ("text-decoration", "line-through" if style.strike else "underline", style.strike or style.underline),
            )
            if holds
        )
        shown = escape(words).replace("  ", "\u00a0\u00a0")
        parts.append(f'<text x="{x:g}" y="{top + 14}" textLength="{cell_len(words) * CELL:g}"{looks}>{shown}</text>')
    return "".join(parts)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.tui.moving_picture OUT.svg")
    Path(sys.argv[1]).write_text(svg(pictures()), "utf-8")
