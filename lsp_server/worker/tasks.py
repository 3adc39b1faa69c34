"""What the server and the worker process say to each other: one JSON object a line.

The server sends a `LoadingTask`, then a `WritingTask` to write, a `ReadingTask`, a `SuggestingTask`, or the id of a
task to cancel. The engine answers each task with one event for each action, or for what was found in a part of a
text, and a last one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from reviser.core.edits import Edit

# Long enough for any document's surroundings of a cursor; a longer line is no message of ours.
LINE_LIMIT = 1 << 24


@dataclass(frozen=True)
class ModelKey:
    """Which model, and how many threads it may use."""

    model: str | None = None
    threads: int | None = None


@dataclass(frozen=True)
class WritingTask:
    """Write between characters `start` and `end` of `text`, in place of what stands there, or revise that.

    When it revises at temperature 0 it proofreads: `format`, `words` that stay, `confidence`, and in a document
    called `name` the places that are `ignored`. At another, `max_actions` are for each passage, and a change must
    be `margin` times as likely as leaving the text. Else it goes back to insert something only where the text reads
    as well with it, if it `checks_steps_back`, and closes what stands open in the text if that `ends_document`.
    """

    id: int
    key: ModelKey
    document: str
    text: str
    start: int
    end: int
    max_actions: int
    temperature: float
    top_k: int
    seed: int
    checks_steps_back: bool = True
    ends_document: bool = False
    revises: bool = False
    margin: float = 0.0
    format: str = "plaintext"
    confidence: float = 0.0
    words: tuple[str, ...] = ()
    name: str = ""
    ignored: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class ReadingTask:
    """Proofread `text`, what is nearest to character `near` first; `words` stay, and changes are of these `kinds`."""

    id: int
    key: ModelKey
    text: str
    format: str
    near: int
    words: tuple[str, ...]
    confidence: float
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class SuggestingTask:
    """Say how `text` goes on at character `at`: see `reviser.session.suggesting.SuggestionRequest`."""

    id: int
    key: ModelKey
    document: str
    text: str
    at: int
    count: int
    tokens: int
    confidence: float
    whole_line: bool


@dataclass(frozen=True)
class LoadingTask:
    """Load the model, which is done when it can be used."""

    id: int
    key: ModelKey


Order = WritingTask | ReadingTask | SuggestingTask | LoadingTask
"""What is worked on, and answered by events."""


# What was found in a text: where, the old text, the new one, the confidence, and the kind.
FoundChange = tuple[int, str, str, float, str]


@dataclass(frozen=True)
class Event:
    """What became of a task.

    `begun` says how many characters before `start` are the model's to write again (see
    `reviser.session.windows.Window.trailing_space`). A `step` carries its `edits` of what is written, those
    characters included, one after the other, and the model's cursor in it; when the task is to revise, it is about
    the characters from `first` to `last` after `start`, and those behind it come later. `done` and `failed` are the
    last. `done` counts ids: `evaluated` went through the model; it needed to know `before` of the text before
    `start`, and knew `reused` of them. What was to be suggested says a `step` for each of its tokens, with the `text`
    of the first suggestion so far, and its `texts` when it is `done`. A reading answers with `found`: `changes` are all there are in some stretches of its
    text, `spans`, which were read just now if they are `fresh`.
    """

    id: int
    kind: Literal["begun", "step", "found", "done", "failed"]
    trailing_space: int = 0
    edits: Sequence[Edit] = ()
    first: int = 0
    last: int = 0
    cursor: int = 0
    label: str = ""
    ending: str = ""
    evaluated: int = 0
    before: int = 0
    reused: int = 0
    message: str = ""
    spans: Sequence[Sequence[int]] = ()
    changes: Sequence[FoundChange] = ()
    fresh: bool = False
    text: str = ""
    texts: Sequence[str] = ()

    @property
    def is_last(self) -> bool:
        return self.kind in ("done", "failed")


_NAMES: dict[type[Order], str] = {
    WritingTask: "write",
    ReadingTask: "read",
    SuggestingTask: "suggest",
    LoadingTask: "load",
}


def encode(message: dict[str, object]) -> bytes:
    return json.dumps(message).encode("ascii") + b"\n"


def encode_task(task: Order) -> bytes:
    return encode({_NAMES[type(task)]: asdict(task)})


def encode_cancel(id: int) -> bytes:
    return encode({"cancel": id})


def encode_event(event: Event) -> bytes:
    return encode({name: value for name, value in asdict(event).items() if value or name == "id"})


def decode_event(line: bytes) -> Event:
    fields = json.loads(line)
    return Event(**(fields | {"edits": tuple(Edit(**one) for one in fields.get("edits", ()))}))


def decode_order(line: bytes) -> Order | int:
    """What is to be done, or the id of what is to be cancelled."""
    message = json.loads(line)
    if "write" in message:
        fields = message["write"]
        lists = {"words": tuple(fields["words"]), "ignored": tuple(map(tuple, fields["ignored"]))}
        return WritingTask(**(fields | lists | {"key": ModelKey(**fields["key"])}))
    if "read" in message:
        fields = message["read"]
        lists = {name: tuple(fields[name]) for name in ("words", "kinds")}
        return ReadingTask(**(fields | lists | {"key": ModelKey(**fields["key"])}))
    if "suggest" in message:
        fields = message["suggest"]
        return SuggestingTask(**(fields | {"key": ModelKey(**fields["key"])}))
    if "load" in message:
        fields = message["load"]
        return LoadingTask(fields["id"], ModelKey(**fields["key"]))
    return int(message["cancel"])
