"""`python -m training NAME …` runs the command of that name; its code is imported only then."""

from __future__ import annotations

import sys
from importlib import import_module

from reviser.cli.entry import complain, run_command

COMMANDS = {
    "data": "turn texts into token shards",
    "edits": "read edits from diffs, and check their trajectories",
    "mistakes": "put the mistakes that people make into texts, as edits that correct them",
    "sessions": "find sessions in git histories, and make samples of next edits",
    "base_texts": "let a base model write everyday texts, as token shards",
    "optional_pieces": "find pieces that texts can do without, for steps back",
    "run": "train a model",
    "dagger": "train a reviser on the states that it reaches when it revises by itself",
    "ppo": "tune a model by reinforcement learning",
}

_MODULES = {
    "data": "training.data.shards",
    "edits": "training.edits.edits",
    "mistakes": "training.edits.mistakes.command",
    "sessions": "training.edits.sessions.command",
    "base_texts": "training.data.base_texts",
    "optional_pieces": "training.data.optional_pieces",
    "run": "training.trainer.run",
    "dagger": "training.dagger.run",
    "ppo": "training.ppo.run",
}


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("", "-h", "--help"):
        listed = "\n".join(f"  {known:<16} {what}" for known, what in COMMANDS.items())
        print(f"usage: python -m training NAME …\n{listed}", file=sys.stdout if name else sys.stderr)
        return 0 if name else 2
    if name not in COMMANDS:
        return complain(f"there is no command {name} (see python -m training --help)")
    module = import_module(_MODULES[name])
    status: int = module.main(sys.argv[2:])
    return status


if __name__ == "__main__":
    run_command(lambda: main)
