"""Arenas: a judge decides which of two contestants continued a prompt better; win rates with intervals.

A judge sees the prompt and both continuations. Which is shown first is drawn for each example; asking in
both orders also measures how much the verdict depends on the order.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from benchmarks.protocol.records import Continuation, Judgement, Order, Prompt, Verdict
from benchmarks.protocol.runs import RunCache, key_of
from reviser.scoring.judges import Answer, Case, Judge


@dataclass(frozen=True)
class Match:
    """The continuations of two contestants for the same prompt and seed."""

    prompt: Prompt
    first: Continuation
    second: Continuation

    def shown(self, order: Order) -> Case:
        a, b = self.first.continuation, self.second.continuation
        return Case(self.prompt.text, *((a, b) if order == "kept" else (b, a)))

    @property
    def drawn_order(self) -> Order:
        """The order drawn for this match; it depends on the match alone."""
        names = f"{self.prompt.id}\0{self.first.seed}\0{self.first.contestant}\0{self.second.contestant}"
        return "swapped" if hashlib.sha256(names.encode()).digest()[0] & 1 else "kept"


def matches(prompts: Sequence[Prompt], first: Sequence[Continuation], second: Sequence[Continuation]) -> list[Match]:
    """A match for every prompt and seed for which both contestants have a continuation."""
    known = {prompt.id: prompt for prompt in prompts}
    others = {(generation.prompt_id, generation.seed): generation for generation in second}
    return [
        Match(known[generation.prompt_id], generation, others[key])
        for generation in first
        if (key := (generation.prompt_id, generation.seed)) in others and generation.prompt_id in known
    ]


def judge_matches(
    judge: Judge,
    met: Sequence[Match],
    cache: RunCache | None = None,
    *,
    both_ways: bool = False,
    batch: int = 32,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Judgement]:
    """Yields the judge's verdict on every match, in an order drawn for each or in both orders.

    Answers are cached under what the judge was shown, so nothing is asked twice and an interrupted run
    resumes where it was. `progress` is called with the number of new answers.
    """
    orders: tuple[Order, ...] = ("kept", "swapped")
    asked = [(match, order) for match in met for order in (orders if both_ways else (match.drawn_order,))]
    for start in range(0, len(asked), batch):
        part = asked[start : start + batch]
        answers = _answers(judge, [match.shown(order) for match, order in part], cache)
        for (match, order), answer in zip(part, answers, strict=True):
            yield Judgement(
                match.prompt.id,
                match.first.seed,
                match.first.contestant,
                match.second.contestant,
                order,
                verdict_of(answer, order),
                judge.name,
            )
        progress(len(part))


def _answers(judge: Judge, cases: Sequence[Case], cache: RunCache | None) -> list[Answer]:
    keys = [key_of(judge=judge.fingerprint, prompt=case.prompt, a=case.a, b=case.b) for case in cases]
    found: dict[str, Answer] = {}
    for key in keys:
        if cache is not None and (kept := cache.get(key)) is not None:
            found[key] = kept
    missing = {key: case for key, case in zip(keys, cases, strict=True) if key not in found}
    for key, answer in zip(missing, judge.answers(list(missing.values())), strict=True):
        found[key] = answer
        if cache is not None:
            cache.put(key, answer)
    return [found[key] for key in keys]


def verdict_of(answer: Answer, order: Order) -> Verdict:
    """The judge's answer as a verdict on the contestants, independent of the order."""
    if answer in ("tie", "invalid"):
        return answer
    return "first" if (answer == "A") == (order == "kept") else "second"


@dataclass(frozen=True)
class ShareInterval:
    """A share and its 95 % confidence interval."""

    share: float
    low: float
    high: float


def wilson(successes: float, trials: float, z: float = 1.959964) -> ShareInterval:
    """The Wilson score interval of a share; ties may count as half a success."""
    if not trials:
        return ShareInterval(float("nan"), 0.0, 1.0)
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    half = spread / (1 + z * z / trials)
    # Rounding must not put the share itself outside.
    return ShareInterval(share, min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


@dataclass(frozen=True)
class ArenaScore:
    """The result of two contestants before one judge.

    An example counts once, however often the judge was asked about it: a win for `first` is 1, a tie
    or a contradiction between the two orders a half. `win_rate` is over the examples with a valid
    verdict. `shown_first` is the share of verdicts for whichever was shown first: a half for a judge
    without a bias of position. `agreement` is the share of the examples asked both ways in which the
    verdict was the same; None where none was.
    """

    first: str
    second: str
    judge: str
    examples: int
    wins: int
    losses: int
    ties: int
    asked: int
    invalid: int
    win_rate: ShareInterval
    shown_first: ShareInterval
    agreement: ShareInterval | None


_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


def score(judgements: Sequence[Judgement]) -> ArenaScore:
    """Computes the score of one judge's verdicts on one pair of contestants."""
    pairs = {(entry.first, entry.second, entry.judge) for entry in judgements}
    if len(pairs) != 1:
        raise ValueError("a score is of one pair of contestants before one judge")
    ((first, second, judge),) = pairs
    by_example: dict[tuple[str, int], list[float]] = defaultdict(list)
    for entry in judgements:
        if entry.verdict != "invalid":
            by_example[entry.prompt_id, entry.seed].append(_POINTS[entry.verdict])
    means = [sum(points) / len(points) for points in by_example.values()]
    twice = [points for points in by_example.values() if len(points) == 2]
    decided = [entry for entry in judgements if entry.verdict in ("first", "second")]
    early = sum((entry.verdict == "first") == (entry.order == "kept") for entry in decided)
    return ArenaScore(
        first=first,
        second=second,
        judge=judge,
        examples=len(means),
        wins=sum(mean > 0.5 for mean in means),
        losses=sum(mean < 0.5 for mean in means),
        ties=sum(mean == 0.5 for mean in means),
        asked=len(judgements),
        invalid=sum(entry.verdict == "invalid" for entry in judgements),
        win_rate=wilson(sum(means), len(means)),
        shown_first=wilson(early, len(decided)),
        agreement=wilson(sum(a == b for a, b in twice), len(twice)) if twice else None,
    )
