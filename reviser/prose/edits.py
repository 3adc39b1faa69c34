"""Edits of paragraphs as edits of the source that keep the document's structure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from reviser.core.edits import Edit, apply_edits
from reviser.prose.formats import Format
from reviser.prose.paragraphs import Paragraph
from reviser.prose.reading import structure_digest, structure_of
from reviser.prose.source import Span

# Characters that mean something besides themselves in most formats: a change keeps them, in their order.
_SYNTAX = frozenset("*_`<>[]|\\$~^{}@#%&=")
_FINAL = ".!?…;:,"
_QUOTES = "\"'“‘„«‹¿¡"
_JOINERS = "\u200c\u200d"


def same_structure(before: str, after: str, format: Format) -> bool:
    """Whether two texts are the same apart from their prose."""
    return before == after or structure_digest(before, format) == structure_digest(after, format)


def source_edits(paragraph: Paragraph, changes: Iterable[Edit]) -> list[Edit]:
    """The edits of the source that make some changes of a paragraph, without those that are unsafe at first sight.

    A change stays within the prose: what touches a protected span is dropped, and so is what brings in
    or takes away a character of syntax. Lines stay lines: a change over the end of a line leaves the
    break in it, at the space that is nearest to where it was. Nothing gets a final mark that is
    complete without one. See `safe_edits` for the proof by reading again.
    """
    return [edit for group in _edit_groups(paragraph, changes) for edit in group]


def safe_edits(text: str, format: Format, proposals: Iterable[tuple[Paragraph, Iterable[Edit]]]) -> list[Edit]:
    """The edits of all changes that leave the structure of `text` as it is, in their order.

    The proposals are changes of paragraphs of `text`. The result is read again, first the part around a
    paragraph, then the document; changes that would alter its structure are left out.
    """
    accepted: list[list[Edit]] = []
    for scope, groups in _by_scope(proposals):
        if scope is None:
            accepted += groups
        else:
            accepted += _harmless(text, format, scope, groups)
    whole = Span(0, len(text))
    kept = _harmless(text, format, whole, sorted(accepted))
    return sorted(edit for group in kept for edit in group)


def _by_scope(proposals: Iterable[tuple[Paragraph, Iterable[Edit]]]) -> Iterator[tuple[Span | None, list[list[Edit]]]]:
    """The edits of all changes, grouped by change, for each range of the document within which their effect can be
    seen."""
    scopes: dict[Span | None, list[list[Edit]]] = {}
    for paragraph, changes in proposals:
        groups = list(_edit_groups(paragraph, changes))
        if groups:
            scopes.setdefault(paragraph.scope, []).extend(groups)
    yield from scopes.items()


def _harmless(text: str, format: Format, scope: Span, groups: Sequence[list[Edit]]) -> list[list[Edit]]:
    """The groups of edits that together keep the structure of a range of the text; the rest is left out."""
    part = text[scope.start : scope.end]
    wanted = structure_of(part, format)

    def keeps(some: Sequence[list[Edit]]) -> bool:
        moved = [edit.moved(-scope.start) for group in some for edit in group]
        return wanted.kept_by(structure_of(apply_edits(part, moved), format))

    kept: list[list[Edit]] = []
    # Halves are tried beside what is kept already, so that one bad change costs few readings.
    waiting = [list(groups)] if groups else []
    while waiting:
        some = waiting.pop()
        if keeps([*kept, *some]):
            kept += some
        elif len(some) > 1:
            middle = len(some) // 2
            waiting += [some[middle:], some[:middle]]
    return kept


def _edit_groups(paragraph: Paragraph, changes: Iterable[Edit]) -> Iterator[list[Edit]]:
    """The edits of each change that can be made; none of them overlap or touch."""
    place = -1
    for change in sorted(changes):
        if change.start < 0 or not paragraph.text.startswith(change.old, change.start):
            continue
        small = _smallest(paragraph, _without_final_mark(paragraph, change))
        if small is None or not _keeps_syntax(paragraph, small):
            continue
        edits = _placed(paragraph, small)
        if edits and edits[0].start > place:
            place = edits[-1].end
            yield edits


def _without_final_mark(paragraph: Paragraph, change: Edit) -> Edit:
    """The change without a final mark that it adds to a paragraph that is no sentence."""
    text = paragraph.text
    if not paragraph.role.fragment or change.end < len(text) or text[-1:] in _FINAL:
        return change
    return Edit(change.start, change.old, change.new.rstrip(_FINAL + " "))


def _smallest(paragraph: Paragraph, change: Edit) -> Edit | None:
    """The change without the common prefix and suffix of its old and new text; None if nothing is left."""
    start, old, new = change.start, change.old, change.new
    if old == new:
        return None
    most = min(len(old), len(new))
    left = next((i for i in range(most) if old[i] != new[i]), most)
    most -= left
    right = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    # No edit comes between a letter and its accents or the parts of an emoji.
    while left and _continues(paragraph.text, start + left, new[left:]):
        left -= 1
    while right and unicodedata.combining(old[len(old) - right]):
        right -= 1
    return Edit(start + left, old[left : len(old) - right], new[left : len(new) - right])


def _continues(text: str, place: int, new: str) -> bool:
    """Whether the character after `place`, before or after a change there, combines with the one before it."""
    return any(
        bool(unicodedata.combining(following[0])) or following[0] in _JOINERS
        for following in (text[place : place + 1], new)
        if following
    )


def _keeps_syntax(paragraph: Paragraph, change: Edit) -> bool:
    old, new = change.old, change.new
    if any(_is_control(character) for character in old + new):
        return False
    if [c for c in old if c in _SYNTAX] != [c for c in new if c in _SYNTAX]:
        return False
    return not paragraph.touches_protected(change.start, change.end)


def _is_control(character: str) -> bool:
    """Whether a character ends lines or is invisible; joiners are not counted."""
    if character.isascii():
        return not character.isprintable()
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and character not in _JOINERS


def _placed(paragraph: Paragraph, change: Edit) -> list[Edit]:
    """The edits of a change, one for each line that it alters; none if the lines cannot be kept."""
    last = bisect_left(paragraph.ends, change.end)
    first = paragraph.segment_at(change.start) if change.old else last
    if first == last:
        edit = _in_line(paragraph, first, change.start, change.end, change.new)
        return [edit] if edit else []
    if any(number in paragraph.tight for number in range(first + 1, last + 1)):
        return []
    edits = []
    for number, piece in enumerate(_broken(paragraph, change, first, last), first):
        edit = _in_line(paragraph, number, piece.start, piece.end, piece.new)
        if edit is None:
            return []
        if edit.old != edit.new:
            edits.append(edit)
    return edits


def _in_line(paragraph: Paragraph, number: int, left: int, right: int, new: str) -> Edit | None:
    """The edit of one line, which must keep some text and gets no blanks at its ends; None if it cannot.

    A part of a line that follows a tag without a space may start and end with any character.
    """
    text, start, end = paragraph.text, paragraph.starts[number], paragraph.ends[number]
    opens, closes = number not in paragraph.tight, number + 1 not in paragraph.tight
    if left == start and opens:
        new = new.lstrip()
        while not new and right < end and text[right] == " ":
            right += 1
    if right == end and closes:
        new = new.rstrip()
        while not new and left > start and text[left - 1] == " ":
            left -= 1
    rest = new or text[right:end] or text[start:left]
    if not rest or (left == start and opens and not _can_start_line((new or text[right:end])[:1], text[start])):
        return None
    if paragraph.touches_protected(left, right):
        return None
    place = paragraph.source_span(left, right).start
    return Edit(place, paragraph.source_of(left, right), paragraph.as_written(left, right, new))


def _can_start_line(first: str, before: str) -> bool:
    """Whether a character may start a line without being taken for a marker of some format."""
    return first == before or first.isalnum() or (first != "" and first in _QUOTES)


def _broken(paragraph: Paragraph, change: Edit, first: int, last: int) -> list[Edit]:
    """A change of several lines as one change for each, with the line breaks between them at spaces; empty if there
    are too few spaces."""
    text, starts, ends = paragraph.text, paragraph.starts, paragraph.ends
    line_end = ends[last]
    # The words at either end of the change may move over a break; what is protected does not.
    left = _space_before(paragraph, change.start, starts[first])
    right = _space_after(paragraph, change.end, line_end)
    start = change.start if left is None else left
    end = change.end if right is None else right + 1
    whole = text[start : change.start] + change.new + text[change.end : end]
    spaces = [place for place, character in enumerate(whole) if character == " "]
    inner = [
        place
        for place in spaces
        if whole[:place].strip() or start > starts[first]
        if whole[place:].strip() or end < line_end
    ]
    if len(inner) < last - first:
        return []
    # A break stays where it was in the old text, as far as the new one is as long.
    scale = len(change.new) / (change.end - change.start)
    wanted = [
        change.start - start + (starts[number] - 1 - change.start) * scale for number in range(first + 1, last + 1)
    ]
    breaks = _nearest(inner, wanted)
    edges = [-1, *breaks, len(whole)]
    pieces = []
    for number, (before, after) in enumerate(pairwise(edges), first):
        old_start = start if number == first else starts[number]
        old_end = end if number == last else ends[number]
        pieces.append(Edit(old_start, text[old_start:old_end], whole[before + 1 : after]))
    return pieces


def _nearest(places: Sequence[int], wanted: Sequence[float]) -> list[int]:
    """For each wanted place the nearest of the places, in increasing order."""
    chosen, low = [], 0
    for number, goal in enumerate(wanted):
        high = len(places) - (len(wanted) - number - 1)
        best = min(range(low, high), key=lambda index: abs(places[index] - goal))
        chosen.append(places[best])
        low = best + 1
    return chosen


def _space_before(paragraph: Paragraph, place: int, line_start: int) -> int | None:
    found = paragraph.text.rfind(" ", line_start, place)
    return None if found < 0 or paragraph.touches_protected(found, place) else found


def _space_after(paragraph: Paragraph, place: int, line_end: int) -> int | None:
    found = paragraph.text.find(" ", place, line_end)
    return None if found < 0 or paragraph.touches_protected(place, found + 1) else found
