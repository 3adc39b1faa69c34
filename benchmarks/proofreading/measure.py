"""The measurement of correctors on sets: corrections and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.proofreading.correctors import Corrector, NotInstalled, corrector, shown_name
from benchmarks.proofreading.errant_score import ErrantMissing, errant_f
from benchmarks.proofreading.examples import Example, Verdict, examples
from benchmarks.proofreading.gleu import gleu
from benchmarks.proofreading.m2 import m2
from benchmarks.proofreading.mistakes import ByKind, MistakenPassage, MistakeSet, by_kind
from benchmarks.proofreading.scores import FScore, Interval, interval, resampled
from benchmarks.proofreading.sets import ProofSet
from benchmarks.proofreading.tokens import Tokens, retokenise
from reviser.core.errors import ReviserError

FINISHED = "refs"  # bea-dev-refs: the finished sentences of bea-dev


@dataclass(frozen=True)
class CorrectorResult:
    """A corrector's score on a set, or the reason why there is none."""

    set: str
    corrector: str
    gleu: Interval | None = None
    f: FScore | None = None
    left_alone: Interval | None = None
    kinds: ByKind | None = None
    examples: dict[Verdict, list[Example]] = field(default_factory=dict)
    missing: str = ""


def corrected_by(corrector: Corrector, texts: list[str]) -> list[str]:
    """The corrected sentences; raises `ReviserError` if their number is not that of the texts."""
    made = corrector.correct(texts)
    if len(made) != len(texts):
        raise ReviserError(f"{corrector.name} gave {len(made)} sentences for {len(texts)}")
    return made


def tokens_of(set: ProofSet, made: Sequence[str]) -> list[Tokens]:
    """Converts corrected plain sentences to the set's tokens."""
    return [
        retokenise(sentence.tokens, sentence.plain, text, set.style)
        for sentence, text in zip(set.sentences, made, strict=True)
    ]


def score(set: ProofSet, made: Sequence[str]) -> Interval | FScore:
    """The set's usual score of corrected plain sentences."""
    sources = [sentence.tokens for sentence in set.sentences]
    outputs = tokens_of(set, made)
    if set.score == "gleu":
        return gleu(sources, outputs, [sentence.references for sentence in set.sentences])
    measure: Callable[..., FScore] = {"m2": m2, "errant": errant_f}[set.score]
    return measure(sources, outputs, [sentence.annotations for sentence in set.sentences])


def measured(set: ProofSet, name: str, shown: int) -> CorrectorResult:
    """A corrector's result on a set, with `shown` examples of each kind; or the reason why there is none."""
    called = shown_name(name)
    alone: Interval | None = None
    missing = ""
    try:
        made = corrected_by(corrector(name, set.name), set.sources)
        found = score(set, made)
    except (NotInstalled, ErrantMissing) as error:
        return CorrectorResult(set.name, called, missing=str(error))
    if set.score == "errant":
        try:
            finished = corrected_by(corrector(name, f"{set.name}-{FINISHED}"), set.finished)
            alone = left_alone(set.finished, finished)
        except NotInstalled as error:
            missing = str(error)
    passages = [MistakenPassage(*pair) for pair in zip(set.sources, set.finished, strict=True)]
    return CorrectorResult(
        set.name,
        called,
        gleu=found if isinstance(found, Interval) else None,
        f=found if isinstance(found, FScore) else None,
        left_alone=alone,
        kinds=by_kind(passages, made) if set.score != "gleu" else None,
        examples=examples(set.sources, made, set.reference_texts, shown),
        missing=missing,
    )


def measured_kinds(set: MistakeSet, name: str, shown: int) -> CorrectorResult:
    """A corrector's result on texts with known mistakes; or the reason why there is none."""
    called = shown_name(name)
    try:
        made = corrected_by(corrector(name, set.name), set.sources)
    except NotInstalled as error:
        return CorrectorResult(set.name, called, missing=str(error))
    kinds = by_kind(set.passages, made)
    finished = [
        (passage.before, text)
        for passage, text in zip(set.passages, made, strict=True)
        if passage.before == passage.after
    ]
    return CorrectorResult(
        set.name,
        called,
        f=kinds.f,
        left_alone=left_alone(*zip(*finished, strict=True)) if finished else None,
        kinds=kinds,
        examples=examples(set.sources, made, [[passage.after] for passage in set.passages], shown),
    )


def left_alone(texts: Sequence[str], made: Sequence[str]) -> Interval:
    """The share of correct sentences that were left unchanged."""
    same = np.array([old.split() == new.split() for old, new in zip(texts, made, strict=True)], np.float64)
    return interval(float(same.mean()), same[resampled(len(same))].mean(1))
