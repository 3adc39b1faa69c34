"""Boundaries of words, clauses and sentences, as seen through GPT-2's tokens."""

from __future__ import annotations

from itertools import pairwise

import pytest

from reviser.core.tokenizer import Gpt2Tokenizer
from training.data.boundaries import CLAUSE, SENTENCE, WORD, boundary_classes, strength, token_class


def boundaries(tokenizer: Gpt2Tokenizer, text: str) -> str:
    """The text with its inner boundaries marked: | word, ; clause, / sentence."""
    classes = boundary_classes(tokenizer)
    tokens = tokenizer.encode(text)
    marks = {0: "", WORD: "|", CLAUSE: ";", SENTENCE: "/"}
    shown = tokenizer.token_bytes(tokens[0]).decode()
    for before, after in pairwise(tokens):
        found = strength(int(classes[before]), int(classes[after]))
        shown += marks[found] + tokenizer.token_bytes(after).decode()
    return shown


@pytest.mark.parametrize(
    "marked",
    [
        "He| came,; saw",
        "It| is| 3.14,; not| 1,000./ Yes.",
        'She| said,; "No!"/ Then| unfathomably| left.',
        "One./\n/Two",
    ],
)
def test_boundaries(gpt2: Gpt2Tokenizer, marked: str) -> None:
    text = marked.replace("|", "").replace(";", "").replace("/", "")
    assert boundaries(gpt2, text) == marked


def test_pieces_of_characters_are_inside_words() -> None:
    assert token_class("漢".encode()[:2]) == 0
    assert token_class(b"") == 0
    assert strength(token_class("漢".encode()), token_class("字".encode())) == WORD
    assert strength(token_class("。".encode()), token_class("字".encode())) == SENTENCE
