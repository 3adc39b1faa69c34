"""Measures of revised text: SARI and GLEU, over words, with one text that a person wrote to compare with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDERS = (1, 2, 3, 4)
_WORD = re.compile(r"\w+|[^\w\s]")

Floats = NDArray[np.float64]


def words(text: str) -> list[str]:
    """Words and marks, each on its own."""
    return _WORD.findall(text)


def _ngrams(text: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(text[at:] for at in range(order)), strict=False))


def sari(source: str, output: str, references: Sequence[str]) -> float:
    """SARI (Xu et al. 2016), 0 to 1; where there is nothing to add, keep or delete, that part is right."""
    given, made = words(source), words(output)
    wanted = [words(reference) for reference in references]
    parts = [_sari_of_order(given, made, wanted, order) for order in ORDERS]
    return float(np.mean(parts))


def _sari_of_order(
    given: list[str], made: list[str], wanted: list[list[str]], order: int
) -> tuple[float, float, float]:
    old, new = (_ngrams(text, order) for text in (given, made))
    right: Counter[tuple[str, ...]] = Counter()
    for text in wanted:
        right += _ngrams(text, order)
    # Counts are compared with those of all references together.
    old_all, new_all = (
        Counter({gram: count * len(wanted) for gram, count in grams.items()})
        for grams in (old, new)
    )
    kept, to_keep = old_all & new_all, old_all & right
    rightly_kept = kept & right
    keep = _harmonic(
        _mean_share(rightly_kept, kept),
        rightly_kept.total() / to_keep.total() if to_keep else 1.0,
    )
    deleted = old_all - new_all
    delete = _mean_share(deleted - right, deleted)
    added, to_add = set(new) - set(old), set(right) - set(old)
    rightly_added = len(added & set(right))
    add = _harmonic(
        rightly_added / len(added) if added else 1.0,
        rightly_added / len(to_add) if to_add else 1.0,
    )
    return keep, delete, add


def _mean_share(part: Counter[tuple[str, ...]], whole: Counter[tuple[str, ...]]) -> float:
    if not whole:
        return 1.0
    return sum(part[gram] / count for gram, count in whole.items()) / len(whole)


def _harmonic(precision: float, recall: float) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def gleu(sources: Sequence[str], outputs: Sequence[str], references: Sequence[str]) -> float:
    """GLEU (Napoles et al. 2015) of all texts together, with one reference each, 0 to 1."""
    return float(gleu_of(gleu_counts(sources, outputs, references).sum(0)))


def gleu_counts(
    sources: Sequence[str], outputs: Sequence[str], references: Sequence[str]
) -> Floats:
    """What GLEU adds up over texts, a row for each: n-grams that match, n-grams there are, and both lengths."""
    return np.array(
        [
            gleu_row(words(source), words(output), words(reference))
            for source, output, reference in zip(sources, outputs, references, strict=True)
        ],
        dtype=np.float64,
    ).reshape(-1, 2 * len(ORDERS) + 2)


def gleu_row(given: Sequence[str], made: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """What GLEU adds up, for one text as words."""
    matched, possible = [], []
    for order in ORDERS:
        old, new, right = (_ngrams(text, order) for text in (given, made, wanted))
        wrong = Counter({gram: count for gram, count in old.items() if gram not in right})
        matched.append(max((new & right).total() - (new & wrong).total(), 0))
        possible.append(max(len(made) - order + 1, 0))
    return [*matched, *possible, len(made), len(wanted)]


def gleu_of(summed: Floats) -> Floats:
    """GLEU from sums of such rows, of any leading shape; 0 where nothing matches."""
    orders = len(ORDERS)
    matched, possible = summed[..., :orders], summed[..., orders : 2 * orders]
    made, wanted = summed[..., -2], summed[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(matched / possible).mean(-1)
        found = np.exp(np.minimum(0.0, 1 - wanted / made) + precision)
    return np.where((matched > 0).all(-1) & (made > 0), found, 0.0)
