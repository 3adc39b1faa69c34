"""Suggestions of next edits for a document in an editor, part by part from the last edit outwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from reviser.core.edits import Edit
from reviser.editor.excerpts import excerpts, ranges_around, whole_characters
from reviser.next_edits.following import EditedDocument, EditFollower, RefusedEdit
from reviser.next_edits.prompt import recent_edit
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format

POSSIBLE: Final = 0.1
"""The confidence of a suggestion that a user may want to see who asks for all places."""

_READ_AT_ONCE: Final = 6000


class FollowedPart(NamedTuple):
    """A range of a document, and all suggestions in it."""

    span: tuple[int, int]
    suggestions: list[Suggestion]


def follow(
    follower: EditFollower,
    text: str,
    format: Format,
    made: Sequence[Edit],
    edited: Sequence[tuple[int, int]] = (),
    refused: Sequence[RefusedEdit] = (),
) -> Iterator[FollowedPart]:
    """The possible suggestions after the edits `made`, of which the last is the latest.

    What lies in the ranges that the person has `edited` is never suggested, whatever he meant there.
    """
    if not made:
        return
    for start, end in excerpts(text, made[-1].start, format):
        within = [start <= edit.start and edit.start + len(edit.new) <= end for edit in made]
        inside = [edit.moved(-start) for edit, is_inside in zip(made, within, strict=True) if is_inside]
        outside = [recent_edit(text, edit) for edit, is_inside in zip(made, within, strict=True) if not is_inside]
        part = EditedDocument(whole_characters(text[start:end]), format, inside, outside, refused)
        # A model takes its time, in which what it has found is shown.
        size = len(part.text) + 1 if follower.reader is None else _READ_AT_ONCE
        for low, high in ranges_around(made[-1].start - start, len(part.text) + 1, size):
            found = [one.moved(start) for one in follower.suggestions(part, POSSIBLE, (low, high))]
            free = [one for one in found if all(one.end < first or last < one.start for first, last in edited)]
            yield FollowedPart((start + low, start + high), free)
