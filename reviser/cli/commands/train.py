"""`reviser train` and `reviser tokenise`: hand their words on to the training package."""

from __future__ import annotations

import typer

from reviser.cli.extras import load_extra

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def train(context: typer.Context) -> None:
    """Train a model: reviser train PRESET --data SHARDS --out RUN (see --help)."""
    raise typer.Exit(
        load_extra("training.trainer.run", "train").main(context.args, "reviser train")
    )


def tokenise(context: typer.Context) -> None:
    """Turn texts into token shards for training: reviser tokenise OUT --tokenizer T SOURCE…"""
    raise typer.Exit(
        load_extra("training.data.shards", "train").main(context.args, "reviser tokenise")
    )
