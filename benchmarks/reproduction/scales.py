"""The scales of a reproduction: models, ids per budget, and measures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.protocol.setup import Setup
from reviser.core.errors import ReviserError
from training.trainer.settings import Settings, preset_settings

Name = Literal["Reviser", "Reviser-ours", "AR", "SEDD", "MDLM"]
# The paper's Reviser first: arenas are between it and each of the others.
NAMES: tuple[Name, ...] = ("Reviser", "Reviser-ours", "AR", "SEDD", "MDLM")
MILLION = 1_000_000
COOLDOWN = 0.2


@dataclass(frozen=True)
class StagedScale:
    """A scale: all models have the same trunk, rows, steps and schedule. Budgets are numbers of ids, the largest last.

    The rate is constant until the last fifth of a run, so the runs of all budgets share their beginning: the smaller
    ones branch off the largest and cost only their last fifth. They are finished first, so that an interrupted run
    leaves their results.
    """

    settings: Settings
    budgets: tuple[int, ...]
    setup: Setup
    evaluators: tuple[str, ...]
    judges: tuple[str, ...]
    features: tuple[str, ...]
    workers: int = 1
    critic_prompts: int = 500
    """Prompts, of the first seed, whose continuations the critic reads: it takes its time."""

    def __post_init__(self) -> None:
        if not self.budgets or list(self.budgets) != sorted(set(self.budgets)):
            raise ReviserError("budgets rise, each of them once")
        if self.settings.cooldown is None:
            raise ReviserError("runs of several budgets need a plateau to branch from")

    @property
    def ids_a_step(self) -> int:
        settings = self.settings
        return settings.rows * settings.row_length * settings.accumulate

    def steps(self, budget: int) -> int:
        return math.ceil(budget / self.ids_a_step)

    def branch(self, budget: int) -> int:
        """The step at which the run of a budget leaves the plateau."""
        assert self.settings.cooldown is not None
        return math.floor((1 - self.settings.cooldown) * self.steps(budget))

    def with_budgets(self, budgets: Sequence[int]) -> StagedScale:
        """The scale with some of the budgets; their runs do not change, since all share their beginning."""
        for budget in budgets:
            if budget not in self.budgets:
                known = ", ".join(map(label, self.budgets))
                raise ReviserError(f"{label(budget)} is no budget of this scale: choose from {known}")
        return dataclasses.replace(self, budgets=tuple(sorted(set(budgets))))

    def settings_of(self, budget: int) -> Settings:
        return dataclasses.replace(self.settings, steps=self.steps(budget), minutes=None)


def label(budget: int) -> str:
    """The name of a budget in folders and tables."""
    whole, rest = divmod(budget, MILLION)
    return f"{whole}M" if not rest else str(budget)


_LAB = preset_settings(
    "paper-100m", steps=1, rows=256, peak_rate=6e-4, final_rate=6e-5, warmup_steps=100, dropout=0.0, cooldown=COOLDOWN
)
_TINY = dataclasses.replace(
    preset_settings("tiny", steps=1, rows=2, row_length=64, history=64, cooldown=COOLDOWN), model="tiny-paper"
)
_TINY_SETUP = Setup(
    prompts=4, seeds=(1, 2), shortest=40, prompt_tokens=8, total_tokens=16, max_actions=12, diffusion_steps=3
)

SCALES: dict[str, StagedScale] = {
    # A minute or two on a processor: every stage works, and nothing is learned.
    "smoke": StagedScale(
        _TINY, (1280, 2560), _TINY_SETUP, evaluators=("AR",), judges=("likelihood:AR",), features=(), critic_prompts=3
    ),
    # The paper's smaller trunk at one budget: less than 5 minutes of one H200 for each model.
    "lab": StagedScale(
        _LAB,
        (72 * MILLION,),
        Setup(),
        evaluators=("smollm2",),
        judges=("likelihood:smollm2",),
        features=("minilm",),
        workers=8,
    ),
    # The same at three budgets. About 754M ids are trained for each model: less than 25 minutes of one H200 each.
    "bench": StagedScale(
        _LAB,
        (72 * MILLION, 200 * MILLION, 700 * MILLION),
        Setup(),
        evaluators=("smollm2",),
        judges=("likelihood:smollm2",),
        features=("minilm",),
        workers=8,
    ),
    # The same budgets for a third of the weights: all five in less than an hour of one H200, at 20 ids a weight.
    "bench-small": StagedScale(
        preset_settings("paper-small", steps=1, cooldown=COOLDOWN),
        (72 * MILLION, 200 * MILLION, 700 * MILLION),
        Setup(seeds=(123, 124)),
        evaluators=("smollm2",),
        judges=("likelihood:smollm2",),
        features=("minilm",),
        workers=8,
    ),
}
