"""The engine: a model ready to write, with its policy, tokenizer and name.

A quantised model is read from its files straight into the native decoder, which is fast and needs no torch. Any other
model, a machine without the native library, or a GPU needs torch.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reviser.checkpoints.description import Description, describe, digest_of, quantised_arrays, quick_tokenizer
from reviser.checkpoints.library import find_model, name_of
from reviser.core.errors import ReviserError
from reviser.core.extras import missing_package
from reviser.decoding.policy import LoadedModel, ModelPolicy, SessionPolicy
from reviser.model.config import ModelConfig
from reviser.model.layout import Quantisation
from reviser.native import NativeDecoder, available, make_decoder, why_missing
from reviser.session.session import Session

# Longer histories than this are beyond what models here are trained on, and would cost memory.
CAPACITY = 2048


@dataclass(frozen=True)
class Engine(LoadedModel):
    """A model that opens sessions."""

    def session(self, text: str) -> Session:
        return Session(self.policy, self.tokenizer, text)


def load_engine(model: str | Path | None = None, *, threads: int | None = None, device: str | None = None) -> Engine:
    """The engine of a model, by name or path; by default of the model that `find_model` chooses.

    `openai:URL` is a model that runs behind a completions endpoint (see docs/serving.md). `device` is `cpu`, or `cuda`
    for a GPU, where weights are in half precision; by default the value of `REVISER_DEVICE`, else `cpu`.
    """
    named = str(model or os.environ.get("REVISER_MODEL") or "")
    if named.startswith("openai:"):
        from reviser.remote.connecting import connect

        remote = connect(named, CAPACITY)
        return Engine(remote.name, remote.policy, remote.tokenizer)
    folder = find_model(model)
    description = describe(folder)
    device = device or os.environ.get("REVISER_DEVICE") or "cpu"
    if device == "cpu" and description.quantisation is not None and available():
        return _engine_from_files(description, description.quantisation, threads)
    try:
        return _engine_in_torch(folder, threads, device)
    except ModuleNotFoundError as error:
        what = f"the model {name_of(folder)}, which is not quantised,"
        if device != "cpu":
            what = f"a model on the device {device}"
        elif description.quantisation is not None:
            what = f"a model without compiled kernels ({why_missing()})"
        raise missing_package(error, extra="torch", needed_by=what) or error from None


def _engine_from_files(description: Description, quantisation: Quantisation, threads: int | None) -> Engine:
    tokenizer = quick_tokenizer(description)
    config = description.config
    arrays = quantised_arrays(description, quantisation)
    decoder = NativeDecoder(config, arrays, threads=threads, capacity=_capacity(config))
    digest = partial(digest_of, description.folder)
    policy = ModelPolicy(decoder, description.vocabulary, config.canvas_length, digest)
    return Engine(name_of(description.folder), policy, tokenizer)


def _engine_in_torch(folder: Path, threads: int | None, device: str) -> Engine:
    import torch

    if device not in ("cpu", "cuda"):
        raise ReviserError(f"a model runs on cpu or cuda, not on {device}")
    if device == "cuda" and not torch.cuda.is_available():
        raise ReviserError("torch finds no GPU here, on which the model could run")

    from reviser.checkpoints.home import load
    from reviser.decoding.torch_policy import CanvasPolicy

    # Processors without bfloat16 emulate it, very slowly; single precision is quick everywhere.
    precision = torch.float32 if device == "cpu" else torch.bfloat16
    checkpoint = load(folder, device=device, dtype=precision)
    config = checkpoint.model.config
    if config.uses_canvas:
        policy: SessionPolicy = CanvasPolicy(checkpoint.model, checkpoint.vocabulary)
    else:
        # Eight bits are quick to make from full weights and lose next to nothing.
        decoder = make_decoder(checkpoint.model, 8, threads=threads, capacity=_capacity(config))
        digest = partial(digest_of, folder)
        policy = ModelPolicy(decoder, checkpoint.vocabulary, config.canvas_length, digest)
    return Engine(name_of(folder), policy, checkpoint.tokenizer)


def _capacity(config: ModelConfig) -> int:
    return min(config.context, CAPACITY)
