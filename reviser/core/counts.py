"""Counts in messages: a number with its noun in singular or plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 change", "2,000 changes". The plural is `plural`, or the noun with an s."""
    return f"{number:,} {noun if abs(number) == 1 else plural or f'{noun}s'}"
