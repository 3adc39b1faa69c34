"""vLLM's second model runner, imitated: a table of ids by slot, rows in any order, and no id known to the host."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import seed
from reviser.integrations.masks import Follower, VllmMask

VOCABULARY = Vocabulary(40, frozenset({7}), kinds=PAPER_KINDS | {"delete"})
PADDED = VOCABULARY.size + 3
SLOTS = 8
LONGEST = 400


@dataclass
class Request:
    ids: list[int]
    options: dict[str, int] = field(default_factory=dict)

    def mask(self) -> torch.Tensor:
        """What the follower of one history says; only Stop for what is no history."""
        try:
            return torch.tensor(Follower(VOCABULARY, self.ids, **self.options).mask())  # type: ignore[arg-type]
        except (ReviserError, InvalidAction):
            return torch.arange(VOCABULARY.size) == VOCABULARY.stop_id


class Table:
    """Slots as the second runner keeps them: what a slot held before stays in it behind the new ids."""

    def __init__(self, **config: Any) -> None:
        self.ids = torch.randint(0, VOCABULARY.size, (SLOTS, LONGEST), dtype=torch.int32)
        hf_config = SimpleNamespace(reviser={"vocabulary": VOCABULARY.to_dict()})
        states = SimpleNamespace(
            device=torch.device("cpu"), max_num_reqs=SLOTS, all_token_ids=SimpleNamespace(gpu=self.ids)
        )
        self.mask = VllmMask(SimpleNamespace(model_config=SimpleNamespace(hf_config=hf_config), **config), states)
        self.requests: dict[int, Request] = {}

    def add(self, slot: int, request: Request) -> None:
        assert self.mask.add_request(slot, SimpleNamespace(extra_args=request.options or None))
        self.requests[slot] = request

    def step(self, chance: random.Random) -> tuple[list[Request], torch.Tensor]:
        """The masked scores of all requests, which stand in another order at each step."""
        slots = chance.sample(sorted(self.requests), len(self.requests))
        requests = [self.requests[slot] for slot in slots]
        for slot, request in zip(slots, requests, strict=True):
            self.ids[slot, : len(request.ids)] = torch.tensor(request.ids, dtype=torch.int32)
        self.mask.apply_staged_writes()
        lengths = np.array([len(request.ids) for request in requests])
        context = SimpleNamespace(
            expanded_idx_mapping=torch.tensor(slots, dtype=torch.int32),
            pos=torch.from_numpy(lengths - 1),
            # The host knows a bound alone.
            seq_lens_upper_bound_np=np.minimum(lengths + chance.randrange(4), LONGEST),
        )
        scores = torch.zeros(len(slots), PADDED)
        assert self.mask.apply(scores, context) is scores
        return requests, scores.isfinite()


def fresh_request(chance: random.Random) -> Request:
    words = [id for id in range(40) if id != 7]
    before = chance.choices(words, k=chance.randrange(6))
    behind = chance.choices(words, k=chance.choice([0, 1, 2, 9, 70]))
    _, history = seed(VOCABULARY, before, behind)
    padding = [3] * chance.choice([0, 0, 2])
    options = {"prefix": len(before), "suffix": len(behind)}
    if not behind and chance.random() < 0.5:
        options = {}
    if chance.random() < 0.5:
        options["max_length"] = len(before) + len(behind) + chance.randrange(4)
    return Request(padding + history, options)


@pytest.mark.parametrize("number", range(4))
def test_the_mask_of_a_batch_is_that_of_each_request(number: int) -> None:
    chance = random.Random(number)
    table = Table()
    followed = 0
    for _ in range(60):
        for slot in [slot for slot in table.requests if chance.random() < 0.1]:
            del table.requests[slot]
        free = [slot for slot in range(SLOTS) if slot not in table.requests]
        for slot in chance.sample(free, min(len(free), chance.choice([0, 1, 3]))):
            table.add(slot, fresh_request(chance))
        if not table.requests:
            continue
        for request, valid in zip(*table.step(chance), strict=True):
            assert torch.equal(valid[: VOCABULARY.size], request.mask())
            assert not valid[VOCABULARY.size :].any()
            if len(request.ids) < LONGEST:
                request.ids.append(chance.choice(valid.nonzero()[:, 0].tolist()))
            followed += 1
    assert followed > 200


@pytest.mark.parametrize(
    "request_",
    [
        Request([1, 2, 3]),
        Request([VOCABULARY.start_id, 1, 2], {"prefix": 3}),
        Request([VOCABULARY.start_id, 1, 2], {"prefix": 1, "suffix": 1}),
        Request([VOCABULARY.start_id, 1, 2], {"suffix": 3}),
        Request([VOCABULARY.start_id, 1, 2], {"suffix": (1 << 30) - 1}),
        Request([VOCABULARY.start_id, 1, 2], {"max_length": 1}),
        Request([VOCABULARY.start_id, 1, VOCABULARY.delete_id], {"prefix": 1}),
        Request([VOCABULARY.start_id, 1, VOCABULARY.first_move_id, 2], {"prefix": 1}),
        Request([VOCABULARY.start_id, 1, VOCABULARY.start_id]),
        Request([VOCABULARY.start_id, 1, VOCABULARY.stop_id, 2, 3]),
    ],
)
def test_what_is_no_history_or_is_over_gets_nothing_but_stop(request_: Request) -> None:
    table = Table()
    right = Request([VOCABULARY.start_id, 1, 2])
    table.add(5, request_)
    table.add(2, right)
    for request, valid in zip(*table.step(random.Random(1)), strict=True):
        if request is right:
            assert valid.sum() > 30
        else:
            assert valid.nonzero().tolist() == [[VOCABULARY.stop_id]]


def test_ids_that_are_tried_ahead_are_refused_at_the_start() -> None:
    with pytest.raises(ReviserError, match="speculative"):
        Table(speculative_config=object())
    # The host need not know the ids, so it may run ahead.
    Table(speculative_config=None, scheduler_config=SimpleNamespace(async_scheduling=True))
