"""Continuations of held-out prompts: how likely, how varied and how non-monotonic they are.

    python -m benchmarks continuation MODEL… --evaluator BASE --data SHARDS [--json]

MODEL is any contestant; BASE is a model folder, and SHARDS are held-out token shards made with its tokenizer
(`python -m training data`). Prompts and writing are those of the continuation protocol (`benchmarks.protocol`).
Perplexity is that of the continuation alone, under the evaluator; tokens and n-grams are GPT-2's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, TypedDict

import numpy as np
import torch

from benchmarks.contestants.continuation_models import RealText, load_contestant
from benchmarks.contestants.own_models import DecodingOptions
from benchmarks.measures.statistics import Walk, walk
from benchmarks.measures.variety import variety
from benchmarks.protocol.records import Contestant, Editing, Generation, Prompt
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import written_by
from benchmarks.protocol.setup import Setup, held_out_prompts
from reviser.checkpoints.home import Checkpoint, load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.tokenizer import Tokenizer
from reviser.core.trajectory import Trajectory
from reviser.model import Reviser
from reviser.scoring.loading import default_device, dtype_for

Score = tuple[float, int, int]
"""Of a continuation: its negative log-likelihood under an evaluator, its tokens and its bytes."""


@dataclass(frozen=True)
class Report:
    """One model's figures, over all prompts."""

    name: str
    prompts: int
    ppl: float
    median_ppl: float
    mean_ppl: float
    bits_per_byte: float
    distinct_2: float
    distinct_3: float
    repeated_4: float
    tokens: float
    stopped: float
    moves: float
    backward: float
    revised: float
    actions_per_s: float


@torch.no_grad()
def log_losses(
    evaluator: Reviser, tokenizer: Tokenizer, texts: Sequence[tuple[str, str]], batch: int = 64
) -> list[Score]:
    """For each (prompt, continuation): the continuation's negative log-likelihood, tokens and bytes."""
    device = evaluator.cos.device
    results = []
    for start in range(0, len(texts), batch):
        rows = []
        for prompt, continuation in texts[start : start + batch]:
            ids = tokenizer.encode(prompt + continuation)
            rows.append((ids, len(tokenizer.encode(prompt))))
        width = max(len(ids) for ids, _ in rows)
        padded = torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in rows], device=device)
        scores = torch.log_softmax(evaluator(padded).float(), dim=-1)
        likelihood = scores[:, :-1].gather(2, padded[:, 1:, None]).squeeze(2).cpu()
        for row, (ids, given) in enumerate(rows):
            part = likelihood[row, given - 1 : len(ids) - 1]
            size = len(texts[start + row][1].encode())
            results.append((-float(part.sum()), len(part), size))
    return results


def scores_of(
    prompts: Sequence[Prompt], written: Sequence[Generation], evaluator: Checkpoint
) -> list[Score]:
    """How likely each continuation is under the evaluator."""
    given = {prompt.id: prompt.text for prompt in prompts}
    texts = [(given[entry.prompt_id], entry.continuation) for entry in written]
    return log_losses(evaluator.model, evaluator.tokenizer, texts)


def walks_of(
    contestant: Contestant, prompts: Sequence[Prompt], written: Sequence[Generation]
) -> list[Walk]:
    """What each run of a contestant did; none of one that does not write by actions."""
    if not isinstance(contestant, Editing):
        return []
    by_id = {prompt.id: prompt for prompt in prompts}
    return [
        walk(trajectory_of(contestant, by_id[entry.prompt_id], entry))
        for entry in written
        if entry.actions is not None
    ]


def trajectory_of(contestant: Editing, prompt: Prompt, entry: Generation) -> Trajectory:
    """A run of a contestant that writes by actions, as it can be replayed."""
    given = contestant.prompt_ids(prompt)
    return Trajectory(
        action_ids=(*given, *(entry.actions or ())),
        prefix_tokens=len(given),
        prompt=prompt.text,
        final_text=prompt.text + entry.continuation,
        model=entry.contestant,
        seed=entry.seed,
        vocabulary=contestant.vocabulary,
        others={"prompt_id": entry.prompt_id},
    )


def report(
    name: str,
    written: Sequence[Generation],
    scores: Sequence[Score],
    followed: Sequence[Walk] = (),
) -> Report:
    """The figures of one contestant; `scores` are of `scores_of`, `followed` of `walks_of`."""
    losses = [loss for loss in scores if loss[1] and loss[2]]
    per_text = [float(np.exp(min(loss / tokens, 50))) for loss, tokens, _ in losses]
    found = variety([entry.continuation for entry in written])
    distances = [delta for run in followed for delta in run.distances]
    actions = sum(run.actions for run in followed)
    seconds = sum(entry.seconds for entry in written)
    return Report(
        name=name,
        prompts=len(written),
        ppl=float(np.exp(sum(loss for loss, _, _ in losses) / sum(n for _, n, _ in losses))),
        median_ppl=median(per_text),
        mean_ppl=fmean(per_text),
        bits_per_byte=sum(loss for loss, _, _ in losses)
        / np.log(2)
        / sum(size for _, _, size in losses),
        distinct_2=found.distinct_2,
        distinct_3=found.distinct_3,
        repeated_4=found.repeated_4,
        tokens=found.tokens,
        stopped=fmean(entry.ending == "stop" for entry in written),
        moves=len(distances) / max(actions, 1),
        backward=sum(delta < 0 for delta in distances) / max(len(distances), 1),
        revised=fmean(run.revises for run in followed) if followed else 0.0,
        actions_per_s=(actions or sum(len(entry.tokens) for entry in written)) / seconds
        if seconds
        else 0.0,
    )


class SavedText(TypedDict):
    """A continuation as a line of JSON holds it."""

    model: str
    seed: int
    prompt: str
    continuation: str
    reference: str
    ending: str
    moves: list[int]


def save_texts(
    path: Path,
    prompts: Sequence[Prompt],
    written: Sequence[Generation],
    followed: Sequence[Walk] = (),
) -> None:
    """Append what a contestant wrote, one JSON object a line: for figures that are computed later."""
    by_id = {prompt.id: prompt for prompt in prompts}
    with path.open("a", encoding="utf-8") as file:
        for entry, run in zip_longest(written, followed):
            prompt = by_id[entry.prompt_id]
            facts: SavedText = {
                "model": entry.contestant,
                "seed": entry.seed,
                "prompt": prompt.text,
                "continuation": entry.continuation,
                "reference": prompt.reference,
                "ending": entry.ending,
                "moves": list(run.distances) if run else [],
            }
            file.write(json.dumps(facts, ensure_ascii=False) + "\n")


@dataclass(frozen=True, kw_only=True)
class ContinuationOptions:
    """Which models continue which prompts."""

    models: Annotated[tuple[str, ...], Argument("model folders or names")] = ()
    evaluator: Annotated[Path, Option("model folder")]
    data: Annotated[Path, Option("held-out token shards")]
    prompts: Annotated[int, Option("how many prompts")] = 500
    seeds: Annotated[tuple[int, ...], Option("random seed of the sampling", together=True)] = (
        Setup.seeds
    )
    batch: Annotated[int, Option("texts at a time")] = 512
    temperature: Annotated[float, Option("sampling temperature")] = Setup.temperature
    top_k: Annotated[int, Option("sample from the K most likely ids")] = Setup.top_k
    move_temperature: Annotated[float | None, Option("temperature of moves, if lower")] = None
    json: Annotated[bool, Option("end with a JSON list of all reports")] = False
    save: Annotated[Path | None, Option("append all continuations to this JSONL file")] = None
    samples: Annotated[int, Option("number of continuations to print")] = 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ContinuationOptions,
        run,
        arguments,
        prog="python -m benchmarks continuation",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: ContinuationOptions) -> None:
    device = default_device()
    evaluator = load(chosen.evaluator, device=device, dtype=dtype_for(device))
    setup = Setup(
        prompts=chosen.prompts,
        seeds=chosen.seeds,
        temperature=chosen.temperature,
        top_k=chosen.top_k,
    )
    decoding = DecodingOptions(move_temperature=chosen.move_temperature, rows=chosen.batch)
    prompts = held_out_prompts(chosen.data, evaluator.tokenizer, setup)
    real = written_by(RealText(), prompts, setup.seeds[:1])
    reports = [report(REAL, real, scores_of(prompts, real, evaluator))]
    for source in chosen.models:
        contestant = load_contestant(source, setup, decoding=decoding)
        written = written_by(contestant, prompts, setup.seeds)
        followed = walks_of(contestant, prompts, written)
        scores = scores_of(prompts, written, evaluator)
        reports.append(report(contestant.name, written, scores, followed))
        if chosen.save:
            save_texts(chosen.save, prompts, written, followed)
        for entry in written[: chosen.samples]:
            prompt = next(one for one in prompts if one.id == entry.prompt_id)
            print(repr(prompt.text + entry.continuation), flush=True)
        print(json.dumps(asdict(reports[-1])), flush=True)
    if chosen.json:
        print(json.dumps([asdict(entry) for entry in reports], indent=1))
    else:
        print(json.dumps(asdict(reports[0])))
