"""The messages between the server and the worker process: one JSON object a line.

The server sends a `LoadingTask`, a `WritingTask`, a `ReadingTask`, a `SuggestingTask`, a `FollowingTask`, or the id of
a task to cancel. The engine answers each task with one event for each action, or for the findings in a part of a text,
and a last one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from reviser.core.edits import Edit
from reviser.proofreading.suggestion import Kind, Suggestion

# Bytes; more than any task needs, so a longer line is invalid.
LINE_LIMIT = 1 << 24


@dataclass(frozen=True)
class ModelKey:
    """A model, by name or folder, and the number of threads it may use; None stands for the defaults."""

    model: str | None = None
    threads: int | None = None


@dataclass(frozen=True)
class WritingTask:
    """Write between characters `start` and `end` of `text`, in place of what stands there, or revise that.

    A revision at temperature 0 proofreads: `words` and `accepted` count as known, and in a document called `name` the
    `ignored` places are left. At another temperature, `max_actions` are for each passage, and a change must be `margin`
    times as likely as leaving the text. Other tasks insert before the end only where the text stays as likely, if
    `checks_steps_back`, and close what stands open in the text, if `ends_document`.
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
    accepted: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    name: str = ""
    ignored: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class ReadingTask:
    """Proofread `text`, nearest to character `near` first; `words` and `accepted` count as known, and only findings of
    these `kinds` are sent.
    """

    id: int
    key: ModelKey
    text: str
    format: str
    near: int
    words: tuple[str, ...]
    accepted: tuple[str, ...]
    confidence: float
    kinds: tuple[str, ...]
    rules: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SuggestingTask:
    """Suggest how `text` continues at character `at`: see `reviser.session.suggesting.SuggestionRequest`."""

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
class FollowingTask:
    """Suggest what else a person would change in `text`, from character `first` to `last`.

    `made` are the edits in it, the latest last, each with its place, old and new text, `elsewhere` those in other
    texts and `refused` what was refused: see `reviser.next_edits.following.EditedDocument`. A model is only loaded and
    asked with `asks_model`.
    """

    id: int
    key: ModelKey
    text: str
    format: str
    made: tuple[tuple[int, str, str], ...]
    elsewhere: tuple[tuple[str, ...], ...]
    refused: tuple[tuple[str, ...], ...]
    confidence: float | None
    first: int
    last: int
    asks_model: bool = False


@dataclass(frozen=True)
class LoadingTask:
    """Load a model; done when it can be used."""

    id: int
    key: ModelKey


Order = WritingTask | ReadingTask | SuggestingTask | FollowingTask | LoadingTask
"""What is worked on, and answered by events."""


# A finding in a text: its offset, the old text, the new text, the confidence, the kind, and the reason.
FoundChange = tuple[int, str, str, float, str, str, str]


@dataclass(frozen=True)
class Event:
    """An answer to a task; its `kind` says which of the fields are meant.

    `begun`: `trailing_space` characters before `start` are the model's to write again (see
    `reviser.session.windows.Window.trailing_space`).

    `step` of a `WritingTask`: `edits` of the written text (with those characters), to be made one after the other, and
    the model's `cursor` in it. A revising task's step is about the characters from `first` to `last` after `start`;
    steps come from the first passage to the last.

    `step` of a `SuggestingTask`: `text` is the first suggestion so far; one step for each token.

    `found`: `changes` are all findings in the stretches `spans` of the text, which are `fresh` if they were read just
    now.

    `done` and `failed` end a task. `done` counts ids: `evaluated` went through the model; `before` of the text before
    `start` were needed, of which `reused` were cached. After a `SuggestingTask` it has the suggested `texts`.
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

    def suggestions(self, low: int = 0) -> list[Suggestion]:
        """The changes that were found in a part of a document which begins at character `low`."""
        return [
            Suggestion(Edit(low + start, old, new), Kind(kind), confidence, reason, rule=rule)
            for start, old, new, confidence, kind, reason, rule in self.changes
        ]

    @property
    def is_last(self) -> bool:
        return self.kind in ("done", "failed")


_NAMES: dict[type[Order], str] = {
    WritingTask: "write",
    ReadingTask: "read",
    SuggestingTask: "suggest",
    FollowingTask: "follow",
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
    """The task in a line, or the id of the task to cancel."""
    message = json.loads(line)
    if "write" in message:
        fields = message["write"]
        lists = {name: tuple(fields[name]) for name in ("words", "accepted")}
        lists |= {name: tuple(map(tuple, fields[name])) for name in ("ignored", "rules")}
        return WritingTask(**(fields | lists | {"key": ModelKey(**fields["key"])}))
    if "read" in message:
        fields = message["read"]
        lists = {name: tuple(fields[name]) for name in ("words", "accepted", "kinds")}
        lists["rules"] = tuple(map(tuple, fields["rules"]))
        return ReadingTask(**(fields | lists | {"key": ModelKey(**fields["key"])}))
    if "suggest" in message:
        fields = message["suggest"]
        return SuggestingTask(**(fields | {"key": ModelKey(**fields["key"])}))
    if "follow" in message:
        fields = message["follow"]
        lists = {name: tuple(map(tuple, fields[name])) for name in ("made", "elsewhere", "refused")}
        return FollowingTask(**(fields | lists | {"key": ModelKey(**fields["key"])}))
    if "load" in message:
        fields = message["load"]
        return LoadingTask(fields["id"], ModelKey(**fields["key"]))
    return int(message["cancel"])
