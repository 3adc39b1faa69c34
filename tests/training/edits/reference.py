"""Samples of edits, written with the canvas: what `training.edits.edit_samples` does compiled, draw for draw."""

from __future__ import annotations

from reviser.core.actions import Stop
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed as seeded_canvas
from tests.training.edits.revising import revising_actions
from training.data.randomness import KeyedRandom
from training.edits.alignment import align
from training.edits.edit_samples import MARKS, Parts, neighbours, running_weights
from training.edits.edits import operators_of
from training.samples.mixture import Mixture, Order
from training.samples.obfuscation import Sample


def revision_sample(vocabulary: Vocabulary, parts: Parts, name: int, mixture: Mixture) -> Sample:
    """The sample called `name` of an edit: its left neighbour, text before, text after, right neighbour."""
    left, before, after, right = parts
    random = KeyedRandom(name)
    finished = random.share() < mixture.unchanged
    order = _draw_order(mixture, random)
    draft = after if finished else before
    if mixture.overtype and random.share() < mixture.overtype:
        return _overtyped_sample(vocabulary, (left, draft, after, right), mixture.max_history)
    actions = revising_actions(vocabulary, draft, after, order=order, random=random)
    if MARKS + len(draft) + len(actions) > mixture.max_history:
        actions = revising_actions(vocabulary, draft, after)
    room = mixture.max_history - MARKS - len(draft) - len(actions)
    kept_left, kept_right = neighbours(len(left), len(right), room)
    canvas, ids = seeded_canvas(vocabulary, left[len(left) - kept_left :], right[:kept_right], draft=draft)
    given = len(ids)
    for action in [*actions, Stop()]:
        ids.append(vocabulary.id(action, canvas.cursor))
        canvas.apply(action)
    return Sample(ids, [False] * given + [True] * (len(ids) - given))


def _overtyped_sample(vocabulary: Vocabulary, parts: Parts, max_history: int) -> Sample:
    left, draft, after, right = parts
    operators = operators_of(vocabulary)
    ids: list[int] = []
    done = 0
    for old_start, old_end, new_start, new_end in align(draft, after, len(draft), operators).tolist():
        ids += after[done:new_start]
        ids += [vocabulary.delete_id] * (old_end - old_start)
        ids += after[new_start:new_end]
        done = new_end
    ids += after[done:]
    kept_left, kept_right = neighbours(len(left), len(right), max_history - MARKS - 1 - len(draft) - len(ids))
    _, given = seeded_canvas(vocabulary, left[len(left) - kept_left :], right[:kept_right], draft=draft)
    given.append(vocabulary.overtype_id)
    ids.append(vocabulary.stop_id)
    return Sample(given + ids, [False] * len(given) + [True] * len(ids))


def _draw_order(mixture: Mixture, random: KeyedRandom) -> Order:
    weights = running_weights(mixture)
    drawn = random.share()
    place = next((at for at, until in enumerate(weights.tolist()) if drawn < until), len(weights) - 1)
    return Order(mixture.edit_orders[place][1])
