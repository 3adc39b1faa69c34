"""The mask of valid actions for vLLM: one logits processor for a whole engine, computed for all requests at once.

vLLM has two model runners, each with an interface of its own, and chooses between them by itself. `VllmMask` is a
processor for both: the runner says which by how it makes one.

The first runner keeps a batch of requests that come, go and change places, and tells a processor so before each
step (`update_state`); then it hands over the scores of the whole batch (`apply`). `RowMask` keeps five numbers for
each request: cursor, length, the two protected ends and the greatest length. All that the mask asks follows from
them, so the mask of a batch is a few comparisons of tensors, whatever the number of requests. The second runner:
`vllm_slots`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.validity import NEVER, Rules
from reviser.integrations.following import Follower, exported_vocabulary
from reviser.integrations.vllm_slots import SlotMask

# vLLM accepts subclasses of its own classes alone, of one for each runner; older versions have the first runner only,
# and without vLLM nobody asks.
try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as _FirstRunners  # type: ignore[import-not-found]
except ImportError:

    class _FirstRunners:  # type: ignore[no-redef]
        """Stands for vLLM's class."""


try:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as _SecondRunners  # type: ignore[import-not-found]
except ImportError:

    class _SecondRunners:  # type: ignore[no-redef]
        """Stands for vLLM's class."""


_REQUEST_OPTIONS = ("prefix", "suffix", "max_length")


class VllmRequestMask:
    """A logits processor for one request of vLLM: called with prompt ids, output ids and scores."""

    def __init__(
        self, vocabulary: Vocabulary, *, prefix: int | None = None, suffix: int = 0, max_length: int | None = None
    ) -> None:
        self._follow = partial(Follower, vocabulary, prefix=prefix, suffix=suffix, max_length=max_length)
        self._follower: Follower | None = None
        self._seen = 0

    def __call__(self, prompt_token_ids: Sequence[int], output_token_ids: Sequence[int], logits: Tensor) -> Tensor:
        if self._follower is None:
            self._follower = self._follow(prompt_token_ids)
        self._follower.take(output_token_ids[self._seen :])
        self._seen = len(output_token_ids)
        mask = torch.from_numpy(~self._follower.mask()).to(logits.device)
        invalid = torch.ones(logits.shape[-1], dtype=torch.bool, device=logits.device)
        invalid[: len(mask)] = mask
        return logits.masked_fill(invalid, -torch.inf)


class BatchUpdate(Protocol):
    """The changes of a batch of vLLM, to be applied in the order removed, added, moved."""

    @property
    def removed(self) -> Sequence[int]: ...
    @property
    def added(self) -> Sequence[tuple[int, Any, list[int] | None, list[int]]]: ...
    @property
    def moved(self) -> Sequence[tuple[int, int, Any]]: ...


@dataclass
class _MaskedRequest:
    """The state of a request that the mask needs. `output` is vLLM's own list, which grows."""

    cursor: int
    length: int
    low: int
    suffix: int
    max_length: int
    output: list[int]
    stopped: bool = False
    seen: int = field(default=0)

    @classmethod
    def of(cls, canvas: Canvas, output: list[int]) -> _MaskedRequest:
        return cls(
            canvas.cursor,
            canvas.length,
            canvas.low,
            canvas.suffix,
            NEVER if canvas.max_length is None else canvas.max_length,
            output,
            canvas.stopped,
        )

    @property
    def room(self) -> tuple[int, int, int]:
        """The editable tokens before and after the cursor, and how many more fit."""
        before = self.cursor - self.low
        behind = self.length - self.suffix - self.cursor
        return before, behind, self.max_length - self.length


class RowMask:
    """Masks a batch of requests that come, go and change places."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        scheduling = getattr(vllm_config, "scheduler_config", None)
        if getattr(scheduling, "async_scheduling", False):
            raise ReviserError(
                "the mask needs every id before the next is chosen: start vLLM with --no-async-scheduling"
            )
        self._pinned = is_pin_memory
        self._rules = Rules.of(self.vocabulary, device)
        # Lists: for the one new id of a request the host is quicker with numbers than with tensors.
        self._step: list[int] = self._rules.step.tolist()
        self._growth: list[int] = self._rules.growth.tolist()
        self._requests: dict[int, _MaskedRequest] = {}

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests as they come, go and change places."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._requests.pop(index, None)
        for index, params, prompt, output in batch_update.added:
            self._requests[index] = self._request(prompt or [], output, params)
        for source, target, direction in batch_update.moved:
            moved, displaced = self._requests.pop(source, None), self._requests.pop(target, None)
            if moved is not None:
                self._requests[target] = moved
            if displaced is not None and direction.name == "SWAP":
                self._requests[source] = displaced

    def _request(self, prompt: list[int], output: list[int], params: Any) -> _MaskedRequest:
        try:
            canvas = Follower(self.vocabulary, prompt, **_request_options(params)).canvas
        except ReviserError:
            # An error here would end the engine for everybody. Such a request gets nothing but Stop.
            return _MaskedRequest(0, 0, 0, 0, 0, output, stopped=True)
        return _MaskedRequest.of(canvas, output)

    def apply(self, logits: Tensor) -> Tensor:
        """Mask the scores (requests, ids) in place."""
        if not self._requests:
            return logits
        rows = sorted(self._requests)
        requests = [self._requests[row] for row in rows]
        for request in requests:
            self._follow(request)
        numbers = torch.tensor([[row, *request.room] for row, request in zip(rows, requests, strict=True)])
        if self._pinned:
            numbers = numbers.pin_memory()
        places, before, behind, room = numbers.to(logits.device, non_blocking=True).T
        # Ids beyond the vocabulary are padding.
        invalid = torch.ones(len(rows), logits.shape[-1], dtype=torch.bool, device=logits.device)
        invalid[:, : self.vocabulary.size] = ~self._rules.valid(before, behind, room)
        if over := [place for place, request in enumerate(requests) if request.stopped]:
            # After a Stop only another Stop: engines need something to choose.
            invalid[over] = True
            invalid[over, self.vocabulary.stop_id] = False
        whole = len(rows) == len(logits) and rows[-1] == len(rows) - 1
        if whole:
            return logits.masked_fill_(invalid, -torch.inf)
        logits[places] = logits[places].masked_fill(invalid, -torch.inf)
        return logits

    def _follow(self, request: _MaskedRequest) -> None:
        """Carry out the ids that were chosen since the last step."""
        new = request.output[request.seen :]
        request.seen = len(request.output)
        self._take(request, new)

    def _take(self, request: _MaskedRequest, ids: Iterable[int]) -> None:
        for id in ids:
            if request.stopped:
                return
            if id < 0:
                raise ReviserError("an id is not known yet; turn off asynchronous scheduling")
            if id == self.vocabulary.stop_id:
                request.stopped = True
                return
            request.cursor += self._step[id]
            request.length += self._growth[id]


class VllmMask(_FirstRunners, _SecondRunners):  # type: ignore[misc]
    """A logits processor for a whole engine of vLLM: `LLM(..., logits_processors=[VllmMask])`.

    It masks every request. A request may set `prefix`, `suffix` and `max_length` in the `extra_args`
    of its sampling parameters.
    """

    def __init__(self, vllm_config: Any, device_or_states: Any, is_pin_memory: bool | None = None) -> None:
        """Make a mask from the arguments of either runner: the first passes a device and whether memory is pinned, the
        second its table of requests."""
        self.vocabulary = exported_vocabulary(vllm_config.model_config.hf_config)
        self._rows: RowMask | None = None
        self._slots: SlotMask | None = None
        if is_pin_memory is None:
            self._slots = SlotMask(vllm_config, device_or_states, self.vocabulary)
        else:
            self._rows = RowMask(vllm_config, device_or_states, is_pin_memory, self.vocabulary)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise an error for a request with invalid options, before it reaches the engine."""
        for name, value in _request_options(sampling_params).items():
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < NEVER:
                raise ValueError(f"{name} must be a number of tokens, not {value!r}")

    def is_argmax_invariant(self) -> bool:
        """False: the likeliest id may be an invalid one, so the mask can change it."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """For the first runner: the changes of the batch."""
        assert self._rows is not None
        self._rows.update_state(batch_update)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """For the second runner: a request enters a slot. Returns True: its scores are to be masked."""
        assert self._slots is not None
        self._slots.add(req_idx, _request_options(sampling_params))
        return True

    def apply_staged_writes(self) -> None:
        """For the second runner: a step begins."""
        assert self._slots is not None
        self._slots.flush()

    def apply(self, logits: Tensor, ctx: Any = None) -> Tensor:
        """Mask the scores (requests, ids) in place."""
        if self._slots is not None:
            return self._slots.apply(logits, ctx)
        assert self._rows is not None
        return self._rows.apply(logits)


def _request_options(sampling_params: Any) -> Mapping[str, Any]:
    given = getattr(sampling_params, "extra_args", None) or {}
    return {name: given[name] for name in _REQUEST_OPTIONS if name in given}
