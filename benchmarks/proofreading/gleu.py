"""GLEU as JFLEG reports it (Napoles et al. 2016): n-grams over all sentences, a reference drawn for each.

The published figure is the mean of 500 such draws, with the seeds of the published scorer.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.proofreading.scores import Counts, Floats, Interval, interval, resampled
from benchmarks.proofreading.tokens import Tokens

DRAWS = 500
ORDERS = (1, 2, 3, 4)


def gleu(sources: Sequence[Tokens], outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> Interval:
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


def gleu_row(given: Sequence[str], made: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The sums of GLEU for one text in words: matching n-grams, all n-grams, and both lengths."""
    matched, possible = [], []
    for order in ORDERS:
        old, new, right = (_ngrams(text, order) for text in (given, made, wanted))
        wrong = Counter({gram: count for gram, count in old.items() if gram not in right})
        matched.append(max((new & right).total() - (new & wrong).total(), 0))
        possible.append(max(len(made) - order + 1, 0))
    return [*matched, *possible, len(made), len(wanted)]


def _ngrams(text: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(text[at:] for at in range(order)), strict=False))


def gleu_of(summed: Floats) -> Floats:
    """GLEU from sums of the rows of `gleu_row`, of any leading shape; 0 where nothing matches."""
    orders = len(ORDERS)
    matched, possible = summed[..., :orders], summed[..., orders : 2 * orders]
    made, wanted = summed[..., -2], summed[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(matched / possible).mean(-1)
        found = np.exp(np.minimum(0.0, 1 - wanted / made) + precision)
    return np.where((matched > 0).all(-1) & (made > 0), found, 0.0)
