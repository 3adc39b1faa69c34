"""`reviser train` and `reviser tokenise`: commands of the training package."""

from __future__ import annotations

import typer

from reviser.cli.options import add_deferred

_COMMANDS = (
    ("train", "trainer.run", "Train a model: reviser train PRESET --data SHARDS --out RUN."),
    (
        "tokenise",
        "data.shards",
        "Turn texts into token shards for training: reviser tokenise OUT --tokenizer T SOURCE…",
    ),
)


def add_training(app: typer.Typer) -> None:
    """Add both commands to the app."""
    for name, module, help in _COMMANDS:
        add_deferred(app, name, f"training.{module}", extra="train", help=help)
