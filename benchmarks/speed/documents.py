"""How fast documents are proofread, as `reviser revise` does it: words a second of clean text and of text full of
mistakes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.builtin import builtin_texts
from benchmarks.report.tables import Table
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.session.engine import Engine

WORDS_A_MISTAKE = 8
PARAGRAPH = 90
"""Words of a paragraph, about."""


@dataclass(frozen=True)
class Proofreading:
    """Documents of one kind, proofread: seconds of the clock and of the processor for all threads."""

    kind: str
    words: int
    mistakes: int
    changes: int
    clock: float
    processor: float


def paragraphs(words: int) -> list[str]:
    """Whole sentences of the built-in texts in paragraphs, of so many words together at the least."""
    found: list[str] = []
    for paragraph in _paragraphs():
        if sum(len(one.split()) for one in found) >= words:
            break
        found.append(paragraph)
    return found


def _paragraphs() -> Iterator[str]:
    for text in builtin_texts():
        begun: list[str] = []
        for sentence in text.replace("\n", " ").split(". ")[:-1]:
            begun.append(f"{sentence.strip()}.")
            if len(" ".join(begun).split()) >= PARAGRAPH:
                yield " ".join(begun)
                begun = []


def with_mistakes(text: str, seed: int) -> tuple[str, int]:
    """The text with a slip of the typing hand in one of eight words, and how many these are."""
    chance = random.Random(seed)
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    chosen = chance.sample(long, min(len(long), len(words) // WORDS_A_MISTAKE))
    for place in chosen:
        word = words[place]
        at = chance.randrange(1, len(word) - 2)
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words), len(chosen)


def measure_documents(engine: Engine, words: int, rounds: int, seed: int = 0) -> list[Proofreading]:
    """Proofread the same paragraphs clean and with mistakes, by turns; the best of some rounds counts."""
    clean = paragraphs(words)
    spoilt = [with_mistakes(text, seed + number) for number, text in enumerate(clean)]
    kinds = {"clean": (clean, 0), "full of mistakes": ([text for text, _ in spoilt], sum(count for _, count in spoilt))}
    proofreader = Proofreader(engine.policy, engine.tokenizer)
    best: dict[str, Proofreading] = {}
    for _ in range(rounds):
        for kind, (texts, mistakes) in kinds.items():
            one = _proofread(proofreader, kind, texts, mistakes)
            if kind not in best or one.processor < best[kind].processor:
                best[kind] = one
    return [*best.values()]


def _proofread(proofreader: Proofreader, kind: str, texts: Sequence[str], mistakes: int) -> Proofreading:
    began, used = time.perf_counter(), time.process_time()
    done = proofreader.proofread_all([Draft(text) for text in texts])
    clock, processor = time.perf_counter() - began, time.process_time() - used
    words = sum(len(text.split()) for text in texts)
    return Proofreading(kind, words, mistakes, sum(len(one.changes) for one in done), clock, processor)


def documents_table(results: Sequence[Proofreading]) -> str:
    columns = ("text", "words", "mistakes", "changes", "words/s", "words/s of the processor")
    rows = [
        (
            one.kind,
            *(str(number) for number in (one.words, one.mistakes, one.changes)),
            f"{one.words / one.clock:.0f}",
            f"{one.words / one.processor:.0f}",
        )
        for one in results
    ]
    return Table(columns, tuple(rows)).markdown()
