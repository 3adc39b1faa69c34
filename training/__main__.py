"""`python -m training NAME …` runs the command of that name; its code is imported only then."""

from __future__ import annotations

from functools import partial

from reviser.cli.entry import run_command
from reviser.cli.options import run_by_name

COMMANDS = {
    "data": ("data.shards", "turn texts into token shards"),
    "edits": ("edits.edits", "read edits from diffs"),
    "mistakes": ("edits.mistakes.command", "put the mistakes that people make into texts, as edits that correct them"),
    "sessions": ("edits.sessions.command", "find sessions in git histories, and make samples of next edits"),
    "base_texts": ("data.base_texts", "let a base model write everyday texts, as token shards"),
    "optional_pieces": ("data.optional_pieces", "find pieces that texts can do without, for steps back"),
    "run": ("trainer.run", "train a model"),
    "dagger": ("dagger.run", "train a reviser on the states that it reaches when it revises by itself"),
    "ppo": ("ppo.run", "tune a model by reinforcement learning"),
}


if __name__ == "__main__":
    run_command(lambda: partial(run_by_name, "training", COMMANDS))
