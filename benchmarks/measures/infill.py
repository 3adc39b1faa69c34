"""How well gaps are filled: does the text behind a gap follow from what was put into it?

    python -m benchmarks infill [MODEL …] --evaluator BASE [--data TEXTS] [--tries 3]

TEXTS are held-out documents. Each is cut into what stands before a gap of 40 tokens, the gap, and what stands
behind it. Models fill it as `reviser infill` does. The score is the perplexity of the first tokens behind the gap
under the evaluator, given all that stands before them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from statistics import fmean, median
from typing import Annotated

from benchmarks.protocol.setup import BUILTIN, Setup, texts_of
from reviser.cli.options import Argument, Option
from reviser.core.tokenizer import Tokenizer, decode
from reviser.decoding.sampler import Sampler
from reviser.scoring.evaluators import load_evaluator
from reviser.scoring.perplexity import Evaluator, PromptedText
from reviser.session.engine import Engine, load_engine

PREFIX_TOKENS, GAP_TOKENS, SUFFIX_TOKENS = 64, 40, 60
SCORED_TOKENS = 20
MAX_ACTIONS = 96


@dataclass(frozen=True)
class GapPassage:
    """A text with a gap in it; the first of what stands behind it is `scored`."""

    before: str
    gap: str
    scored: str
    behind: str


@dataclass(frozen=True)
class Report:
    """One way of filling, over all passages; `beaten` is the share that real text joins no better."""

    name: str
    passages: int
    perplexity: float
    median: float
    tokens: float
    stopped: float
    beaten: float


def passages_of(texts: Iterator[str], tokenizer: Tokenizer, count: int) -> list[GapPassage]:
    """A passage from the beginning of each text that is long enough."""
    cuts = (0, PREFIX_TOKENS, GAP_TOKENS, SCORED_TOKENS, SUFFIX_TOKENS - SCORED_TOKENS)

    def cut(text: str) -> GapPassage | None:
        ids = tokenizer.encode(text)
        if len(ids) < sum(cuts):
            return None
        ends = [sum(cuts[:number]) for number in range(1, len(cuts) + 1)]
        parts = (decode(tokenizer, ids[start:end]) for start, end in pairwise(ends))
        return GapPassage(*parts)

    return list(islice(filter(None, map(cut, texts)), count))


def fill(engine: Engine, passage: GapPassage, sampler: Sampler, tries: int) -> tuple[str, bool]:
    """What a model puts into a gap, and whether the filling has an end."""
    before, behind = passage.before, passage.scored + passage.behind
    run = engine.session(before + behind).infill(len(before), sampler=sampler, max_actions=MAX_ACTIONS, tries=tries)
    for _ in run:
        pass
    return run.text[len(before) : len(run.text) - len(behind)], str(run.rollout.ending) == "stop"


def costs(evaluator: Evaluator, passages: Sequence[GapPassage], gaps: Sequence[str]) -> list[float]:
    """The mean loss of the first tokens behind each gap, in nats."""
    texts = [PromptedText(passage.before + gap, passage.scored) for passage, gap in zip(passages, gaps, strict=True)]
    return [loss.total / max(len(loss.nats), 1) for loss in evaluator.losses(texts)]


def report(name: str, losses: Sequence[float], real: Sequence[float], sizes: Sequence[int], ended: float) -> Report:
    """The figures of one way of filling; `real` are the losses after the real text."""
    return Report(
        name,
        len(losses),
        math.exp(fmean(losses)),
        math.exp(median(losses)),
        fmean(sizes),
        ended,
        fmean(loss <= other for loss, other in zip(losses, real, strict=True)),
    )


@dataclass(frozen=True, kw_only=True)
class GapOptions:
    """Which models fill which gaps."""

    models: Annotated[tuple[str, ...], Argument("as for reviser infill --model")] = ("default",)
    evaluator: Annotated[str, Option("reads what stands behind the gaps")] = "smollm2"
    data: Annotated[str, Option("held-out documents")] = BUILTIN
    passages: Annotated[int, Option("how many passages", least=1)] = 200
    seed: Annotated[int, Option("random seed of the sampling")] = 123
    tries: Annotated[int, Option("fillings of each gap, of which the best is taken", least=1)] = 3
    temperature: Annotated[float, Option("sampling temperature", least=0)] = 0.7


def run(chosen: GapOptions) -> None:
    """Fill the gaps, and print the figures of each way as a line of JSON."""
    engines = [load_engine(model) for model in chosen.models]
    tokenizer = engines[0].tokenizer
    passages = passages_of(iter(texts_of(chosen.data, Setup())), tokenizer, chosen.passages)
    evaluator = load_evaluator(chosen.evaluator)
    ways: dict[str, list[tuple[str, bool]]] = {
        "real text": [(passage.gap, True) for passage in passages],
        "nothing": [("", True) for _ in passages],
    }
    for engine in engines:
        ways[engine.name] = [
            fill(engine, passage, Sampler(chosen.temperature, seed=chosen.seed + at), chosen.tries)
            for at, passage in enumerate(passages)
        ]
    real = costs(evaluator, passages, [passage.gap for passage in passages])
    for name, filled in ways.items():
        gaps = [gap for gap, _ in filled]
        sizes = [len(tokenizer.encode(gap)) for gap in gaps]
        ended = fmean(ends for _, ends in filled)
        losses = costs(evaluator, passages, gaps)
        print(json.dumps(asdict(report(name, losses, real, sizes, ended))))
