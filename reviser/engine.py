"""A model ready to write: checkpoint, decoder and tokenizer under one name."""

from __future__ import annotations

from dataclasses import dataclass

from reviser.policy import ModelPolicy
from reviser.session import Session, SessionPolicy
from reviser.tokenizer import Tokenizer

# Longer histories than this are beyond what models here are trained on, and would cost memory.
CAPACITY = 2048


@dataclass(frozen=True)
class Engine:
    """What a session needs of a model."""

    name: str
    policy: SessionPolicy
    tokenizer: Tokenizer

    def session(self, text: str) -> Session:
        return Session(self.policy, self.tokenizer, text)


def load_engine(model: str | None = None, *, threads: int | None = None) -> Engine:
    """The engine of the model of that name or path; by default the embedded one."""
    import torch

    from reviser.checkpoints import find_model, load
    from reviser.native import make_decoder
    from reviser.torch_policy import CanvasPolicy

    folder = find_model(model)
    # Processors without bfloat16 emulate it, very slowly; single precision is quick everywhere.
    checkpoint = load(folder, dtype=torch.float32)
    config = checkpoint.model.config
    if config.uses_canvas:
        policy: SessionPolicy = CanvasPolicy(checkpoint.model, checkpoint.vocabulary)
    else:
        capacity = min(config.context, CAPACITY)
        # Eight bits are quick to make from full weights and lose next to nothing.
        decoder = make_decoder(checkpoint.model, 8, threads=threads, capacity=capacity)
        policy = ModelPolicy(decoder, checkpoint.vocabulary, config.canvas_length)
    return Engine(folder.name, policy, checkpoint.tokenizer)
