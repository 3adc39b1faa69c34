"""Numbers of things as messages say them, each with its noun."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, whose plural takes an s unless another one is given: "1 change", "2,000 changes"."""
    return f"{number:,} {noun if abs(number) == 1 else plural or f'{noun}s'}"
