"""Suggestions: the likely continuation of a text at a cursor, word by word, with its probability.

A suggestion is read off the model's probabilities from left to right: moves are left out, and the likeliest token is
taken. The word before the cursor may be unfinished, and its letters are seldom tokens of the finished word. So the
model is asked from that word's start on, and only tokens that agree with its letters count. The probability of a
suggestion is the probability of all its words together, given what is typed, and that its last word ends there.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.text import visible_text
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rollout import Policy
from reviser.decoding.rules.spacing import glued_tokens
from reviser.decoding.suggestion import Piece, SuggestedText
from reviser.model.scoring import Scores

# Where so little of the probability is left, the letters of an unfinished word are followed no further.
_NOT_WORTH_FOLLOWING: Final = math.log(0.01)
_NEXT_TO_NOTHING: Final = 1e-12

_IN_WORD: Final = "'’_-"
_LINE = re.compile(r"[^\r\n]*")


Opens = Literal["line", "sentence", "line and sentence"]
"""What begins at a place: a line (which does not begin with a space), a sentence after a full stop (which does), or
both.

A sentence that begins a line does not begin with a small letter.
"""


class _Tokens:
    """The tokens of a tokenizer sorted by their bytes, for lookups by prefix."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        texts = [b"" if token in tokenizer.markers else tokenizer.token_bytes(token) for token in range(tokenizer.size)]
        self.ids = {text: token for token, text in enumerate(texts) if text}
        self._order = np.array(sorted(range(len(texts)), key=texts.__getitem__))
        self._sorted = [texts[token] for token in self._order]
        self.insertable = np.array([bool(text) for text in texts])
        first = [text.decode("utf-8", "ignore")[:1] for text in texts]
        # A token that is a part of a character may well go on with a word.
        self.in_word = self.insertable & [not one or _is_in_word(one) for one in first]
        self.blank = np.array([one.isspace() for one in first])
        self.small = np.array([one.islower() for one in first])
        self.breaks = np.array([one in ("\n", "\r") for one in first])

    def starting_with(self, text: bytes) -> NDArray[np.int64]:
        """The tokens that begin with `text`."""
        low, beyond = bisect_left(self._sorted, text), _beyond(text)
        high = bisect_left(self._sorted, beyond) if beyond else len(self._sorted)
        return self._order[low:high]

    def beginnings_of(self, text: bytes) -> list[int]:
        """The tokens that are prefixes of `text`."""
        cuts = (text[:size] for size in range(1, len(text)))
        return [self.ids[cut] for cut in cuts if cut in self.ids]


def _beyond(text: bytes) -> bytes:
    """The smallest byte string that sorts after all those that begin with `text`."""
    kept = text.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


_known: WeakKeyDictionary[Tokenizer, _Tokens] = WeakKeyDictionary()


def _tokens_of(tokenizer: Tokenizer) -> _Tokens:
    if tokenizer not in _known:
        _known[tokenizer] = _Tokens(tokenizer)
    return _known[tokenizer]


@dataclass(frozen=True)
class _Path:
    """A sequence of tokens that begins with the typed text, and its log-probability."""

    ids: tuple[int, ...]
    chance: float


class Suggester:
    """Asks a policy how a text goes on, once for each token, on a history of its own.

    Any policy that scores a history will do; one that caches what it has read is fastest.
    """

    def __init__(self, policy: Policy, tokenizer: Tokenizer) -> None:
        self._policy = policy
        self._tokenizer = tokenizer
        self._tokens = _tokens_of(tokenizer)
        self._stop = policy.vocabulary.stop_id
        self._may_stop = "stop" in policy.vocabulary.kinds

    def suggest(
        self,
        history: Sequence[int],
        canvas: Canvas,
        begun: str,
        *,
        count: int = 1,
        tokens: int = 16,
        least: float = 0.0,
        opens: Opens | None = None,
        goes_on: Callable[[str], bool] = lambda text: True,
    ) -> Iterator[SuggestedText]:
        """Up to `count` suggestions after `begun`, likeliest first word first, each of at most `tokens` tokens.

        `history` and `canvas` end where `begun` begins; `opens` says what begins there. A suggestion ends with its
        line, where its probability is less than `least`, and where `goes_on`, called with the text so far after each
        token, returns False.
        """
        floor = math.log(max(least, _NEXT_TO_NOTHING))
        for path in self._beginnings(history, canvas, begun, count, opens):
            if path.chance < floor:
                break
            found = self._follow(history, canvas, path, len(begun.encode("utf-8", "replace")), tokens, floor, goes_on)
            if found.pieces:
                yield found

    def _chances(self, history: Sequence[int], canvas: Canvas, ids: Sequence[int]) -> NDArray[np.float64] | None:
        """The log-probabilities of tokens after `ids`, with that of Stop appended."""
        scores = self._policy.scores([*history, *ids], canvas)
        return None if scores is None else self._normalised(scores)

    def _normalised(self, scores: Scores) -> NDArray[np.float64]:
        allowed = self._tokens.insertable
        chosen = np.full(len(allowed) + 1, -np.inf)
        chosen[:-1][allowed] = scores[: len(allowed)][allowed]
        if self._may_stop:
            chosen[-1] = scores[self._stop]
        best = chosen.max()
        if not math.isfinite(best):
            return chosen
        chosen -= best
        return chosen - math.log(np.exp(chosen).sum())

    def _beginnings(
        self, history: Sequence[int], canvas: Canvas, given: str, count: int, opens: Opens | None
    ) -> list[_Path]:
        """The likeliest token sequences that begin with `given`, with their probabilities under that condition.

        The likeliest tokens that are prefixes of `given` are followed one by one. At each place, one token may cover
        the rest and more; after the last, anything may follow.
        """
        total = -math.inf
        found: list[_Path] = []
        ids: list[int] = []
        chance, rest = 0.0, given.encode("utf-8", "replace")
        while chance >= total + _NOT_WORTH_FOLLOWING:
            chances = self._chances(history, canvas, ids)
            if chances is None:
                break
            if opens is not None and not ids:
                chances[:-1][self._unfit(opens)] = -np.inf
            token = self._next_inside(rest, chances)
            fitting = self._tokens.starting_with(rest)
            if token is not None:
                fitting = fitting[fitting != token]
            if len(fitting):
                of_fitting = chances[fitting]
                together = float(np.logaddexp.reduce(of_fitting))
                total = float(np.logaddexp(total, chance + (together if rest else 0.0)))
                # A suggestion goes on in the line, but that the line may end here lowers its probability.
                of_fitting[self._tokens.breaks[fitting]] = -np.inf
                found += [
                    _Path((*ids, int(fitting[place])), chance + float(of_fitting[place]))
                    for place in _highest(of_fitting, count)
                ]
            if token is None:
                break
            ids.append(token)
            chance += float(chances[token])
            rest = rest[len(self._tokenizer.token_bytes(token)) :]
        if not math.isfinite(total):
            return []
        found.sort(key=lambda path: -path.chance)
        return [_Path(path.ids, path.chance - total) for path in found[:count]]

    def _unfit(self, opens: Opens) -> NDArray[np.bool_]:
        """The tokens that cannot begin what `opens` names."""
        if opens == "sentence":
            return glued_tokens(self._tokenizer)
        return self._tokens.blank | self._tokens.small if opens != "line" else self._tokens.blank

    def _next_inside(self, rest: bytes, chances: NDArray[np.float64]) -> int | None:
        """The next token within `rest`: the one that covers all of it, unless another is far likelier."""
        inside = self._tokens.beginnings_of(rest)
        best = max(inside, key=chances.__getitem__, default=None)
        whole = self._tokens.ids.get(rest)
        if best is None or whole is None:
            return best if whole is None else whole
        return whole if chances[whole] >= chances[best] + _NOT_WORTH_FOLLOWING else best

    def _follow(
        self,
        history: Sequence[int],
        canvas: Canvas,
        path: _Path,
        given: int,
        tokens: int,
        least: float,
        goes_on: Callable[[str], bool],
    ) -> SuggestedText:
        """The continuation of a beginning, as far as it is likely enough."""
        written, chance = list(path.ids), path.chance
        ends: list[_End] = []
        text = ""
        while True:
            text = self._text(written, given)
            chances = self._chances(history, canvas, written)
            if chances is None:
                break
            ends.append(_End(len(text), chance + self._word_ends(chances)))
            over = "\n" in text or "\r" in text or len(written) >= tokens
            if over or chance < least or not goes_on(text):
                break
            token = int(chances.argmax())
            if token == len(chances) - 1:
                break
            chance += float(chances[token])
            written.append(token)
        return SuggestedText(tuple(_pieces(text, ends)))

    def _word_ends(self, chances: NDArray[np.float64]) -> float:
        """The log-probability that the next token does not lengthen the last word."""
        inside = float(np.exp(chances[:-1][self._tokens.in_word]).sum())
        return math.log(max(1.0 - inside, _NEXT_TO_NOTHING))

    def _text(self, written: Sequence[int], given: int) -> str:
        return visible_text(b"".join(map(self._tokenizer.token_bytes, written))[given:])


def _highest(chances: NDArray[np.float64], count: int) -> list[int]:
    """The indices of the highest probabilities, highest first."""
    places = np.argpartition(-chances, count)[:count] if count < len(chances) else np.arange(len(chances))
    found: list[int] = places[np.argsort(-chances[places], kind="stable")].tolist()
    return found


@dataclass(frozen=True)
class _End:
    """A possible end of a suggestion, and the log-probability that the text goes so far and its word ends there."""

    at: int
    chance: float


def _pieces(text: str, ends: Sequence[_End]) -> Iterator[Piece]:
    """The words of a text, up to the end of its first line or the last complete word."""
    line = _LINE.match(text)
    length = line.end() if line else 0
    start = 0
    for end in ends:
        if not start < end.at <= length or text[end.at - 1].isspace():
            continue
        if end.at < len(text) and _is_in_word(text[end.at]):
            continue
        yield Piece(text[start : end.at], math.exp(end.chance))
        start = end.at


def _is_in_word(character: str) -> bool:
    return character.isalnum() or character in _IN_WORD
