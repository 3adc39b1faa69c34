"""The fitting of the judgement of next edits: the probability that an author makes a possible repeat.

    python -m benchmarks judgement SESSIONS… [--model MODEL] [--precision 0.85] [--out FILE]

One, two, three and all edits of each session are made, mostly from top to bottom. All places of the whole document
where they could be repeated are candidates, so that the judgement learns how seldom a repeat is right. The minimum
confidence is fitted on other documents than the weights, those whose authors made more edits: it is the smallest one
at which the share of right suggestions reaches `--precision`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.next_edits.cases import case_with, right_edits
from benchmarks.next_edits.outcomes import edited
from benchmarks.next_edits.processes import in_processes
from benchmarks.next_edits.sessions import ChosenSessions
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.next_edits.following import candidates
from reviser.next_edits.judgement import MODEL, SHIPPED, NextEditJudgement, judgements_text, read_judgements
from reviser.next_edits.reading import NextEditReader
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.session.engine import load_engine
from training.data.randomness import KeyedRandom
from training.edits.sessions.session import EditSession

Floats = NDArray[np.float64]
_IN_ORDER: Final = 0.7
_MOST_MADE: Final = 12
_RAREST: Final = 40
"""A feature of fewer candidates has no weight."""
_USUAL: Final = 10
_RIDGE: Final = 3.0
_STEPS: Final = 30
_HELD_BACK: Final = 5


@dataclass(frozen=True, kw_only=True)
class JudgementOptions:
    """Options of the fit: sessions, precision and output file."""

    files: Annotated[
        tuple[Path, ...], Argument("files of sessions (JSON lines, perhaps compressed)", metavar="SESSIONS")
    ]
    model: Annotated[str | None, Option("a model that has learned next edits", default="the text alone")] = None
    sessions: Annotated[int, Option("sessions of each file, at the most", least=1)] = 4000
    precision: Annotated[float, Option("share of what is shown that is to be right")] = 0.85
    seed: Annotated[int, Option("random seed")] = 23
    longest: Annotated[
        int | None, Option("characters of the passages to which documents are cut", default="whole documents", least=1)
    ] = None
    workers: Annotated[int, Option("processes", least=1)] = 2
    out: Annotated[Path, Option("file of judgements, in which it takes its place")] = SHIPPED


@dataclass(frozen=True)
class MeasuredCase:
    """The candidates of one case with their features, and which of them were right.

    `group` tells documents apart. `goes_on` says whether the author made more edits.
    """

    features: Sequence[Mapping[str, float]]
    right: Sequence[bool]
    group: int
    goes_on: bool = True


@dataclass(frozen=True)
class _FitJob:
    session: EditSession
    made: Sequence[int]
    group: int
    model: str | None


def run(options: JudgementOptions) -> None:
    chosen = ChosenSessions.of(options.files, options.sessions, options.seed, options.longest)
    jobs = [*_jobs([*chosen.several, *chosen.single], options)]
    digest = "" if options.model is None else getattr(load_engine(options.model).policy, "digest", "")
    cases = [*in_processes(_measured, jobs, options.workers)]
    fitted = fitted_to([case for case in cases if case.features], options.precision, digest)
    others = [one for one in read_judgements(options.out) if one.model != digest] if options.out.is_file() else []
    write_atomically(options.out, judgements_text(sorted([*others, fitted], key=lambda one: one.model)).encode())
    print(f"{len(jobs):,} cases, {sum(len(case.right) for case in cases):,} candidates; shown from {fitted.confidence}")


def _jobs(sessions: Iterable[EditSession], options: JudgementOptions) -> Iterator[_FitJob]:
    """Yields the jobs of each session: one, two, three and all edits made."""
    for number, session in enumerate(sessions):
        random = KeyedRandom(options.seed, number)
        count = len(session.edits)
        for wanted in sorted({1, 2, 3, count}):
            if wanted > min(count, _MOST_MADE):
                continue
            numbers = list(range(count))
            if not random.chance(_IN_ORDER):
                for at in range(wanted):
                    other = at + random.below(count - at)
                    numbers[at], numbers[other] = numbers[other], numbers[at]
            yield _FitJob(session, numbers[:wanted], number, options.model)


@cache
def _reader(model: str) -> NextEditReader:
    engine = load_engine(model)
    return NextEditReader(engine.policy, engine.tokenizer, f"the model {engine.name}")


def _measured(job: _FitJob) -> MeasuredCase:
    case = case_with(job.session, job.made)
    found = candidates(edited(case), dictionary().knows, None if job.model is None else _reader(job.model))
    return MeasuredCase(
        [one.features for one in found],
        [bool(right_edits(case, one.change)) for one in found],
        job.group,
        bool(case.to_come),
    )


def fitted_to(cases: Sequence[MeasuredCase], precision: float, model: str = "") -> NextEditJudgement:
    """Fits the judgement to some of the cases, and its minimum confidence, which reaches the precision, to the
    others."""
    if not any(map(any, (case.right for case in cases))):
        raise ReviserError("in these sessions no edit is repeated: there is nothing to fit")
    confidences: list[float] = []
    rights: list[bool] = []
    for part in range(_HELD_BACK):
        rest = _fit([case for case in cases if case.group % _HELD_BACK != part], model)
        for case in cases:
            if case.group % _HELD_BACK == part and case.goes_on:
                confidences += [rest.confidence_of(features) for features in case.features]
                rights += case.right
    least = _least_confidence(np.array(confidences), np.array(rights), precision)
    return replace(_fit(cases, model), confidence=least)


def _least_confidence(confidences: Floats, rights: NDArray[np.bool_], precision: float) -> float:
    """The smallest confidence (a multiple of 0.01) from which on the precision is reached; 0.99 if none reaches it."""
    for hundredths in range(5, 99):
        shown = confidences >= hundredths / 100
        if shown.any() and rights[shown].mean() >= precision:
            return hundredths / 100
    return 0.99


def _fit(cases: Sequence[MeasuredCase], model: str) -> NextEditJudgement:
    """Logistic regression with a ridge penalty by Newton's method; the candidates of large cases have less weight."""
    counts = Counter(name for case in cases for features in case.features for name in features)
    names = sorted(name for name, count in counts.items() if count >= _RAREST)
    columns = {name: number for number, name in enumerate(names)}
    total = sum(len(case.right) for case in cases)
    table = np.zeros((total, len(names) + 1), dtype=np.float32)
    table[:, -1] = 1
    right = np.zeros(total)
    weight = np.zeros(total)
    row = 0
    for case in cases:
        for features, is_right in zip(case.features, case.right, strict=True):
            for name, value in features.items():
                if name in columns:
                    table[row, columns[name]] = value
            right[row] = is_right
            weight[row] = 1 / math.sqrt(max(len(case.right) / _USUAL, 1.0))
            row += 1
    found = _newton(table, right, weight)
    weights = {name: round(float(found[number]), 4) for name, number in columns.items()}
    if model and MODEL not in weights:
        raise ReviserError("the model said too little to be weighed")
    return NextEditJudgement(weights, round(float(found[-1]), 4), 0.5, model)


def _newton(table: NDArray[np.float32], right: Floats, weight: Floats) -> Floats:
    ridge = np.full(table.shape[1], _RIDGE)
    ridge[-1] = 1e-6
    found = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(table @ found, -30, 30)))
        slope = table.T @ (weight * (right - chance)) - ridge * found
        curve = weight * chance * (1 - chance) + 1e-9
        bend = (table * curve[:, None].astype(np.float32)).T @ table + np.diag(ridge)
        step = np.linalg.solve(bend.astype(np.float64), slope)
        found += step
        if np.abs(step).max() < 1e-5:
            break
    return found
