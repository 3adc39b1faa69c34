"""Corrections of passages by the model that is there: many read together where its decoder can do that, else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple, Protocol, runtime_checkable

from reviser.core.vocabulary import Vocabulary
from reviser.native.batch import read_batch
from reviser.native.decoder import NativeDecoder
from reviser.native.overtyping import read_overtyping
from reviser.proofreading.calibration import Search
from reviser.proofreading.overtyping import (
    Outlook,
    Overtyper,
    OvertypingReader,
    OvertypingRules,
)
from reviser.proofreading.reader import FLOOR, MOST_ACTIONS, Correction, Reader, Rules
from reviser.session.session import SessionPolicy

ROWS: Final = 32
"""Passages that are read together."""
AT_ONCE: Final = 3 * ROWS
"""Passages that are best handed over at once: rows that are through go on, and keep what neighbours begin with."""
LEAST_CONFIDENCE: Final = 0.01
"""What is less likely than this is not looked for, whatever is asked for."""


class Passage(NamedTuple):
    """Tokens to be corrected, and those around them, which stay."""

    tokens: Sequence[int]
    left: Sequence[int] = ()
    right: Sequence[int] = ()


@runtime_checkable
class ReadsTogether(Protocol):
    """A decoder that reads several passages at once, in both ways of proofreading."""

    def read_batch(self, readers: Sequence[Reader], rows: int) -> None: ...
    def read_overtyping(self, readers: Sequence[Overtyper], rows: int) -> None: ...


def find_corrections(
    policy: SessionPolicy,
    passages: Sequence[Passage],
    confidence: float,
    most_actions: int = MOST_ACTIONS,
    *,
    followed: float | None = None,
    rousing: float = 0.0,
) -> list[list[Correction]]:
    """The corrections of each passage in which the model is at least as confident as `confidence`, in any order.

    A model that overtypes reads a passage from its start, any other from its end backward and with up to `most_actions`. The
    former goes on as if all were made, or those of at least `followed`, and leaves passages alone where nothing has a probability of `rousing`.
    """
    readers: Sequence[OvertypingReader | Reader]
    rules = rules_for(policy.vocabulary)
    if isinstance(rules, OvertypingRules):
        search = Search(confidence if followed is None else followed, confidence, rousing)
        readers = over = [overtyping_reader(policy, passage, search) for passage in passages]
        overtype(policy, over)
    else:
        floor = max(LEAST_CONFIDENCE, min(FLOOR, confidence))
        readers = back = [
            Reader(rules, *passage, floor=floor, most_actions=most_actions) for passage in passages
        ]
        read(policy, back)
    return [corrections_of(reader, confidence) for reader in readers]


def corrections_of(reader: OvertypingReader | Reader, confidence: float) -> list[Correction]:
    """What a reader has found with such a confidence."""
    return [one for one in reader.corrections if one.confidence >= confidence]


def overtyping_reader(
    policy: SessionPolicy, passage: Passage, search: Search, told: Sequence[Outlook] = ()
) -> OvertypingReader:
    """A reader that looks for corrections of a passage, of whose first places something may be told."""
    rules = rules_for(policy.vocabulary)
    assert isinstance(rules, OvertypingRules)
    least = max(LEAST_CONFIDENCE, search.least)
    return OvertypingReader(
        rules,
        *passage,
        confidence=max(least, search.followed),
        least=least,
        rousing=search.rousing,
        in_steps=_keeps_cache(policy),
        told=told,
    )


def _keeps_cache(policy: SessionPolicy) -> bool:
    """Whether what was read once need not be read again when more is read behind it."""
    return not isinstance(getattr(policy, "decoder", None), ReadsTogether)


@cache
def rules_for(vocabulary: Vocabulary) -> OvertypingRules | Rules:
    """The rules by which models of a vocabulary proofread; refuses one whose models do not."""
    rules = Rules(vocabulary)
    return OvertypingRules(vocabulary) if vocabulary.overtypes else rules


def overtype(policy: SessionPolicy, readers: Sequence[Overtyper]) -> None:
    """Let every reader write over its passage to the end."""
    decoder = getattr(policy, "decoder", None)
    if isinstance(decoder, NativeDecoder):
        read_overtyping(decoder, readers, ROWS)
    elif isinstance(decoder, ReadsTogether):
        decoder.read_overtyping(readers, ROWS)
    else:
        for reader in readers:
            _overtype_alone(policy, reader)


def _overtype_alone(policy: SessionPolicy, reader: Overtyper) -> None:
    # A canvas never has more tokens than there are ids.
    room = min(policy.context, policy.max_length or policy.context)
    while not reader.over:
        outlooks = _outlooks_alone(policy, reader) if len(reader.ids) <= room else None
        if outlooks is None:
            reader.give_up()
        else:
            reader.take(outlooks)


def _outlooks_alone(policy: SessionPolicy, reader: Overtyper) -> list[Outlook] | None:
    """What a policy says of the ids that a reader wants to know of; None if it has no scores for them."""
    outlooks = []
    first = len(reader.ids) - len(reader.expected) + 1
    for place, expected in enumerate(reader.expected):
        scores = policy.scores(reader.ids[: first + place], reader.canvas)
        if scores is None:
            return None
        outlooks.append(reader.rules.outlook(scores, expected, reader.asked.get(place, ())))
    return outlooks


def read(policy: SessionPolicy, readers: Sequence[Reader]) -> None:
    """Let every reader read its passage backward to the end."""
    decoder = getattr(policy, "decoder", None)
    if isinstance(decoder, NativeDecoder):
        read_batch(decoder, readers, ROWS)
    elif isinstance(decoder, ReadsTogether):
        decoder.read_batch(readers, ROWS)
    else:
        for reader in readers:
            _read_alone(policy, reader)


def _read_alone(policy: SessionPolicy, reader: Reader) -> None:
    canvas, history = reader.canvas, list(reader.history)
    while len(history) <= policy.context:
        scores = policy.scores(history, canvas)
        chosen = None if scores is None else reader.advance(scores)
        if chosen is None:
            return
        canvas.apply(canvas.action(chosen))
        history.append(chosen)
