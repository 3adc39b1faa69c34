"""Policies by models that run behind a completions endpoint.

For each action the client sends the history as token ids and asks for the likeliest next ids with their probabilities.
Canvas, mask and sampler stay here, so a run is the same as with a local model: it can be shown, paused, cancelled and
undone. The server masks invalid ids too, so that the few ids that it returns are all valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.model.scoring import Scores
from reviser.remote.client import CompletionsClient, RequestRefused, ServerError

ALTERNATIVES = 50
"""The number of likeliest ids that a server is asked for, by default."""
_ID = "token_id:"
# vLLM says this for minus infinity, which JSON cannot say.
_NO_CHANCE = -9998.0


class RemotePolicy:
    """A policy by a remote model; ids that the server does not return have probability 0."""

    def __init__(
        self,
        client: CompletionsClient,
        model: str,
        vocabulary: Vocabulary,
        context: int,
        max_length: int | None = None,
        alternatives: int = ALTERNATIVES,
    ) -> None:
        self.vocabulary = vocabulary
        self.context = context
        self.max_length = max_length
        self.model = model
        self._client = client
        self._alternatives = alternatives
        self._last: tuple[tuple[int, ...], Scores] | None = None

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        if len(history) > self.context:
            raise ReviserError(
                f"the model reads {counted(self.context, 'action')} at the most, and this history has {len(history)}"
            )
        if self.vocabulary.draft_id in history or self.vocabulary.overtype_id in history:
            raise ReviserError(
                "proofreading needs the probabilities of all ids, which a completions endpoint does not give: "
                "name a model on this machine"
            )
        ids = tuple(history)
        if self._last is not None and self._last[0] == ids:
            return self._last[1]
        self._last = None
        scores = self._read(self._ask(ids, canvas))
        self._last = (ids, scores)
        return scores

    def _ask(self, ids: tuple[int, ...], canvas: Canvas) -> Mapping[str, Any]:
        options = {"prefix": canvas.low, "suffix": canvas.suffix}
        if canvas.max_length is not None:
            options["max_length"] = canvas.max_length
        try:
            answer = self._client.post(
                "/v1/completions",
                {
                    "model": self.model,
                    "prompt": list(ids),
                    "max_tokens": 1,
                    # The probabilities as they are: this side has a sampler of its own.
                    "temperature": 0,
                    "logprobs": self._alternatives,
                    "return_tokens_as_token_ids": True,
                    "vllm_xargs": options,
                },
            )
        except RequestRefused as error:
            if "logprobs" in str(error):
                raise ServerError(f"{error}; start vLLM with --max-logprobs {self._alternatives}") from None
            raise
        if not isinstance(answer, dict):
            raise self._other()
        return answer

    def _read(self, answer: Mapping[str, Any]) -> Scores:
        try:
            (named,) = answer["choices"][0]["logprobs"]["top_logprobs"]
            found = {int(name.removeprefix(_ID)): float(chance) for name, chance in named.items()}
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise self._other() from None
        scores = np.full(self.vocabulary.size, -np.inf, dtype=np.float32)
        for id, chance in found.items():
            if not 0 <= id < self.vocabulary.size:
                raise ServerError(
                    f"the model {self.model} at {self._client.address} has another vocabulary: "
                    f"it names id {id}, and {self.vocabulary.name or 'ours'} has {self.vocabulary.size}"
                )
            if math.isfinite(chance) and chance > _NO_CHANCE:
                scores[id] = chance
        if not np.isfinite(scores).any():
            raise self._other()
        return scores

    def _other(self) -> ServerError:
        return ServerError(
            f"the server at {self._client.address} answers without the probabilities of token ids; "
            "it must be `reviser serve --http` or vLLM with the mask (see docs/serving.md)"
        )
