"""A short run for `torchrun`: KIND (ddp or fsdp) and the file to write its losses to."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from reviser.model import Reviser, preset
from training.batches.packing import PackedRows
from training.trainer.parallel import World, join_world
from training.trainer.settings import preset_settings
from training.trainer.trainer import Trainer

ROWS, LENGTH, STEPS = 8, 64, 6


class SplitRows:
    """The same rows for any number of processes: each takes its part of every batch."""

    waited = 0.0

    def __init__(self, world: World) -> None:
        self._world = world

    def batches(self, first: int) -> Iterator[PackedRows]:
        number = first
        share = ROWS // self._world.size
        while True:
            noise = np.random.default_rng(number)
            ids = noise.integers(0, 12, (ROWS, LENGTH)).astype(np.int32)
            mask = noise.random((ROWS, LENGTH)) < noise.random((ROWS, 1))
            samples = np.zeros((ROWS, LENGTH), dtype=np.int32)
            positions = np.broadcast_to(np.arange(LENGTH, dtype=np.int32), (ROWS, LENGTH)).copy()
            yield PackedRows(ids, mask, samples, positions)[self._world.rank * share :][:share]
            number += 1


def run(kind: str, out: Path) -> None:
    with join_world(kind) as world:
        settings = preset_settings("tiny", steps=STEPS, rows=ROWS, parallel=kind)
        torch.manual_seed(0)
        trainer = Trainer(settings, Reviser(preset("tiny")), SplitRows(world), world)
        losses = [trainer.mean_loss(measured) for measured in trainer.steps()]
        if world.leads:
            out.write_text(json.dumps(losses))


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
