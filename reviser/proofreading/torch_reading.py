"""Readers that overtype, many together on a torch model: every round reads their ids again, which is quick on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from reviser.model import Reviser
from reviser.proofreading.overtyping import Outlook, Overtyper, OvertypingRules

ROWS = 128
_POSITIONS = 4096
"""So many positions at a time are scored: each has as many scores as there are ids."""


@torch.inference_mode()
def read_overtyping(model: Reviser, readers: Sequence[Overtyper], rows: int = ROWS) -> None:
    """Let readers proofread their passages, up to `rows` at a time.

    A reading that has no more room ends with what it has found.
    """
    while active := _unfinished(model, readers):
        # Of like length, so that little is read in vain.
        active.sort(key=lambda reader: len(reader.ids))
        for at in range(0, len(active), rows):
            _read_round(model, active[at : at + rows])


def _unfinished(model: Reviser, readers: Sequence[Overtyper]) -> list[Overtyper]:
    for reader in readers:
        while not reader.over and len(reader.ids) > model.config.context:
            reader.give_up()
    return [reader for reader in readers if not reader.over]


def _read_round(model: Reviser, readers: Sequence[Overtyper]) -> None:
    device = model.cos.device
    longest = max(len(reader.ids) for reader in readers)
    padded = [reader.ids + [0] * (longest - len(reader.ids)) for reader in readers]
    hidden = model.hidden(torch.tensor(padded, device=device))
    wanted = torch.cat(
        [
            hidden[row, len(reader.ids) - len(reader.expected) : len(reader.ids)]
            for row, reader in enumerate(readers)
        ]
    )
    expected = [id for reader in readers for id in reader.expected]
    asked = [
        reader.asked.get(place, ()) for reader in readers for place in range(len(reader.expected))
    ]
    outlooks = _outlooks(model, wanted, expected, asked, readers[0].rules)
    done = 0
    for reader in readers:
        count = len(reader.expected)
        reader.take(outlooks[done : done + count])
        done += count


def _outlooks(
    model: Reviser,
    hidden: Tensor,
    expected: Sequence[int],
    asked: Sequence[Sequence[int]],
    rules: OvertypingRules,
) -> list[Outlook]:
    vocabulary = rules.vocabulary
    insertable = torch.tensor(rules.insertable, device=hidden.device)
    found: list[Outlook] = []
    for at in range(0, len(expected), _POSITIONS):
        proposed = torch.tensor(expected[at : at + _POSITIONS], device=hidden.device)
        chances = model.logits(hidden[at : at + _POSITIONS]).float().log_softmax(-1)
        tokens = chances[:, : vocabulary.base_size].where(insertable, float("-inf"))
        best = tokens.topk(2)
        columns = (
            chances.gather(1, proposed[:, None])[:, 0],
            chances[:, vocabulary.delete_id],
            chances[:, vocabulary.stop_id],
            best.indices[:, 0],
            best.values[:, 0],
            best.indices[:, 1],
            best.values[:, 1],
        )
        more = (
            tuple(row[list(ids)].tolist()) if ids else ()
            for row, ids in zip(chances, asked[at : at + _POSITIONS], strict=True)
        )
        found += map(Outlook, *(column.tolist() for column in columns), more)
    return found
