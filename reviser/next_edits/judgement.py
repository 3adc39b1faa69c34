"""The judgement of next edits: a logistic regression that estimates how likely a person makes a proposed edit, from
features of the text and, if a model was trained for next edits, from its odds.

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
"""The name of the feature with the model's log-odds of the edit."""


@dataclass(frozen=True)
class NextEditJudgement:
    """The weights of features by name, and the digest of the model whose odds are among the features, if any.

    `confidence` is the default threshold for showing a suggestion.
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
        """The probability that an edit with these features is made; features without a weight are ignored."""
        odds = self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def to_dict(self) -> dict[str, object]:
        """The judgement as stored in a file."""
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
    """The judgement fitted for a model by its digest, or, without a digest, the one for the text alone; None if
    there is none."""
    return next((one for one in read_judgements(path) if one.model == digest), None)


def weighs_a_model(path: Path = SHIPPED) -> bool:
    """Whether a judgement was fitted for any model; else none need be loaded."""
    return any(one.model for one in read_judgements(path))


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
    """The text of a file that holds judgements."""
    return json.dumps([one.to_dict() for one in judgements], indent=1) + "\n"
