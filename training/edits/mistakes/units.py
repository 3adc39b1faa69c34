"""Units of a tokenised text: words with the space before them, numbers, and marks, each of one or more tokens.

A tokenizer of the GPT-2 family splits a text into such units before it merges tokens, so a unit has the same tokens
everywhere. A word can therefore be exchanged for another without tokenising the text again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reviser.core.tokenizer import Tokenizer
from training.data.randomness import compiled, folded

Tokens = NDArray[np.int32]

SPACE, LETTER, DIGIT, MARK = range(4)


def _category(character: str) -> int:
    if character.isspace():
        return SPACE
    if character.isalpha():
        return LETTER
    return DIGIT if character.isnumeric() else MARK


def edge_categories(tokenizer: Tokenizer) -> NDArray[np.uint8]:
    """For each token, the categories of its first and last character; pieces of characters count as letters."""
    edges = np.full((tokenizer.size, 2), LETTER, dtype=np.uint8)
    for token in range(tokenizer.size):
        try:
            text = tokenizer.token_bytes(token).decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text:
            edges[token] = _category(text[0]), _category(text[-1])
    return edges


def bare_tokens(tokenizer: Tokenizer) -> Tokens:
    """For each token that begins with a space, the token of the same text without it; else -1."""
    ids = {tokenizer.token_bytes(token): token for token in range(tokenizer.size)}
    bare = np.full(tokenizer.size, -1, dtype=np.int32)
    for text, token in ids.items():
        if text.startswith(b" ") and len(text) > 1:
            bare[token] = ids.get(text[1:], -1)
    return bare


@compiled
def find_units(tokens: Tokens, edges: NDArray[np.uint8], starts: Tokens) -> int:
    """Writes the start of each unit of `tokens` and the end of the last one; returns the number of units."""
    count = 0
    for at in range(tokens.size):
        first = edges[tokens[at], 0]
        if at == 0 or first == 0 or first != edges[tokens[at - 1], 1]:
            starts[count] = at
            count += 1
    starts[count] = tokens.size
    return count


@compiled
def hashed(tokens: Tokens) -> np.uint64:
    """A 64-bit hash of a sequence of tokens."""
    name = np.uint64(0)
    for token in tokens:
        name = folded(name, np.uint64(token))
    return name
