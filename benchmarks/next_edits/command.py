"""How well next edits are foretold: the first edits of real sessions are shown, and the proposals for the rest are
judged.

    python -m benchmarks next-edits SESSIONS… [--model MODEL] [--sessions 60] [--write FILE]

A session is one commit's edits of one file. Its first one, two or three edits are made and shown; every window of
the file is read. A proposal is right if it makes an edit that the author made, with the same old and new text in
the same place. Of each file of a project one session is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.next_edits.cases import NextEditCase, case_of, right_edits
from benchmarks.next_edits.reading import Proposal, ProposalReader
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.next_edits.prompt import LONGEST_EDIT
from reviser.next_edits.repeats import repeats
from reviser.session.engine import load_engine
from training.data.randomness import KeyedRandom
from training.edits.sessions.session import EditSession, read_sessions

_SHOWN = (1, 2, 3)
_COLUMNS = ("shown edits", "way", "confidence", "proposals", "right", "precision", "of all edits to come")
_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, kw_only=True)
class NextEditOptions:
    """Which sessions are foretold by which model."""

    files: Annotated[tuple[Path, ...], Argument("files of sessions (JSON lines, perhaps compressed)")]
    model: Annotated[str, Option("name or folder of a model")] = "default"
    sessions: Annotated[int, Option("sessions of each file")] = 60
    seed: Annotated[int, Option("random seed of their choice")] = 17
    write: Annotated[Path | None, Option("page to write")] = None


@dataclass(frozen=True)
class ProposalScore:
    """Proposals that were shown, those that were right, and the author's edits that these made."""

    shown: int
    right: int
    found: int


def run(options: NextEditOptions) -> None:
    sessions = [session for path in options.files for session in chosen_sessions(path, options.sessions, options.seed)]
    if not sessions:
        raise ReviserError("these files have no session whose edits can be shown")
    reader = ProposalReader(load_engine(options.model))
    rows: list[tuple[str, ...]] = []
    for count in _SHOWN:
        cases = [case_of(session, count) for session in sessions if len(session.edits) >= count]
        rows += [(str(count), *row) for row in _rows(reader, cases)] if cases else []
    table = Table(_COLUMNS, tuple(rows), names=3).markdown()
    if options.write:
        command = f"python -m benchmarks next-edits … --model {options.model} --seed {options.seed}"
        names = ", ".join(path.name for path in options.files)
        head = provenance(command, Data=f"{len(sessions)} sessions of {names}")
        write_atomically(options.write, f"# Next edits\n\n{head}\n{table}".encode())
    print(table)


def chosen_sessions(path: Path, most: int, seed: int) -> list[EditSession]:
    """Sessions of a file, one of each document, whose edits are short enough to be shown."""
    unique: dict[str, EditSession] = {}
    for session in read_sessions(path):
        if all(max(len(edit.old), len(edit.new)) < LONGEST_EDIT for edit in session.edits):
            unique.setdefault(session.path or session.text[:80], session)
    chosen = list(unique.values())
    random = KeyedRandom(seed)
    while len(chosen) > most:
        chosen.pop(random.below(len(chosen)))
    return chosen


def _rows(reader: ProposalReader, cases: Sequence[NextEditCase]) -> list[tuple[str, ...]]:
    to_come = sum(len(case.to_come) for case in cases)
    every = [[Proposal(change, 1.0) for change in repeats(case.text, case.shown, case.taken)] for case in cases]
    rows = [_row("find and replace", "", score(cases, every, 0.0), to_come)]
    ways: dict[str, Callable[[Sequence[NextEditCase]], list[list[Proposal]]]] = {
        "repeats, judged": reader.judged,
        "own proposals": reader.proposed,
    }
    for name, propose in ways.items():
        proposals = propose(cases)
        rows += [_row(name, f"{least:g}", score(cases, proposals, least), to_come) for least in _LEVELS]
    return rows


def score(cases: Sequence[NextEditCase], proposals: Sequence[Sequence[Proposal]], least: float) -> ProposalScore:
    """How many proposals of at least such a confidence there are, and how many are right."""
    rights = [
        right_edits(case, one.change)
        for case, some in zip(cases, proposals, strict=True)
        for one in some
        if one.confidence >= least
    ]
    return ProposalScore(len(rights), sum(right > 0 for right in rights), sum(rights))


def _row(name: str, least: str, found: ProposalScore, to_come: int) -> tuple[str, ...]:
    precision = f"{found.right / found.shown:.1%}" if found.shown else ""
    share = f"{found.found / to_come:.1%}" if to_come else ""
    return name, least, str(found.shown), str(found.right), precision, share
