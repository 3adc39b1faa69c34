"""Tiny random models of our own in folders, with room for prompts as long as the protocol's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reviser.checkpoints.home import Checkpoint, save_checkpoint
from reviser.checkpoints.operators import base_vocabulary
from reviser.vocabulary import PAPER_KINDS
from tests.checkpoints.parts import random_model, toy_checkpoint


def tiny_reviser(folder: Path, kinds: frozenset[str] = PAPER_KINDS, seed: int = 3) -> Path:
    """A model that knows only the given kinds of actions, saved in `folder`."""
    made: Checkpoint = toy_checkpoint()
    vocabulary = base_vocabulary(made.tokenizer.size, made.tokenizer, "toy")
    config = replace(
        made.model.config, vocab_size=vocabulary.size, context=2048, canvas_length=2048
    )
    changed = replace(
        made,
        model=random_model(config, seed),
        vocabulary=replace(vocabulary, kinds=kinds),
    )
    return save_checkpoint(folder, changed)
