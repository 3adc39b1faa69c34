"""The typing session that is replayed: a draft, and keys with the times between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

DRAFT = """\
The library on Mill Street opens at nine, but the caretaker is there at seven. He sweeps the steps, puts
the returned books on a trolley, and makes tea for whoever comes first. In winter that is usually Mrs. Farrow,
who reads the newspapers from the back to the front and writes down the weather of every town she has lived in.

The building was a bank once. The counter is still there, and children like to hand their books through the brass
window as if they were paying something in. Where the safe stood there is now a reading corner with three low
chairs and a lamp. The door of the safe was too heavy to carry away, so it leans against the wall, and somebody
has painted a garden on it.

Last spring the council asked whether the town still needed a library. There was a meeting, and more people came
than the hall had chairs. Some spoke about the cost of the roof. Others spoke about the winter when the power
failed, and the library was the only warm room for streets around, because the old stove in the cellar burns
anything. In the end the vote was not close. The roof was mended in August, and the stove was cleaned.
"""


@dataclass(frozen=True)
class Key:
    """The user's action `wait` seconds after the previous key.

    `text` is the letter typed, or the words after which the cursor is placed.
    """

    wait: float
    act: Literal["type", "erase", "accept", "go"]
    text: str = ""


# Seconds between the keys of somebody who types about sixty words a minute, over and over.
_RHYTHM = (0.17, 0.13, 0.21, 0.15, 0.18, 0.12, 0.24, 0.16, 0.14, 0.20, 0.11, 0.19, 0.28, 0.15, 0.17)


def recorded() -> list[Key]:
    """The session: prose with pauses, a correction, suggestions taken over, a new sentence in the middle."""
    gaps = itertools.cycle(_RHYTHM)

    def typed(text: str, first: float = 0.0) -> Iterator[Key]:
        for place, letter in enumerate(text):
            # A word takes a moment of thought, a sentence a longer one.
            thought = {" ": 0.06, ".": 0.30, ",": 0.12}.get(text[place - 1], 0.0) if place else first
            yield Key(next(gaps) + thought, "type", letter)

    def erased(count: int) -> Iterator[Key]:
        return (Key(0.5 if not done else 0.11, "erase") for done in range(count))

    return [
        *typed("\nThis year there is a new plan. The caretaker wants to open the cellar as a "),
        *typed("workshop, ", 0.8),
        *typed("where people can mend what they would otherwise throw away.", 0.4),
        *typed(" He has asked for a long table, good ligt", 1.6),
        *erased(2),
        *typed("ht and a few tools.", 0.3),
        Key(1.8, "accept"),
        *typed(" Mrs. Farrow has promised", 0.9),
        Key(1.5, "accept"),
        Key(2.5, "go", "has painted a garden on it."),
        *typed(" In summer the children draw chalk flowers in", 0.9),
        Key(1.5, "accept"),
        *typed(" and the caretaker", 0.8),
        *erased(9),
        *typed("librarian pretends not to see it.", 0.4),
    ]
