"""Which parts of a long document are read, and in which order."""

from __future__ import annotations

import itertools

from reviser.editor.excerpts import FARTHEST, excerpts, ranges_around
from reviser.prose import Format


def test_ranges_cover_a_text_and_the_nearest_come_first() -> None:
    assert ranges_around(12, 25, 10) == [(10, 20), (0, 10), (20, 25)]
    assert ranges_around(0, 0, 10) == []
    text = "".join(f"Paragraph {number}" + " has a few words." * 40 + "\n\n" for number in range(500))
    found = list(excerpts(text, 250_000, Format.MARKDOWN))
    assert found[0][0] <= 250_000 <= found[0][1]
    assert sorted(found)[0][0] == 0
    assert max(end for _, end in found) == len(text)
    ordered = sorted(found)
    assert all(one[1] >= other[0] for one, other in itertools.pairwise(ordered))
    # Where nothing has changed, the excerpts are as they were.
    moved = "Some. " + text
    after = {moved[start:end] for start, end in excerpts(moved, 0, Format.MARKDOWN)}
    assert len({text[start:end] for start, end in found} & after) >= len(found) // 2


def test_what_is_far_away_is_not_read() -> None:
    text = "A line of words.\n\n" * (3 * FARTHEST // 18)
    found = list(excerpts(text, 0, Format.PLAIN))
    assert found[0][0] == 0
    assert FARTHEST < max(end for _, end in found) < 1.2 * FARTHEST
