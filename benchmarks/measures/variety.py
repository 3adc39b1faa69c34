"""The variety of texts: distinct n-grams within a text and over all texts, and repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, Tokenizer


@dataclass(frozen=True)
class Variety:
    """Figures over texts; n-grams are of tokens.

    `distinct_n` is the mean over texts of the share of a text's n-grams that occur in it for the first
    time, and `repeated_4` is 1 minus this share for n = 4. `distinct_n_overall` is the same share over the
    n-grams of all texts together, which falls when texts resemble one another. `looping` is the share of
    texts that end in a loop: the same up to 16 tokens at least three times in a row.
    """

    texts: int
    tokens: float
    distinct_1: float
    distinct_2: float
    distinct_3: float
    distinct_2_overall: float
    distinct_3_overall: float
    repeated_4: float
    looping: float


def variety(texts: Sequence[str], tokenizer: Tokenizer | None = None) -> Variety:
    """The variety of `texts`, by GPT-2's tokens unless another tokenizer is given."""
    if not texts:
        raise ReviserError("there are no texts whose variety could be measured")
    reader = tokenizer or Gpt2Tokenizer()
    return variety_of_tokens([reader.encode(text) for text in texts])


def variety_of_tokens(rows: Sequence[Sequence[int]]) -> Variety:
    return Variety(
        texts=len(rows),
        tokens=fmean(map(len, rows)),
        distinct_1=fmean(distinct(row, 1) for row in rows),
        distinct_2=fmean(distinct(row, 2) for row in rows),
        distinct_3=fmean(distinct(row, 3) for row in rows),
        distinct_2_overall=distinct_overall(rows, 2),
        distinct_3_overall=distinct_overall(rows, 3),
        repeated_4=1 - fmean(distinct(row, 4) for row in rows),
        looping=fmean(ends_in_loop(row) for row in rows),
    )


def distinct(tokens: Sequence[int], n: int) -> float:
    """The share of n-grams that occur for the first time; 1 for a text too short to have any."""
    return distinct_overall([tokens], n)


def distinct_overall(rows: Sequence[Sequence[int]], n: int) -> float:
    """`distinct` over the n-grams of several texts together."""
    grams = Counter(gram for row in rows for gram in _grams(row, n))
    return len(grams) / grams.total() if grams else 1.0


def ends_in_loop(tokens: Sequence[int], longest: int = 16, times: int = 3) -> bool:
    """Whether the text ends with the same tokens, at most `longest` of them, `times` over."""
    for period in range(1, min(longest, len(tokens) // times) + 1):
        end = list(tokens[-period * times :])
        if end == end[:period] * times:
            return True
    return False


def _grams(tokens: Sequence[int], n: int) -> Iterator[tuple[int, ...]]:
    return (tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
