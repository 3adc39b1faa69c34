"""Recorded runs: the ids of all actions, those that seeded the run included, and the metadata of the run.

A trajectory file is a JSON list of objects (or one object). The paper's published runs have the fields `action_ids`,
`prefix_tokens`, `prompt` and `final_text`; the others are optional. Fields that this module does not know are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reviser import __version__
from reviser.core.canvas import Canvas
from reviser.core.counts import counted
from reviser.core.errors import BadTrajectory, ReviserError, UnknownId
from reviser.core.files import input_name
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary

FORMAT_VERSION = 1


class RecordableRun(Protocol):
    """The part of a run that is recorded: its canvas and all ids of its history, of which the first `seeded` were
    given."""

    @property
    def canvas(self) -> Canvas: ...
    @property
    def history(self) -> list[int]: ...
    @property
    def seeded(self) -> int: ...
    @property
    def seed(self) -> int | None:
        """The seed of the run's random choices; None if it had none."""


@dataclass(frozen=True)
class Trajectory:
    """One recorded run. The first `seed_actions` ids wrote the prompt (and, for an infill, the suffix).

    Where a draft was revised, its `draft_tokens` tokens and the marker before them are among those ids.
    """

    action_ids: tuple[int, ...]
    prefix_tokens: int = 0
    suffix_tokens: int = 0
    draft_tokens: int | None = None
    prompt: str | None = None
    suffix: str | None = None
    final_text: str | None = None
    cursor: int | None = None
    model: str | None = None
    seed: int | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary.gpt2)
    versions: dict[str, object] = field(default_factory=dict)
    others: dict[str, object] = field(default_factory=dict)

    @property
    def seed_actions(self) -> int:
        back = len(self.vocabulary.moves(-self.suffix_tokens))
        draft = 0 if self.draft_tokens is None else 1 + self.draft_tokens
        return self.prefix_tokens + self.suffix_tokens + back + draft

    @classmethod
    def record(cls, run: RecordableRun, tokenizer: Tokenizer, model: str | None = None) -> Trajectory:
        """The trajectory of a run up to now."""
        canvas = run.canvas
        tokens = canvas.tokens
        return cls(
            action_ids=tuple(run.history[1:]),
            prefix_tokens=canvas.prefix,
            suffix_tokens=canvas.suffix,
            draft_tokens=_draft_tokens(run),
            prompt=decode(tokenizer, tokens[: canvas.prefix]),
            suffix=decode(tokenizer, tokens[canvas.high :]) if canvas.suffix else None,
            final_text=decode(tokenizer, tokens),
            cursor=canvas.cursor,
            model=model,
            seed=run.seed,
            vocabulary=canvas.vocabulary,
            versions={"format": FORMAT_VERSION, "reviser": __version__},
        )

    def to_dict(self) -> dict[str, object]:
        data: dict[str, object] = {
            "model": self.model,
            "seed": self.seed,
            "prefix_tokens": self.prefix_tokens,
            "suffix_tokens": self.suffix_tokens or None,
            "draft_tokens": self.draft_tokens,
            "prompt": self.prompt,
            "suffix": self.suffix,
            "final_text": self.final_text,
            "cursor": self.cursor,
            "vocabulary": self.vocabulary.to_dict(),
            "versions": self.versions or None,
            "action_ids": list(self.action_ids),
        }
        return self.others | {key: value for key, value in data.items() if value is not None}

    @classmethod
    def from_dict(cls, data: Any) -> Trajectory:
        if not isinstance(data, dict):
            raise BadTrajectory("a trajectory must be a JSON object")
        fields = dict(data)
        ids = fields.pop("action_ids", None)
        if not isinstance(ids, list) or not all(type(id) is int for id in ids):
            raise BadTrajectory("a trajectory needs action_ids, a list of whole numbers")
        vocabulary = _vocabulary(fields.pop("vocabulary", None))
        if ids[:1] == [vocabulary.start_id]:
            ids = ids[1:]
        trajectory = cls(
            action_ids=tuple(ids),
            prefix_tokens=_count(fields.pop("prefix_tokens", 0), "prefix_tokens"),
            suffix_tokens=_count(fields.pop("suffix_tokens", 0), "suffix_tokens"),
            draft_tokens=_draft_count(fields.pop("draft_tokens", None)),
            prompt=_optional(fields.pop("prompt", None), str, "prompt"),
            suffix=_optional(fields.pop("suffix", None), str, "suffix"),
            final_text=_optional(fields.pop("final_text", None), str, "final_text"),
            cursor=_optional(fields.pop("cursor", None), int, "cursor"),
            model=_optional(fields.pop("model", None), str, "model"),
            seed=_optional(fields.pop("seed", None), int, "seed"),
            vocabulary=vocabulary,
            versions=_optional(fields.pop("versions", None), dict, "versions") or {},
            others=fields,
        )
        # The tokens are counted first: the moves back over a long suffix would be many.
        written = trajectory.prefix_tokens + trajectory.suffix_tokens
        if written > len(ids) or trajectory.seed_actions > len(ids):
            raise BadTrajectory(f"the trajectory has {counted(len(ids), 'action')}, too few to have written its prompt")
        return trajectory


def _draft_tokens(run: RecordableRun) -> int | None:
    """The number of tokens of the draft that a run revised; None if there was none."""
    given, marker = run.history[: run.seeded], run.canvas.vocabulary.draft_id
    return len(given) - 1 - given.index(marker) if marker in given else None


def _draft_count(value: Any) -> int | None:
    return None if value is None else _count(value, "draft_tokens")


def _count(value: Any, name: str) -> int:
    if type(value) is not int or value < 0:
        raise BadTrajectory(f"{name} must be a whole number, 0 or more")
    return value


def _optional(value: Any, type_: type, name: str) -> Any:
    if value is not None and not isinstance(value, type_):
        raise BadTrajectory(f"{name} must be of type {type_.__name__}")
    return value


def _vocabulary(data: Any) -> Vocabulary:
    if data is None or data == "gpt2":
        return Vocabulary.gpt2()
    try:
        return Vocabulary.from_dict(data)
    except ReviserError:
        raise BadTrajectory("its vocabulary is not one that this program knows") from None


def load_trajectories(path: Path | str, text: str) -> list[Trajectory]:
    """The trajectories in the JSON `text` of a file; `path` names it in errors. Raises `BadTrajectory`."""
    name = input_name(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise BadTrajectory(f"{name} is not JSON") from None
    entries = data if isinstance(data, list) else [data]
    if not entries:
        raise BadTrajectory(f"{name} holds no trajectory")
    trajectories = []
    for number, entry in enumerate(entries):
        try:
            trajectories.append(Trajectory.from_dict(entry))
        except (BadTrajectory, UnknownId) as error:
            raise BadTrajectory(f"{name}, trajectory {number}: {error}") from None
    return trajectories


def dump_trajectories(trajectories: Iterable[Trajectory]) -> str:
    """The JSON of a trajectory file."""
    return json.dumps([t.to_dict() for t in trajectories], ensure_ascii=False, indent=1) + "\n"
