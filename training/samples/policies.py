"""What the policies have in common that take a text apart, to be read backwards as writing.

A policy puts the cursor down and then yields actions until nothing between the protected ends is left.
`training.samples.generator` has them compiled; the tests have them written with the canvas.
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
    """Most tokens between two local revisions; drawn evenly from 1 on, they are half of it on average."""
    return max(int(200 / max(revisions, 0.01)) - 1, 1)


def place(canvas: Canvas, cursor: int) -> None:
    """Put the cursor down before the first action."""
    canvas.protect(canvas.prefix, canvas.suffix, cursor)
