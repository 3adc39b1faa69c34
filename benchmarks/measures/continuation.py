"""Continuations of held-out prompts: how likely, how varied and how non-monotonic they are.

    python -m benchmarks continuation MODEL… --evaluator BASE --data SHARDS [--json]

MODEL and BASE are model folders that share one tokenizer; SHARDS are held-out token shards made with
it (`python -m training data`). Perplexity is that of the continuation alone, under the evaluator.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, TypedDict

import numpy as np
import torch

from benchmarks.measures.variety import distinct
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.home import Checkpoint, load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.actions import Action, Insert, Move
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding import batch
from reviser.decoding.rollout import seed
from reviser.model import Reviser
from training.data.corpus import Corpus

# The numbers of the continuation protocol; here texts are token shards, in the tokens of the models.
PROMPT_TOKENS = Setup.prompt_tokens
TOTAL_TOKENS = Setup.total_tokens
MAX_ACTIONS = Setup.max_actions


@dataclass(frozen=True)
class Prompt:
    """The first tokens of a document, and how it really went on."""

    tokens: list[int]
    continuation: list[int]


@dataclass(frozen=True)
class Written:
    """What a model wrote after a prompt, and how."""

    prompt: Prompt
    tokens: list[int]
    actions: list[Action]
    ending: str


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


def prompts_of(corpus: Corpus, count: int, total: int = TOTAL_TOKENS) -> list[Prompt]:
    """One prompt from each of the first documents that are long enough."""
    prompts: list[Prompt] = []
    for shard in corpus.shards:
        for start, end in zip(shard.offsets[:-1], shard.offsets[1:], strict=True):
            if end - start >= total:
                tokens = shard.tokens[start : start + total].tolist()
                prompts.append(Prompt(tokens[:PROMPT_TOKENS], tokens[PROMPT_TOKENS:]))
            if len(prompts) == count:
                return prompts
    return prompts


def generate(
    checkpoint: Checkpoint,
    prompts: Sequence[Prompt],
    first_seeds: Sequence[int],
    rows: int,
    settings: Settings,
) -> list[batch.GeneratedRun]:
    """Continue every prompt once for each first seed; each run has its own, so that rows do not matter."""
    return batch.generate(
        checkpoint.model,
        checkpoint.vocabulary,
        [prompt.tokens for prompt in prompts] * len(first_seeds),
        seeds=[first * 100_000 + number for first in first_seeds for number in range(len(prompts))],
        sampling=batch.Sampling(settings.temperature, settings.top_k, settings.move_temperature),
        max_actions=settings.max_actions,
        rows=rows,
    )


def write_all(
    checkpoint: Checkpoint,
    prompts: Sequence[Prompt],
    first_seeds: Sequence[int],
    rows: int,
    settings: Settings,
) -> tuple[list[Written], float]:
    """What a model writes after every prompt, once for each first seed, and the seconds that took."""
    started = time.perf_counter()
    runs = generate(checkpoint, prompts, first_seeds, rows, settings)
    seconds = time.perf_counter() - started
    written = [
        carry_out(checkpoint.vocabulary, prompt, run)
        for prompt, run in zip([*prompts] * len(first_seeds), runs, strict=True)
    ]
    return written, seconds


def carry_out(vocabulary: Vocabulary, prompt: Prompt, run: batch.GeneratedRun) -> Written:
    """Write what a run says on a canvas."""
    canvas, _ = seed(vocabulary, prompt.tokens)
    actions = []
    for id in run.ids:
        actions.append(canvas.action(id))
        canvas.apply(actions[-1])
    return Written(prompt, canvas.tokens[len(prompt.tokens) :], actions, run.ending)


@dataclass(frozen=True)
class Settings:
    """How continuations are sampled."""

    temperature: float = Setup.temperature
    top_k: int = Setup.top_k
    max_actions: int = MAX_ACTIONS
    move_temperature: float | None = None


@torch.no_grad()
def log_losses(
    evaluator: Reviser, tokenizer: Tokenizer, texts: Sequence[tuple[str, str]], batch: int = 64
) -> list[tuple[float, int, int]]:
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
    written: Sequence[Written], evaluator: Reviser, tokenizer: Tokenizer
) -> list[tuple[float, int, int]]:
    """For each continuation: its negative log-likelihood under the evaluator, its tokens and its bytes."""
    texts = []
    for entry in written:
        whole = decode(tokenizer, entry.prompt.tokens + entry.tokens)
        prompt = decode(tokenizer, entry.prompt.tokens)
        texts.append((prompt, whole[len(prompt) :]))
    return log_losses(evaluator, tokenizer, texts)


def report(
    name: str, written: Sequence[Written], scores: Sequence[tuple[float, int, int]], seconds: float
) -> Report:
    """The figures of a model that took so many seconds to write; `scores` are of `scores_of`."""
    losses = [loss for loss in scores if loss[1] and loss[2]]
    per_text = [float(np.exp(min(loss / tokens, 50))) for loss, tokens, _ in losses]
    actions = [action for entry in written for action in entry.actions]
    moves = [action for action in actions if isinstance(action, Move)]
    return Report(
        name=name,
        prompts=len(written),
        ppl=float(np.exp(sum(loss for loss, _, _ in losses) / sum(n for _, n, _ in losses))),
        median_ppl=median(per_text),
        mean_ppl=fmean(per_text),
        bits_per_byte=sum(loss for loss, _, _ in losses)
        / np.log(2)
        / sum(size for _, _, size in losses),
        distinct_2=fmean(distinct(entry.tokens, 2) for entry in written),
        distinct_3=fmean(distinct(entry.tokens, 3) for entry in written),
        repeated_4=fmean(1 - distinct(entry.tokens, 4) for entry in written),
        tokens=fmean(len(entry.tokens) for entry in written),
        stopped=fmean(entry.ending == "stop" for entry in written),
        moves=len(moves) / max(len(actions), 1),
        backward=sum(move.delta < 0 for move in moves) / max(len(moves), 1),
        revised=fmean(revises(entry.actions) for entry in written),
        actions_per_s=len(actions) / seconds if seconds else 0.0,
    )


def revises(actions: Sequence[Action]) -> bool:
    """Whether the run inserted before something it had already written."""
    after_cursor = 0
    for action in actions:
        if isinstance(action, Move):
            after_cursor -= action.delta
        elif isinstance(action, Insert) and after_cursor > 0:
            return True
    return False


def real_text(prompts: Sequence[Prompt]) -> list[Written]:
    """What the documents themselves say, as if a model had written it."""
    return [Written(prompt, prompt.continuation, [], "stop") for prompt in prompts]


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
    path: Path, name: str, written: Sequence[Written], tokenizer: Tokenizer, seeds: Sequence[int]
) -> None:
    """Append what a model wrote, one JSON object a line: for figures that are computed later."""
    each = len(written) // len(seeds)
    with path.open("a", encoding="utf-8") as file:
        for number, entry in enumerate(written):
            prompt = decode(tokenizer, entry.prompt.tokens)
            whole = decode(tokenizer, entry.prompt.tokens + entry.tokens)
            facts: SavedText = {
                "model": name,
                "seed": seeds[number // each],
                "prompt": prompt,
                "continuation": whole[len(prompt) :],
                "reference": decode(tokenizer, entry.prompt.continuation),
                "ending": entry.ending,
                "moves": [action.delta for action in entry.actions if isinstance(action, Move)],
            }
            file.write(json.dumps(facts, ensure_ascii=False) + "\n")


@dataclass(frozen=True, kw_only=True)
class ContinuationOptions:
    """Which models continue which prompts."""

    models: Annotated[tuple[Path, ...], Argument("model folders")] = ()
    evaluator: Annotated[Path, Option("model folder")]
    data: Annotated[Path, Option("held-out token shards")]
    prompts: Annotated[int, Option("how many prompts")] = 500
    seeds: Annotated[tuple[int, ...], Option("of the sampling", together=True)] = Setup.seeds
    batch: Annotated[int, Option("texts at a time")] = 512
    temperature: Annotated[float, Option("of the sampling")] = Setup.temperature
    top_k: Annotated[int, Option("sample from so many")] = Setup.top_k
    move_temperature: Annotated[float | None, Option("temperature of moves, if lower")] = None
    json: Annotated[bool, Option("end with a JSON list of all reports")] = False
    save: Annotated[Path | None, Option("append all continuations to this JSONL file")] = None
    samples: Annotated[int, Option("print so many continuations")] = 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ContinuationOptions,
        run,
        arguments,
        prog="python -m benchmarks continuation",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: ContinuationOptions) -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    half = torch.bfloat16 if device.type == "cuda" else torch.float32
    evaluator = load(chosen.evaluator, device=device, dtype=half)
    prompts = prompts_of(Corpus.open(chosen.data), chosen.prompts)
    settings = Settings(chosen.temperature, chosen.top_k, move_temperature=chosen.move_temperature)
    real = real_text(prompts)
    scores = scores_of(real, evaluator.model, evaluator.tokenizer)
    reports = [report("real text", real, scores, 0.0)]
    for path in chosen.models:
        checkpoint = load(path, device=device, dtype=half)
        written, seconds = write_all(checkpoint, prompts, chosen.seeds, chosen.batch, settings)
        name = path.parent.name if path.name == "model" else path.name
        scores = scores_of(written, evaluator.model, evaluator.tokenizer)
        reports.append(report(name, written, scores, seconds))
        if chosen.save:
            save_texts(chosen.save, name, written, checkpoint.tokenizer, chosen.seeds)
        for entry in written[: chosen.samples]:
            print(repr(decode(evaluator.tokenizer, entry.prompt.tokens + entry.tokens)), flush=True)
        print(json.dumps(asdict(reports[-1])), flush=True)
    if chosen.json:
        print(json.dumps([asdict(entry) for entry in reports], indent=1))
    else:
        print(json.dumps(asdict(reports[0])))
