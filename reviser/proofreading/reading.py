"""Corrections of passages by a model: many passages at once if its decoder supports batches, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, NamedTuple

from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import SessionPolicy
from reviser.model.scoring import ChoiceScores, ReadingDecoder
from reviser.proofreading.guard.calibration import SearchThresholds
from reviser.proofreading.overtyping import Correction, Overtyper, OvertypingReader, OvertypingRules
from reviser.proofreading.together import ROWS, read_overtyping

AT_ONCE: Final = 3 * ROWS
"""The best number of passages to pass in one call: finished rows go on to the next passage, and keep the prefix that
neighbours share."""
LEAST_CONFIDENCE: Final = 0.01
"""The least confidence of a change that is looked for, whatever is asked for."""


Tell = Callable[[int, int], None]
"""A progress callback: the number of sentences read (a second reading counts again), and the total."""


def told_from(tell: Tell, done: int, total: int) -> Callable[[int], None]:
    """A callback that adds `done` to the number of sentences, and reports it to `tell` with the total."""
    return lambda more: tell(done + more, total)


class Passage(NamedTuple):
    """Tokens to correct, and those around them, which stay."""

    tokens: Sequence[int]
    left: Sequence[int] = ()
    right: Sequence[int] = ()


def find_corrections(
    policy: SessionPolicy,
    passages: Sequence[Passage],
    search: SearchThresholds,
    tell: Callable[[int], None] | None = None,
) -> list[list[Correction]]:
    """The corrections of each passage that reach the thresholds of `search`; `tell` is called with the number of
    passages read."""
    readers = [overtyping_reader(policy, passage, search) for passage in passages]
    overtype(policy, readers, tell)
    return [corrections_of(reader, search.least) for reader in readers]


def corrections_of(reader: OvertypingReader, confidence: float) -> list[Correction]:
    """The corrections of a finished reader that reach a confidence."""
    return [one for one in reader.corrections if one.confidence >= confidence]


def overtyping_reader(
    policy: SessionPolicy, passage: Passage, search: SearchThresholds, told: Sequence[ChoiceScores] = ()
) -> OvertypingReader:
    """A reader that looks for corrections of a passage; `told` are known scores of its first places."""
    rules = rules_for(policy.vocabulary)
    least = max(LEAST_CONFIDENCE, search.least)
    return OvertypingReader(
        rules,
        *passage,
        confidence=max(least, search.followed),
        least=least,
        trigger=search.trigger,
        in_steps=_keeps_cache(policy),
        told=told,
    )


def _keeps_cache(policy: SessionPolicy) -> bool:
    """Whether the policy keeps a cache, so that a prefix is read only once."""
    decoder = getattr(policy, "decoder", None)
    return not (isinstance(decoder, ReadingDecoder) and decoder.rereads)


@cache
def rules_for(vocabulary: Vocabulary) -> OvertypingRules:
    """The overtyping rules for a vocabulary; raises `ReviserError` if its models do not overtype."""
    return OvertypingRules(vocabulary)


def overtype(policy: SessionPolicy, readers: Sequence[Overtyper], tell: Callable[[int], None] | None = None) -> None:
    """Run readers to their end; `tell` is called with the number of finished ones."""
    decoder = getattr(policy, "decoder", None)
    if isinstance(decoder, ReadingDecoder):
        read_overtyping(decoder, readers, tell=tell)
        return
    for number, reader in enumerate(readers, start=1):
        _overtype_alone(policy, reader)
        if tell:
            tell(number)


def _overtype_alone(policy: SessionPolicy, reader: Overtyper) -> None:
    # A canvas never has more tokens than there are ids.
    room = min(policy.context, policy.max_length or policy.context)
    while not reader.over:
        choice_scores = _choice_scores_alone(policy, reader) if len(reader.ids) <= room else None
        if choice_scores is None:
            reader.give_up()
        else:
            reader.take(choice_scores)


def _choice_scores_alone(policy: SessionPolicy, reader: Overtyper) -> list[ChoiceScores] | None:
    """A policy's scores for the ids that a reader asks for; None if there is no room for them."""
    choice_scores = []
    first = len(reader.ids) - len(reader.expected) + 1
    for place, expected in enumerate(reader.expected):
        scores = policy.scores(reader.ids[: first + place], reader.canvas)
        if scores is None:
            return None
        choice_scores.append(reader.rules.choice_score(scores, expected, reader.asked.get(place, ())))
    return choice_scores
