"""Rules against repetition: small models that have repeated something tend to repeat it again, so long repeats are
blocked."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, IntEnum
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rules.following import BeforeCursor
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.model.scoring import Scores

LONGEST_REPEAT: Final = 8
"""The number of tokens in a row that are not written twice, by default."""
SECOND: Final = 1.0
"""The penalty in nats for a word that would be the second of a phrase in the run's own text: this much if the two words
stand there once, and as much again each time their number doubles."""
THIRD: Final = 4.0
"""The penalty for the third word, for each time that the three stand there already."""
DOUBTFUL: Final = 4
"""The length in words from which a repeated phrase is blocked, unless the model is `SURE` of its last word and it
stands there once."""
SURE: Final = 0.5
"""The probability of a word from which there is no other good continuation, as after "by the end"."""
PHRASE: Final = 6
"""The length in words of a repeated phrase that one run never writes."""
OPENING_LINES: Final = 1.5
"""The penalty in nats for a word that would open another line of the run: this much if one line opens so, twice as much
if three do, growing with the logarithm."""
OPENING_SENTENCES: Final = 0.5
"""The same for sentences."""


class NoRepeats(ScoreProcessor):
    """A rule against writing `size` tokens in a row that stand elsewhere in the text already.

    A word that was begun may still be completed: the repeat is blocked at the next word.
    """

    def __init__(self, size: int = LONGEST_REPEAT, tokenizer: Tokenizer | None = None) -> None:
        self._size = size
        self._kinds = None if tokenizer is None else _Kinds(tokenizer)
        self._places = Places(size)

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        if canvas.cursor < self._size - 1:
            return
        self._places.follow(canvas, 0)
        found = self._places.completions(canvas.between(canvas.cursor, canvas.length))
        kinds = self._kinds
        repeated = [token for token in found if kinds is None or kinds[token] is not _Token.PIECE]
        if repeated:
            scores[repeated] = -np.inf


class NoRepeatedPhrases(ScoreProcessor):
    """A rule against writing phrases (words in a row) twice in one run.

    The longer a repeated phrase would become, and the more often it stands there, the lower the score of its next
    word's first token. Marks and line breaks between words do not matter, and may be repeated themselves; a number ends
    a phrase. The text around the run may be repeated. A word that opens a line or sentence of the run becomes less
    likely at the start of another one.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._kinds = _Kinds(tokenizer)
        self._said = _WrittenWords(self._kinds)

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        said = self._said
        said.follow(canvas, canvas.low)
        behind = said.what_follows(canvas.between(canvas.cursor, canvas.high))
        repeats = said.repeats(behind)
        openings = said.openings(behind)
        if not repeats and not openings:
            return
        long = any(max(sizes) >= DOUBTFUL for sizes in repeats.values())
        chances = _chances(scores) if long else None
        for token, nats in openings.items():
            scores[token] -= nats
        for token, sizes in repeats.items():
            if max(sizes) < DOUBTFUL:
                thrice = sum(size >= DOUBTFUL - 1 for size in sizes)
                scores[token] -= max(THIRD * thrice, SECOND * (1 + math.log2(len(sizes))))
            elif chances is not None:
                once = sum(size >= DOUBTFUL for size in sizes) == 1
                if max(sizes) >= PHRASE or not once or chances[token] < SURE:
                    scores[token] = -np.inf


_Word = tuple[int, ...]
"""Its tokens."""
_END: Final[_Word] = ()


def _chances(scores: Scores) -> Scores:
    weights = np.exp(scores - scores.max())
    chances: Scores = weights / weights.sum()
    return chances


class _Token(Enum):
    """The kind of a token within a phrase."""

    WORD = re.compile(r" [^\W\d_]+|['’][^\W\d_]+")
    """A space and letters, or an ending such as "'s"."""
    PIECE = re.compile(r"[^\W\d_]+")
    """Letters: the start of a line, or more of a word."""
    MARK = re.compile(r"[\W_]+")
    OTHER = re.compile("")


class _Opening(IntEnum):
    """What a word opens after a mark: a line, a sentence or nothing."""

    NOTHING = 0
    SENTENCE = 1
    LINE = 2


class _Kinds(dict[int, _Token]):
    """The kinds of a tokenizer's tokens, found when needed, since a text has few of them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(dict.fromkeys(tokenizer.markers, _Token.OTHER))
        self._token_bytes = tokenizer.token_bytes
        self._openings: dict[int, _Opening] = {}

    def __missing__(self, token: int) -> _Token:
        text = self._token_bytes(token).decode("utf-8", "ignore")
        found = self[token] = _kind(text)
        if found is _Token.MARK:
            self._openings[token] = _opening(text)
        return found

    def opening(self, token: int) -> _Opening:
        """What a word opens after this token, which is a mark."""
        return self._openings[token]


def _kind(text: str) -> _Token:
    # Most tokens are a space and letters, or letters, which is quickly found out.
    if text.isalpha():
        return _Token.PIECE
    if text[:1] == " " and text[1:].isalpha():
        return _Token.WORD
    return next((kind for kind in _Token if kind.value.fullmatch(text)), _Token.OTHER)


def _opening(mark: str) -> _Opening:
    if "\n" in mark:
        return _Opening.LINE
    return _Opening.SENTENCE if any(end in mark for end in ".!?…") else _Opening.NOTHING


class _WrittenWords(BeforeCursor):
    """The words that a run has written before its cursor, with `_END` where a phrase ends, and the words that open its
    lines and sentences."""

    def __init__(self, kinds: _Kinds) -> None:
        super().__init__()
        self._kinds = kinds
        self.clear()

    def clear(self) -> None:
        self._words: list[_Word] = []
        self._places: defaultdict[_Word, list[int]] = defaultdict(list)
        self._last_kind = _Token.OTHER
        self._opens = _Opening.NOTHING
        self._lines: Counter[int] = Counter()
        self._sentences: Counter[int] = Counter()

    def add(self, token: int) -> None:
        kind = self._kinds[token]
        self._add_to_words(token, kind)
        self._add_to_openings(token, kind)
        self._last_kind = kind

    def what_follows(self, tokens: Sequence[int]) -> _WrittenWords | None:
        """The same for the run's text from the cursor on; None if there is none."""
        if not tokens:
            return None
        found = _WrittenWords(self._kinds)
        found._opens = self._opens
        found.add(tokens[0])
        # What stands at the cursor itself would go on what is written there, so it opens nothing else.
        found._lines.clear()
        found._sentences.clear()
        for token in tokens[1:]:
            found.add(token)
        return found

    def repeats(self, behind: _WrittenWords | None) -> dict[int, list[int]]:
        """The words that would continue a phrase of the run's own text; for each occurrence, the phrase's number of
        words then."""
        found: dict[int, list[int]] = {}
        said = self._words
        if not said or said[-1] == _END:
            return found
        places: Iterable[int] = self._places[said[-1]]
        all_words = said
        if behind is not None:
            # What stands at the cursor itself repeats nothing.
            all_words = [*said, _END, *behind._words]
            shift = len(said) + 1
            places = [*places, *(shift + at for at in behind._places.get(said[-1], ()))]
        for at in places:
            if at + 1 == len(all_words) or (word := all_words[at + 1]) == _END:
                continue
            size = 1
            while (
                size < PHRASE - 1 and size <= min(at, len(said) - 1) and all_words[at - size] == said[-1 - size] != _END
            ):
                size += 1
            found.setdefault(word[0], []).append(size + 1)
        return found

    def openings(self, behind: _WrittenWords | None) -> dict[int, float]:
        """At the start of a line or sentence: the penalties of words that open others in the run's own text."""
        if self._last_kind is not _Token.MARK or not self._opens:
            return {}
        lines, sentences = self._lines, self._sentences
        if behind is not None:
            lines, sentences = lines + behind._lines, sentences + behind._sentences
        found = {token: OPENING_SENTENCES * math.log2(1 + n) for token, n in sentences.items()}
        if self._opens is _Opening.LINE:
            # What opens a line opens a sentence, too.
            of_lines = {token: OPENING_LINES * math.log2(1 + n) for token, n in lines.items()}
            found |= {token: max(nats, found[token]) for token, nats in of_lines.items()}
        return found

    def _add_to_words(self, token: int, kind: _Token) -> None:
        words = self._words
        if kind is _Token.WORD or (kind is _Token.PIECE and self._last_kind is _Token.MARK):
            self._add_word((token,))
        elif kind is _Token.PIECE and words and words[-1] != _END:
            begun = words.pop()
            self._places[begun].pop()
            self._add_word((*begun, token))
        elif kind is not _Token.MARK and (not words or words[-1] != _END):
            words.append(_END)

    def _add_word(self, word: _Word) -> None:
        self._places[word].append(len(self._words))
        self._words.append(word)

    def _add_to_openings(self, token: int, kind: _Token) -> None:
        if kind is _Token.MARK:
            self._opens = max(self._opens, self._kinds.opening(token))
            return
        if kind is not _Token.OTHER and self._opens:
            self._sentences[token] += 1
            if self._opens is _Opening.LINE:
                self._lines[token] += 1
        self._opens = _Opening.NOTHING


class Places(BeforeCursor):
    """An index of token positions before the cursor, used to find repeats of `size` tokens in a row."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._tail = size - 1
        # Two tokens say more than one where that many are looked for.
        self._key = min(self._tail, 2)
        self.clear()

    def clear(self) -> None:
        self._tokens: list[int] = []
        self._ends: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)

    def add(self, token: int) -> None:
        self._tokens.append(token)
        self._ends[tuple(self._tokens[-self._key :])].append(len(self._tokens))

    def completions(self, behind: Sequence[int]) -> Iterator[int]:
        """The tokens that would complete a repeat if they were written at the cursor, before `behind`."""
        tokens = self._tokens
        tail = tokens[-self._tail :]
        for end in self._ends[tuple(tail[-self._key :])]:
            # What stands at the cursor itself repeats nothing.
            if end < len(tokens) and tokens[max(end - self._tail, 0) : end] == tail:
                yield tokens[end]
        if behind:
            around = [*tail, *behind]
            for end in range(self._tail + 1, len(around)):
                if around[end - 1] == tail[-1] and around[end - self._tail : end] == tail:
                    yield around[end]
