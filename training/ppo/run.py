"""`python -m training ppo MODEL --data … --reward … --out …`: a model is tuned towards a reward."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
from safetensors.torch import load_file, save_file

from reviser.checkpoints.folders import atomic_folder
from reviser.checkpoints.home import Checkpoint, load, save
from reviser.checkpoints.library import find_model
from reviser.cli.options import Argument, Group, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.data.corpus import Corpus
from training.data.shards import describe_tokenizer
from training.ppo.rewards import Judges, parse_rewards, reward
from training.ppo.rollouts import DocumentPrompts, PrefixOracle
from training.ppo.settings import PpoSettings
from training.ppo.tuner import Tuner
from training.trainer.metrics import MetricsLog, PlainView, make_view
from training.trainer.saving import LATEST, check_out
from training.trainer.trainer import interruptible

Facts = dict[str, Any]
"""What a run is, for its folder and for the model's own record."""

_SHOWN = (
    *("step", "reward", "kl", "entropy", "clip_fraction", "explained_variance"),
    *("tokens", "stopped", "moves", "repeated_4"),
)


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """Options of a PPO run: the model, its prompts and the reward."""

    model: Annotated[str, Argument("the supervised model: a folder or a name")]
    data: Annotated[Path, Option("token shards (python -m training data)")]
    out: Annotated[Path, Option("folder of the run")]
    reward: Annotated[
        tuple[str, ...],
        Option(
            "a term of the reward, such as rank:likelihood:smollm2 or 0.5*repetition; may be given several times",
            metavar="[WEIGHT*][rank:]NAME[:ARGUMENT]",
        ),
    ] = ()
    resume: Annotated[bool, Option("resume from the run's last checkpoint")] = False
    settings: Annotated[PpoSettings, Group(PpoSettings)]
    words: Words = ()


def run(options: TuningOptions) -> None:
    """Tunes until the run is over or interrupted; saves the run in both cases."""
    out, settings = options.out, options.settings
    check_out(out, resumed=options.resume)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        # On some processors this would mean half precision.
        torch.set_float32_matmul_precision("high")
    corpus = Corpus.open(options.data)
    parts = load(find_model(options.model), dtype=torch.float32)
    if describe_tokenizer(parts.tokenizer).sha256 != corpus.tokenizer.sha256:
        raise ReviserError("the texts were made with another tokenizer than the model's")
    source = DocumentPrompts(corpus, settings)
    rewards = parse_rewards(options.reward, Judges(device))
    facts: Facts = {
        "settings": settings.to_dict(),
        "rewards": list(options.reward),
        "init": str(options.model),
        "data": str(options.data),
        "command": " ".join(["python -m training ppo", *options.words]),
    }
    tuner = Tuner(
        settings,
        parts,
        source,
        PrefixOracle(parts.vocabulary, corpus.classes, settings),
        partial(reward, rewards),
        device,
    )
    if options.resume:
        _resume(out, tuner, facts)
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / _SETTINGS, (json.dumps(facts, indent=2) + "\n").encode())
    log = MetricsLog(out / "metrics.jsonl", tuner.progress.iteration)
    try:
        with make_view() as view, interruptible() as asked:
            finished = _loop(tuner, parts, facts, out, log, view, asked)
            _save_run(out, tuner, parts, facts)
            if finished:
                view.say(f"wrote {_save_model(out / 'model', tuner, parts, facts, replace=True)}")
            else:
                view.say(f"stopped at iteration {tuner.progress.iteration}; go on with --resume")
    finally:
        log.close()


def _loop(
    tuner: Tuner, parts: Checkpoint, facts: Facts, out: Path, log: MetricsLog, view: PlainView, asked: list[bool]
) -> bool:
    """Tunes until the run is over (returns True) or interrupted (returns False)."""
    while tuner.done < 1:
        if asked:
            return False
        entry = tuner.iterate()
        log.write(**entry)
        view.show({name: value for name, value in entry.items() if name in _SHOWN}, min(tuner.done, 1.0))
        if tuner.progress.iteration % tuner.settings.checkpoint_every == 0 and tuner.done < 1:
            started = time.perf_counter()
            _save_run(out, tuner, parts, facts)
            # Large models take a while, which is part of the minutes that a run may last.
            tuner.progress.seconds += time.perf_counter() - started
    return True


# Checkpoints ---------------------------------------------------------------------------------------

_STATE, _VALUE, _SETTINGS = "training.pt", "value.safetensors", "settings.json"


def _save_run(out: Path, tuner: Tuner, parts: Checkpoint, facts: Facts) -> None:
    """Replace the run's latest checkpoint atomically: the model and the state for resuming."""
    with atomic_folder(out / LATEST, replace=True) as folder:
        _save_model(folder / "model", tuner, parts, facts)
        save_file(tuner.value.state_dict(), folder / _VALUE)
        torch.save(tuner.state(), folder / _STATE)


def _save_model(folder: Path, tuner: Tuner, parts: Checkpoint, facts: Facts, *, replace: bool = False) -> Path:
    tokenizer = "gpt2" if parts.tokenizer_json is None else parts.tokenizer_json
    save(folder, tuner.model, parts.vocabulary, tokenizer, metadata=dict(facts), replace=replace)
    return folder


def _resume(out: Path, tuner: Tuner, facts: Facts) -> None:
    """Restores a tuner from the run's latest checkpoint; its reference stays the initial model.

    Raises `ReviserError` if the run had another model or other rewards.
    """
    folder = out / LATEST
    if not folder.is_dir():
        raise ReviserError(f"{out} has no checkpoint to resume from")
    before: Facts = json.loads(read_utf8(out / _SETTINGS))
    for what, name in (("model", "init"), ("reward", "rewards")):
        if before.get(name) != facts[name]:
            raise ReviserError(f"the run in this folder has another {what}: {before.get(name)}")
    tuner.model.load_state_dict(load(folder / "model").model.state_dict())
    tuner.value.load_state_dict(load_file(folder / _VALUE))
    tuner.restore(torch.load(folder / _STATE, map_location="cpu", weights_only=True))
