"""AR, Reviser, SEDD and MDLM trained alike at a small scale, each unless that was done already."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, cast

import torch

from benchmarks.contestants.diffusion.checkpoint import is_diffusion, save_diffusion
from benchmarks.contestants.diffusion.training import DiffusionTrainer, fresh_diffusion
from benchmarks.protocol.results import SettingsFacts, TrainingRecord
from benchmarks.protocol.setup import Setup
from benchmarks.report.findings import Name
from benchmarks.reproduction.data import Say, TrainingTexts, prepare
from benchmarks.suite import finite
from reviser.checkpoints.summary import is_home
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from training.data.corpus import Corpus
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.metrics import MetricsLog, PlainView, read_metrics
from training.trainer.options import RunOptions
from training.trainer.parallel import join_world
from training.trainer.run import Reporter, loader_of, train
from training.trainer.settings import Settings, preset_settings


@dataclass(frozen=True)
class ReproductionScale:
    """How large a reproduction is. Evaluators may be named after the models that it trains."""

    settings: Settings
    setup: Setup
    evaluators: tuple[str, ...]
    judges: tuple[str, ...]
    features: tuple[str, ...]
    workers: int = 1

    def changed(self, steps: int | None, prompts: int | None) -> ReproductionScale:
        """With another number of training steps or of prompts for each seed."""
        return dataclasses.replace(
            self,
            settings=dataclasses.replace(self.settings, steps=steps or self.settings.steps),
            setup=dataclasses.replace(self.setup, prompts=prompts or self.setup.prompts),
        )


SCALES: dict[str, ReproductionScale] = {
    # Minutes on two processor cores: everything works, and nothing is learned to speak of.
    "smoke": ReproductionScale(
        dataclasses.replace(
            preset_settings("tiny", steps=24, rows=8, peak_rate=3e-3, final_rate=3e-4), model="tiny-paper"
        ),
        Setup(
            prompts=100, seeds=(123,), shortest=40, prompt_tokens=16, total_tokens=32, max_actions=32, diffusion_steps=8
        ),
        evaluators=("AR", "MDLM"),
        judges=("likelihood:AR",),
        features=("minilm",),
    ),
    # Less than 25 minutes on one H200: the paper's smaller trunk, 72M ids for each model.
    "lab": ReproductionScale(
        preset_settings(
            "paper-100m",
            steps=1100,
            rows=256,
            peak_rate=6e-4,
            final_rate=6e-5,
            warmup_steps=100,
            dropout=0.0,
            checkpoint_every=10_000,
        ),
        Setup(),
        evaluators=("smollm2", "MDLM"),
        judges=("likelihood:smollm2",),
        features=("minilm",),
        workers=8,
    ),
}


def train_models(
    names: Sequence[Name], scale: ReproductionScale, out: Path, texts: TrainingTexts, say: Say
) -> tuple[Path, dict[str, TrainingRecord]]:
    """Train these of the four; returns the file of texts to be continued, and how training went."""
    out.mkdir(parents=True, exist_ok=True)
    corpus, prompts = prepare(out / "data", texts, scale.setup, scale.workers, say)
    return prompts, {name: train_model(name, scale, corpus, out / "models", say) for name in names}


def model_folder(out: Path, name: str) -> Path:
    return out / "models" / name.lower() / "model"


def train_model(name: Name, scale: ReproductionScale, corpus: Path, models: Path, say: Say) -> TrainingRecord:
    """Train one of the four, unless that was done already; returns how it went."""
    out = models / name.lower()
    record = out / "training.json"
    folder = out / "model"
    if record.exists() and (is_home(folder) or is_diffusion(folder)):
        kept: TrainingRecord = json.loads(record.read_text("utf-8"))
        if Settings.from_dict(kept["settings"]) != scale.settings:
            raise ReviserError(f"{out} was trained with other settings; name another folder")
        say(f"{name} is trained already")
        return kept
    say(f"training {name}")
    began = time.perf_counter()
    # What training prints is not the result of this program.
    with contextlib.redirect_stdout(sys.stderr):
        if name in ("SEDD", "MDLM"):
            kind: Literal["sedd", "mdlm"] = "sedd" if name == "SEDD" else "mdlm"
            train_diffusion(kind, scale, corpus, out)
        else:
            _train_own(name, scale, corpus, out)
    torch.compiler.reset()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    found = _training_record(out, scale, time.perf_counter() - began)
    write_json(record, found)
    return found


def _train_own(name: str, scale: ReproductionScale, corpus: Path, out: Path) -> None:
    """A Reviser by the paper's recipe, or the autoregressive baseline, with the usual training run."""
    settings = dataclasses.replace(scale.settings, objective="ar" if name == "AR" else "reviser")
    options = RunOptions(
        preset=settings.model,
        data=corpus,
        out=out,
        tokenizer="gpt2",
        workers=scale.workers,
        words=(f"as {name} of a reproduction",),
    )
    with join_world(settings.parallel) as world:
        train(options, settings, world)


def train_diffusion(kind: Literal["sedd", "mdlm"], scale: ReproductionScale, corpus: Path, out: Path) -> None:
    """SEDD or MDLM, on the rows of the autoregressive baseline."""
    settings = scale.settings
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = Gpt2Tokenizer()
    kinds = frozenset({"insert", "stop"})
    vocabulary = Vocabulary(tokenizer.size, tokenizer.markers, kinds=kinds, name=tokenizer.name)
    trunk = preset(settings.model, vocab_size=vocabulary.size, dropout=settings.dropout)
    samples = Samples(Corpus.open(corpus), vocabulary, Mixture.left_to_right(settings.history), settings.seed)
    torch.set_float32_matmul_precision("high")
    with join_world(settings.parallel) as world:
        made = fresh_diffusion(kind, trunk, vocabulary, tokenizer, seed=settings.seed)
        source = loader_of(samples, settings, world, scale.workers)
        trainer = DiffusionTrainer(settings, made.model, source, world)
        log = MetricsLog(out / "metrics.jsonl")
        reporter = Reporter(trainer, log, PlainView())
        measured = None
        for measured in trainer.steps():
            reporter.take(measured)
        if measured is not None and reporter.unreported:
            reporter.report(measured)
        log.close()
    metadata = {"settings": settings.to_dict(), "objective": kind}
    made.model.eval()
    save_diffusion(out / "model", dataclasses.replace(made, metadata=metadata), replace=True)


def _training_record(out: Path, scale: ReproductionScale, seconds: float) -> TrainingRecord:
    entries = [entry for entry in read_metrics(out / "metrics.jsonl") if "loss" in entry]
    last = entries[-max(1, len(entries) // 10) :]
    weights = (out / "model").glob("*.safetensors")
    return {
        "steps": entries[-1]["step"],
        "ids": entries[-1]["actions"],
        # The first entry has compiling in it, and the last may be of a moment.
        "ids_per_s": median(entry["actions_per_s"] for entry in entries),
        "loss": sum(entry["loss"] for entry in last) / len(last),
        "weights_mb": round(sum(path.stat().st_size for path in weights) / 1e6, 1),
        "training_seconds": entries[-1]["seconds"],
        "seconds": round(seconds, 1),
        "settings": cast(SettingsFacts, scale.settings.to_dict()),
    }


def write_json(path: Path, data: Any) -> None:
    """Write JSON in which what is not finite is null."""
    write_atomically(path, (json.dumps(finite(data), indent=1) + "\n").encode())
