"""Places in held-out texts, what a model suggests at each, and how the author went on there.

An author is followed through short passages of texts: at every character, as an editor asks at every key. Some
passages are written at the end of a text; others are put between what stands before and behind them.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final, Literal

from reviser.core.errors import ReviserError
from reviser.decoding.suggestion import CONFIDENCE, Piece, Suggestion
from reviser.session.engine import Engine
from reviser.session.suggesting import SuggestionRequest, Suggestions

KINDS: Final = ("documentation", "mail", "essay", "story", "notes")
# Which sources of a corpus are of which kind; what is in none of them is left out.
_SOURCES: Final = {
    "documentation": r"docs|mdn/content|kubernetes/website|home-assistant|curriculum|design-system",
    "essay": r"OpenStax|digitalgov|18F|blog|opensource\.guide|handbook",
    "story": r"Standard Ebooks",
}
_BEFORE: Final = 800
_BEHIND: Final = 160
_TOKENS: Final = 12
FLOOR: Final = 0.02
"""Suggestions less likely than this are not looked at."""

_WORD = re.compile(r"\w+(?:['’-]+\w+)*")
Where = Literal["end", "between"]


@dataclass(frozen=True)
class Text:
    """A text that an author has written."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True)
class Passage:
    """Some of a text, which is written anew, between what stands before it and what stands behind it."""

    text: Text
    start: int
    end: int
    where: Where


@dataclass(frozen=True)
class Place:
    """A place in a passage, what a model suggests there, and how the author goes on."""

    passage: int
    kind: str
    where: Where
    at: int
    after_letter: bool
    in_word: bool
    truth: str
    suggestion: Suggestion


def own_texts() -> list[Text]:
    """Mails and notes that were written for this measurement."""
    data = resources.files("benchmarks.studies").joinpath("suggestion_texts.jsonl")
    return [Text(**json.loads(line)) for line in data.read_text("utf-8").splitlines()]


def corpus_texts(path: Path, each: int, seed: int) -> list[Text]:
    """Documentation, essays and stories of a corpus: `{"text", "source"}` a line, packed by xz or not."""
    found: dict[str, list[Text]] = {kind: [] for kind in _SOURCES}
    try:
        opened = lzma.open if path.suffix == ".xz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                data = json.loads(line)
                for kind, sources in _SOURCES.items():
                    if re.search(sources, data["source"]) and len(data["text"]) > 2 * _BEHIND:
                        found[kind].append(Text(f"{kind}-{number}", kind, data["text"]))
                        break
    except (OSError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise ReviserError(f"{path} is no corpus of texts: {error}") from None
    drawn = random.Random(seed)
    return [text for texts in found.values() for text in drawn.sample(texts, min(each, len(texts)))]


def passages(texts: Sequence[Text], characters: int, seed: int) -> list[Passage]:
    """One passage of each text that is written at its end, and one between two parts of a line.

    The first begins at a word; the second is some words of a sentence.
    """
    drawn = random.Random(seed)
    found = []
    for text in texts:
        words = list(_WORD.finditer(text.text))
        early = [word.start() for word in words if word.start() > len(text.text) // 4]
        fitting = [start for start in early if start + characters < len(text.text)]
        if fitting:
            start = drawn.choice(fitting)
            found.append(Passage(text, start, start + characters, "end"))
        gaps = [
            (first.start(), last.end())
            for first, last in zip(words, words[2:], strict=False)
            if first.start() in early
            and re.fullmatch(r"[\w ,'’-]+", text.text[first.start() : last.end()])
            and re.match(r"[ ,]+\w", text.text[last.end() :])
        ]
        if gaps:
            found.append(Passage(text, *drawn.choice(gaps), "between"))
    return found


def ask(
    engine: Engine,
    passages: Sequence[Passage],
    confidence: float = CONFIDENCE,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Place]:
    """What a model suggests at every character of some passages.

    At the end of a text, all is asked for that is likely enough to be looked at: what a higher confidence leaves of
    it is known without asking again. Between two parts, what joins them depends on the length, so only what has
    that confidence is asked for.
    """
    for number, passage in enumerate(passages):
        request = SuggestionRequest(tokens=_TOKENS, confidence=FLOOR if passage.where == "end" else confidence)
        session = engine.session("")
        text = passage.text.text
        behind = "" if passage.where == "end" else text[passage.end : passage.end + _BEHIND]
        for at in range(passage.start, passage.end):
            before = text[max(0, passage.start - _BEFORE) : at]
            session.text = before + behind
            found = next(Suggestions(session, len(before), request), Suggestion(()))
            after_letter = before[-1:].isalnum()
            yield Place(
                passage=number,
                kind=passage.text.kind,
                where=passage.where,
                at=at,
                after_letter=after_letter,
                in_word=after_letter and text[at].isalnum(),
                truth=text[at:].split("\n", 1)[0],
                suggestion=_rounded(found),
            )
        progress(number + 1)


def _rounded(suggestion: Suggestion) -> Suggestion:
    """Probabilities as they are kept in a file."""
    return Suggestion(tuple(Piece(piece.text, round(piece.chance, 5)) for piece in suggestion.pieces))


def words_right(suggested: str, truth: str) -> tuple[int, int]:
    """How many of the first words of a suggestion are the author's, one after the other, and how many it has.

    The rest of a word that was begun counts as a word. What stands between words has to be right as well.
    """
    ends = [word.end() for word in _WORD.finditer(suggested)]
    right = 0
    for end in ends:
        goes_on = truth[end : end + 1]
        if not truth.startswith(suggested[:end]) or goes_on.isalnum():
            break
        right += 1
    return right, len(ends)
