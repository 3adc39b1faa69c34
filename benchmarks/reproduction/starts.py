"""The five initial models, each with its trainer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import nn

from benchmarks.contestants.diffusion.checkpoint import save_diffusion
from benchmarks.contestants.diffusion.training import DiffusionTrainer, fresh_diffusion
from benchmarks.reproduction.scales import Name, StagedScale
from reviser.checkpoints.building import build_model
from reviser.checkpoints.home import Checkpoint, save
from reviser.model import preset
from training.batches.loader import Loader
from training.data.corpus import Corpus
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.parallel import World
from training.trainer.run import loader_of, starting_point
from training.trainer.settings import Settings
from training.trainer.trainer import Trainer

OURS = Path(__file__).parents[2] / "training" / "recipes" / "embedded.json"
_PLAIN = frozenset({"insert", "stop"})

Save = Callable[[Path, dict[str, object]], None]


@dataclass(frozen=True)
class InitialModel:
    """A model before training, with its trainer; `save` writes its current state."""

    trainer: Trainer
    save: Save
    mixture: Mixture


def initial_model(name: Name, scale: StagedScale, settings: Settings, corpus: Path, world: World) -> InitialModel:
    """Makes the untrained model of a name."""
    opened = Corpus.open(corpus)
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    if name in ("SEDD", "MDLM"):
        kind: Literal["sedd", "mdlm"] = "sedd" if name == "SEDD" else "mdlm"
        return _diffusion(kind, settings, opened, world, scale.workers)
    own = dataclasses.replace(settings, objective="ar" if name == "AR" else "reviser")
    parts = starting_point(own, opened.tokenizer.name, None)
    mixture = _mixture(name, settings.history)
    samples = Samples(opened, parts.vocabulary, mixture, settings.seed)
    loader = loader_of(samples, own, world, scale.workers)
    trainer = Trainer(own, parts.model, loader, world, moves=parts.vocabulary.move_ids)
    return InitialModel(trainer, _saves_own(trainer, parts), mixture)


def _mixture(name: Name, history: int) -> Mixture:
    if name == "AR":
        return Mixture.left_to_right(history)
    if name == "Reviser":
        return Mixture.as_in_the_paper(history)
    return dataclasses.replace(Mixture.load(OURS), max_history=history)


def _saves_own(trainer: Trainer, parts: Checkpoint) -> Save:
    def write(folder: Path, metadata: dict[str, object]) -> None:
        weights = {name: value.detach().cpu() for name, value in trainer.model.state_dict().items()}
        model = build_model(trainer.model.config, weights)
        tokenizer = "gpt2" if parts.tokenizer_json is None else parts.tokenizer_json
        save(folder, model, parts.vocabulary, tokenizer, metadata=metadata, replace=True)

    return write


def _diffusion(
    kind: Literal["sedd", "mdlm"], settings: Settings, corpus: Corpus, world: World, workers: int
) -> InitialModel:
    """Makes SEDD or MDLM, trained on the same rows as the left-to-right baseline."""
    # A vocabulary of inserts and Stop alone, as the baseline's.
    plain = dataclasses.replace(settings, objective="ar")
    parts = starting_point(plain, corpus.tokenizer.name, None)
    vocabulary = dataclasses.replace(parts.vocabulary, kinds=_PLAIN)
    trunk = preset(settings.model, vocab_size=vocabulary.size, dropout=settings.dropout)
    made = fresh_diffusion(kind, trunk, vocabulary, parts.tokenizer, parts.tokenizer_json)
    mixture = Mixture.left_to_right(settings.history)
    samples = Samples(corpus, vocabulary, mixture, settings.seed)
    source: Loader = loader_of(samples, settings, world, workers)
    trainer = DiffusionTrainer(settings, made.model, source, world)

    def write(folder: Path, metadata: dict[str, object]) -> None:
        made.model.eval()
        save_diffusion(folder, dataclasses.replace(made, metadata=metadata), replace=True)
        made.model.train()

    return InitialModel(trainer, write, mixture)


def parameters(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
