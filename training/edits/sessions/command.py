"""`python -m training sessions`: sessions from git histories, and samples of next edits from sessions and from good
texts.

python -m training sessions find REPOSITORY --out sessions.jsonl
python -m training sessions make SHARDS --tokenizer tokenizer.json --sessions sessions.jsonl --texts texts.jsonl.xz
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from reviser.cli.arguments import parsed_command
from reviser.cli.entry import complain
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.edits.sessions.history import sessions_of
from training.edits.sessions.shards import ShardOptions, make_shards


@dataclass(frozen=True, kw_only=True)
class FindOptions:
    """In which history to look for sessions."""

    repository: Annotated[Path, Argument("git repository, with or without a work tree")]
    out: Annotated[Path, Option("file to write, JSON lines")]
    most: Annotated[int, Option("sessions, the latest ones")] = 2500
    commits: Annotated[int | None, Option("commits to look at, the latest ones")] = None


_COMMANDS: dict[str, tuple[type, str]] = {
    "find": (FindOptions, "find the sessions of a repository's history"),
    "make": (ShardOptions, "make samples of next edits, as shards"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    about = (__doc__ or "").splitlines()[0]
    chosen = parsed_command(_COMMANDS, arguments, prog="python -m training sessions", about=about)
    try:
        _find(chosen) if isinstance(chosen, FindOptions) else make_shards(chosen)
    except ReviserError as error:
        return complain(error)
    return 0


def _find(chosen: FindOptions) -> None:
    found = islice(sessions_of(chosen.repository, most_commits=chosen.commits), chosen.most)
    rows = [json.dumps(session.to_row(), ensure_ascii=False) for session in found]
    write_atomically(chosen.out, "".join(f"{row}\n" for row in rows).encode())
    print(f"{len(rows):,} sessions in {chosen.out}")
