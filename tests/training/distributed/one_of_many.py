"""One process of a training run that reports every step; REVISER_TEST_ENDS_AT ends it, as if it had been killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import training.trainer.run
from reviser.cli.options import run_with
from training.trainer.trainer import StepMeasures, Trainer

steps = Trainer.steps


def some(self: Trainer) -> Iterator[StepMeasures]:
    for measured in steps(self):
        yield measured
        if str(self.progress.step) == os.environ.get("REVISER_TEST_ENDS_AT"):
            os._exit(9)


if __name__ == "__main__":
    training.trainer.run._REPORT_SECONDS = 0.0
    Trainer.steps = some  # type: ignore[method-assign]
    sys.exit(run_with(training.trainer.run.run, sys.argv[1:]))
