"""How fast sentences are proofread on the processor, together and one by one.

python -m benchmarks reading [--model NAME] [--threads 2] [--sentences 32] [--words 800] [--rounds 5] [--write FILE]

All ways read the same sentences by turns, and the best of some rounds counts, so that a busy machine is fair to
all. What is found depends on the model, its cost does not: the model computes all that it would, and the decisions
are given. A clean sentence is read twice, as a draft and overtyped. A sentence full of mistakes has one in eight
words, and each takes a Delete and three tokens. "Tokens" are the ids of the first reading, "actions" all that are
read later: also the rest of the sentence, which is read again behind each correction. "Once" is a reading alone, in
the products that overtyping takes, and only the scores behind a sentence are looked at. The processor's time is
that of all threads, and counts the waiting of a thread for another one, too.

The second table is of whole documents, as `reviser revise` reads them: paragraphs of about 90 words of public
speeches, clean and with two letters exchanged in one of eight words. There the model decides, and sentences that it
changed are read again.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from benchmarks.builtin import builtin_texts
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from benchmarks.speed.documents import documents_table, measure_documents
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.model.scoring import Outlook, shared_length
from reviser.native import NativeBatch, NativeDecoder
from reviser.proofreading.overtyping import OvertypingReader, OvertypingRules
from reviser.proofreading.together import read_overtyping
from reviser.session.engine import load_engine

SENTENCES = 32
WORDS = 800
ROUNDS = 5
WORDS_A_MISTAKE = 8
TOKENS_A_MISTAKE = 3
SURE = math.log(0.99)


class ScriptedOvertyping(OvertypingReader):
    """A reader that is told what any is told, and then corrects the tokens at the given places; `read` counts ids."""

    def __init__(self, rules: OvertypingRules, passage: Sequence[int], mistakes: Sequence[int]) -> None:
        super().__init__(rules, passage, confidence=0.5, least=0.5, in_steps=True)
        self._mistakes = frozenset(mistakes)
        self._seen: list[int] = []
        self.read = 0

    def take(self, outlooks: Sequence[Outlook]) -> None:
        kept = min(shared_length(self._seen, self.ids), len(self.ids) - len(self.expected))
        self._seen = list(self.ids)
        self.read += len(self.ids) - kept
        super().take([self._decided(number) for number in range(len(outlooks))])

    def _decided(self, number: int) -> Outlook:
        nothing = -math.inf
        change = self._change
        place = self._first + len(self._outlooks) + number
        if change is None and place in self._mistakes:
            return Outlook(nothing, SURE, nothing, -1, nothing, -1, nothing)
        if change is not None and len(change.written) < TOKENS_A_MISTAKE:
            # A token that is not the draft's next one.
            word = self.expected[0] % 1000 + 1
            return Outlook(nothing, nothing, nothing, word, SURE, word, SURE)
        return Outlook(SURE, nothing, nothing, -1, nothing, -1, nothing)


@dataclass(frozen=True)
class Sentence:
    """A sentence in words and in tokens."""

    words: int
    tokens: list[int]

    @property
    def mistakes(self) -> int:
        """How many it has when it is full of them."""
        return max(1, self.words // WORDS_A_MISTAKE)

    def places(self) -> list[int]:
        """Where they are, at equal distances."""
        count = self.mistakes
        return [len(self.tokens) * (2 * number + 1) // (2 * count) for number in range(count)]


@dataclass(frozen=True)
class Measured:
    """One kind of text, read in one way, in seconds; the best of all rounds."""

    kind: str
    way: str
    words: int
    tokens: int
    actions: int
    together: float
    alone: float
    processor: float
    """Seconds of all threads when sentences are read together."""

    @property
    def gain(self) -> float:
        return self.alone / self.together


def sentences(tokenizer: Tokenizer, count: int) -> list[Sentence]:
    """So many sentences of eight to forty words from the built-in texts."""
    found = []
    for text in builtin_texts():
        for line in text.replace("\n", " ").replace("! ", ". ").replace("? ", ". ").split(". "):
            words = len(line.split())
            if WORDS_A_MISTAKE <= words <= 40:
                found.append(Sentence(words, tokenizer.encode(f"{line.strip()}.")))
            if len(found) == count:
                return found
    raise ReviserError(f"the built-in texts have {len(found)} such sentences")


def overtype_alone(decoder: NativeDecoder, readers: Sequence[OvertypingReader]) -> None:
    for reader in readers:
        read_overtyping(decoder, [reader], rows=1)


def measure(decoder: NativeDecoder, vocabulary: Vocabulary, given: Sequence[Sentence], rounds: int) -> list[Measured]:
    """Measure clean sentences and such that are full of mistakes, and first a reading alone."""
    both = [measure_overtyping(decoder, vocabulary, given, rounds, full) for full in (False, True)]
    return [measure_once(decoder, given, rounds), *both]


def measure_once(decoder: NativeDecoder, given: Sequence[Sentence], rounds: int) -> Measured:
    texts = [sentence.tokens for sentence in given]
    room = max(map(len, texts))
    with NativeBatch(decoder, len(texts), room, halved=True) as batch:

        def read(rows: Sequence[int]) -> None:
            for row in rows:
                batch.clear(row)
            batch.read(rows, [texts[row] for row in rows])

        def one_by_one() -> None:
            for row in range(len(texts)):
                read([row])

        together, alone = timed(rounds, lambda: read(range(len(texts))), one_by_one)
    return _measured("once", given, False, sum(map(len, texts)), 0, together, alone)


def measure_overtyping(
    decoder: NativeDecoder, vocabulary: Vocabulary, given: Sequence[Sentence], rounds: int, full: bool
) -> Measured:
    # What it costs does not depend on what the model was trained for.
    rules = OvertypingRules(dataclasses.replace(vocabulary, overtypes=True))

    def readers() -> list[ScriptedOvertyping]:
        return [ScriptedOvertyping(rules, sentence.tokens, sentence.places() if full else []) for sentence in given]

    # The start, the draft behind its marker, and behind another marker the draft once more.
    tokens = sum(2 * len(sentence.tokens) + 3 for sentence in given)
    counted = readers()
    read_overtyping(decoder, counted, rows=len(given))
    together, alone = timed(
        rounds, lambda: read_overtyping(decoder, readers(), rows=len(given)), lambda: overtype_alone(decoder, readers())
    )
    actions = sum(reader.read for reader in counted) - tokens
    return _measured("overtyping", given, full, tokens, actions, together, alone)


class Seconds(NamedTuple):
    """Of the clock, and of the processor for all threads."""

    clock: float
    processor: float


def _measured(
    way: str, given: Sequence[Sentence], full: bool, tokens: int, actions: int, together: Seconds, alone: Seconds
) -> Measured:
    kind = "full of mistakes" if full else "clean"
    words = sum(sentence.words for sentence in given)
    return Measured(kind, way, words, tokens, actions, together.clock, alone.clock, together.processor)


def timed(rounds: int, *calls: Callable[[], None]) -> list[Seconds]:
    """The least that each of some calls took, which are made by turns."""
    found: list[list[Seconds]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, times in zip(calls, found, strict=True):
            began, used = time.perf_counter(), time.process_time()
            call()
            times.append(Seconds(time.perf_counter() - began, time.process_time() - used))
    return [Seconds(min(one.clock for one in times), min(one.processor for one in times)) for times in found]


def table(results: Sequence[Measured]) -> str:
    columns = (
        *("text", "way", "words", "tokens", "actions", "words/s", "words/s one by one"),
        *("tokens and actions/s", "one by one", "gain", "words/s of the processor"),
    )
    rows = []
    for one in results:
        ids = one.tokens + one.actions
        rows.append(
            (
                one.kind,
                one.way,
                *(str(number) for number in (one.words, one.tokens, one.actions)),
                f"{one.words / one.together:.0f}",
                f"{one.words / one.alone:.0f}",
                f"{ids / one.together:.0f}",
                f"{ids / one.alone:.0f}",
                f"{one.gain:.2f}",
                f"{one.words / one.processor:.0f}",
            )
        )
    return Table(columns, tuple(rows)).markdown()


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Which model reads, and how much."""

    model: Annotated[str | None, Option("a quantised model that revises", default="the default one")] = None
    threads: Annotated[int, Option("of the library")] = 2
    sentences: Annotated[int, Option("read together")] = SENTENCES
    words: Annotated[int, Option("of the documents, at the least; 0 for none")] = WORDS
    rounds: Annotated[int, Option("of which the best counts")] = ROUNDS
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None
    given: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ReadingOptions, run, arguments, prog="python -m benchmarks reading", about=(__doc__ or "").splitlines()[0]
    )


def run(chosen: ReadingOptions) -> None:
    engine = load_engine(chosen.model, threads=chosen.threads)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        raise ReviserError("this model does not run in the native library")
    given = sentences(engine.tokenizer, chosen.sentences)
    results = measure(policy.decoder, policy.vocabulary, given, chosen.rounds)
    documents = measure_documents(engine, chosen.words, chosen.rounds) if chosen.words else []
    tables = "\n".join([table(results), *([documents_table(documents)] if documents else [])])
    figures = [*map(asdict, results), *map(asdict, documents)]
    print(json.dumps(figures) if chosen.json else tables)
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "reading", *chosen.given]),
            Model=engine.name,
            Threads=chosen.threads,
            Instructions=policy.decoder.level,
            Rounds=chosen.rounds,
            Load=f"{os.getloadavg()[0]:.0f} processes at the end",
        )
        note = (__doc__ or "").split("\n\n", 2)[2]
        page = f"# Speed of proofreading\n\n{facts}\n{note}\n{tables}"
        write_atomically(chosen.write, page.encode())
