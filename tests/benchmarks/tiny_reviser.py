"""Tiny random models of our own in folders, with room for prompts as long as the protocol's."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from reviser.checkpoints.home import Checkpoint, save_checkpoint
from reviser.checkpoints.operators import base_vocabulary
from reviser.cli.options import run_with
from reviser.core.vocabulary import PAPER_KINDS
from tests.reviser.checkpoints.parts import random_model, toy_checkpoint
from training.data.shards import run as run_make_data

make_data = partial(run_with, run_make_data)


def tiny_reviser(folder: Path, kinds: frozenset[str] = PAPER_KINDS, seed: int = 3) -> Path:
    """A model that knows only the given kinds of actions, saved in `folder`."""
    made: Checkpoint = toy_checkpoint()
    vocabulary = base_vocabulary(made.tokenizer.size, made.tokenizer, "toy")
    config = replace(made.model.config, vocab_size=vocabulary.size, context=2048, canvas_length=2048)
    changed = replace(made, model=random_model(config, seed), vocabulary=replace(vocabulary, kinds=kinds))
    return save_checkpoint(folder, changed)


def base_and_shards(folder: Path, text: str, documents: int) -> None:
    """A model `base` in `folder`, and shards `data` of documents that begin otherwise and say the same."""
    checkpoint = toy_checkpoint(context=512)
    save_checkpoint(folder / "base", checkpoint)
    tokenizer, texts = folder / "tokenizer.json", folder / "texts.jsonl"
    tokenizer.write_bytes(checkpoint.tokenizer_json or b"")
    texts.write_text("".join(json.dumps({"text": f"{number} {text}"}) + "\n" for number in range(documents)))
    assert make_data([str(folder / "data"), "--tokenizer", str(tokenizer), str(texts)]) == 0
