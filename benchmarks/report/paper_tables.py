"""The figures that the paper prints, read from `paper.toml` and shown beside measured ones."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviser.core.files import read_utf8

_DATA: dict[str, Any] = tomllib.loads(read_utf8(Path(__file__).with_name("paper.toml")))


@dataclass(frozen=True)
class Arena:
    """The paper's arena: how often the judge chose Reviser's of two continuations, in per cent."""

    reviser: str
    baseline: str
    reviser_wins: float
    table: str


ARENAS = tuple(Arena(*row) for row in _DATA["arenas"])
EVAL_PPL: dict[str, list[float]] = _DATA["eval_ppl"]
MAUVE: dict[str, float] = _DATA["mauve"]
TRAJECTORIES: dict[str, list[float]] = _DATA["trajectories"]
FLOPS = {
    (method, variant): tuple(printed) for method, each in _DATA["flops"].items() for variant, printed in each.items()
}
FLOPS_TERMS: dict[str, str] = _DATA["flops_terms"]
