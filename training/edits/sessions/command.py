"""`python -m training sessions`: sessions from git histories, and samples of next edits from sessions and from good
texts.

python -m training sessions find REPOSITORY --out sessions.jsonl
python -m training sessions make SHARDS --tokenizer tokenizer.json --sessions sessions.jsonl --texts texts.jsonl.xz
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from reviser.cli.options import Argument, Option
from reviser.core.files import write_atomically
from training.edits.sessions.history import sessions_of
from training.edits.sessions.shards import make_shards


@dataclass(frozen=True, kw_only=True)
class FindOptions:
    """Options of `find`: the git history in which to look for sessions."""

    repository: Annotated[Path, Argument("git repository, with or without a work tree")]
    out: Annotated[Path, Option("file to write, JSON lines")]
    most: Annotated[int, Option("sessions, the latest ones")] = 2500
    commits: Annotated[int | None, Option("commits to look at, the latest ones")] = None
    of_each: Annotated[int | None, Option("sessions of one commit, at the most", default="all", least=1)] = None
    least: Annotated[int, Option("edits of a session, at the least", least=1)] = 2


def _find(chosen: FindOptions) -> None:
    every = sessions_of(chosen.repository, least=chosen.least, most_commits=chosen.commits, of_each=chosen.of_each)
    found = islice(every, chosen.most)
    rows = [json.dumps(session.to_row(), ensure_ascii=False) for session in found]
    write_atomically(chosen.out, "".join(f"{row}\n" for row in rows).encode())
    print(f"{len(rows):,} sessions in {chosen.out}")


COMMANDS = {
    "find": (_find, "find the sessions of a repository's history"),
    "make": (make_shards, "make samples of next edits, as shards"),
}
