"""The command that reads real edits, and the actions by which a vocabulary can make them.

git log -p -- '*.md' | python -m training edits - --out edits.jsonl
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from reviser.cli.options import Argument, Option
from reviser.core.actions import Action, Replace, SpanDelete
from reviser.core.counts import counted
from reviser.core.errors import UnknownId
from reviser.core.files import write_atomically
from reviser.core.vocabulary import Vocabulary
from training.data.edit_files import read_edits
from training.edits.alignment import EditOperators


def operators_of(vocabulary: Vocabulary) -> EditOperators:
    """The optional rewriting actions for which a vocabulary has ids."""
    return EditOperators(_has(vocabulary, SpanDelete(2)), _has(vocabulary, Replace(_any_token(vocabulary))))


def _any_token(vocabulary: Vocabulary) -> int:
    tokens = (id for id in range(vocabulary.base_size) if id not in vocabulary.never_inserted)
    return next(tokens, 0)


def _has(vocabulary: Vocabulary, action: Action) -> bool:
    try:
        vocabulary.id(action)
    except UnknownId:
        return False
    return vocabulary.objection(action) is None


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Options of the command: the edits to read and where to save them."""

    source: Annotated[str, Argument("JSON lines or a unified diff; - reads standard input")]
    limit: Annotated[int | None, Option("edits to take")] = None
    out: Annotated[Path | None, Option("write the edits to this file, as JSON lines")] = None


def run(chosen: ReadingOptions) -> None:
    """Reads edits, saves them if asked to, and prints their number."""
    edits = list(islice(read_edits(chosen.source), chosen.limit))
    if chosen.out:
        rows = (json.dumps(asdict(edit), ensure_ascii=False) + "\n" for edit in edits)
        write_atomically(chosen.out, "".join(rows).encode())
    print(counted(len(edits), "edit"))
