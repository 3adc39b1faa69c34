"""GLEU as JFLEG reports it (Napoles et al. 2016): n-grams over all sentences, a reference drawn for each.

The published figure is the mean of 500 such draws, with the seeds of the published scorer.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from benchmarks.measures.sari import gleu_of, gleu_row
from benchmarks.proofreading.scores import Counts, Interval, interval, resampled
from benchmarks.proofreading.tokens import Tokens

DRAWS = 500


def gleu(
    sources: Sequence[Tokens], outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]]
) -> Interval:
    """GLEU of all sentences together, 0 to 1; each has the same number of references."""
    rows = np.array(
        [
            [gleu_row(source, output, wanted) for wanted in several]
            for source, output, several in zip(sources, outputs, references, strict=True)
        ],
        dtype=np.float64,
    )
    chosen = _published_draws(len(rows), rows.shape[1])
    sums = np.stack([rows[np.arange(len(rows)), draw].sum(0) for draw in chosen])
    value = float(gleu_of(sums).mean())
    expected = rows.mean(1)
    drawn = np.stack([expected[draw].sum(0) for draw in resampled(len(rows))])
    return interval(value, gleu_of(drawn))


def _published_draws(sentences: int, references: int) -> Counts:
    draws = []
    for number in range(DRAWS):
        generator = random.Random(number * 101)
        draws.append([generator.randint(0, references - 1) for _ in range(sentences)])
    return np.array(draws, dtype=np.int64)
