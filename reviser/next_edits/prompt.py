"""The prompt of a next edit: the person's edits as overtyped excerpts, then the window that the model overtypes.

An excerpt is written in the language in which the model edits: the draft's marker, the words around the edit as
they were, the marker of overtyping, the same words overtyped with the edit, and Stop. Behind the excerpts stand the
window and the marker of overtyping, as in proofreading. So a person's edits are nothing new to a model that
overtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reviser.core.edits import Edit, apply_edits

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.vocabulary import Vocabulary

MOST_SHOWN: Final = 4
"""The most excerpts in a prompt: those of the last edits."""
LONGEST_EDIT: Final = 160
"""The most characters of the old or the new text of an edit in a prompt."""
_BEFORE: Final = 30
_AFTER: Final = 24
_LINE: Final = 400


@dataclass(frozen=True)
class RecentEdit:
    """A replacement of `old` by `new` that a person made, and the text beside it.

    `line_before` and `line_after` are the rest of its line; a model is not shown them.
    """

    before: str
    old: str
    new: str
    after: str
    line_before: str = ""
    line_after: str = ""

    @property
    def draft(self) -> str:
        return self.before + self.old + self.after

    @property
    def revised(self) -> str:
        return self.before + self.new + self.after


def recent_edit(text: str, edit: Edit) -> RecentEdit:
    """An edit with the whole words on both sides of it; its new text is in `text`."""
    start, end = edit.start, edit.start + len(edit.new)
    first = max(start - _BEFORE, 0)
    if first and not text[first - 1].isspace():
        while first < start and not text[first].isspace():
            first += 1
    last = min(end + _AFTER, len(text))
    if last < len(text) and not text[last].isspace():
        while last > end and not text[last - 1].isspace():
            last -= 1
    line_start = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = text.find("\n", end, end + _LINE)
    line_end = min(end + _LINE, len(text)) if line_end < 0 else line_end
    return RecentEdit(text[first:start], edit.old, edit.new, text[end:last], text[line_start:start], text[end:line_end])


def with_made(text: str, edits: Sequence[Edit]) -> tuple[str, list[Edit]]:
    """The text after some edits, which are in order with offsets in `text`, and the edits with offsets in the
    result."""
    made, growth = [], 0
    for edit in edits:
        made.append(edit.moved(growth))
        growth += edit.growth
    return apply_edits(text, edits), made


def overtyped(vocabulary: Vocabulary, draft: Sequence[int], revised: Sequence[int]) -> tuple[int, int, list[int]]:
    """The one change between two texts in tokens: its start, the number of tokens of the draft that it removes, and
    the new ids."""
    shared = 0
    most = min(len(draft), len(revised))
    while shared < most and draft[shared] == revised[shared]:
        shared += 1
    ending = 0
    while ending < most - shared and draft[-1 - ending] == revised[-1 - ending]:
        ending += 1
    removed = len(draft) - shared - ending
    return (shared, removed, [vocabulary.delete_id] * removed + list(revised[shared : len(revised) - ending]))


def shown_ids(vocabulary: Vocabulary, tokenizer: Tokenizer, edits: Sequence[RecentEdit]) -> list[int]:
    """The ids of the excerpts of the last edits, the latest last."""
    ids: list[int] = []
    for edit in edits[-MOST_SHOWN:]:
        draft, revised = tokenizer.encode(edit.draft), tokenizer.encode(edit.revised)
        start, removed, change = overtyped(vocabulary, draft, revised)
        ids += [vocabulary.draft_id, *draft, vocabulary.overtype_id]
        ids += [*draft[:start], *change, *draft[start + removed :], vocabulary.stop_id]
    return ids


def prompt_ids(vocabulary: Vocabulary, shown: Sequence[int], window: Sequence[int]) -> list[int]:
    """A whole prompt: the start, the excerpts, the window, and the marker behind which the model overtypes it."""
    return [vocabulary.start_id, *shown, vocabulary.draft_id, *window, vocabulary.overtype_id]
