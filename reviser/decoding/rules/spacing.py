"""The spacing rules: a space or new line after a sentence, one space between words, and none at the end of a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer, decode, first_bytes
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.structure import OpenStructure
from reviser.model.scoring import Scores

_LONGEST_WORD = 80
_LONGEST_CHARACTER = 3  # tokens before the last of a character that is written byte by byte
_OPENING = r"""["'“‘«(\[*_]*"""
_CLOSING = r"""["'”’»)\]*_]*"""
# A dot also stands in numbers, addresses and abbreviations: behind those a word may well follow at once.
_LAST_WORD = re.compile(
    rf"""{_OPENING}(?:
        (?!www\.)(?=[^\W\d_]{{2}})[^\W\d_]+(?:['’–—-][^\W\d_]+)*\.
        | [\w'’–—-]*\w[!?]+
    ){_CLOSING}""",
    re.VERBOSE,
)
_OPENS = "“‘«("


def ends_sentence(text: str) -> bool:
    """Whether a text ends with the end of a sentence and no space after it."""
    tail = text[-_LONGEST_WORD:]
    if not tail or tail[-1].isspace():
        return False
    return _LAST_WORD.fullmatch(tail.split()[-1]) is not None


_Which = Callable[[str], bool]
_known: WeakKeyDictionary[Tokenizer, dict[_Which, NDArray[np.bool_]]] = WeakKeyDictionary()


def _tokens_that(tokenizer: Tokenizer, begin: _Which) -> NDArray[np.bool_]:
    """Which tokens have a text for which `begin` holds; computed once for a tokenizer."""
    found = _known.setdefault(tokenizer, {})
    if begin not in found:

        def fits(token: int) -> bool:
            if token in tokenizer.markers:
                return False
            return begin(tokenizer.token_bytes(token).decode("utf-8", "ignore"))

        found[begin] = np.array([fits(token) for token in range(tokenizer.size)], dtype=np.bool_)
    return found[begin]


def glued_tokens(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which tokens begin with a word, or with an opening mark, and so would follow a full stop without a space."""
    found = _known.setdefault(tokenizer, {})
    if _begins_word not in found:
        # The first character tells, and mostly that is one byte.
        starts = np.frombuffer(first_bytes(tokenizer), dtype=np.uint8)
        glued = np.array([byte < 128 and _begins_word(chr(byte)) for byte in range(256)])[starts]
        for token in np.flatnonzero(starts >= 128).tolist():
            glued[token] = _begins_word(tokenizer.token_bytes(token).decode("utf-8", "ignore"))
        glued[list(tokenizer.markers)] = False
        found[_begins_word] = glued
    return found[_begins_word]


def _begins_word(text: str) -> bool:
    return text[:1].isalnum() or text.startswith(tuple(_OPENS))


_MARKS = ",;:.!?"


def ends_with_mark(text: str) -> bool:
    """Whether a text ends with a punctuation mark, perhaps with a closing quotation mark or bracket and a space."""
    return text.rstrip().rstrip("\"'”’»)]*_")[-1:] in tuple(_MARKS)


def mark_tokens(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which tokens begin with a punctuation mark, or with a space and one."""
    return _tokens_that(tokenizer, _begins_with_mark)


def _begins_with_mark(text: str) -> bool:
    return text.lstrip(" ").startswith(tuple(_MARKS))


# Characters that nobody sees: spaces of no width, and marks of direction.
_UNSEEN = frozenset("\u200b\u200e\u200f\u2060\ufeff")


def joining(tokenizer: Tokenizer, following: str) -> Callable[[Sequence[int]], bool]:
    """A function that says whether tokens may stand before `following`: with exactly one space between and without
    invisible characters."""

    def fits(tokens: Sequence[int]) -> bool:
        text = decode(tokenizer, tokens)
        last, first = text[-1:], following[:1]
        if last.isspace() and first.isspace():
            return False
        return not (last.isalnum() and first.isalnum()) and _UNSEEN.isdisjoint(text)

    return fits


class SingleMark(ScoreProcessor):
    """A rule for gaps after a punctuation mark, such as a full stop: the filling does not begin with another one."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._marks = mark_tokens(tokenizer)

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        if canvas.cursor == canvas.low:
            scores[: len(self._marks)][self._marks] = -np.inf


class SentenceSpacing(ScoreProcessor):
    """A rule for a prefix that ends a sentence: the next word is not written without a space."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._glued = glued_tokens(tokenizer)

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        apart = canvas.cursor - canvas.low
        if apart > _LONGEST_CHARACTER:
            return
        vocabulary = canvas.vocabulary
        if self._shows_nothing(canvas.between(canvas.low, canvas.cursor)):
            self._forbid(scores, 0)
        # The token next to the prefix can be replaced from here, or removed, which brings the one behind it there.
        if apart == 1 and vocabulary.first_replace_id is not None:
            self._forbid(scores, vocabulary.first_replace_id)
        if apart == 1 and canvas.cursor < canvas.high and self._is_glued(canvas):
            scores[vocabulary.delete_id] = -np.inf

    def _shows_nothing(self, tokens: Sequence[int]) -> bool:
        """Whether tokens are at most a part of one character, such as a closing quotation mark."""
        return not b"".join(map(self._tokenizer.token_bytes, tokens)).decode("utf-8", "ignore")

    def _forbid(self, scores: Scores, first: int) -> None:
        scores[first : first + len(self._glued)][self._glued] = -np.inf

    def _is_glued(self, canvas: Canvas) -> bool:
        (behind,) = canvas.between(canvas.cursor, canvas.cursor + 1)
        return behind < len(self._glued) and bool(self._glued[behind])


class SingleSpacing(ScoreProcessor):
    """A rule for one space between words and none at the end of a line; indentation and code stay as drawn.

    `apart` says that a space stands before the run, unseen by the policy: the run begins with that space and a word.
    """

    def __init__(self, vocabulary: Vocabulary, tokenizer: Tokenizer, structure: OpenStructure, *, apart: bool) -> None:
        self._size = vocabulary.base_size
        self._tokenizer = tokenizer
        self._structure = structure
        self._apart = apart
        self._texts: dict[int, str] = {}

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        if id >= self._size:
            return None
        text = self._text(id)
        if self._apart and canvas.cursor == canvas.low:
            return None if text[:1] in ("", " ") and not text[1:].startswith((*_MARKS, " ", "\n")) else ()
        before = self._structure.before[-1:]
        if canvas.cursor > canvas.low:
            before = self._text(*canvas.between(canvas.cursor - 1, canvas.cursor))[-1:]
        spaces = len(text) - len(text.lstrip(" "))
        opens = before in ("", "\n") and spaces == 1
        doubled = spaces + (before == " ") > 1 or (text.endswith(" ") and self._is_before_space(canvas))
        trails = text[spaces : spaces + 1] == "\n" and (spaces > 0 or before == " ")
        return self._single(text, before, canvas) if opens or doubled or trails else None

    def _single(self, text: str, before: str, canvas: Canvas) -> Sequence[int] | None:
        """The ids of a text with superfluous spaces removed; None if it has none."""
        whole = self._structure.before + decode(self._tokenizer, canvas.between(canvas.low, canvas.cursor))
        word = text.lstrip(" ")
        if self._structure.is_code(whole):
            return None
        if not whole[whole.rfind("\n") + 1 :].strip():
            # More than one space there may be meant.
            return self._tokenizer.encode(word) if text == f" {word}" and word[:1].isalpha() and before != " " else None
        if not word or (before == " " and word.startswith("\n")):
            return ()
        return self._tokenizer.encode(word if before == " " or word.startswith("\n") else f" {word}")

    def _text(self, id: int) -> str:
        found = self._texts.get(id)
        if found is None:
            found = self._texts[id] = self._tokenizer.token_bytes(id).decode("utf-8", "ignore")
        return found

    def _is_before_space(self, canvas: Canvas) -> bool:
        cursor = canvas.cursor
        behind = canvas.between(cursor, min(cursor + 1, canvas.length))
        return bool(behind) and self._text(*behind).startswith(" ")
