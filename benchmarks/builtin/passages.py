"""Passages of a wanted length, cut from longer texts between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviser.core.tokenizer import Gpt2Tokenizer

# After the end of a sentence, or at an empty line.
_BOUNDARY = re.compile(r"(?<=[.!?])[\"”’)]?\s+(?=[\"“‘(]?[A-Z])|\n\s*\n")


def passages(text: str, shortest: int, longest: int) -> Iterator[str]:
    """Yields passages of consecutive whole sentences, each as long as `longest` GPT-2 tokens allow, without overlap.

    Sentences that do not reach `shortest` tokens before a sentence that is too long are left out.
    """
    tokenizer = Gpt2Tokenizer()

    def size(start: int, end: int) -> int:
        return len(tokenizer.encode(text[start:end].strip()))

    start = end = 0
    for sentence_end in [*(found.end() for found in _BOUNDARY.finditer(text)), len(text)]:
        if size(start, sentence_end) > longest:
            if shortest <= size(start, end) <= longest:
                yield text[start:end].strip()
            start = end
        end = sentence_end
    if shortest <= size(start, end) <= longest:
        yield text[start:end].strip()
