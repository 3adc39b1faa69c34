"""Windows: the part of a document that a model sees around a place, cut at a line, a sentence or a word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reviser.core.text import TextLayer
from reviser.core.tokenizer import Tokenizer

PIECE_SPARE: Final = 4
"""A piece of a text may take a few tokens more than it did in the whole."""

_LINE_START = re.compile(r"\n")
_SENTENCE_START = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+")
_WORD_START = re.compile(r"\s+")
# A token holds at least one byte, and few hold more characters than this.
_LONGEST_TOKEN = 16


@dataclass(frozen=True)
class Window:
    """A document in five parts: the model writes between `trailing_space` and `suffix`.

    It reads `prefix` and `suffix`. It does not see `before`, `after` and `trailing_space`, a single space at the
    prefix's end: tokens include the space before a word, so the model writes that space itself.
    """

    before: str
    prefix: str
    trailing_space: str
    suffix: str
    after: str

    @classmethod
    def around(cls, text: str, first: int, start: int, end: int, last: int) -> Window:
        """The window from `first` to `last` of a text, in which the part from `start` to `end` is to be written."""
        prefix = text[first:start]
        trailing_space = " " if re.search(r"\S \Z", prefix) else ""
        return cls(
            text[:first],
            prefix.removesuffix(trailing_space) if trailing_space else prefix,
            trailing_space,
            text[end:last],
            text[last:],
        )


class WindowCutter:
    """Finds the start and end of a window that fits a number of tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def fits(self, text: str, room: int) -> bool:
        """Whether a text has at most `room` tokens; very long texts are rejected without encoding."""
        if len(text) > _LONGEST_TOKEN * room:
            return False
        return len(self._tokenizer.encode(text)) <= room

    def prefix_start(self, text: str, end: int, room: int, spare: int) -> int:
        """The start of the longest well-cut text before `end` that fits: the document's start, or a good cut."""
        if self.fits(text[:end], room):
            return 0
        tail = text[max(0, end - _LONGEST_TOKEN * room) : end]
        tokens = self._tokenizer.encode(tail)[-(room - spare) :]
        shown = TextLayer(self._tokenizer, tokens).text
        return end - len(shown) + _first_good_cut(shown)

    def suffix_end(self, text: str, start: int, room: int) -> int:
        """The end of the longest well-cut text after `start` that fits: the document's end, or a good cut."""
        head = text[start : start + _LONGEST_TOKEN * room]
        tokens = self._tokenizer.encode(head)
        if len(tokens) <= room and start + len(head) == len(text):
            return len(text)
        shown = TextLayer(self._tokenizer, tokens[:room]).text
        return start + _last_good_cut(shown)

    def neighbourhood(self, text: str, start: int, end: int, room: int) -> Window:
        """The window near a draft, half of `room` tokens on either side."""
        side = room // 2
        first = self.prefix_start(text, start, side, min(PIECE_SPARE, side // 4))
        last = self.suffix_end(text, end, side)
        return Window(text[:first], text[first:start], "", text[end:last], text[last:])


def _first_good_cut(text: str) -> int:
    """The offset after the first line, else the first sentence, else the first word, if it comes early enough."""
    for pattern in (_LINE_START, _SENTENCE_START, _WORD_START):
        found = pattern.search(text, 0, max(len(text) // 3, 1))
        if found:
            return found.end()
    return 0


def _last_good_cut(text: str) -> int:
    """The offset after the last line, else the last sentence, else the last word, if it comes late enough."""
    for pattern in (_LINE_START, _SENTENCE_START, _WORD_START):
        ends = [found.end() for found in pattern.finditer(text, len(text) // 3)]
        if ends:
            return ends[-1]
    return len(text)
