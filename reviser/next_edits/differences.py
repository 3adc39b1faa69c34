"""Word differences between two texts: the edits that a person made."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from reviser.core.edits import Edit
from reviser.next_edits.prompt import with_made

MOST_PIECES: Final = 1000
LEAST_ALIKE: Final = 0.5
"""The least share of common words between two versions of a line; below it the line was rewritten."""
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")
_COMPARED_LINES: Final = 40


def changed_words(old: str, new: str) -> list[Edit] | None:
    """The edits, in whole words and with offsets in the old text, that turn it into the new one; None if the text was
    rewritten.

    Changed words with nothing but space between them are one edit.
    """
    before, after = _PIECE.findall(old), _PIECE.findall(new)
    if len(before) > MOST_PIECES or len(after) > MOST_PIECES:
        return None
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < LEAST_ALIKE:
        return None
    starts = [0, *accumulate(map(len, before))]
    edits: list[Edit] = []
    end = -2
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        joined = "".join(before[end:i]) if edits else ""
        gone, come = old[starts[i] : starts[j]], "".join(after[k:m])
        if edits and i - end <= 1 and not joined.strip():
            last = edits.pop()
            edits.append(Edit(last.start, last.old + joined + gone, last.new + joined + come))
        else:
            edits.append(Edit(starts[i], gone, come))
        end = j
    return edits


def changed_lines(old: str, new: str) -> list[Edit]:
    """The word edits in changed lines, with offsets in the new text; lines that were inserted, removed or rewritten
    have none."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, after))]
    edits: list[Edit] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace":
            for line, other in _pairs(before[i:j], after[k:m]):
                changed = changed_words(before[i + line], after[k + other]) or []
                _, made = with_made(before[i + line], changed)
                edits += [edit.moved(starts[k + other]) for edit in made]
    return edits


def _pairs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The pairs of old and new line numbers that belong together; where lines were also inserted or removed, the
    most similar ones."""
    if len(before) == len(after) or len(before) * len(after) > _COMPARED_LINES**2:
        yield from zip(range(len(before)), range(len(after)), strict=False)
        return
    first = 0
    for number, line in enumerate(before):
        words = _PIECE.findall(line)
        ratios = [
            difflib.SequenceMatcher(None, words, _PIECE.findall(other), autojunk=False).ratio()
            for other in after[first:]
        ]
        best = max(range(len(ratios)), key=ratios.__getitem__, default=None)
        if best is not None and ratios[best] >= LEAST_ALIKE:
            yield number, first + best
            first += best + 1
