"""The records of a benchmark run: prompts, continuations and judgements.

Every record is one line of JSON, so that other programs can read a run folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.vocabulary import Vocabulary
    from reviser.model.config import ModelConfig

Order = Literal["kept", "swapped"]
Verdict = Literal["first", "second", "tie", "invalid"]

# Called with the number of prompts that are done since the last call.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Prompt:
    """The beginning of a real text, as GPT-2 tokens and as text, with its real continuation."""

    id: str
    text: str
    tokens: tuple[int, ...]
    reference: str
    source: str


@dataclass(frozen=True)
class Continuation:
    """A contestant's continuation of a prompt.

    `tokens` are the continuation's, in the contestant's own vocabulary. `actions` are the ids that a
    Reviser chose after its prompt was seeded; other contestants have none.
    """

    prompt_id: str
    contestant: str
    seed: int
    continuation: str
    tokens: tuple[int, ...]
    ending: str
    actions: tuple[int, ...] | None
    seconds: float


@dataclass(frozen=True)
class Scored:
    """An evaluator's measure of one continuation: loss in nats, number of tokens and number of bytes."""

    prompt_id: str
    contestant: str
    seed: int
    evaluator: str
    nats: float
    tokens: int
    size: int


@dataclass(frozen=True)
class Judgement:
    """A judge's verdict on two contestants' continuations of one prompt.

    `order` is the order in which they were shown ("swapped": `second` came first); the verdict is about the
    contestants, independent of the order.
    """

    prompt_id: str
    seed: int
    first: str
    second: str
    order: Order
    verdict: Verdict
    judge: str


class Contestant(Protocol):
    """A model that continues prompts.

    A continuation depends on the prompt and the seed, and not on the other prompts of the call.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """An identifier that changes with the weights and how they are used."""

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        """Yields one continuation for each prompt, in any order, as soon as it is complete."""


@runtime_checkable
class Editing(Protocol):
    """The additional interface of a contestant that writes by actions on a canvas."""

    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def tokenizer(self) -> Tokenizer: ...
    @property
    def config(self) -> ModelConfig: ...

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        """The prompt in the contestant's own tokens, as it is seeded."""


Record = Prompt | Continuation | Scored | Judgement
R = TypeVar("R", Prompt, Continuation, Scored, Judgement)


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Writes the records to the file at `path`, one line of JSON each."""
    lines = (json.dumps(asdict(record), ensure_ascii=False) for record in records)
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Reads the records of one kind from the file at `path`."""
    records = []
    # Not splitlines(): a text may hold characters that it takes for the end of a line.
    for number, line in enumerate(read_utf8(path).split("\n"), start=1):
        if line:
            try:
                records.append(record_of(json.loads(line), kind))
            except (ValueError, TypeError):
                raise ReviserError(f"{path}, line {number}: not a {kind.__name__.lower()}") from None
    return records


def record_of(data: Any, kind: type[R]) -> R:
    """The record of a JSON object; raises `ValueError` if it is not one of this kind."""
    if not isinstance(data, dict):
        raise ValueError("a record is a JSON object")
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not needed <= data.keys() <= known:
        raise ValueError(f"the fields of a {kind.__name__} are {', '.join(sorted(known))}")
    values: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return kind(**values)
