"""The speed of proofreading as in `reviser revise`: words per second of clean text and of text with many mistakes.

    python -m benchmarks reading [--model NAME] [--threads 2] [--words 800] [--rounds 5] [--write FILE]

Paragraphs of about 90 words of public speeches are read by turns, clean and with two letters exchanged in one of eight
words, and the best of some rounds counts, so that a busy machine is fair to both. The model decides, and sentences that
it changed are read again.
"""

from __future__ import annotations

import json
import random
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.builtin import builtin_texts
from benchmarks.report.provenance import load, write_page
from benchmarks.report.tables import Table
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.decoding.policy import ModelPolicy
from reviser.native import NativeDecoder
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.session.engine import Engine, load_engine

WORDS_A_MISTAKE = 8
PARAGRAPH = 90
"""Words of a paragraph, about."""


@dataclass(frozen=True)
class ProofreadingSpeed:
    """Documents of one kind, proofread: seconds of the clock and of the processor for all threads."""

    kind: str
    words: int
    mistakes: int
    changes: int
    clock: float
    processor: float


def paragraphs(words: int) -> list[str]:
    """Paragraphs of whole sentences of the built-in texts, with at least `words` words in all."""
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
    """The text with a typing error in one of eight words, and the number of errors."""
    chance = random.Random(seed)
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    chosen = chance.sample(long, min(len(long), len(words) // WORDS_A_MISTAKE))
    for place in chosen:
        word = words[place]
        at = chance.randrange(1, len(word) - 2)
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words), len(chosen)


def measure_documents(engine: Engine, words: int, rounds: int, seed: int = 0) -> list[ProofreadingSpeed]:
    """Proofreads the same paragraphs clean and with mistakes, by turns; the best of the rounds counts."""
    clean = paragraphs(words)
    spoilt = [with_mistakes(text, seed + number) for number, text in enumerate(clean)]
    kinds = {"clean": (clean, 0), "full of mistakes": ([text for text, _ in spoilt], sum(count for _, count in spoilt))}
    proofreader = Proofreader(engine.policy, engine.tokenizer)
    best: dict[str, ProofreadingSpeed] = {}
    for _ in range(rounds):
        for kind, (texts, mistakes) in kinds.items():
            one = _proofread(proofreader, kind, texts, mistakes)
            if kind not in best or one.processor < best[kind].processor:
                best[kind] = one
    return [*best.values()]


def _proofread(proofreader: Proofreader, kind: str, texts: Sequence[str], mistakes: int) -> ProofreadingSpeed:
    began, used = time.perf_counter(), time.process_time()
    done = proofreader.proofread_all([Draft(text) for text in texts])
    clock, processor = time.perf_counter() - began, time.process_time() - used
    words = sum(len(text.split()) for text in texts)
    return ProofreadingSpeed(kind, words, mistakes, sum(len(one.changes) for one in done), clock, processor)


def documents_table(results: Sequence[ProofreadingSpeed]) -> str:
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


@dataclass(frozen=True, kw_only=True)
class ReadingSpeedOptions:
    """Options of the measurement: model, words and rounds."""

    model: Annotated[str | None, Option("a quantised model that revises", default="the default one")] = None
    threads: Annotated[int, Option("of the library")] = 2
    words: Annotated[int, Option("of the documents, at the least", least=1)] = 800
    rounds: Annotated[int, Option("of which the best counts", least=1)] = 5
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None
    given: Words = ()


def run(chosen: ReadingSpeedOptions) -> None:
    """Runs the measurement and prints the figures."""
    engine = load_engine(chosen.model, threads=chosen.threads)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        raise ReviserError("this model does not run in the native library")
    found = measure_documents(engine, chosen.words, chosen.rounds)
    table = documents_table(found)
    print(json.dumps([*map(asdict, found)]) if chosen.json else table)
    if chosen.write:
        command = shlex.join(["python", "-m", "benchmarks", "reading", *chosen.given])
        facts = {"Model": engine.name, "Instructions": policy.decoder.level, "Load": load()}
        write_page(chosen.write, "Speed of proofreading", command, table, **facts)
