"""Judges and evaluators behind the interface that rewards use; imported only by a run that needs one."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from reviser.core.tokenizer import Tokenizer, decode
from reviser.scoring.evaluators import load_evaluator
from reviser.scoring.judges import Case, Judge, load_judge
from reviser.scoring.perplexity import Evaluator, PromptedText
from training.ppo.rewards import Cost
from training.ppo.rollouts import RealPrompt

_POINTS = {"A": 1.0, "B": 0.0, "tie": 0.5, "invalid": 0.5}


class LoadedJudges:
    """Judges and evaluators by name, each loaded at its first use."""

    def __init__(self, tokenizer: Tokenizer, device: torch.device) -> None:
        self._tokenizer = tokenizer
        self._device = device
        self._evaluators: dict[str, Evaluator] = {}
        self._judges: dict[str, Judge] = {}

    def costs(self, evaluator: str, texts: Sequence[tuple[str, str]]) -> list[Cost]:
        if evaluator not in self._evaluators:
            self._evaluators[evaluator] = load_evaluator(evaluator, self._device)
        # Candidates are often the same text, above all the empty one.
        different = list(dict.fromkeys(texts))
        losses = self._evaluators[evaluator].losses([PromptedText(*text) for text in different])
        costs = {
            text: Cost(loss.total, len(loss.nats), loss.size) for text, loss in zip(different, losses, strict=True)
        }
        return [costs[text] for text in texts]

    def points(self, judge: str, cases: Sequence[tuple[str, str, str]]) -> list[float]:
        if judge not in self._judges:
            self._judges[judge] = load_judge(judge, self._device)
        different = [case for case in dict.fromkeys(cases) if case[1] != case[2]]
        answers = self._judges[judge].answers([Case(*case) for case in different])
        points = {case: _POINTS[answer] for case, answer in zip(different, answers, strict=True)}
        return [points.get(case, 0.5) for case in cases]

    def real(self, prompts: Sequence[RealPrompt]) -> list[tuple[str, str]]:
        texts = []
        for prompt in prompts:
            shown = decode(self._tokenizer, prompt.tokens)
            whole = decode(self._tokenizer, prompt.tokens + prompt.text)
            texts.append((shown, whole[len(shown) :]))
        return texts
