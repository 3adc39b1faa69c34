"""A rollout seen as text: each step with the character edits it made and the cursor it left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviser.core.actions import Insert, Replace, describe
from reviser.core.text import Extent, TextEdit, TextLayer, visible_text
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rollout import Rollout, Step


@dataclass(frozen=True, slots=True)
class Frame:
    """One step, the edits it makes to the text (usually one or none), and where its cursor stands."""

    step: Step
    tokenizer: Tokenizer
    edits: tuple[TextEdit, ...]
    cursor: Extent

    @property
    def label(self) -> str:
        """What the step did, in a few words."""
        return step_label(self.step, self.tokenizer)


def frames(rollout: Rollout, text: TextLayer, tokenizer: Tokenizer) -> Iterator[Frame]:
    """Follow `rollout`, keeping `text` in step with its canvas."""
    for step in rollout:
        yield frame(step, text, tokenizer)


def frame(step: Step, text: TextLayer, tokenizer: Tokenizer) -> Frame:
    """One step, taken over into `text`."""
    edits = tuple(edit for splice in step.splices if (edit := text.apply(splice)) is not None)
    return Frame(step, tokenizer, edits, text.position(step.cursor))


def step_label(step: Step, tokenizer: Tokenizer) -> str:
    """What a step did, in a few words."""
    if not isinstance(step.action, Insert | Replace):
        return describe(step.action)
    data = tokenizer.token_bytes(step.action.token)
    text = visible_text(data)
    if text.encode() != data:
        return f"{type(step.action).__name__} bytes {data.hex(' ')}"
    return describe(step.action, text)
