"""How fast sentences are proofread on the processor: together, and one after the other.

python -m benchmarks reading [--model NAME] [--threads 2] [--sentences 32] [--rounds 5] [--write FILE]

Both ways read the same sentences by turns, and the best of some rounds counts, so that a busy machine is fair to both.
What is found depends on the model, its cost does not: a clean sentence is read, and no action follows. A sentence full of mistakes
has one in eight words, and each takes five actions: a move, a Delete and three tokens.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.builtin import builtin_texts
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import Parser
from reviser.cli.entry import complain
from reviser.core.actions import Delete, Move
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import ModelPolicy
from reviser.native import NativeDecoder, read_batch
from reviser.proofreading.reader import Prospects, Reader, Rules
from reviser.session.engine import load_engine

SENTENCES = 32
ROUNDS = 5
WORDS_A_MISTAKE = 8
ACTIONS_A_MISTAKE = 5


class ScriptedReader(Reader):
    """A reader that looks at the scores as any does, and then takes the actions that it was given."""

    def __init__(self, rules: Rules, passage: Sequence[int], actions: Sequence[int]) -> None:
        super().__init__(rules, passage, most_actions=len(actions) + 1)
        self._script = iter(actions)

    def act(self, prospects: Prospects) -> int | None:
        super().act(prospects)
        return next(self._script, None)


@dataclass(frozen=True)
class Sentence:
    """A sentence in words and in tokens."""

    words: int
    tokens: list[int]

    def actions(self, rules: Rules) -> list[int]:
        """What it takes to correct it when it is full of mistakes."""
        vocabulary = rules.vocabulary
        word = self.tokens[-1]
        one = [vocabulary.id(Move(-1)), vocabulary.id(Delete()), word, word, word]
        return one[:ACTIONS_A_MISTAKE] * max(1, self.words // WORDS_A_MISTAKE)


@dataclass(frozen=True)
class Measured:
    """One kind of text, read both ways, in seconds; the best of all rounds."""

    kind: str
    words: int
    tokens: int
    actions: int
    together: float
    alone: float

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


def read_alone(decoder: NativeDecoder, readers: Sequence[Reader]) -> None:
    """One sentence after the other, action by action."""
    for reader in readers:
        decoder.truncate(0)
        scores = decoder.prefill(reader.history)
        while (id := reader.advance(scores)) is not None:
            scores = decoder.decode(id)


def measure(
    decoder: NativeDecoder, rules: Rules, given: Sequence[Sentence], rounds: int
) -> list[Measured]:
    results = []
    for kind, full in (("clean", False), ("full of mistakes", True)):
        scripts = [sentence.actions(rules) if full else [] for sentence in given]

        def readers(scripts: list[list[int]] = scripts) -> list[Reader]:
            return [
                ScriptedReader(rules, sentence.tokens, script)
                for sentence, script in zip(given, scripts, strict=True)
            ]

        together, alone = [], []
        for _ in range(rounds):
            together.append(timed(lambda: read_batch(decoder, readers(), rows=len(given))))
            alone.append(timed(lambda: read_alone(decoder, readers())))
        results.append(
            Measured(
                kind,
                sum(sentence.words for sentence in given),
                sum(len(reader.history) for reader in readers()),
                sum(map(len, scripts)),
                min(together),
                min(alone),
            )
        )
    return results


def timed(call: Callable[[], None]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def table(results: Sequence[Measured]) -> str:
    columns = (
        *("text", "words", "tokens", "actions", "words/s", "words/s one by one"),
        *("tokens and actions/s", "one by one", "gain"),
    )
    rows = []
    for one in results:
        ids = one.tokens + one.actions
        rows.append(
            (
                one.kind,
                *(str(number) for number in (one.words, one.tokens, one.actions)),
                f"{one.words / one.together:.0f}",
                f"{one.words / one.alone:.0f}",
                f"{ids / one.together:.0f}",
                f"{ids / one.alone:.0f}",
                f"{one.gain:.2f}",
            )
        )
    return Table(columns, tuple(rows)).markdown()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python -m benchmarks reading", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--model", help="a quantised model that revises; the default one if not given"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="read together (32)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the best counts (5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file")
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(words)
    try:
        engine = load_engine(chosen.model, threads=chosen.threads)
        policy = engine.policy
        if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
            raise ReviserError("this model does not run in the native library")
        rules = Rules(policy.vocabulary)
        given = sentences(engine.tokenizer, chosen.sentences)
        results = measure(policy.decoder, rules, given, chosen.rounds)
    except ReviserError as error:
        return complain(error)
    print(json.dumps([asdict(one) for one in results]) if chosen.json else table(results))
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "reading", *words]),
            Model=engine.name,
            Threads=chosen.threads,
            Instructions=policy.decoder.level,
            Rounds=chosen.rounds,
        )
        note = (__doc__ or "").split("\n\n", 2)[2]
        page = f"# Speed of proofreading\n\n{facts}\n{note}\n{table(results)}"
        write_atomically(chosen.write, page.encode())
    return 0
