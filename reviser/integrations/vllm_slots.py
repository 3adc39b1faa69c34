"""The validity mask for vLLM's second model runner, which keeps each request in a slot of its own.

Ids stay on the device there, and the host runs ahead of it: no id is known to the host when the next is chosen. So the
host records the options of a request once, when it comes. Everything that follows from the ids is computed on the
device, from the runner's own table of them, for all requests at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.validity import NEVER, Rules

_UNSAID = -1


@dataclass(frozen=True)
class Room:
    """For each row: the tokens before and after the cursor, how many more fit, and whether the row is idle."""

    before: Tensor
    behind: Tensor
    fits: Tensor
    over: Tensor


class SlotMask:
    """Masks the scores of a batch whose requests have slots; its state of a request is stored by slot."""

    def __init__(self, vllm_config: Any, states: Any, vocabulary: Vocabulary) -> None:
        if getattr(vllm_config, "speculative_config", None) is not None:
            raise ReviserError("the mask does not support speculative decoding")
        self._states = states
        self._vocabulary = vocabulary
        self._rules = Rules.of(vocabulary, states.device)
        # Prefix, suffix, moves back before the suffix, greatest length.
        self._said = torch.zeros(states.max_num_reqs, 4, dtype=torch.long, device=states.device)
        self._new: dict[int, tuple[int, int, int, int]] = {}

    def add(self, slot: int, options: Mapping[str, int]) -> None:
        """Record the options of a request's history; the slot may have held another request."""
        suffix = options.get("suffix", 0)
        # No history has more tokens than the table is wide: such a request is found to be wrong anyway.
        back = self._vocabulary.moves(-min(suffix, self._states.all_token_ids.gpu.shape[1]))
        self._new[slot] = (options.get("prefix", _UNSAID), suffix, len(back), options.get("max_length", NEVER))

    def flush(self) -> None:
        """Copy new requests to the device, before the step that reads them."""
        if not self._new:
            return
        slots, rows = torch.tensor([*self._new]), torch.tensor([*self._new.values()])
        self._said[slots.to(self._said.device)] = rows.to(self._said.device)
        self._new.clear()

    def apply(self, logits: Tensor, context: Any) -> Tensor:
        """Mask the scores (requests, ids) in place."""
        slots = context.expanded_idx_mapping.long()
        # The longest history is known to the host; what is chosen in this step follows the id at `pos`.
        longest = max(1, int(context.seq_lens_upper_bound_np.max()))
        ids = self._states.all_token_ids.gpu[slots, :longest].long()
        room = self.room(ids, context.pos.long() + 1, self._said[slots])
        size = self._vocabulary.size
        # Ids beyond the vocabulary are padding.
        invalid = torch.ones_like(logits, dtype=torch.bool)
        invalid[:, :size] = ~self._rules.valid(room.before, room.behind, room.fits)
        # Only Stop where a history is over or is none: engines need something to choose.
        invalid |= room.over[:, None]
        invalid[:, self._vocabulary.stop_id] &= ~room.over
        return logits.masked_fill_(invalid, -torch.inf)

    def room(self, ids: Tensor, lengths: Tensor, said: Tensor) -> Room:
        """The room of each row, from histories (rows, ids) of these lengths; `Follower` does the same for one."""
        prefix, suffix, back, most = said.T
        at = torch.arange(ids.shape[1], device=ids.device)
        written = at < lengths[:, None]
        start, started = _first(written & (ids == self._vocabulary.start_id), lengths)
        body = written & (at > start[:, None])
        # What follows a Stop is padding.
        end, stopped = _first(body & (ids == self._vocabulary.stop_id), lengths)
        body &= at < end[:, None]
        ids = ids.clamp(0, self._vocabulary.size - 1)
        operator, _ = _first(body & (ids >= self._vocabulary.base_size), torch.minimum(end, lengths))
        leading = operator - start - 1
        seeded = torch.where(prefix == _UNSAID, leading, prefix + suffix)
        low = seeded - suffix
        # Where the model's own actions begin: behind the seeds and the moves back before the suffix.
        own = start + 1 + seeded + back
        moving = body & (at >= (own - back)[:, None]) & (at < own[:, None])
        acting = body & (at >= own[:, None])

        steps = torch.where(body, self._rules.step[ids], 0)
        growths = torch.where(body, self._rules.growth[ids], 0)
        cursor, length = steps.cumsum(1), growths.cumsum(1)
        before = cursor - steps - low[:, None]
        behind = length - growths - suffix[:, None] - (cursor - steps)
        fits = most[:, None] - (length - growths)
        possible = (
            (self._rules.left[ids] <= before) & (self._rules.right[ids] <= behind) & (self._rules.growth[ids] <= fits)
        )
        wrong = (acting & ~possible).any(1) | ~started
        wrong |= (suffix > seeded) | (seeded > leading) | (seeded > most)
        wrong |= (moving & (steps >= 0)).any(1)
        wrong |= torch.where(moving, steps, 0).sum(1) != -suffix
        place, size = steps.sum(1), growths.sum(1)
        return Room(place - low, size - suffix - place, most - size, wrong | stopped)


def _first(found: Tensor, otherwise: Tensor) -> tuple[Tensor, Tensor]:
    """The index of the first true value of each row, `otherwise` for rows without one, and which rows have one."""
    any_found = found.any(1)
    return torch.where(any_found, found.int().argmax(1), otherwise), any_found
