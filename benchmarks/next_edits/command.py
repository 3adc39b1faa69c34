"""The benchmark of next edits: after the first edits of real sessions, suggestions are compared with the authors'
next edits.

    reviser bench next-edit SESSIONS… [--model MODEL] [--sessions 400] [--json] [--write FILE]

A session is one commit's edits of one file. Its first one, two or three edits are made, and suggestions for the whole
document are computed. A suggestion is right if it makes an edit that the author made, with the same old and new text
in the same place; a place that the author forgot counts as wrong. One session of each document is used. Sessions of a
single edit, which nothing follows, are counted separately, by the share of them for which something is suggested.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from benchmarks.measures.arena import ShareInterval
from benchmarks.next_edits.cases import case_of
from benchmarks.next_edits.outcomes import (
    NextEditOutcome,
    NextEditScore,
    Proposing,
    all_replaced,
    followed,
    last_replaced,
    outcome_of,
)
from benchmarks.next_edits.processes import in_processes
from benchmarks.next_edits.sessions import ChosenSessions
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option
from reviser.core.files import write_atomically
from reviser.next_edits.evidence import EditSort
from reviser.next_edits.following import EditFollower, follower
from reviser.session.engine import load_engine
from training.edits.sessions.session import EditSession

SHOWN = (1, 2, 3)
_COLUMNS = ("edits made", "way", "suggestions", "right", "precision", "of all edits to come", "of their repeats")


@dataclass(frozen=True, kw_only=True)
class NextEditOptions:
    """Options of the benchmark: sessions and model."""

    files: Annotated[
        tuple[Path, ...], Argument("files of sessions (JSON lines, perhaps compressed)", metavar="SESSIONS")
    ]
    model: Annotated[str | None, Option("a model that has learned next edits", default="the text alone")] = None
    confidence: Annotated[float | None, Option("least confidence of a suggestion", default="as by default")] = None
    sessions: Annotated[int, Option("sessions of each file, at the most", least=1)] = 400
    longest: Annotated[
        int | None, Option("characters of the passages to which documents are cut", default="whole documents", least=1)
    ] = None
    seed: Annotated[int, Option("random seed of their choice")] = 17
    workers: Annotated[int, Option("processes", least=1)] = 2
    json: Annotated[bool, Option("print JSON")] = False
    write: Annotated[Path | None, Option("page to write", metavar="OUT")] = None


def run(options: NextEditOptions) -> None:
    """Runs the benchmark and prints a table or JSON."""
    chosen = ChosenSessions.of(options.files, options.sessions, options.seed, options.longest)
    least = _follower(options.model).judgement.confidence if options.confidence is None else options.confidence
    suggested = f"suggested at {least:g}"
    names = ("find and replace, last edit", "find and replace, all edits and marks", suggested)
    jobs = [
        _Job(session, count, options.model, least)
        for count in SHOWN
        for session in chosen.several
        if len(session.edits) > count
    ]
    alone = [_Job(session, 1, options.model, least) for session in chosen.single]
    outcomes = [*in_processes(_outcomes, [*jobs, *alone], options.workers)]
    scores = {
        (count, name): NextEditScore(
            [found[number] for job, found in zip(jobs, outcomes, strict=False) if job.count == count]
        )
        for count in SHOWN
        for number, name in enumerate(names)
    }
    single = NextEditScore([found[-1] for found in outcomes[len(jobs) :]])
    together = NextEditScore(
        [one for (_, name), score in scores.items() if name == suggested for one in score.outcomes]
    )
    if options.json:
        print(json.dumps(_summary(scores, together, single, options), indent=1))
    else:
        page = _page(scores, together, single, options.seed)
        print(page, end="")
    if options.write:
        files = " ".join(path.name for path in options.files)
        command = f"reviser bench next-edit {files} --sessions {options.sessions} --seed {options.seed}"
        command += f" --longest {options.longest}" if options.longest else ""
        command += f" --model {options.model}" if options.model else ""
        head = provenance(command, Sessions=f"{len(chosen.several)} of several edits, {len(chosen.single)} of one")
        page = f"# Next edits\n\n{head}\n{_page(scores, together, single, options.seed)}"
        write_atomically(options.write, page.encode())


@dataclass(frozen=True)
class _Job:
    """A case of a session, and how edits are suggested in it."""

    session: EditSession
    count: int
    model: str | None
    least: float


@cache
def _follower(model: str | None) -> EditFollower:
    return follower(load_engine(model) if model else None)


def _outcomes(job: _Job) -> tuple[NextEditOutcome, ...]:
    """The outcomes of all ways, the suggestions last."""
    case = case_of(job.session, job.count)
    ways: tuple[Proposing, ...] = (last_replaced, all_replaced, followed(_follower(job.model), job.least))
    return tuple(outcome_of(case, propose(case)) for propose in ways)


def _page(
    scores: dict[tuple[int, str], NextEditScore], together: NextEditScore, single: NextEditScore, seed: int
) -> str:
    rows = [
        (
            str(count),
            name,
            f"{score.shown:,}",
            f"{score.right:,}",
            _share(score.precision_by_case(seed)),
            _share(score.recall(seed)),
            _share(score.recall_of_repeats(seed)),
        )
        for (count, name), score in scores.items()
    ]
    sorts = [
        (str(sort), f"{shown:,}", f"{right:,}", f"{right / shown:.0%}")
        for sort in EditSort
        if (shown := together.of_sort(sort)[0]) and (right := together.of_sort(sort)[1]) >= 0
    ]
    text = Table(_COLUMNS, tuple(rows), names=2).markdown()
    text += "\n" + Table(("sort of edit", "suggestions", "right", "precision"), tuple(sorts)).markdown()
    if single.outcomes:
        share = _share(single.with_some)
        text += f"\nOf {len(single.outcomes):,} sessions of a single edit, something is suggested in {share}.\n"
    return text


def _share(found: ShareInterval) -> str:
    return f"{found.share:.1%} ({found.low:.1%} to {found.high:.1%})" if found.share == found.share else ""


def _summary(
    scores: dict[tuple[int, str], NextEditScore],
    together: NextEditScore,
    single: NextEditScore,
    options: NextEditOptions,
) -> dict[str, object]:
    """The JSON object of the results; intervals are of 95 %."""
    return {
        "ways": [
            {
                "edits": count,
                "way": name,
                "cases": len(score.outcomes),
                "suggestions": score.shown,
                "right": score.right,
                "precision": _numbers(score.precision_by_case(options.seed)),
                "recall": _numbers(score.recall(options.seed)),
                "recall_of_repeats": _numbers(score.recall_of_repeats(options.seed)),
            }
            for (count, name), score in scores.items()
        ],
        "sorts": {
            str(sort): dict(zip(("suggestions", "right"), together.of_sort(sort), strict=True))
            for sort in EditSort
            if together.of_sort(sort)[0]
        },
        "single": {"cases": len(single.outcomes), "with_suggestion": _numbers(single.with_some)},
        "seed": options.seed,
    }


def _numbers(found: ShareInterval) -> list[float | None]:
    """The share and its interval as a list; the share is None if nothing was counted."""
    share = None if found.share != found.share else round(found.share, 4)
    return [share, round(found.low, 4), round(found.high, 4)]
