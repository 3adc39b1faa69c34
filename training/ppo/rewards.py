"""Rewards of whole episodes, named on the command line and added up.

    [WEIGHT*][rank:]NAME[:ARGUMENT]

A higher reward is better; penalties are 0 or less. With `rank:` the score only orders the candidates of
a prompt, and the reward is linear in the rank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean

import torch

from reviser.core.errors import ReviserError
from reviser.scoring.evaluators import load_evaluator
from reviser.scoring.judges import Case, Judge, load_judge
from reviser.scoring.perplexity import Evaluator, PromptedText
from training.ppo.rollouts import Episode, Group

# Nats per token of a text that has none: worse than any real text.
_WORST = 12.0
_SPEC = re.compile(r"(?:([-+]?[0-9.]+)\*)?(rank:)?([a-z-]+)(?::(.+))?")
_POINTS = {"A": 1.0, "B": 0.0, "tie": 0.5, "invalid": 0.5}

Scores = list[list[float]]
Score = Callable[[Sequence[Group]], Scores]


@dataclass(frozen=True)
class Cost:
    """The loss of a continuation under an evaluator."""

    nats: float
    tokens: int
    size: int


class Judges:
    """Evaluators and pairwise judges by name, each loaded at its first use."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._evaluators: dict[str, Evaluator] = {}
        self._judges: dict[str, Judge] = {}

    def costs(self, evaluator: str, texts: Sequence[tuple[str, str]]) -> list[Cost]:
        """The cost of the continuation in each (prompt, continuation)."""
        if evaluator not in self._evaluators:
            self._evaluators[evaluator] = load_evaluator(evaluator, self._device)
        # Candidates are often the same text, above all the empty one.
        different = list(dict.fromkeys(texts))
        losses = self._evaluators[evaluator].losses([PromptedText(*text) for text in different])
        costs = [Cost(loss.total, len(loss.nats), loss.size) for loss in losses]
        found = dict(zip(different, costs, strict=True))
        return [found[text] for text in texts]

    def points(self, judge: str, cases: Sequence[tuple[str, str, str]]) -> list[float]:
        """For each (prompt, a, b): 1 if a is better, 0 if b is, a half if the judge cannot tell."""
        if judge not in self._judges:
            self._judges[judge] = load_judge(judge, self._device)
        different = [case for case in dict.fromkeys(cases) if case[1] != case[2]]
        answers = self._judges[judge].answers([Case(*case) for case in different])
        points = {case: _POINTS[answer] for case, answer in zip(different, answers, strict=True)}
        return [points.get(case, 0.5) for case in cases]


def rank_rewards(scores: Sequence[float]) -> list[float]:
    """Rewards 1 - (r - 1) / (K - 1) for rank r of K: 1 for the best, 0 for the worst; ties get their mean rank."""
    if len(scores) < 2:
        raise ReviserError("a rank needs two candidates or more")
    return [
        (sum(other < score for other in scores) + 0.5 * (scores.count(score) - 1)) / (len(scores) - 1)
        for score in map(float, scores)
    ]


def repeated(tokens: Sequence[int], n: int) -> float:
    """The share of n-grams that have occurred earlier in the text; 0 for a text shorter than `n`."""
    grams = [tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


@dataclass(frozen=True)
class Reward:
    """One term of the sum: its name as given on the command line, its weight, and its scoring function."""

    name: str
    weight: float
    score: Score


def parse_rewards(specs: Sequence[str], judges: Judges) -> list[Reward]:
    """Parses the rewards of the command line."""
    if not specs:
        raise ReviserError("name at least one reward, such as rank:likelihood:smollm2")
    return [_parse(spec, judges) for spec in specs]


def _parse(spec: str, judges: Judges) -> Reward:
    found = _SPEC.fullmatch(spec)
    if found is None or found[3] not in _MAKERS:
        raise ReviserError(f"there is no reward {spec}: choose from {', '.join(_MAKERS)}")
    weight, rank, name, argument = found.groups()
    try:
        factor = float(weight) if weight else 1.0
        score = _MAKERS[name](argument or "", judges)
    except ValueError:
        raise ReviserError(f"the reward {spec} has a number that cannot be read") from None
    return Reward(spec, factor, (lambda groups: [rank_rewards(row) for row in score(groups)]) if rank else score)


def _each(of_episode: Callable[[Episode], float]) -> Score:
    return lambda groups: [[of_episode(episode) for episode in group] for group in groups]


def _named(argument: str, what: str) -> str:
    if not argument:
        raise ReviserError(f"the reward needs the name of {what} after a colon")
    return argument


def _likelihood(argument: str, judges: Judges, of: str = "tokens") -> Score:
    evaluator = _named(argument, "an evaluator")
    # Asked about nothing it is loaded: a wrong name is told before anything is written.
    judges.costs(evaluator, [])

    def score(groups: Sequence[Group]) -> Scores:
        texts = [(episode.prompt_text, episode.continuation) for group in groups for episode in group]
        costs = iter(judges.costs(evaluator, texts))
        rows = [[next(costs) for _ in group] for group in groups]
        return [
            [-min(cost.nats / getattr(cost, of), _WORST) if cost.tokens else -_WORST for cost in row] for row in rows
        ]

    return score


def _arena(argument: str, judges: Judges) -> Score:
    """The share of the other candidates over which a pairwise judge prefers this one."""
    judge = _named(argument, "a judge")
    judges.points(judge, [])

    def score(groups: Sequence[Group]) -> Scores:
        pairs = [list(combinations(range(len(group)), 2)) for group in groups]
        cases = [
            (group[a].prompt_text, group[a].continuation, group[b].continuation)
            for group, met in zip(groups, pairs, strict=True)
            for a, b in met
        ]
        points = iter(judges.points(judge, cases))
        scores = []
        for group, met in zip(groups, pairs, strict=True):
            row = [0.0] * len(group)
            for a, b in met:
                won = next(points)
                row[a] += won / (len(group) - 1)
                row[b] += (1 - won) / (len(group) - 1)
            scores.append(row)
        return scores

    return score


def _length(argument: str, *_: object) -> Score:
    """Minus the relative distance from the wanted length; without one, minus the length in hundreds of tokens."""
    wanted = float(argument) if argument else 0.0
    return _each(lambda episode: -abs(len(episode.tokens) - wanted) / (wanted or 100.0))


def _repetition(argument: str, *_: object) -> Score:
    n = int(argument) if argument else 4
    return _each(lambda episode: -repeated(episode.tokens, n))


def _stop(*_: object) -> Score:
    """-1 for an episode that reached the limit of actions without Stop, else 0."""
    return _each(lambda episode: float(episode.ending == "stop") - 1)


_MAKERS: dict[str, Callable[[str, Judges], Score]] = {
    "likelihood": _likelihood,
    "likelihood-bytes": partial(_likelihood, of="size"),
    "arena": _arena,
    "length": _length,
    "repetition": _repetition,
    "stop": _stop,
}


@dataclass(frozen=True)
class Rewarded:
    """The rewards of all episodes, by group, and the mean of each unweighted term."""

    totals: Scores
    means: dict[str, float]


def reward(rewards: Sequence[Reward], groups: Sequence[Group]) -> Rewarded:
    """The weighted sum of all terms."""
    totals = [[0.0] * len(group) for group in groups]
    means = {}
    for term in rewards:
        scores = term.score(groups)
        means[term.name] = fmean(value for row in scores for value in row)
        for total, row in zip(totals, scores, strict=True):
            for place, value in enumerate(row):
                total[place] += term.weight * value
    return Rewarded(totals, means)
