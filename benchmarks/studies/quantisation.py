"""Measures what quantised weights cost: perplexity on held-out text in 32, 8 and 4 bits.

python -m benchmarks quantisation [MODEL] --data heldout.jsonl.xz [--gguf PATH] [--shuffled] [--write FILE]

Each document is read token by token, its first 512 tokens, in single precision by torch and in 8 and 4
bits by the native decoder, so that the rounding of its inputs and of its cache is in the figures.

Weights that were published in few bits lie on a grid, and rounding them again costs next to nothing. With
`--shuffled` the model's inner columns are put into another order first: it computes the same, but the
groups that share a scale are new, as they are for weights that come from training. MODEL measures any folder.
"""

from __future__ import annotations

import itertools
import json
import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import torch

from benchmarks.report.provenance import provenance
from benchmarks.speed.decoding import PACKAGE, gguf_file
from reviser.checkpoints.home import Checkpoint, load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.tokenizer import Tokenizer
from reviser.model import Reviser
from reviser.model.quantised import quantise_model
from reviser.native import NativeDecoder

DOCUMENTS = 40
LENGTH = 512
SHORTEST = 64


def documents(data: Path, tokenizer: Tokenizer, count: int) -> Iterator[list[int]]:
    """The first documents that are long enough, cut to the same length."""
    with lzma.open(data, "rt", encoding="utf-8") as lines:
        for line in lines:
            ids = tokenizer.encode(json.loads(line)["text"])[:LENGTH]
            if len(ids) >= SHORTEST:
                yield ids
                count -= 1
            if count == 0:
                return


@torch.no_grad()
def loss_in_torch(model: Reviser, ids: list[int]) -> float:
    row = torch.tensor([ids])
    logits = model(row)[0, :-1]
    return torch.nn.functional.cross_entropy(logits, row[0, 1:], reduction="sum").item()


def loss_natively(decoder: NativeDecoder, ids: list[int]) -> float:
    decoder.truncate(0)
    loss = 0.0
    for id, following in itertools.pairwise(ids):
        scores = torch.from_numpy(decoder.decode(id))
        loss += (scores.logsumexp(dim=0) - scores[following]).item()
    return loss


def shuffled(model: Reviser, seed: int = 0) -> dict[str, torch.Tensor]:
    """Weights of a Llama-like model that computes the same with its inner columns in another order."""
    config, weights = model.config, dict(model.state_dict())
    random = torch.Generator().manual_seed(seed)

    def order(size: int) -> torch.Tensor:
        return torch.randperm(size, generator=random)

    width = order(config.width)
    made = {
        name: value[width] if value.ndim == 1 else value[:, width]
        for name, value in weights.items()
    }
    for layer in range(config.layers):
        block = f"blocks.{layer}."
        inner = order(config.ff)
        for part in ("gate", "up"):
            made[f"{block}mlp.{part}.weight"] = made[f"{block}mlp.{part}.weight"][inner]
        made[f"{block}mlp.down.weight"] = weights[f"{block}mlp.down.weight"][width][:, inner]
        # Values may change their places within a head, the same in all heads that read them.
        heads = [order(config.head_dim) for _ in range(config.kv_heads)]
        shared = config.heads // config.kv_heads
        values = torch.cat([head * config.head_dim + places for head, places in enumerate(heads)])
        outputs = torch.cat(
            [head * config.head_dim + heads[head // shared] for head in range(config.heads)]
        )
        made[f"{block}attention.v.weight"] = made[f"{block}attention.v.weight"][values]
        made[f"{block}attention.o.weight"] = weights[f"{block}attention.o.weight"][width][
            :, outputs
        ]
    return made


class Losses(TypedDict):
    """What rounded weights cost, by the name of their form; `cost` is beside single precision."""

    tokens: int
    documents: int
    perplexity: dict[str, float]
    cost: dict[str, float]
    megabytes: dict[str, float]


def measure(model: Reviser, texts: list[list[int]]) -> Losses:
    tokens = sum(len(ids) - 1 for ids in texts)
    losses = {"fp32": sum(loss_in_torch(model, ids) for ids in texts)}
    megabytes = {"fp32": sum(value.nbytes for value in model.state_dict().values()) / 1e6}
    choices: tuple[Literal[8, 4], ...] = (8, 4)
    for bits in choices:
        tensors = quantise_model(model, bits, thorough=True)
        megabytes[f"int{bits}"] = sum(tensor.nbytes for tensor in tensors.values()) / 1e6
        with NativeDecoder.from_quantised(model.config, tensors, capacity=LENGTH) as decoder:
            losses[f"int{bits}"] = sum(loss_natively(decoder, ids) for ids in texts)
    perplexity = {name: math.exp(loss / tokens) for name, loss in losses.items()}
    return {
        "tokens": tokens,
        "documents": len(texts),
        "perplexity": perplexity,
        "cost": {name: value / perplexity["fp32"] - 1 for name, value in perplexity.items()},
        "megabytes": megabytes,
    }


def report(result: Losses) -> str:
    lines = ["| weights | MB | perplexity | cost |", "| --- | ---: | ---: | ---: |"]
    for name, value in result["perplexity"].items():
        cost = "" if name == "fp32" else f"{result['cost'][name]:+.2%}"
        lines.append(f"| {name} | {result['megabytes'][name]:.1f} | {value:.3f} | {cost} |")
    return (
        "\n".join(lines) + f"\n\n{result['tokens']:,} tokens of {result['documents']} documents.\n"
    )


@dataclass(frozen=True, kw_only=True)
class QuantisationOptions:
    """Whose weights are quantised, and which texts they are measured on."""

    model: Annotated[Path | None, Argument(f"model folder; by default {PACKAGE}'s")] = None
    data: Annotated[Path, Option("documents, one JSON a line, in xz")]
    documents: Annotated[int, Option("documents to measure on")] = DOCUMENTS
    gguf: Annotated[
        Path | None, Option(f"the weights; from the package {PACKAGE} if not given")
    ] = None
    shuffled: Annotated[bool, Option("weights that lie on no grid")] = False
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        QuantisationOptions,
        run,
        arguments,
        prog="python -m benchmarks quantisation",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: QuantisationOptions) -> None:
    checkpoint, weights = _chosen_model(chosen)
    if chosen.shuffled:
        checkpoint.model.load_state_dict(shuffled(checkpoint.model))
        weights += ", columns shuffled"
    texts = list(documents(chosen.data, checkpoint.tokenizer, chosen.documents))
    result = measure(checkpoint.model, texts)
    print(json.dumps(result) if chosen.json else report(result))
    if chosen.write:
        named = f"{chosen.model.name} " if chosen.model else ""
        options = " --shuffled" if chosen.shuffled else ""
        facts = provenance(
            f"python -m benchmarks quantisation {named}--data {chosen.data.name} "
            f"--documents {chosen.documents}{options} --write {chosen.write}",
            Weights=weights,
            Data=f"{chosen.data.name}, the first {len(texts)} documents of {SHORTEST} tokens or more",
        )
        chosen.write.write_text(f"# Cost of quantised weights\n\n{facts}\n{report(result)}")


def _chosen_model(chosen: QuantisationOptions) -> tuple[Checkpoint, str]:
    if chosen.model:
        return load(chosen.model, dtype=torch.float32), chosen.model.name
    with gguf_file(chosen.gguf) as path:
        from reviser.checkpoints.formats.gguf_files import read_gguf

        return read_gguf(path), f"SmolLM2-135M-Instruct from the package {PACKAGE}"
