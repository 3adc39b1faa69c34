"""How likely a person makes an edit that is proposed: a logistic regression on the evidence of the text, and on what
a model says where one has learned next edits.

It is fitted to measured outcomes by `python -m benchmarks judgement`, and so tells how often such a proposal is right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8

SHIPPED: Final = Path(__file__).with_name("judgement.json")
MODEL: Final = "model"
"""The feature that holds what a model says: the logarithm of the odds of the edit."""


@dataclass(frozen=True)
class NextEditJudgement:
    """Weights of features by their names, and the digest of the model whose odds are among them, if any.

    `confidence` is the least one that is shown unless a person asks for another.
    """

    weights: Mapping[str, float]
    intercept: float
    confidence: float
    model: str = ""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (*self.weights.values(), self.intercept))) or not 0 <= self.confidence <= 1:
            raise ReviserError("a judgement of next edits has finite weights and a confidence from 0 to 1")
        if bool(self.model) != (MODEL in self.weights):
            raise ReviserError("a judgement weighs what a model says if it names the model")

    def confidence_of(self, features: Mapping[str, float]) -> float:
        """How likely an edit with these features is made; features without a weight say nothing."""
        odds = self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def to_dict(self) -> dict[str, object]:
        """What a file of it holds."""
        return {
            "model": self.model,
            "confidence": self.confidence,
            "intercept": self.intercept,
            "weights": dict(sorted(self.weights.items())),
        }

    @classmethod
    def from_dict(cls, data: Any) -> NextEditJudgement:
        try:
            weights = {str(name): float(weight) for name, weight in data["weights"].items()}
            return cls(weights, float(data["intercept"]), float(data["confidence"]), str(data["model"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ReviserError("this is no judgement of next edits") from None


def judgement_for(digest: str = "", path: Path = SHIPPED) -> NextEditJudgement | None:
    """The judgement that was fitted for a model, or without a digest that of the text alone; None if there is none."""
    return next((one for one in read_judgements(path) if one.model == digest), None)


@cache
def read_judgements(path: Path) -> tuple[NextEditJudgement, ...]:
    """The judgements in a file, one for the text alone and one for each model."""
    try:
        data = json.loads(read_utf8(path))
    except ValueError:
        raise ReviserError(f"{path} is not JSON") from None
    if not isinstance(data, list):
        raise ReviserError(f"{path} holds no judgements of next edits")
    return tuple(map(NextEditJudgement.from_dict, data))


def judgements_text(judgements: Iterable[NextEditJudgement]) -> str:
    """The file that holds judgements."""
    return json.dumps([one.to_dict() for one in judgements], indent=1) + "\n"
