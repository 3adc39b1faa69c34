"""Frames: the steps of a rollout as character edits of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviser.core.actions import Insert, Replace, describe
from reviser.core.text import Extent, TextEdit, TextLayer, visible_text
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rollout import Rollout, Step


@dataclass(frozen=True, slots=True)
class Frame:
    """One step, its edits of the text (usually one or none), and the cursor after it."""

    step: Step
    tokenizer: Tokenizer
    edits: tuple[TextEdit, ...]
    cursor: Extent

    @property
    def label(self) -> str:
        """A short description of the step, for people."""
        return step_label(self.step, self.tokenizer)


def frames(rollout: Rollout, text: TextLayer, tokenizer: Tokenizer) -> Iterator[Frame]:
    """The frames of `rollout`; `text` is kept in step with its canvas."""
    for step in rollout:
        yield frame(step, text, tokenizer)


def frame(step: Step, text: TextLayer, tokenizer: Tokenizer) -> Frame:
    """The frame of one step, which is applied to `text`."""
    edits = tuple(edit for splice in step.splices if (edit := text.apply(splice)) is not None)
    return Frame(step, tokenizer, edits, text.position(step.cursor))


def step_label(step: Step, tokenizer: Tokenizer) -> str:
    """A short description of a step, for people."""
    if not isinstance(step.action, Insert | Replace):
        return describe(step.action)
    data = tokenizer.token_bytes(step.action.token)
    text = visible_text(data)
    if text.encode() != data:
        return f"{type(step.action).__name__} bytes {data.hex(' ')}"
    return describe(step.action, text)
