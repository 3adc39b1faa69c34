"""Evaluators of texts: autoregressive ones score each token after those before it, diffusion-style ones masked tokens.

`load_evaluator` takes a name or a path: a model in our format, a GGUF file, `smollm2`, any causal language model of
transformers (`gpt2-large`) or Dream (`Dream-org/Dream-v0-Base-7B`).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from reviser.checkpoints.home import Checkpoint
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.scoring.loading import (
    default_device,
    dtype_for,
    home_checkpoint,
    load_causal_lm,
    load_hf_tokenizer,
    plain_errors,
    read_config,
    short_name,
)
from reviser.scoring.perplexity import Evaluator, Kind, Loss, PromptedText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Logits held at once, in numbers (256 MB of fp32 on a processor; a GPU takes more).
_LOGITS = {"cpu": 1 << 26, "cuda": 1 << 30}
# Places of texts that a diffusion-style evaluator reads at once.
_PLACES = {"cpu": 1024, "cuda": 1 << 16}
DRAWS = 16


@dataclass(frozen=True)
class EvaluatedText:
    """A text in an evaluator's ids, of which the first `given` (the prompt) are not measured."""

    ids: list[int]
    given: int

    def fitted(self, context: int | None) -> EvaluatedText:
        """The text without as many of the prompt's first ids as exceed the evaluator's context."""
        over = len(self.ids) - context if context else 0
        if over <= 0:
            return self
        if over >= self.given:
            raise ReviserError(
                f"a continuation of {counted(len(self.ids) - self.given, 'token')} does not fit into the "
                f"evaluator's context of {context}"
            )
        return EvaluatedText(self.ids[over:], self.given - over)

    def cut(self, context: int | None) -> EvaluatedText:
        """The same, with the end of a continuation removed that would leave no room for the prompt."""
        if context is None:
            return self
        room = max(context - min(self.given, 1), 1)
        return EvaluatedText(self.ids[: self.given + room], self.given).fitted(context)

    @property
    def measured(self) -> int:
        return len(self.ids) - self.given


def read_text(tokenizer: Tokenizer, text: PromptedText, start: Sequence[int] = ()) -> EvaluatedText:
    """The whole text in tokens; a token that spans prompt and continuation counts as the continuation's."""
    ids = tokenizer.encode(text.prompt + text.continuation)
    ends = np.cumsum([len(tokenizer.token_bytes(id)) for id in ids])
    given = int(np.searchsorted(ends, len(text.prompt.encode()), side="right"))
    return EvaluatedText([*start, *ids], len(start) + given)


def read_hf_text(tokenizer: PreTrainedTokenizerBase, text: PromptedText) -> EvaluatedText:
    """The same with a tokenizer of transformers, and the special ids that it puts before a text."""
    whole = text.prompt + text.continuation
    encoded = tokenizer(whole, return_offsets_mapping=True, return_special_tokens_mask=True)
    ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
    special = encoded["special_tokens_mask"]
    while ids and special[len(ids) - 1]:  # what marks the end would be measured too
        ids.pop()
    given = sum(1 for end, mark in zip(ends[: len(ids)], special, strict=False) if mark or end <= len(text.prompt))
    return EvaluatedText(ids, given)


class AutoregressiveEvaluator:
    """An evaluator by the likelihood of each token after those before it.

    Where nothing precedes the first token, not even a start marker, that token is not measured.
    """

    kind: Kind = "autoregressive"

    def __init__(
        self,
        name: str,
        read: Callable[[PromptedText], EvaluatedText],
        score: Callable[[Tensor, Tensor], Tensor],
        context: int | None,
        device: torch.device,
    ) -> None:
        self.name = name
        self._read = read
        self._score = score
        self._context = context
        self._device = device
        self._vocabulary = 0

    @classmethod
    def of_checkpoint(cls, name: str, checkpoint: Checkpoint) -> AutoregressiveEvaluator:
        """The evaluator of a checkpoint of ours that writes from left to right."""
        model, vocabulary = checkpoint.model.eval(), checkpoint.vocabulary
        if "move" in vocabulary.kinds:
            raise ReviserError(f"{name} moves as it writes, so it gives a text no likelihood")
        # A model trained here starts at its marker and may stop; one that was only imported knows
        # neither, and the rows of its operators mean nothing yet.
        trained = "stop" in vocabulary.kinds
        start = [vocabulary.start_id] if trained else []
        size = vocabulary.size if trained else vocabulary.base_size
        return cls(
            name,
            lambda text: read_text(checkpoint.tokenizer, text, start),
            lambda ids, real: model(ids)[..., :size],
            model.config.context,
            model.cos.device,
        )

    @classmethod
    def of_causal_lm(cls, name: str, model: Any, tokenizer: PreTrainedTokenizerBase) -> AutoregressiveEvaluator:
        """The evaluator of a causal language model of transformers."""
        return cls(
            name,
            lambda text: read_hf_text(tokenizer, text),
            lambda ids, real: model(input_ids=ids, attention_mask=real, use_cache=False).logits,
            getattr(model.config, "max_position_embeddings", None),
            model.device,
        )

    @torch.no_grad()
    def losses(self, texts: Sequence[PromptedText], progress: Callable[[int], None] = lambda done: None) -> list[Loss]:
        rows = [self._read(text).fitted(self._context) for text in texts]
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number].ids))
        found: list[Loss] = [Loss((), 0)] * len(rows)
        while order:
            width = max(len(rows[order[0]].ids), 1)
            # The very first batch is one row, which tells how wide the logits are.
            wide = width * (self._vocabulary or _LOGITS[self._device.type])
            count = max(1, _LOGITS[self._device.type] // wide)
            part, order = order[:count], order[count:]
            nats, self._vocabulary = self._token_losses([rows[number].ids for number in part])
            for number, row in zip(part, nats, strict=True):
                # The loss of token i stands at place i - 1: the first has none.
                given = max(rows[number].given, 1)
                kept = tuple(row[given - 1 : len(rows[number].ids) - 1])
                found[number] = Loss(kept, len(texts[number].continuation.encode()))
            progress(len(part))
        return found

    def _token_losses(self, rows: list[list[int]]) -> tuple[list[list[float]], int]:
        """The loss in nats of every token but the first of each row, and the number of ids scored."""
        width = max(2, *map(len, rows))
        ids = torch.zeros(len(rows), width, dtype=torch.int64)
        real = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row, dtype=torch.int64)
            real[number, : len(row)] = 1
        ids, real = ids.to(self._device), real.to(self._device)
        logits = self._score(ids, real)[:, :-1]
        likelihood = logits.gather(2, ids[:, 1:, None]).squeeze(2).float()
        nats: list[list[float]] = (_log_sum_exp(logits) - likelihood).tolist()
        return nats, logits.shape[-1]


def _log_sum_exp(logits: Tensor) -> Tensor:
    """Log-sum-exp over the last dimension in single precision, row by row so that no full copy is made."""
    return torch.stack([row.float().logsumexp(dim=-1) for row in logits])


class Denoiser(Protocol):
    """A model that predicts masked tokens from all others."""

    @property
    def mask_id(self) -> int: ...
    @property
    def device(self) -> torch.device: ...

    def log_likelihoods(self, ids: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
        """The log-likelihoods of `tokens` at the places of `ids` (rows, length) that `where` marks, in order."""


class DenoisingEvaluator:
    """An evaluator by the likelihood bound of masked diffusion, on the continuation's tokens alone.

    In each of `draws` draws a number k from 1 to n is taken and k of the continuation's n tokens are masked; the loss
    is n / k times that of the masked ones. Its mean is the mean over all orders in which the tokens could be written
    one by one, which is never below the true loss. The draws of k are spread evenly and depend on the text alone, so a
    text always gets the same figure. Of a continuation that is longer than the evaluator's context, only the part that
    fits is measured, and only its bytes count.
    """

    kind: Kind = "diffusion"

    def __init__(
        self,
        name: str,
        read: Callable[[PromptedText], EvaluatedText],
        denoiser: Denoiser,
        draws: int = DRAWS,
        context: int | None = None,
    ) -> None:
        self.name = name
        self.draws = draws
        self._context = context
        self._read = read
        self._denoiser = denoiser

    def losses(self, texts: Sequence[PromptedText], progress: Callable[[int], None] = lambda done: None) -> list[Loss]:
        drawn, found = [], []
        for text in texts:
            whole = self._read(text)
            tokens = whole.cut(self._context)
            drawn.append(_Draws.of(tokens, self.draws, self._denoiser.mask_id, _random_for(text)))
            share = tokens.measured / max(whole.measured, 1)
            found.append(Loss((), round(share * len(text.continuation.encode()))))
        # Texts of one length are read together: none needs padding, which it would have to ignore.
        by_length: dict[int, list[int]] = defaultdict(list)
        for number, draws in enumerate(drawn):
            by_length[draws.noisy.shape[1]].append(number)
        for length, numbers in by_length.items():
            size = max(1, _PLACES[self._denoiser.device.type] // (self.draws * max(length, 1)))
            for start in range(0, len(numbers), size):
                part = numbers[start : start + size]
                for number, nats in zip(part, self._nats([drawn[number] for number in part]), strict=True):
                    found[number] = Loss(drawn[number].mean(nats), found[number].size)
                progress(len(part))
        return found

    @torch.no_grad()
    def _nats(self, drawn: Sequence[_Draws]) -> list[Tensor]:
        """The loss in nats at each masked place of each text, in order."""
        device = self._denoiser.device
        noisy = torch.cat([draws.noisy for draws in drawn])
        where = torch.cat([draws.where for draws in drawn])
        wanted = torch.cat([draws.wanted for draws in drawn])
        ends = where.sum(dim=1).cumsum(dim=0).tolist()
        found = []
        rows = max(1, _PLACES[device.type] // max(noisy.shape[1], 1))
        for start in range(0, len(noisy), rows):
            part = slice(start, start + rows)
            places = slice(ends[start - 1] if start else 0, ends[min(start + rows, len(noisy)) - 1])
            if places.start < places.stop:
                found.append(
                    self._denoiser.log_likelihoods(
                        noisy[part].to(device), where[part].to(device), wanted[places].to(device)
                    ).cpu()
                )
        nats = -torch.cat(found).double() if found else torch.zeros(0, dtype=torch.float64)
        return list(nats.split([len(draws.wanted) for draws in drawn]))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class _Draws:
    """A text with some of its continuation masked, once for each draw."""

    noisy: Tensor
    where: Tensor
    wanted: Tensor
    weights: Tensor

    @classmethod
    def of(cls, tokens: EvaluatedText, draws: int, mask_id: int, random: np.random.Generator) -> _Draws:
        count = tokens.measured
        places = (random.random() + np.arange(draws)) / draws
        # Nothing is masked of a continuation that has no tokens.
        sizes = torch.from_numpy(min(count, 1) + np.floor(places * count).astype(np.int64))
        ranks = torch.from_numpy(random.random((draws, count))).argsort(dim=1).argsort(dim=1)
        masked = ranks < sizes[:, None]
        noisy = torch.tensor(tokens.ids, dtype=torch.int64).repeat(draws, 1)
        where = torch.zeros_like(noisy, dtype=torch.bool)
        where[:, tokens.given :] = masked
        wanted = noisy[where]
        return cls(noisy.masked_fill(where, mask_id), where, wanted, masked * (count / sizes[:, None]))

    def mean(self, nats: Tensor) -> tuple[float, ...]:
        """The mean loss of each token of the continuation, given the losses of masked ones."""
        costs = torch.zeros(self.weights.shape, dtype=torch.float64)
        costs[self.weights > 0] = nats
        found: list[float] = ((self.weights * costs).sum(dim=0) / len(costs)).tolist()
        return tuple(found)


def _random_for(text: PromptedText) -> np.random.Generator:
    digest = hashlib.sha256(f"{text.prompt}\0{text.continuation}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


class DreamDenoiser:
    """Dream as a denoiser: Qwen2.5's weight names and shapes, attention in both directions, outputs shifted by one
    place.

    It was made from an autoregressive model, so the output at a place predicts the next one.
    """

    def __init__(self, model: Any, mask_id: int) -> None:
        self._model = model
        self.mask_id = mask_id

    @classmethod
    def load(cls, source: str, device: torch.device) -> DreamDenoiser:
        with plain_errors(source):
            from transformers import Qwen2Config, Qwen2ForCausalLM

            values = read_config(source)
            mask_id = values["mask_token_id"]
            for key in ("model_type", "architectures", "auto_map", "transformers_version"):
                values.pop(key, None)
            model: Any = Qwen2ForCausalLM.from_pretrained(source, config=Qwen2Config(**values), dtype=dtype_for(device))
        return cls(model.to(device).eval(), mask_id)

    @property
    def device(self) -> torch.device:
        device: torch.device = self._model.device
        return device

    def log_likelihoods(self, ids: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
        rows, length = ids.shape
        # A mask of four dimensions is taken as it is: nothing is hidden from anything.
        everything = torch.ones(rows, 1, length, length, dtype=torch.bool, device=ids.device)
        logits = self._model(input_ids=ids, attention_mask=everything, use_cache=False).logits
        shifted = torch.cat((logits[:, :1], logits[:, :-1]), dim=1)[where].float()
        return shifted.log_softmax(dim=-1).gather(1, tokens[:, None]).squeeze(1)


def load_evaluator(source: str, device: torch.device | None = None) -> Evaluator:
    """The evaluator of that name or path."""
    device = device or default_device()
    checkpoint = home_checkpoint(source, device)
    if checkpoint is not None:
        return AutoregressiveEvaluator.of_checkpoint(short_name(source), checkpoint)
    if str(read_config(source).get("model_type")).lower() == "dream":
        tokenizer = load_hf_tokenizer(source)
        return DenoisingEvaluator(
            source, lambda text: read_hf_text(tokenizer, text), DreamDenoiser.load(source, device)
        )
    return AutoregressiveEvaluator.of_causal_lm(source, load_causal_lm(source, device), load_hf_tokenizer(source))
