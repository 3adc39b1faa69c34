"""Correctors on sets: what each made of the sentences, and the scores of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.proofreading.correctors import Corrector
from benchmarks.proofreading.errant_score import errant_f
from benchmarks.proofreading.gleu import gleu
from benchmarks.proofreading.m2 import m2
from benchmarks.proofreading.scores import FScore, Interval, interval, resampled
from benchmarks.proofreading.sets import ProofSet
from benchmarks.proofreading.tokens import Tokens, retokenise
from reviser.errors import ReviserError

FINISHED = "refs"  # jfleg-dev-refs: the finished sentences of jfleg-dev


@dataclass(frozen=True)
class Result:
    """What a corrector reached on a set, by the set's score; or why there is nothing."""

    set: str
    corrector: str
    gleu: Interval | None = None
    f: FScore | None = None
    left_alone: Interval | None = None
    missing: str = ""


def corrected_by(corrector: Corrector, texts: list[str]) -> list[str]:
    """What it made of the sentences; as many as there were."""
    made = corrector.correct(texts)
    if len(made) != len(texts):
        raise ReviserError(f"{corrector.name} gave {len(made)} sentences for {len(texts)}")
    return made


def tokens_of(set: ProofSet, made: Sequence[str]) -> list[Tokens]:
    """Corrected plain sentences in the set's own tokens."""
    return [
        retokenise(sentence.tokens, sentence.plain, text, set.style)
        for sentence, text in zip(set.sentences, made, strict=True)
    ]


def score(set: ProofSet, made: Sequence[str], corrector: str) -> Result:
    """The set's usual score of corrected plain sentences."""
    sources = [sentence.tokens for sentence in set.sentences]
    outputs = tokens_of(set, made)
    if set.score == "gleu":
        references = [sentence.references for sentence in set.sentences]
        return Result(set.name, corrector, gleu=gleu(sources, outputs, references))
    annotations = [sentence.annotations for sentence in set.sentences]
    measure: Callable[..., FScore] = {"m2": m2, "errant": errant_f}[set.score]
    return Result(set.name, corrector, f=measure(sources, outputs, annotations))


def left_alone(texts: Sequence[str], made: Sequence[str]) -> Interval:
    """The share of finished sentences that were left as they are."""
    same = np.array(
        [old.split() == new.split() for old, new in zip(texts, made, strict=True)], np.float64
    )
    return interval(float(same.mean()), same[resampled(len(same))].mean(1))
