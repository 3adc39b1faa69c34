"""Confusion sets, read from `words.toml`: words written for one another, and words left out or inserted."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from reviser.core.files import read_utf8

_DATA: dict[str, Any] = tomllib.loads(read_utf8(Path(__file__).with_name("words.toml")))

Rows = tuple[tuple[str, ...], ...]


def _rows(name: str) -> Rows:
    return tuple(map(tuple, _DATA[name]))


def _weighted(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((weight, word) for weight, word in _DATA[name])


ARTICLES = tuple(_DATA["articles"].split())
DETERMINERS = frozenset(_DATA["determiners"].split())
LEFT_OUT = frozenset(_DATA["left_out"].split())
MASS_NOUNS = frozenset(_DATA["mass_nouns"].split())
EXTRA, EXTRA_PREPOSITIONS, EXTRA_ARTICLES = map(_weighted, ("extra", "extra_prepositions", "extra_articles"))
CONFUSED, SYMMETRIC, PRONOUNS, AUXILIARIES, PHRASES, SOUNDS = map(
    _rows, ("confused", "symmetric", "pronouns", "auxiliaries", "phrases", "sounds")
)
PREPOSITIONS = {right: tuple(others) for right, *others in _DATA["prepositions"]}
