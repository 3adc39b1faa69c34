"""Obfuscation policies: shared parts, and the plain policy.

A policy places the cursor and then yields actions until nothing is left between the protected ends; reversed,
they write the text. `training.samples.generator` has the compiled policies; the tests have them on the canvas.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviser.core.actions import Action, Delete
from reviser.core.canvas import Canvas

# How often a revision writes some words, a clause or a sentence.
Pieces = tuple[int, int, int]
PIECES: Pieces = (5, 3, 2)

# How many tokens before the end a local revision may go, and an elaborating one.
REACH_BACK = 32
ELABORATING_REACH = 64


def plain(canvas: Canvas) -> Iterator[Action]:
    """Deletes from the end: restored, the text is written from left to right."""
    place(canvas, canvas.high)
    while canvas.high > canvas.low:
        yield Delete()


def tokens_between(revisions: float) -> int:
    """The maximum number of tokens between two local revisions; it is drawn uniformly from 1 to this."""
    return max(int(200 / max(revisions, 0.01)) - 1, 1)


def place(canvas: Canvas, cursor: int) -> None:
    """Places the cursor before the first action."""
    canvas.protect(canvas.prefix, canvas.suffix, cursor)
