"""Cases with a known answer, made of real texts: they show whether the critic and the join measure can be trusted."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from benchmarks.everyday.joins import Join

# Words of an opening, and of each continuation of it.
OPENING, CONTINUATION = 40, 40
_LONGEST = 900
_WORD = re.compile(r"[\"'(]?[A-Za-z][A-Za-z'’-]*[.,;:!?\"')]*")
_SENTENCE_END = re.compile(r"(?<=[a-z][.!?]) (?=[A-Z])")

CaseKind = Literal["shuffled", "another", "broken", "repeated"]
CASE_KINDS: tuple[CaseKind, ...] = ("shuffled", "another", "broken", "repeated")
DESCRIBED = {
    "shuffled": "its words in random order",
    "another": "how another text goes on",
    "broken": "words left out, and pieces of another text put in",
    "repeated": "its first ten words over and over",
}


@dataclass(frozen=True)
class ObviousCase:
    """An opening, how it really goes on, and something obviously worse."""

    kind: CaseKind
    opening: str
    real: str
    worse: str


@dataclass(frozen=True)
class JoinCase:
    """A text with joins that are fine (its own sentence, as if inserted) or broken (cut in from elsewhere)."""

    text: str
    joins: tuple[Join, ...]
    broken: bool


def prose(texts: Iterable[str], words: int = OPENING + CONTINUATION) -> Iterator[str]:
    """The first paragraph of each text that is long enough and of plain words, cut to a fitting length."""
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            found = paragraph.split()
            if len(found) >= words and _plain(found) > 0.93:
                yield " ".join(found)[:_LONGEST].rsplit(" ", 1)[0]
                break


def _plain(words: Sequence[str]) -> float:
    return sum(_WORD.fullmatch(word) is not None for word in words) / len(words)


def obvious_cases(texts: Sequence[str], each: int, seed: int = 0) -> list[ObviousCase]:
    """So many cases of every kind, from as many texts; another text's words come from behind them."""
    draw = random.Random(seed)
    made = []
    for number, text in enumerate(texts[:each]):
        words = text.split()
        opening, real = words[:OPENING], words[OPENING : OPENING + CONTINUATION]
        other = texts[(number + each) % len(texts)].split()[OPENING : OPENING + CONTINUATION]
        for kind in CASE_KINDS:
            worse = _worse(kind, real, other, draw)
            made.append(ObviousCase(kind, *map(" ".join, (opening, real, worse))))
    return made


def _worse(
    kind: CaseKind, real: Sequence[str], other: Sequence[str], draw: random.Random
) -> list[str]:
    if kind == "shuffled":
        return draw.sample(real, len(real))
    if kind == "another":
        return list(other)
    if kind == "repeated":
        return [real[number % 10] for number in range(len(real))]
    made: list[str] = []
    at = 0
    while at < len(real):
        kept = draw.randint(4, 8)
        made += real[at : at + kept]
        start = draw.randrange(len(other) - 4)
        made += other[start : start + draw.randint(2, 4)]
        at += kept + draw.randint(1, 3)
    return made[: len(real)]


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where sentences begin and end; a sentence does not hold the space behind it."""
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text) + 1]
    return [(start, end - 1) for start, end in pairwise(starts)]


def join_cases(texts: Sequence[str], seed: int = 0) -> list[JoinCase]:
    """From each text one fine and one broken case, where it has the sentences for them."""
    draw = random.Random(seed)
    made = []
    for number, text in enumerate(texts):
        inner = [span for span in _sentences(text)[1:-1] if span[1] - span[0] > 30]
        other = texts[(number + 1) % len(texts)]
        donors = [span for span in _sentences(other)[1:-1] if span[1] - span[0] > 60]
        hosts = [span for span in inner if span[1] - span[0] > 60]
        if not (inner and donors and hosts):
            continue
        start, end = draw.choice(inner)
        fine = (Join(start - 1, "before"), Join(end, "after"))
        made.append(JoinCase(text, fine, broken=False))
        start, end = draw.choice(donors)
        words = other[start:end].split(" ")
        half = len(words) // 2
        piece = " ".join(words[:half] if draw.random() < 0.5 else words[half:])
        start, end = draw.choice(hosts)
        spaces = [found.start() for found in re.finditer(" ", text[start:end])]
        cut = start + spaces[len(spaces) // 2]
        joined = f"{text[:cut]} {piece}{text[cut:]}"
        bad = (Join(cut, "before"), Join(cut + 1 + len(piece), "after"))
        made.append(JoinCase(joined, bad, broken=True))
    return made
