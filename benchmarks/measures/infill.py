"""How well gaps are filled: does the text after a gap follow from what was put into it?

    python -m benchmarks infill MODEL… --evaluator BASE --data SHARDS [--json]

MODEL and BASE are model folders that share one tokenizer; SHARDS are held-out token shards made with it.
A passage is cut into a prefix, a gap and a suffix. A model that can move sees both sides and fills the gap
until it stops; a left-to-right model sees the prefix alone and writes as many tokens as the gap had. The
score is the perplexity of the suffix's first tokens under the evaluator, given the prefix and the filling. With `--tries` above 1 the
model searches the best filling as `reviser infill` does: several tries, guided, each with many possible ends, of which its own
reading chooses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Annotated

import numpy as np
import torch

from benchmarks.measures.continuation import log_losses
from benchmarks.measures.gap_search import search_fillings
from reviser.checkpoints.home import Checkpoint, load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.tokenizer import Tokenizer, decode
from reviser.decoding.batch.sampling import Sampling
from reviser.decoding.batch.scheduler import generate
from reviser.decoding.rollout import seed
from training.data.corpus import Corpus

PREFIX_TOKENS = 64
GAP_TOKENS = 40
SUFFIX_TOKENS = 60
SCORED_TOKENS = 20
MAX_ACTIONS = 96


@dataclass(frozen=True)
class Passage:
    """A text with a gap in it."""

    prefix: list[int]
    gap: list[int]
    suffix: list[int]


@dataclass(frozen=True)
class Report:
    """One way of filling, over all passages; `beaten` says how often real text is joined no better.

    `stopped` counts fillings that have an end, and `ended_by_model` those of them whose end the model chose by itself with Stop.
    """

    name: str
    passages: int
    ppl: float
    median_ppl: float
    tokens: float
    stopped: float
    beaten: float
    ended_by_model: float | None = None


def passages_of(corpus: Corpus, count: int) -> list[Passage]:
    """One passage from each of the first documents that are long enough."""
    size = PREFIX_TOKENS + GAP_TOKENS + SUFFIX_TOKENS
    found: list[Passage] = []
    for shard in corpus.shards:
        for start, end in zip(shard.offsets[:-1], shard.offsets[1:], strict=True):
            if end - start >= size and len(found) < count:
                tokens = shard.tokens[start : start + size].tolist()
                after = PREFIX_TOKENS + GAP_TOKENS
                found.append(
                    Passage(tokens[:PREFIX_TOKENS], tokens[PREFIX_TOKENS:after], tokens[after:])
                )
    return found


def best_fill(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    first_seed: int,
    rows: int,
    tries: int,
    sampling: Sampling,
) -> list[tuple[list[int], str, bool]]:
    """The best filling of each gap, how its run ended, and whether the model ended it itself: as in `reviser infill`."""
    if tries == 1 or not {"move", "stop"} <= checkpoint.vocabulary.kinds:
        plain = fill(checkpoint, passages, first_seed, rows, sampling)
        return [(gap, ending, ending == "stop") for gap, ending in plain]
    found = search_fillings(
        checkpoint,
        [(passage.prefix, passage.suffix) for passage in passages],
        [first_seed * 100_000 + number for number in range(len(passages))],
        tries=tries,
        max_actions=MAX_ACTIONS,
        sampling=sampling,
        rows=rows,
    )
    stop = checkpoint.vocabulary.stop_id
    return [
        (list(one.tokens), "stop" if one.choices[-1].id == stop else "limit", one.ended)
        for one in found
    ]


def fill(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    first_seed: int,
    rows: int,
    sampling: Sampling | None = None,
) -> list[tuple[list[int], str]]:
    """What the model puts into each gap, and how the run ended."""
    moves = "move" in checkpoint.vocabulary.kinds
    runs = generate(
        checkpoint.model,
        checkpoint.vocabulary,
        [passage.prefix for passage in passages],
        suffixes=[passage.suffix if moves else [] for passage in passages],
        seeds=[first_seed * 100_000 + number for number in range(len(passages))],
        max_actions=MAX_ACTIONS if moves else GAP_TOKENS,
        sampling=sampling or Sampling(),
        rows=rows,
    )
    filled: list[tuple[list[int], str]] = []
    for passage, run in zip(passages, runs, strict=True):
        canvas, _ = seed(checkpoint.vocabulary, passage.prefix, passage.suffix if moves else ())
        for id in run.ids:
            canvas.apply(canvas.action(id))
        filled.append((list(canvas.between(canvas.low, canvas.high)), run.ending))
    return filled


def joins(
    evaluator: Checkpoint,
    tokenizer: Tokenizer,
    passages: Sequence[Passage],
    gaps: Sequence[Sequence[int]],
) -> list[float]:
    """The mean loss of each suffix's first tokens after its prefix and filling."""
    texts = []
    for passage, gap in zip(passages, gaps, strict=True):
        before = decode(tokenizer, [*passage.prefix, *gap])
        whole = decode(tokenizer, [*passage.prefix, *gap, *passage.suffix[:SCORED_TOKENS]])
        texts.append((before, whole[len(before) :]))
    losses = log_losses(evaluator.model, evaluator.tokenizer, texts)
    return [loss / max(tokens, 1) for loss, tokens, _ in losses]


def report(
    name: str,
    losses: Sequence[float],
    real: Sequence[float],
    sizes: Sequence[int],
    stopped: Sequence[bool],
    by_model: Sequence[bool] | None = None,
) -> Report:
    return Report(
        name=name,
        passages=len(losses),
        ppl=float(np.exp(fmean(losses))),
        median_ppl=float(np.exp(median(losses))),
        tokens=fmean(sizes),
        stopped=fmean(stopped),
        beaten=fmean(loss <= other for loss, other in zip(losses, real, strict=True)),
        ended_by_model=None if by_model is None else fmean(by_model),
    )


@dataclass(frozen=True, kw_only=True)
class InfillOptions:
    """Which models fill which gaps."""

    models: Annotated[tuple[Path, ...], Argument("model folders")] = ()
    evaluator: Annotated[Path, Option("model folder")]
    data: Annotated[Path, Option("held-out token shards")]
    passages: Annotated[int, Option("how many passages")] = 500
    seed: Annotated[int, Option("random seed of the sampling")] = 123
    batch: Annotated[int, Option("texts at a time")] = 512
    tries: Annotated[int, Option("fillings of each gap, of which the best is taken")] = 1
    temperature: Annotated[float, Option("how freely to choose")] = 0.9
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    save: Annotated[Path | None, Option("append every loss to this JSONL file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        InfillOptions,
        run,
        arguments,
        prog="python -m benchmarks infill",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: InfillOptions) -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    half = torch.bfloat16 if device.type == "cuda" else torch.float32
    evaluator = load(chosen.evaluator, device=device, dtype=half)
    tokenizer = evaluator.tokenizer
    passages = passages_of(Corpus.open(chosen.data), chosen.passages)
    given: dict[str, list[list[int]]] = {
        "real text": [passage.gap for passage in passages],
        "nothing": [[] for _ in passages],
    }
    real = joins(evaluator, tokenizer, passages, given["real text"])
    reports: list[Report] = []
    losses: dict[str, list[float]] = {}
    for name, gaps in given.items():
        losses[name] = joins(evaluator, tokenizer, passages, gaps)
        reports.append(
            report(name, losses[name], real, [len(gap) for gap in gaps], [True] * len(gaps))
        )
    for path in chosen.models:
        checkpoint = load(path, device=device, dtype=half)
        sampling = Sampling(chosen.temperature)
        filled = best_fill(checkpoint, passages, chosen.seed, chosen.batch, chosen.tries, sampling)
        name = path.parent.name if path.name == "model" else path.name
        losses[name] = joins(evaluator, tokenizer, passages, [gap for gap, _, _ in filled])
        sizes = [len(gap) for gap, _, _ in filled]
        ends = [ending == "stop" for _, ending, _ in filled]
        by_model = [own for _, _, own in filled]
        reports.append(report(name, losses[name], real, sizes, ends, by_model))
    if chosen.save:
        with chosen.save.open("a", encoding="utf-8") as file:
            for name, values in losses.items():
                file.write(json.dumps({"name": name, "losses": values}) + "\n")
    if chosen.json:
        print(json.dumps([asdict(entry) for entry in reports]))
    else:
        for entry in reports:
            print(json.dumps(asdict(entry)))
