"""Batched overtyping: many readers share the rows of a decoder, and a row keeps the cache of a common prefix."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from reviser.model.scoring import ReadingDecoder, TextRows, shared_length
from reviser.proofreading.overtyping import Overtyper

ROWS: Final = 32
"""The default number of passages read together: more gain little, and take memory."""
_FEW: Final = 16


@dataclass(eq=False)
class _ReaderRow:
    """A row of the batch: the ids in its cache, its reader, and the readers still to come."""

    number: int
    waiting: deque[Overtyper]
    seen: list[int] = field(default_factory=list)
    reader: Overtyper | None = None


def read_overtyping(
    decoder: ReadingDecoder, readers: Sequence[Overtyper], rows: int = ROWS, tell: Callable[[int], None] | None = None
) -> None:
    """Run readers together, up to `rows` at a time; `tell` is called with the number of finished ones.

    A row that has finished goes on to the next reader at once, and keeps the prefix that both share: neighbours are
    best passed one after the other. A reader that runs out of room ends with what it has found.
    """
    unread = [reader for reader in readers if not reader.over]
    if not unread:
        return
    count = min(rows, len(unread))
    room = min(decoder.capacity, max(reader.longest for reader in unread))
    with decoder.rows(count, room, halved=True) as batch:
        all_rows = [
            _ReaderRow(row, deque(unread[len(unread) * row // count : len(unread) * (row + 1) // count]))
            for row in range(count)
        ]
        while active := [row for row in all_rows if _find_reader(row, all_rows, room)]:
            _read_round(batch, active)
            if tell:
                tell(
                    len(unread)
                    - sum(len(row.waiting) + (row.reader is not None and not row.reader.over) for row in all_rows)
                )


def _find_reader(row: _ReaderRow, all_rows: Sequence[_ReaderRow], room: int) -> Overtyper | None:
    """The reader of a row: its present one, else the next of its own, else one that another row has not started."""
    while row.reader is None or row.reader.over:
        longest = max(all_rows, key=lambda other: len(other.waiting))
        if row.waiting:
            row.reader = row.waiting.popleft()
        elif longest.waiting:
            row.reader = longest.waiting.pop()
        else:
            row.reader = None
            break
        _give_up_beyond(row.reader, room)
    return row.reader


def _read_round(batch: TextRows, active: Sequence[_ReaderRow]) -> None:
    """Answer the readers of the active rows once."""
    brief = [row for row in active if row.reader and row.reader.enough is not None]
    others = [row for row in active if row not in brief]
    # A few choice scores more cost less than another round.
    if others and sum(len(row.reader.expected) for row in brief if row.reader) <= _FEW:
        brief, others = [], list(active)
    for rows in (brief, others):
        if rows:
            _read_rows(batch, rows, briefly=rows is brief)


def _read_rows(batch: TextRows, rows: Sequence[_ReaderRow], *, briefly: bool) -> None:
    """Read for some rows; `briefly` allows the decoder to skip rare tokens where that is enough for a reader."""
    readers = [row.reader for row in rows if row.reader is not None]
    texts = []
    for row, reader in zip(rows, readers, strict=True):
        # Of ids that were read already, only the scores may be missing: then they are read again.
        kept = min(shared_length(row.seen, reader.ids), len(reader.ids) - len(reader.expected))
        batch.truncate(row.number, kept)
        texts.append(reader.ids[kept:])
        row.seen = list(reader.ids)
    expected = [reader.expected for reader in readers]
    asked = [reader.asked for reader in readers]
    numbers = [row.number for row in rows]
    enough = [reader.enough for reader in readers if reader.enough is not None]
    most = max(enough) if briefly else None
    found = batch.choice_scores(numbers, texts, expected, readers[0].rules, asked, most)
    for reader, choice_scores in zip(readers, found, strict=True):
        reader.take(choice_scores)
        _give_up_beyond(reader, batch.room)


def _give_up_beyond(reader: Overtyper, room: int) -> None:
    """End the readings of a reader that need more than `room` ids; it may have several."""
    while not reader.over and len(reader.ids) > room:
        reader.give_up()
