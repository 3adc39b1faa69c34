"""Byte-pair encoding of short texts in Python, used because the tokenizers package needs long to build its encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

_OTHER_KINDS = (
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "byte_fallback",
    "ignore_merges",
)


def is_plain(data: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json describes plain byte-pair encoding: the text is cut into pieces, and each piece is
    merged."""
    model = data["model"]
    return (
        model.get("type") == "BPE"
        and isinstance(model["vocab"], dict)
        and not any(model.get(option) for option in _OTHER_KINDS)
        and data.get("normalizer") is None
        and data.get("pre_tokenizer") is not None
    )


def merge_names(merges: Sequence[str | Sequence[str]]) -> Sequence[str]:
    """Merges in the notation of older files, strings with a space between the halves; newer ones have pairs."""
    # Checked by their kinds at once, many strings take half the time that they take one by one.
    if set(map(type, merges)) <= {str}:
        return merges  # type: ignore[return-value]
    return [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]


class Merging:
    """An encoder that merges the characters of each piece, always the pair first that was learned first."""

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Sequence[str],
        cut: Callable[[str], Iterable[str]],
        first: int | None,
    ) -> None:
        """`cut` splits a text into pieces; `first` is the result of `first_merged` for these merges."""
        self._vocabulary = vocabulary
        self._merges = merges
        self._first = first
        self._ranks: dict[str, int] | None = None
        if self._first is None:
            self._ranks = dict(zip(self._merges, range(len(merges)), strict=True))
        self._cut = cut
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; raises KeyError if one of them has no id."""
        ids: list[int] = []
        for piece in self._cut(text):
            if piece not in self._known:
                self._known[piece] = [self._vocabulary[part] for part in self._merged(piece)]
            ids += self._known[piece]
        return ids

    def _merged(self, piece: str) -> list[str]:
        parts = list(piece)
        last = len(self._merges)
        while len(parts) > 1:
            ranks = [self._rank(one, other) for one, other in pairwise(parts)]
            best = min(ranks)
            if best == last:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return parts

    def _rank(self, one: str, other: str) -> int:
        """The rank of a pair among the merges, or the number of merges if it is none of them."""
        last = len(self._merges)
        if self._ranks is not None:
            return self._ranks.get(f"{one} {other}", last)
        assert self._first is not None
        rank = self._vocabulary.get(one + other, 0) - self._first
        # Another pair may make the same token.
        return rank if rank >= 0 and self._merges[rank] == f"{one} {other}" else last


def first_merged(vocabulary: Mapping[str, int], merges: Sequence[str]) -> int | None:
    """The id from which the vocabulary lists the results of the merges, in their order, up to its end; None if it does
    not.

    Most vocabularies do, and checking this is faster than numbering the merges.
    """
    tokens, first = list(vocabulary), len(vocabulary) - len(merges)
    in_order = first > 0 and list(vocabulary.values()) == list(range(len(tokens)))
    if in_order and "\n".join(tokens[first:]) == "\n".join(merges).replace(" ", ""):
        return first
    return None
