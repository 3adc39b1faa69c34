"""Suggestions in a document: the likely next text at a place, as far as the model is confident and the line still reads
well.

Where text follows in the same line, it must be at least as likely after the suggestion as without it, as the model
reads it from left to right. Otherwise the suggestion is shortened or left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final
from weakref import WeakKeyDictionary

from reviser.core.errors import ReviserError
from reviser.decoding.left_to_right import Reading, left_to_right
from reviser.decoding.rollout import Policy, seed
from reviser.decoding.rules.spacing import ends_sentence
from reviser.decoding.suggesting import Opens, Suggester
from reviser.decoding.suggestion import CONFIDENCE, Piece, SuggestedText, begun_word, ends_too_soon
from reviser.session.session import Session

# Characters before and behind a place that are read to see whether a suggestion joins what follows.
_READ_BEFORE: Final = 200
_READ_BEHIND: Final = 60
# Suggestions beyond those asked for.
_SPARE: Final = 2
# Ways to cut a suggestion that are tried, longest first.
_CUTS: Final = 4

_GOES_ON = re.compile(r"[^\S\r\n]*[^\s]")
_SENTENCE_START = re.compile(r"""(?<=[.!?…])["'”’)\]]*\s+|[\r\n]+""")
_SENTENCE_OVER = re.compile(r"""[.!?…]["'”’»)\]]*(?=\s|\Z)""")


@dataclass(frozen=True)
class SuggestionRequest:
    """The options of a request: number of suggestions, tokens of each, and the least probability.

    A suggestion ends with its sentence or, with `whole_line`, with its line.
    """

    count: int = 1
    tokens: int = 16
    confidence: float = CONFIDENCE
    whole_line: bool = False


class Suggestions(Iterator[SuggestedText]):
    """Suggestions for the text of a session at character `at`, likeliest first word first.

    `goes_on` is called with the text so far after each token; False ends the suggestion. `before` counts the ids that
    the model reads of the text before that place, and `seeded` all that it reads.
    """

    def __init__(
        self, session: Session, at: int, request: SuggestionRequest, goes_on: Callable[[str], bool] = lambda text: True
    ) -> None:
        self._session = session
        self._request = request
        self._goes_on = goes_on
        self._typed = session.text[:at]
        begun = begun_word(self._typed[-64:])
        window = session.window(at - len(begun), at, request.tokens)
        self._follows = window.suffix + window.after
        self._in_line = _GOES_ON.match(self._follows) is not None
        encode, vocabulary = session.tokenizer.encode, session.policy.vocabulary
        self._canvas, self._history = seed(
            vocabulary,
            encode(window.prefix),
            # A model that cannot move reads what stands before the place, and goes on from there.
            encode(window.suffix) if "move" in vocabulary.kinds else (),
            max_length=session.policy.max_length,
        )
        self.before = 1 + self._canvas.low
        self.seeded = len(self._history)
        self._found = self._search(begun, _opens(window.prefix, begun))

    def __next__(self) -> SuggestedText:
        return next(self._found)

    def read(self) -> None:
        """Let the model read the text around the place now; otherwise the first suggestion does."""
        self._session.policy.scores(self._history, self._canvas)

    def _search(self, begun: str, opens: Opens | None) -> Iterator[SuggestedText]:
        request = self._request
        # Some say the same, or do not join what follows.
        spare = _SPARE if request.count > 1 or self._in_line else 0
        found = Suggester(self._session.policy, self._session.tokenizer).suggest(
            self._history,
            self._canvas,
            begun,
            count=request.count + spare,
            tokens=request.tokens,
            least=request.confidence,
            opens=opens,
            goes_on=self._is_wanted,
        )
        texts: set[str] = set()
        for suggestion in found:
            sure = self._first_sentence(suggestion.sure(request.confidence))
            if self._in_line and sure.pieces:
                sure = _joined(self._session, self._typed, sure, self._follows)
            if sure.pieces and sure.text not in texts:
                texts.add(sure.text)
                yield sure
            if len(texts) == request.count:
                return

    def _is_wanted(self, written: str) -> bool:
        over = not self._request.whole_line and _SENTENCE_OVER.search(written)
        return self._goes_on(written) and not over

    def _first_sentence(self, suggestion: SuggestedText) -> SuggestedText:
        """A suggestion cut at the end of its first sentence, after which the next may have begun."""
        if self._request.whole_line:
            return suggestion
        text = ""
        for number, piece in enumerate(suggestion.pieces, 1):
            text += piece.text
            if _SENTENCE_OVER.search(text):
                return SuggestedText(suggestion.pieces[:number])
        return suggestion


def _opens(prefix: str, begun: str) -> Opens | None:
    if begun:
        return None
    if not prefix or prefix[-1] in "\r\n":
        return "line and sentence" if ends_sentence(prefix.rstrip()) else "line"
    return "sentence" if ends_sentence(prefix) else None


def _joined(session: Session, before: str, suggestion: SuggestedText, follows: str) -> SuggestedText:
    """The longest beginning of a suggestion after which the rest of the line is as likely as without it."""
    before = before[-_READ_BEFORE:]
    starts = [found.end() for found in _SENTENCE_START.finditer(before)]
    before = before[starts[-1] if starts else 0 :]
    behind = re.split(r"[\r\n]", follows, maxsplit=1)[0][:_READ_BEHIND]
    whole = [
        count
        for count in range(len(suggestion.pieces), 0, -1)
        if not ends_too_soon(SuggestedText(suggestion.pieces[:count]).text, behind)
    ]
    if _reading(session.policy) is None:
        return SuggestedText(suggestion.pieces[: max(whole, default=0)])
    alone = _likelihood(session, before, behind)
    for count in whole[:_CUTS]:
        cut = SuggestedText(suggestion.pieces[:count])
        space = " " if _glues(cut.text, behind) else ""
        if _likelihood(session, before + cut.text + space, behind) >= alone:
            last = cut.pieces[-1]
            return SuggestedText((*cut.pieces[:-1], Piece(last.text + space, last.chance)))
    return SuggestedText(())


def _glues(text: str, behind: str) -> bool:
    """Whether the text would join two words without a space."""
    return bool(text) and (text[-1].isalnum() or text[-1] in ".,;:!?") and behind[:1].isalnum()


def _likelihood(session: Session, before: str, behind: str) -> float:
    """The log-probability of the text behind a place, given the text before it."""
    tokens = session.tokenizer.encode(before + behind)
    sizes = (len(session.tokenizer.token_bytes(token)) for token in tokens)
    # Half a character is read as a question mark, as by tokenizers.
    place = len(before.encode("utf-8", "replace"))
    last = sum(end > place for end in accumulate(sizes))
    ids = [session.policy.vocabulary.start_id, *tokens]
    reading = _reading(session.policy)
    return sum(reading.chances(ids, last)) if reading is not None else 0.0


_readings: WeakKeyDictionary[Policy, Reading | None] = WeakKeyDictionary()


def _reading(policy: Policy) -> Reading | None:
    """The left-to-right reading by a policy's model; None where it has none, as for canvas-conditioned models."""
    if policy not in _readings:
        try:
            _readings[policy] = left_to_right(policy)
        except ReviserError:
            _readings[policy] = None
    return _readings[policy]
