"""`reviser train` and `reviser tokenise`: commands of the training package."""

from __future__ import annotations

import typer

from reviser.cli.deferred import command_with
from reviser.cli.extras import load_extra


def add_training(app: typer.Typer) -> None:
    """Add both commands to the app."""

    @command_with(app, "training.trainer.run", options="RunOptions", extra="train")
    def train(options: object) -> None:
        """Train a model: reviser train PRESET --data SHARDS --out RUN."""
        load_extra("training.trainer.run", "train").run(options)

    @command_with(app, "training.data.shards", options="TokeniseOptions", extra="train")
    def tokenise(options: object) -> None:
        """Turn texts into token shards for training: reviser tokenise OUT --tokenizer T SOURCE…"""
        load_extra("training.data.shards", "train").run(options)
