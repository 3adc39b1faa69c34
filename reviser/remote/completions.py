"""Completion requests and responses in OpenAI's format with vLLM's additions."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reviser.checkpoints.operators import operator_names
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Run
from reviser.decoding.sampler import Sampler
from reviser.integrations.following import Follower
from reviser.model.scoring import Scores
from reviser.remote.batching import Batcher

MOST_LOGPROBS = 200
_NO_CHANCE = -9999.0
_KNOWN = {
    *("model", "prompt", "max_tokens", "temperature", "top_k", "top_p", "min_p", "seed", "logprobs"),
    *("stream", "vllm_xargs", "return_tokens_as_token_ids", "return_token_ids", "n", "echo", "user"),
}


class BadRequest(ReviserError):
    """An invalid request; `status` is the HTTP status."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class CompletionRequest:
    """A request for a completion."""

    prompt: list[int]
    sampler: Sampler
    max_tokens: int
    logprobs: int | None
    stream: bool
    options: dict[str, int | None]

    @classmethod
    def parse(cls, body: Any, model: str, vocabulary: Vocabulary, tokenizer: Tokenizer) -> CompletionRequest:
        if not isinstance(body, dict):
            raise BadRequest("a request is a JSON object")
        if unknown := sorted(set(body) - _KNOWN):
            raise BadRequest(f"unknown field: {', '.join(unknown)}")
        if body.get("model") not in (None, model):
            raise BadRequest(f"there is no model {body['model']}; there is {model}", 404)
        if body.get("n", 1) != 1 or body.get("echo"):
            raise BadRequest("one completion is given for a request, without its prompt")
        logprobs = _number(body, "logprobs", None, 0, MOST_LOGPROBS)
        return cls(
            _prompt(body.get("prompt"), vocabulary, tokenizer),
            _sampler(body),
            int(_number(body, "max_tokens", 16, 1, 1 << 20) or 1),
            None if logprobs is None else int(logprobs),
            bool(body.get("stream", False)),
            _options(body.get("vllm_xargs")),
        )


def _prompt(given: Any, vocabulary: Vocabulary, tokenizer: Tokenizer) -> list[int]:
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list | str):
        given = given[0]
    if isinstance(given, str):
        return [vocabulary.start_id, *tokenizer.encode(given)]
    if not isinstance(given, list) or not given:
        raise BadRequest("the prompt is a text or a list of token ids")
    if not all(type(id) is int and 0 <= id < vocabulary.size for id in given):
        raise BadRequest(f"the ids of a prompt are numbers from 0 to {vocabulary.size - 1}")
    return list(given)


def _sampler(body: Mapping[str, Any]) -> Sampler:
    temperature = _number(body, "temperature", 1.0, 0, math.inf)
    top_k = _number(body, "top_k", 0, -1, 1 << 30) or 0
    extra = body.get("vllm_xargs") or {}
    moves = _number(extra if isinstance(extra, dict) else {}, "move_temperature", None, 0, math.inf)
    seed = _number(body, "seed", None, 0, 1 << 63)
    try:
        return Sampler(
            float(temperature or 0.0),
            int(top_k) if top_k > 0 else None,
            float(_number(body, "top_p", 1.0, 0, 1) or 0.0),
            float(_number(body, "min_p", 0.0, 0, 1) or 0.0),
            None if seed is None else int(seed),
            move_temperature=None if moves is None else float(moves),
        )
    except ReviserError as error:
        raise BadRequest(str(error)) from None


def _options(given: Any) -> dict[str, int | None]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadRequest("vllm_xargs is an object")
    options: dict[str, int | None] = {}
    for name in ("prefix", "suffix", "max_length"):
        if name in given:
            value = _number(given, name, None, 0, 1 << 30)
            options[name] = None if value is None else int(value)
    if options.get("suffix", 0) is None:
        del options["suffix"]
    return options


def _number(body: Mapping[str, Any], name: str, default: float | None, least: float, most: float) -> float | None:
    value = body.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadRequest(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return value


@dataclass(frozen=True)
class ChosenId:
    """One id of a completion, with the likeliest ids' probabilities if they were requested."""

    id: int
    chance: float
    likeliest: dict[int, float]


class Completion:
    """Carries out a request, one action at a time."""

    def __init__(
        self,
        asked: CompletionRequest,
        batcher: Batcher,
        vocabulary: Vocabulary,
        context: int,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """`wanted` is called before each action but the first; False means that the client has gone."""
        self._asked = asked
        self._wanted = wanted
        self._batcher = batcher
        self._context = context
        if len(asked.prompt) > context:
            raise BadRequest(f"the model reads {context} ids at the most, and the prompt has {len(asked.prompt)}")
        try:
            follower = Follower(vocabulary, asked.prompt, **asked.options)  # type: ignore[arg-type]
        except ReviserError as error:
            raise BadRequest(str(error)) from None
        if follower.canvas.stopped:
            raise BadRequest("the prompt ends with Stop")
        self.run = Run(follower.canvas, asked.prompt, asked.sampler, max_actions=asked.max_tokens)

    @property
    def ending(self) -> str:
        return "stop" if self.run.canvas.stopped else "length"

    def chosen(self) -> Iterator[ChosenId]:
        run = self.run
        while not run.over and len(run.history) <= self._context:
            if run.actions_taken and not self._wanted():
                run.cancel()
                continue
            scores = self._batcher.scores(run.history, run.canvas)
            likeliest, chance = self._likeliest(scores)
            step = run.advance(scores)
            yield ChosenId(step.id, chance(step.id), likeliest)

    def _likeliest(self, scores: Scores) -> tuple[dict[int, float], Any]:
        """The likeliest valid ids with their log-probabilities among the valid ones."""
        if self._asked.logprobs is None:
            return {}, lambda id: 0.0
        valid = np.flatnonzero(self.run.canvas.valid_actions().mask())
        among = scores[valid].astype(np.float64)
        total = among.max() + np.log(np.exp(among - among.max()).sum())
        count = min(self._asked.logprobs, len(valid))
        best = np.argpartition(-among, count - 1)[:count] if count else np.empty(0, dtype=np.int64)
        best = best[np.argsort(-among[best], kind="stable")]
        found = {int(valid[place]): float(among[place] - total) for place in best}
        return found, lambda id: float(scores[id] - total)


class ResponseFormat:
    """Completions in the text and JSON of the protocol."""

    def __init__(self, model: str, vocabulary: Vocabulary, tokenizer: Tokenizer) -> None:
        self.model = model
        self._tokenizer = tokenizer
        self._base = vocabulary.base_size
        self._operators = operator_names(vocabulary)

    def text(self, ids: Sequence[int]) -> str:
        """The actions as text, in the form of an engine that treats them as tokens."""
        parts: list[str] = []
        run: list[int] = []
        for id in ids:
            if id < self._base:
                run.append(id)
                continue
            parts += [decode(self._tokenizer, run), self._operators[id]]
            run = []
        return "".join([*parts, decode(self._tokenizer, run)])

    def whole(self, asked: CompletionRequest, completion: Completion) -> dict[str, object]:
        chosen = list(completion.chosen())
        choice = self._choice(asked, chosen) | {"finish_reason": completion.ending}
        choice["canvas"] = decode(self._tokenizer, completion.run.canvas.tokens)
        usage = {
            "prompt_tokens": len(asked.prompt),
            "completion_tokens": len(chosen),
            "total_tokens": len(asked.prompt) + len(chosen),
        }
        return self._frame() | {"choices": [choice], "usage": usage}

    def parts(self, asked: CompletionRequest, completion: Completion) -> Iterator[dict[str, object]]:
        frame = self._frame()
        for one in completion.chosen():
            ending = completion.ending if completion.run.over else None
            yield frame | {"choices": [self._choice(asked, [one]) | {"finish_reason": ending}]}

    def _frame(self) -> dict[str, object]:
        return {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": self.model,
        }

    def _choice(self, asked: CompletionRequest, chosen: list[ChosenId]) -> dict[str, object]:
        ids = [one.id for one in chosen]
        choice: dict[str, object] = {"index": 0, "text": self.text(ids), "token_ids": ids}
        choice["logprobs"] = None
        if asked.logprobs is not None:
            choice["logprobs"] = {
                "tokens": [f"token_id:{id}" for id in ids],
                "token_logprobs": [_said(one.chance) for one in chosen],
                "top_logprobs": [
                    {f"token_id:{id}": _said(chance) for id, chance in one.likeliest.items()} for one in chosen
                ],
            }
        return choice


def _said(chance: float) -> float:
    return chance if math.isfinite(chance) else _NO_CHANCE
