"""Replays of recorded trajectories: their frames, final text, statistics and diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from reviser.core.actions import Action, Move
from reviser.core.canvas import Canvas
from reviser.core.errors import BadTrajectory, ReviserError
from reviser.core.text import TextLayer
from reviser.core.tokenizer import Tokenizer
from reviser.core.trajectory import Trajectory
from reviser.decoding.rollout import Rollout, ScriptedPolicy
from reviser.decoding.sampler import Sampler
from reviser.session.frames import Frame, frame, frames
from reviser.viewer import ViewerStep, ViewerTrajectory

_VIEWER_KINDS = {"span_delete": "span", "span_move": "span", "span_copy": "span"}


@dataclass
class Replay:
    """A trajectory on its own canvas, seeded and ready to run."""

    trajectory: Trajectory
    tokenizer: Tokenizer
    canvas: Canvas = field(init=False)
    text: TextLayer = field(init=False)
    start_text: str = field(init=False)

    def __post_init__(self) -> None:
        trajectory, vocabulary = self.trajectory, self.trajectory.vocabulary
        if vocabulary.base_size != self.tokenizer.size:
            raise BadTrajectory(f"the trajectory was made with another tokenizer ({vocabulary.name or 'unnamed'})")
        self.canvas = Canvas(vocabulary)
        try:
            for id in trajectory.action_ids[: trajectory.seed_actions]:
                if id != vocabulary.draft_id:
                    self.canvas.apply(self.canvas.action(id))
            self.canvas.protect(trajectory.prefix_tokens, trajectory.suffix_tokens, self.canvas.cursor)
        except ReviserError as error:
            raise BadTrajectory(f"its prompt cannot be written: {error}") from None
        self.text = TextLayer(self.tokenizer, self.canvas.tokens)
        self.start_text = self.text.text

    def frames(self) -> Iterator[Frame]:
        """The frames after the prompt, one at a time; raises `BadTrajectory` for an impossible action."""
        vocabulary, ids = self.trajectory.vocabulary, self.trajectory.action_ids
        seeded = self.trajectory.seed_actions
        last = ids[max(seeded, len(ids) - 2) :]
        script = ScriptedPolicy(vocabulary, ids[seeded : len(ids) - len(last)])
        rollout = Rollout(
            script, self.canvas, [vocabulary.start_id, *ids[:seeded]], Sampler.greedy(), max_actions=len(ids)
        )
        try:
            yield from frames(rollout, self.text, self.tokenizer)
            for id in last:
                step = rollout.take(id, self._kept_out_of_the_prompt(id, last))
                yield frame(step, self.text, self.tokenizer)
        except ReviserError as error:
            raise BadTrajectory(f"action {len(rollout.history) - 1}: {error}") from None

    def _kept_out_of_the_prompt(self, id: int, last: tuple[int, ...]) -> Action | None:
        """The action that replaces a final move to one boundary inside the prompt: a move to the prompt's edge.

        Four of the ten runs published with the paper, those of the 100M model, end with such a move: their mask was one
        boundary too wide. Only Stop follows, so no text depends on it.
        """
        canvas, action = self.canvas, self.canvas.action(id)
        closing = last == (id, self.trajectory.vocabulary.stop_id)
        if not closing or not isinstance(action, Move) or canvas.cursor == canvas.low:
            return None
        one_too_far = canvas.cursor + action.delta == canvas.low - 1
        return Move(canvas.low - canvas.cursor) if one_too_far else None


class ReplaySummary(TypedDict):
    """The result of a trajectory and the counts of its actions, in JSON types."""

    name: str
    final_text: str
    cursor: int
    actions: int
    prompt_actions: int
    inserts: int
    moves: int
    matches: bool | None


@dataclass(frozen=True)
class Replayed:
    """A trajectory after its whole replay."""

    trajectory: Trajectory
    start_text: str
    start_cursor: int
    protected: tuple[int, int]
    frames: tuple[Frame, ...]
    final_text: str
    cursor: int

    @property
    def name(self) -> str:
        example = self.trajectory.others.get("example")
        parts = [self.trajectory.model, None if example is None else f"example {example}"]
        return ", ".join(part for part in parts if part) or "trajectory"

    @property
    def matches(self) -> bool | None:
        """Whether the replay gives the file's `final_text`; None if the file has none."""
        stated = self.trajectory.final_text
        return None if stated is None else stated == self.final_text

    def summary(self) -> ReplaySummary:
        """The result and the counts of the whole trajectory, those that wrote the prompt included."""
        ids, vocabulary = self.trajectory.action_ids, self.trajectory.vocabulary
        kinds = [vocabulary.action(id).kind for id in ids if id != vocabulary.draft_id]
        return {
            "name": self.name,
            "final_text": self.final_text,
            "cursor": self.cursor,
            "actions": len(ids),
            "prompt_actions": self.trajectory.seed_actions,
            "inserts": kinds.count("insert"),
            "moves": kinds.count("move"),
            "matches": self.matches,
        }

    def diff(self, number: int) -> str:
        """A unified diff from the prompt to the result."""
        name = f"trajectory-{number}.txt"
        return unified_diff(self.start_text, self.final_text, f"a/{name}", f"b/{name}")

    def for_viewer(self) -> ViewerTrajectory:
        prefix, suffix = self.protected
        facts = {"model": self.trajectory.model, "seed": self.trajectory.seed}
        return ViewerTrajectory(
            name=self.name,
            start_text=self.start_text,
            prefix=prefix,
            suffix=suffix,
            start_cursor=self.start_cursor,
            steps=tuple(_viewer_step(frame) for frame in self.frames),
            expected=self.trajectory.final_text,
            facts=tuple((key, str(value)) for key, value in facts.items() if value is not None),
        )


def replay(trajectory: Trajectory, tokenizer: Tokenizer) -> Replayed:
    """Run a trajectory from its prompt to its end."""
    run = Replay(trajectory, tokenizer)
    prefix = run.text.position(run.canvas.low).utf16
    suffix = run.text.position(run.canvas.length).utf16 - run.text.position(run.canvas.high).utf16
    start_cursor = run.text.position(run.canvas.cursor).utf16
    done = tuple(run.frames())
    return Replayed(trajectory, run.start_text, start_cursor, (prefix, suffix), done, run.text.text, run.canvas.cursor)


def _viewer_step(frame: Frame) -> ViewerStep:
    kind = frame.step.action.kind
    edits = tuple((edit.start.utf16, edit.end.utf16, edit.inserted) for edit in frame.edits)
    return ViewerStep(frame.label, _VIEWER_KINDS.get(kind, kind), edits, frame.cursor.utf16)


def unified_diff(before: str, after: str, before_name: str, after_name: str, *, context: int = 3) -> str:
    """A unified diff that `patch` and `unidiff` read, also where a last line has no newline."""
    old, new = patch_lines(before), patch_lines(after)
    # Only what lies between the first and the last difference is compared: that may take long.
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    first = max(0, start - context)
    lines = difflib.unified_diff(
        old[first : len(old) - max(0, end - context)],
        new[first : len(new) - max(0, end - context)],
        before_name,
        after_name,
        n=context,
    )
    return "".join(_marked(_shifted(line, first)) for line in lines)


def _shared(one: list[str], other: list[str]) -> int:
    """The number of equal lines at the start of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _shifted(line: str, by: int) -> str:
    """A line of a diff; in a hunk's header, the line numbers are raised by `by`."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + by}", line)


def _marked(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def patch_lines(text: str) -> list[str]:
    """The lines of a text as patch reads them: only a newline ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
