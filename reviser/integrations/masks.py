"""The mask of valid actions for other engines: transformers, vLLM and llama.cpp.

An exported Reviser is an ordinary Llama to them, except that not every id is valid at every moment: a
move may leave the text, a marker is never inserted. Each engine has a place where the scores of the
next token can be changed, and the classes here stand in that place. They follow what was generated on
a canvas of their own, one new id at a time, and leave only valid ids a chance.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary

try:
    from vllm.v1.sample.logits_processor import (  # type: ignore[import-not-found]
        LogitsProcessor as _VllmProcessor,
    )
except ImportError:
    # vLLM accepts subclasses of its own class alone; without vLLM nobody asks.
    _VllmProcessor = object

_REQUEST_OPTIONS = ("prefix", "suffix", "max_length")


def exported_vocabulary(source: object) -> Vocabulary:
    """The vocabulary that an export carries.

    `source` is the configuration of a loaded model (transformers' `model.config`), or the metadata of
    a GGUF file (llama-cpp-python's `llm.metadata`).
    """
    if isinstance(source, Mapping) and "reviser.vocabulary" in source:
        return Vocabulary.from_dict(json.loads(source["reviser.vocabulary"]))
    record = source.get("reviser") if isinstance(source, Mapping) else None
    record = record or getattr(source, "reviser", None)
    if not isinstance(record, Mapping):
        raise ReviserError("this model is not an export of Reviser: it names no operators")
    return Vocabulary.from_dict(dict(record["vocabulary"]))


class Follower:
    """The canvas behind one history, kept up to date as ids are added.

    The prompt is a history: the start marker (anything before it is padding), the prefix and the
    suffix as inserts, the moves back to between them, and perhaps actions already taken. `prefix` and
    `suffix` are numbers of protected tokens; by default all inserts that the prompt starts with are
    the prefix.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        prompt: Sequence[int],
        *,
        prefix: int | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        body = _after_start(vocabulary, prompt)
        seeded = _leading_inserts(vocabulary, body) if prefix is None else prefix + suffix
        if not 0 <= suffix <= seeded <= _leading_inserts(vocabulary, body):
            raise ReviserError(
                "the prompt does not start with as many tokens as are to be protected"
            )
        back = [vocabulary.id(move) for move in vocabulary.moves(-suffix)]
        if body[seeded : seeded + len(back)] != back:
            raise ReviserError("the prompt does not move the cursor back before its suffix")
        self.canvas = Canvas(
            vocabulary,
            body[:seeded],
            prefix=seeded - suffix,
            suffix=suffix,
            max_length=max_length,
        )
        self.take(body[seeded + len(back) :])

    def take(self, ids: Iterable[int]) -> None:
        """Carry out new ids; what follows a Stop is padding."""
        for id in ids:
            if self.canvas.stopped:
                return
            if id < 0:
                raise ReviserError("an id is not known yet; turn off asynchronous scheduling")
            self.canvas.apply(self.canvas.action(id))

    def mask(self) -> NDArray[np.bool_]:
        """True where an id may come next; after a Stop only another Stop, since engines need one."""
        if not self.canvas.stopped:
            return self.canvas.valid_actions().mask()
        only_stop = np.zeros(self.vocabulary.size, dtype=bool)
        only_stop[self.vocabulary.stop_id] = True
        return only_stop


def _after_start(vocabulary: Vocabulary, prompt: Sequence[int]) -> list[int]:
    ids = list(prompt)
    if vocabulary.start_id not in ids:
        raise ReviserError(f"the prompt lacks the start marker, id {vocabulary.start_id}")
    return ids[ids.index(vocabulary.start_id) + 1 :]


def _leading_inserts(vocabulary: Vocabulary, ids: Sequence[int]) -> int:
    return next((n for n, id in enumerate(ids) if id >= vocabulary.base_size), len(ids))


def _masked(scores: Tensor, masks: Sequence[NDArray[np.bool_]]) -> Tensor:
    """Scores (rows, ids) with -inf where an id is invalid; ids beyond the vocabulary are padding."""
    invalid = torch.ones(len(masks), scores.shape[-1], dtype=torch.bool)
    for row, mask in enumerate(masks):
        invalid[row, : len(mask)] = torch.tensor(~mask)
    return scores.masked_fill(invalid.to(scores.device), -torch.inf)


class TransformersMask:
    """A logits processor for `generate` of transformers, greedy or sampling, on any number of rows.

    One object serves one call of `generate`. `prefix` may differ by row. Beam search reorders rows
    and is refused.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        prefix: int | Sequence[int] | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self._prefix = prefix
        self._follow = partial(Follower, vocabulary, suffix=suffix, max_length=max_length)
        self._seen: Tensor | None = None
        self._followers: list[Follower] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if self._seen is None:
            self._followers = self._start(input_ids.tolist())
        else:
            if not torch.equal(input_ids[:, :-1], self._seen):
                raise ReviserError(
                    "the rows are not those of the last step: make a new mask for each generate, "
                    "and use no beam search"
                )
            for follower, id in zip(self._followers, input_ids[:, -1].tolist(), strict=True):
                follower.take([id])
        self._seen = input_ids
        return _masked(scores, [follower.mask() for follower in self._followers])

    def _start(self, rows: list[list[int]]) -> list[Follower]:
        given = self._prefix
        prefixes = list(given) if isinstance(given, Sequence) else [given] * len(rows)
        return [
            self._follow(row, prefix=prefix) for row, prefix in zip(rows, prefixes, strict=True)
        ]


class LlamaCppMask:
    """A logits processor for llama-cpp-python: `generate(..., logits_processor=LogitsProcessorList([mask]))`.

    One object serves one run.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        prefix: int | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self._follow = partial(
            Follower, vocabulary, prefix=prefix, suffix=suffix, max_length=max_length
        )
        self._follower: Follower | None = None
        self._seen = 0

    def __call__(
        self, input_ids: NDArray[np.intc], scores: NDArray[np.single]
    ) -> NDArray[np.single]:
        if self._follower is None:
            self._follower = self._follow(input_ids.tolist())
        else:
            self._follower.take(input_ids[self._seen :].tolist())
        self._seen = len(input_ids)
        mask = self._follower.mask()
        masked = np.full_like(scores, -np.inf)
        masked[: len(mask)][mask] = scores[: len(mask)][mask]
        return masked


class VllmRequestMask:
    """A logits processor for one request of vLLM: called with prompt ids, output ids and scores."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        prefix: int | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self._follow = partial(
            Follower, vocabulary, prefix=prefix, suffix=suffix, max_length=max_length
        )
        self._follower: Follower | None = None
        self._seen = 0

    def __call__(
        self, prompt_token_ids: Sequence[int], output_token_ids: Sequence[int], logits: Tensor
    ) -> Tensor:
        if self._follower is None:
            self._follower = self._follow(prompt_token_ids)
        self._follower.take(output_token_ids[self._seen :])
        self._seen = len(output_token_ids)
        return _masked(logits[None], [self._follower.mask()])[0]


class _BatchUpdate(Protocol):
    """What changed in a batch of vLLM; to be taken in the order removed, added, moved."""

    removed: Sequence[int]
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]]
    moved: Sequence[tuple[int, int, Any]]


class VllmMask(_VllmProcessor):  # type: ignore[misc]
    """A logits processor for a whole engine of vLLM: `LLM(..., logits_processors=[VllmMask])`.

    It masks every request. A request may set `prefix`, `suffix` and `max_length` in the `extra_args`
    of its sampling parameters.
    """

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self.vocabulary = exported_vocabulary(vllm_config.model_config.hf_config)
        self._requests: dict[int, tuple[VllmRequestMask, list[int], list[int]]] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request whose options make no sense, before it reaches the engine."""
        for name, value in _request_options(sampling_params).items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{name} must be a number of tokens, not {value!r}")

    def is_argmax_invariant(self) -> bool:
        """The likeliest id may be an invalid one."""
        return False

    def update_state(self, batch_update: _BatchUpdate | None) -> None:
        """Follow requests as they come, go and change places."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._requests.pop(index, None)
        for index, params, prompt, output in batch_update.added:
            mask = VllmRequestMask(self.vocabulary, **_request_options(params))
            self._requests[index] = (mask, prompt or [], output)
        for source, target, direction in batch_update.moved:
            moved, displaced = self._requests.pop(source, None), self._requests.pop(target, None)
            if moved is not None:
                self._requests[target] = moved
            if displaced is not None and direction.name == "SWAP":
                self._requests[source] = displaced

    def apply(self, logits: Tensor) -> Tensor:
        """Mask the scores (requests, ids) in place."""
        for index, (mask, prompt, output) in self._requests.items():
            logits[index] = mask(prompt, output, logits[index])
        return logits


def _request_options(sampling_params: Any) -> dict[str, Any]:
    given = getattr(sampling_params, "extra_args", None) or {}
    return {name: given[name] for name in _REQUEST_OPTIONS if name in given}
