"""Trains diffusion models on the very rows that the autoregressive baseline is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from benchmarks.contestants.diffusion.checkpoint import DiffusionModel
from benchmarks.contestants.diffusion.loss import DiffusionObjective
from benchmarks.contestants.diffusion.model import DiffusionConfig, DiffusionTransformer
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import ModelConfig
from training.trainer.trainer import Trainer


@dataclass
class DiffusionTrainer(Trainer):
    """The trainer of all other models, with a diffusion model in the place of a decoder."""

    # What the trainer itself asks of a model, a diffusion model has: blocks and parameters.
    model: DiffusionTransformer  # type: ignore[assignment]

    def make_objective(self) -> DiffusionObjective:
        return DiffusionObjective(self.model, self.settings.compile)


def fresh_diffusion(
    kind: Literal["sedd", "mdlm"],
    trunk: ModelConfig,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    tokenizer_json: bytes | None = None,
    seed: int = 0,
) -> DiffusionModel:
    """An untrained model with the trunk of one of our decoders, over its ids and a mask."""
    torch.manual_seed(seed)
    config = DiffusionConfig.like(kind, trunk, vocabulary.size + 1)
    return DiffusionModel(
        DiffusionTransformer(config),
        tokenizer,
        start=(vocabulary.start_id,),
        ends=frozenset({vocabulary.stop_id}),
        closing=1,
        tokenizer_json=tokenizer_json,
    )
