"""Windows: how much of a document a model sees around a place, cut at a line, a sentence or a word."""

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
    """A document in five parts: what the model writes goes between `trailing_space` and `suffix`.

    It reads `prefix` and `suffix`. It does not see `before` and `after`, nor `trailing_space`, a single space
    at the prefix's end: words are learned with the space before them, so it is the model's to write.
    """

    before: str
    prefix: str
    trailing_space: str
    suffix: str
    after: str

    @classmethod
    def around(cls, text: str, first: int, start: int, end: int, last: int) -> Window:
        """The window from `first` to `last` of a text, in which the part from `start` to `end` is written."""
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
    """Finds where a window starts and ends, by the tokens of its text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def fits(self, text: str, room: int) -> bool:
        """Whether a text has at most `room` tokens; long ones need no encoding to fail."""
        if len(text) > _LONGEST_TOKEN * room:
            return False
        return len(self._tokenizer.encode(text)) <= room

    def prefix_start(self, text: str, end: int, room: int, spare: int) -> int:
        """Where the text before `end` starts that fits: the document's start, or a good cut in it."""
        if self.fits(text[:end], room):
            return 0
        tail = text[max(0, end - _LONGEST_TOKEN * room) : end]
        tokens = self._tokenizer.encode(tail)[-(room - spare) :]
        shown = TextLayer(self._tokenizer, tokens).text
        return end - len(shown) + _first_good_cut(shown)

    def suffix_end(self, text: str, start: int, room: int) -> int:
        """Where the text after `start` ends that fits: the document's end, or a good cut in it."""
        head = text[start : start + _LONGEST_TOKEN * room]
        tokens = self._tokenizer.encode(head)
        if len(tokens) <= room and start + len(head) == len(text):
            return len(text)
        shown = TextLayer(self._tokenizer, tokens[:room]).text
        return start + _last_good_cut(shown)

    def neighbourhood(self, text: str, start: int, end: int, room: int) -> Window:
        """What is near a draft, half of `room` on either side."""
        side = room // 2
        first = self.prefix_start(text, start, side, min(PIECE_SPARE, side // 4))
        last = self.suffix_end(text, end, side)
        return Window(text[:first], text[first:start], "", text[end:last], text[last:])


def _first_good_cut(text: str) -> int:
    """After the first line, else the first sentence, else the first word, if it comes early enough."""
    for pattern in (_LINE_START, _SENTENCE_START, _WORD_START):
        found = pattern.search(text, 0, max(len(text) // 3, 1))
        if found:
            return found.end()
    return 0


def _last_good_cut(text: str) -> int:
    """After the last line, else the last sentence, else the last word, if it comes late enough."""
    for pattern in (_LINE_START, _SENTENCE_START, _WORD_START):
        ends = [found.end() for found in pattern.finditer(text, len(text) // 3)]
        if ends:
            return ends[-1]
    return len(text)
