"""The quality of infills: the perplexity of the text after a gap, given the filling.

    python -m benchmarks infill [MODEL …] --evaluator BASE [--data TEXTS] [--tries 3]

TEXTS are held-out documents. Each is cut into the text before a gap of 40 tokens, the gap, and the text after it.
Models fill the gap as `reviser infill` does. The score is the perplexity of the first tokens after the gap under
the evaluator, given all text before them.
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
    """A text with a gap; `scored` is the beginning of the text after it."""

    before: str
    gap: str
    scored: str
    behind: str


@dataclass(frozen=True)
class Report:
    """The figures of one way of filling over all passages; `beaten` is the share where real text is no better."""

    name: str
    passages: int
    perplexity: float
    median: float
    tokens: float
    stopped: float
    beaten: float


def passages_of(texts: Iterator[str], tokenizer: Tokenizer, count: int) -> list[GapPassage]:
    """Makes a passage from the beginning of each text that is long enough."""
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
    """Fills a gap with a model; returns the filling and whether it ended by itself."""
    before, behind = passage.before, passage.scored + passage.behind
    run = engine.session(before + behind).infill(len(before), sampler=sampler, max_actions=MAX_ACTIONS, tries=tries)
    for _ in run:
        pass
    return run.text[len(before) : len(run.text) - len(behind)], str(run.rollout.ending) == "stop"


def costs(evaluator: Evaluator, passages: Sequence[GapPassage], gaps: Sequence[str]) -> list[float]:
    """The mean loss in nats of the first tokens after each gap."""
    texts = [PromptedText(passage.before + gap, passage.scored) for passage, gap in zip(passages, gaps, strict=True)]
    return [loss.total / max(len(loss.nats), 1) for loss in evaluator.losses(texts)]


def report(name: str, losses: Sequence[float], real: Sequence[float], sizes: Sequence[int], ended: float) -> Report:
    """Computes the figures of one way of filling; `real` are the losses after the real text."""
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
    """Options of the measure: models, texts and evaluator."""

    models: Annotated[tuple[str, ...], Argument("as for reviser infill --model")] = ("default",)
    evaluator: Annotated[str, Option("reads what stands behind the gaps")] = "smollm2"
    data: Annotated[str, Option("held-out documents")] = BUILTIN
    passages: Annotated[int, Option("how many passages", least=1)] = 200
    seed: Annotated[int, Option("random seed of the sampling")] = 123
    tries: Annotated[int, Option("fillings of each gap, of which the best is taken", least=1)] = 3
    temperature: Annotated[float, Option("sampling temperature", least=0)] = 0.7


def run(chosen: GapOptions) -> None:
    """Fills the gaps and prints the figures of each way as a line of JSON."""
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
