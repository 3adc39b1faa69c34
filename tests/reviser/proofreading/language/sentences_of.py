"""Sentences of mails, notes and manuals in six languages, written for this measurement; the English ones are badly
spelt."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from reviser.core.files import read_utf8

FOREIGN: Final = {"de": "German", "es": "Spanish", "fr": "French", "nl": "Dutch", "pl": "Polish"}
OF_PARAGRAPH: Final = 4
"""Sentences of a paragraph."""

_FOLDER: Final = Path(__file__).with_name("sentences")
_MEANT: Final = " | "


class Half(StrEnum):
    """Every other sentence of a set."""

    SEEN = "seen"
    """What was in view when the limits were chosen."""
    HELD_OUT = "held out"


class Misspelt(NamedTuple):
    """An English sentence as it was typed, and as it was meant."""

    typed: str
    meant: str


def foreign_sentences(language: str, half: Half) -> list[str]:
    """Sentences of another language, by its code."""
    return _half(language, half)


def foreign_paragraphs(language: str, half: Half) -> list[str]:
    """The same sentences in paragraphs."""
    alone = _half(language, half)
    starts = range(0, len(alone), OF_PARAGRAPH)
    return [" ".join(alone[start : start + OF_PARAGRAPH]) for start in starts]


def misspelt_sentences(half: Half) -> list[Misspelt]:
    """English sentences with many misspellings."""
    return [Misspelt(*line.split(_MEANT)) for line in _half("en", half)]


def _half(language: str, half: Half) -> list[str]:
    lines = read_utf8(_FOLDER / f"{language}.txt").splitlines()
    return lines[list(Half).index(half) :: len(Half)]
