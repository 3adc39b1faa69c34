"""Synthetic texts: a base model writes everyday prose from instructions.

    python -m training base_texts BASE --out shards/ --texts 50000

An instruction-tuned base can write the kinds of text that a corpus lacks: mails, letters, essays, notes. These
texts are likely under the base, so a model trained on them forgets little. The output is token shards.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch

from reviser.checkpoints.home import Checkpoint
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.core.tokenizer import decode
from reviser.decoding.batch.sampling import Sampling
from reviser.decoding.batch.scheduler import generate
from training.data.randomness import KeyedRandom
from training.data.shards import Options, tokenise

ASKED: dict[str, list[str]] = tomllib.loads(read_utf8(Path(__file__).with_suffix(".toml")))
BEGIN, END = "<|im_start|>", "<|im_end|>"
_LONGEST = 256
_SHORTEST = 200


def instructions(count: int, seed: int) -> list[str]:
    """`count` instructions, drawn from all kinds and topics."""
    random = KeyedRandom(seed)
    return [random.pick(ASKED["kinds"]).format(topic=random.pick(ASKED["topics"])) for _ in range(count)]


def written(
    parts: Checkpoint, asked: Sequence[str], *, temperature: float, top_k: int, rows: int, seed: int
) -> list[str]:
    """The base's answers to the instructions, each cut after its last complete sentence."""
    tokenizer, vocabulary = parts.tokenizer, parts.vocabulary
    begin, end = chat_markers(parts)
    free = dataclasses.replace(
        vocabulary, never_inserted=vocabulary.never_inserted - {begin, end}, kinds=frozenset({"insert"})
    )
    with torch.no_grad():
        # A base has never seen the start marker; its texts begin after the end of another, which is token 0.
        rows_of = parts.model.embedding.weight
        rows_of[vocabulary.start_id] = rows_of[0]
    between = [end, *tokenizer.encode("\n"), begin, *tokenizer.encode("assistant\n")]
    prompts = [[begin, *tokenizer.encode(f"user\n{one}"), *between] for one in asked]
    runs = generate(
        parts.model,
        free,
        prompts,
        seeds=[seed + number for number in range(len(prompts))],
        sampling=Sampling(temperature, top_k),
        max_actions=_LONGEST,
        rows=rows,
        ends=[end],
    )
    texts = (
        decode(tokenizer, [id for id in run.ids if id < free.base_size and id not in (begin, end)]) for run in runs
    )
    return [text for text in map(whole_sentences, texts) if len(text) >= _SHORTEST]


def chat_markers(parts: Checkpoint) -> tuple[int, int]:
    """The ids of the markers that start and end a turn of a conversation."""
    added = json.loads(parts.tokenizer_json or b"{}").get("added_tokens", [])
    ids = {one["content"]: int(one["id"]) for one in added}
    if BEGIN not in ids or END not in ids:
        raise ReviserError("this model's tokenizer has no markers for the turns of a conversation")
    return ids[BEGIN], ids[END]


def whole_sentences(text: str) -> str:
    """The text up to its last full stop, exclamation or question mark; empty if it repeats itself or has blanks
    to fill in."""
    end = max(text.rfind(mark) for mark in ".!?")
    text = text[: end + 1].strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if "[" in text or len(set(lines)) < len(lines):
        return ""
    return text


@dataclass(frozen=True, kw_only=True)
class BaseTextOptions:
    """Options of the command: the model and the number of texts."""

    base: Annotated[str, Argument("an instruction-tuned model: a folder, a hub id or a GGUF file")]
    out: Annotated[Path, Option("folder of token shards")]
    tokenizer: Annotated[str, Option("tokenizer.json of the shards")]
    texts: Annotated[int, Option("instructions to follow")] = 1000
    temperature: Annotated[float, Option("sampling temperature")] = 0.8
    top_k: Annotated[int, Option("sample from the K most likely ids")] = 50
    rows: Annotated[int, Option("texts that are written at once")] = 512
    seed: Annotated[int, Option("random seed of the sampling")] = 0


def run(chosen: BaseTextOptions) -> None:
    """Lets the base model write and saves its texts as shards."""
    from reviser.checkpoints.importing import import_model

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    parts = import_model(chosen.base)
    parts.model.to(device, torch.bfloat16 if device.type == "cuda" else torch.float32).eval()
    asked = instructions(chosen.texts, chosen.seed)
    texts = written(
        parts, asked, temperature=chosen.temperature, top_k=chosen.top_k, rows=chosen.rows, seed=chosen.seed
    )
    save(chosen.out, texts, chosen.tokenizer)
    print(f"{counted(len(texts), 'text')} of {counted(len(asked), 'instruction')}")


def save(out: Path, texts: Sequence[str], tokenizer: str) -> None:
    """Saves the texts as shards, and as JSON lines beside them."""
    out.mkdir(parents=True, exist_ok=True)
    source = out / "texts.jsonl"
    lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    write_atomically(source, "".join(lines).encode())
    tokenise(out, [str(source)], tokenizer, Options(), lambda line: None)
