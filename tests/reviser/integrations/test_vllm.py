"""The batch of vLLM's first model runner, imitated call by call: the mask of all requests at once is each request's
own mask."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import seed
from reviser.integrations.masks import Follower, VllmMask

VOCABULARY = Vocabulary(40, frozenset({7}), kinds=PAPER_KINDS | {"delete"})
PADDED = VOCABULARY.size + 3


class Direction(Enum):
    """As vLLM names them."""

    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class Update:
    """`BatchUpdate` of vLLM's `vllm.v1.sample.logits_processor.interface`."""

    batch_size: int
    removed: Sequence[int]
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]]
    moved: Sequence[tuple[int, int, Direction]]


@dataclass
class Request:
    prompt: list[int]
    options: dict[str, int]
    output: list[int] = field(default_factory=list)

    @property
    def added(self) -> tuple[Any, list[int], list[int]]:
        return SimpleNamespace(extra_args=self.options or None), self.prompt, self.output


class PersistentBatch:
    """Slots as vLLM's `InputBatch` keeps them: new requests go into gaps, the last ones close the rest."""

    def __init__(self, mask: VllmMask, chance: random.Random) -> None:
        self.mask = mask
        self.slots: list[Request | None] = []
        self._chance = chance

    def change(self, gone: Sequence[int], new: Sequence[Request], swap: bool) -> None:
        for index in gone:
            self.slots[index] = None
        added = []
        # Gaps are filled from the lowest on; such a slot is not told as removed.
        removed = sorted(gone)
        for request in new:
            index = removed.pop(0) if removed else len(self.slots)
            if index == len(self.slots):
                self.slots.append(request)
            else:
                self.slots[index] = request
            added.append((index, *request.added))
        moved = []
        for gap in removed:
            while self.slots and self.slots[-1] is None:
                self.slots.pop()
            if gap < len(self.slots):
                last = len(self.slots) - 1
                self.slots[gap] = self.slots.pop()
                moved.append((last, gap, Direction.UNIDIRECTIONAL))
        if swap and len(self.slots) > 1:
            one, other = self._chance.sample(range(len(self.slots)), 2)
            self.slots[one], self.slots[other] = self.slots[other], self.slots[one]
            moved.append((one, other, Direction.SWAP))
        changed = removed or added or moved
        update = Update(len(self.slots), removed, added, moved) if changed else None
        self.mask.update_state(update)


def config(**scheduling: bool) -> Any:
    hf_config = SimpleNamespace(reviser={"vocabulary": VOCABULARY.to_dict()})
    return SimpleNamespace(
        model_config=SimpleNamespace(hf_config=hf_config), scheduler_config=SimpleNamespace(**scheduling)
    )


def fresh_request(chance: random.Random) -> Request:
    words = [id for id in range(40) if id != 7]
    before = chance.choices(words, k=chance.randrange(6))
    behind = chance.choices(words, k=chance.randrange(3))
    _, history = seed(VOCABULARY, before, behind)
    options = {"prefix": len(before), "suffix": len(behind)}
    if chance.random() < 0.5:
        options["max_length"] = len(before) + len(behind) + chance.randrange(4)
    return Request(history, options)


@pytest.mark.parametrize("number", range(4))
def test_the_mask_of_a_batch_is_that_of_each_request(number: int) -> None:
    chance = random.Random(number)
    mask = VllmMask(config(), torch.device("cpu"), False)
    batch = PersistentBatch(mask, chance)
    followed = 0
    for _ in range(60):
        gone = [index for index in range(len(batch.slots)) if chance.random() < 0.1]
        new = [fresh_request(chance) for _ in range(chance.choice([0, 0, 1, 3]))]
        batch.change(gone, new, swap=chance.random() < 0.2)
        logits = torch.rand(len(batch.slots), PADDED)
        scores = logits.clone()
        assert mask.apply(logits) is logits
        for row, request in enumerate(batch.slots):
            assert request is not None
            follower = Follower(VOCABULARY, request.prompt, **request.options)  # type: ignore[arg-type]
            follower.take(request.output)
            valid = torch.from_numpy(follower.mask())
            assert torch.equal(logits[row, : len(valid)].isfinite(), valid)
            assert torch.equal(logits[row, : len(valid)][valid], scores[row, : len(valid)][valid])
            assert not logits[row, len(valid) :].isfinite().any()
            request.output.append(chance.choice(valid.nonzero()[:, 0].tolist()))
            followed += 1
    assert followed > 200


def test_a_request_that_was_put_off_goes_on_with_what_it_has_written() -> None:
    """vLLM may take a request out of the batch and put it back later, its output with it."""
    mask = VllmMask(config(), torch.device("cpu"), False)
    request = Request([VOCABULARY.start_id, 1, 2], {})
    follower = Follower(VOCABULARY, request.prompt)
    for id in (3, 4, VOCABULARY.first_move_id + 1):
        follower.take([id])
        request.output.append(id)
    mask.update_state(Update(1, [], [(0, *request.added)], []))
    masked = mask.apply(torch.zeros(1, PADDED))
    assert torch.equal(masked[0, : VOCABULARY.size].isfinite(), torch.from_numpy(follower.mask()))


def test_a_wrong_request_does_not_end_the_engine() -> None:
    mask = VllmMask(config(), torch.device("cpu"), False)
    wrong, right = Request([1, 2], {}), Request([VOCABULARY.start_id, 1, 2], {})
    mask.update_state(Update(2, [], [(0, *wrong.added), (1, *right.added)], []))
    masked = mask.apply(torch.zeros(2, PADDED))
    assert masked[0].isfinite().nonzero().tolist() == [[VOCABULARY.stop_id]]
    assert masked[1].isfinite().sum() > 30


def test_ids_that_come_late_are_refused_at_the_start() -> None:
    with pytest.raises(ReviserError, match="--no-async-scheduling"):
        VllmMask(config(async_scheduling=True), torch.device("cpu"), False)
