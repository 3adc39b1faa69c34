"""Short descriptions of steps, for the log and the options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviser.core.actions import Action, Move

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.session.frames import Frame

# The number of tokens beside the target of a move from which words are taken.
_NEAR = 6
# With more letters beside the place, the second word behind it is left out.
_ROOM = 18


def full_label(frame: Frame, tokens: Sequence[int]) -> str:
    """The description of a step that has left these tokens: where a move went, what a deletion removed."""
    step = frame.step
    removed = "".join(edit.removed for edit in frame.edits)
    if isinstance(step.action, Move):
        return option_label(frame, step.action, tokens, step.cursor - step.action.delta)
    if step.action.kind not in ("delete", "span_delete") or not removed:
        return frame.label
    return f'{frame.label} "{_on_one_line(removed)}"'


def option_label(frame: Frame, action: Action, tokens: Sequence[int], cursor: int) -> str:
    """The description of another action in place of a step, from these tokens and this cursor."""
    from reviser.session.frames import step_label

    if not isinstance(action, Move):
        return step_label(frame.step._replace(action=action), frame.tokenizer)
    arrow = "←" if action.delta < 0 else "→"
    return f"Move {arrow} {_place(tokens, cursor + action.delta, frame.tokenizer)}"


def _place(tokens: Sequence[int], at: int, tokenizer: Tokenizer) -> str:
    """A place between tokens, described by the words beside it."""
    from reviser.core.tokenizer import decode

    before = decode(tokenizer, tokens[max(at - _NEAR, 0) : at])
    behind = decode(tokenizer, tokens[at : at + _NEAR])
    words = behind.split()[:2]
    if not words:
        return "the end"
    last = before.split(" ")[-1]
    shown = words if len(last) + sum(map(len, words)) < _ROOM else words[:1]
    gap = behind[: len(behind) - len(behind.lstrip())]
    return f'"{_on_one_line(last)}|{_on_one_line(gap + " ".join(shown))}"'


def _on_one_line(text: str) -> str:
    return "".join([char if char.isprintable() else repr(char)[1:-1] for char in text])
