"""The styles of the editor in its theme, and the fading of new and erased text."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from textual.widget import Widget

from tui.runs.run import FADE_SECONDS

_FADE_STEPS = 8


@dataclass(frozen=True)
class TextStyles:
    """The styles of the editor in its present theme, computed once and used for every row."""

    base: Style
    gutter: Style
    gutter_here: Style
    cursor: Style
    resting: Style
    selection: Style
    match: Style
    mistake: Style
    region: Style
    model: Style
    # A change under review: its old and new text, and both for the current change.
    old: Style
    new: Style
    old_here: Style
    new_here: Style
    track: Style
    thumb: Style
    # From the look of a fresh insertion to that of plain text.
    fades: tuple[Style, ...]
    # From the background to the look of where the model's cursor has just been.
    tails: tuple[Style, ...]
    # From the look of what was just erased to where it is gone.
    losses: tuple[Style, ...]

    @classmethod
    def of(cls, editor: Widget) -> TextStyles:
        style = editor.get_component_rich_style
        bold = style("editor--fresh").bold
        tail = editor.get_component_styles("editor--trail").background
        ground = editor.background_colors[1]
        ink = editor.get_component_styles("editor--fresh").color
        shades = [ink.blend(editor.styles.color, step / _FADE_STEPS) for step in range(_FADE_STEPS)]
        gone = editor.get_component_styles("editor--erased").color
        old, new, old_here, new_here = (style(f"editor--{name}") for name in ("old", "new", "old-here", "new-here"))
        return cls(
            editor.rich_style,
            style("editor--gutter"),
            style("editor--gutter-here"),
            style("editor--cursor"),
            style("editor--cursor-resting"),
            style("editor--selection"),
            style("editor--match"),
            Style(color=style("editor--mistake").color, underline=True),
            Style(bgcolor=style("editor--region").bgcolor),
            style("editor--model"),
            old,
            _over(new),
            old_here,
            _over(new_here),
            style("editor--track"),
            style("editor--thumb"),
            tuple(
                Style(color=shade.rich_color, bold=bold and step < _FADE_STEPS // 2)
                for step, shade in enumerate(shades)
            ),
            tuple(
                Style(bgcolor=ground.blend(tail, step / _FADE_STEPS * 0.8).rich_color)
                for step in range(_FADE_STEPS + 1)
            ),
            tuple(
                Style(color=gone.blend(ground, step / _FADE_STEPS * 0.8).rich_color, strike=True)
                for step in range(_FADE_STEPS)
            ),
        )


def _over(style: Style) -> Style:
    """The style without its foreground colour."""
    return Style(bgcolor=style.bgcolor, bold=style.bold, underline=style.underline)


def fade_step(since: float) -> int:
    """The step of fading, `since` seconds after the text was new."""
    return max(min(int(since / FADE_SECONDS * _FADE_STEPS), _FADE_STEPS - 1), 0)
