"""Short training runs that differ in little: the same schedule for all, and none is trained twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from reviser.cli.options import words_of
from training.samples.mixture import Mixture
from training.trainer.options import RunOptions
from training.trainer.run import run as train

RATE = 4e-4


def train_once(options: RunOptions, mixture: Mixture, *, history: int, steps: int) -> Path:
    """Train a run, unless that was done; returns the folder of its model.

    What `options` change comes on top of the schedule of short runs.
    """
    model = options.out / "model"
    if model.is_dir():
        return model
    options.out.mkdir(parents=True, exist_ok=True)
    shown = options.out / "mixture.json"
    shown.write_text(json.dumps(mixture.to_dict()))
    schedule: dict[str, object] = {
        "history": history,
        "steps": steps,
        "evaluate_every": steps + 1,
        "checkpoint_every": steps + 1,
        "warmup_steps": steps // 5,
        "peak_rate": RATE,
        "final_rate": RATE / 20,
    }
    whole = replace(options, mixture=shown, changes=schedule | dict(options.changes))
    train(replace(whole, words=words_of(whole)))
    return model
