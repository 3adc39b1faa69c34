"""Mixtures: JSON there and back, and plain words for what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviser.core.errors import ReviserError
from training.samples.mixture import Mixture


def test_json_round_trip(tmp_path: Path) -> None:
    mixture = Mixture(rich=0.1, p_delete=((1, 0.8), (3, 0.95)), max_history=256, k_max=200)
    path = tmp_path / "mixture.json"
    path.write_text(json.dumps(mixture.to_dict()))
    assert Mixture.load(path) == mixture


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"speed": 1}, "no speed"),
        ({"plain": -1}, "shares"),
        ({"plain": 0, "paper": 0, "structured": 0}, "infill needs"),
        ({"p_delete": [[1, 0]]}, "p_delete"),
        ({"p_delete": [[0, 0.5]]}, "weight above 0"),
        ({"p_delete": 0.8}, "wrong kind"),
        ({"pieces": [1, 2]}, "wrong kind"),
        ({"pieces": [0, 0, 0]}, "not all 0"),
        ({"prefix": [[1, 0.5, 0.2]]}, "prefix"),
        ({"before": [[1, 0.5, 0.2]]}, "before"),
        ({"before": []}, "before needs a weight"),
        ({"max_history": 20}, "max_history"),
        ({"full": 2}, "full"),
        ({"openings": -0.1}, "openings"),
        ({"k_max": 0}, "k_max"),
        ({"edits": -1}, "edits"),
        ({"unchanged": 2}, "unchanged"),
        ({"edit_orders": [[1, "sideways"]]}, "edit_orders"),
        ({"edit_orders": [[0, "forward"]]}, "edit_orders"),
        ({"edit_orders": []}, "edit_orders"),
    ],
)
def test_errors(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ReviserError, match=said):
        Mixture.from_dict(change)


def test_files_that_hold_none(tmp_path: Path) -> None:
    path = tmp_path / "mixture.json"
    path.write_text("[1]")
    with pytest.raises(ReviserError, match="does not hold"):
        Mixture.load(path)
    path.write_text("{")
    with pytest.raises(ReviserError, match="not JSON"):
        Mixture.load(path)
