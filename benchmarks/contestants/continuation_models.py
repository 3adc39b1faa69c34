"""Models that continue prompts: our own, any causal language model of transformers, SEDD and MDLM.

`load_contestant` resolves a name or path. All contestants draw the random numbers for a prompt from a stream
named by the seed and the prompt, so a run that is interrupted and resumed writes the same texts.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, is_diffusion, load_diffusion
from benchmarks.contestants.diffusion.released import is_released, read_released
from benchmarks.contestants.diffusion.sampling import Method, sample
from benchmarks.contestants.own_models import (
    USUAL,
    BatchedReviser,
    DecodingOptions,
    NativeReviser,
    engine_of,
    stream_of,
)
from benchmarks.protocol.records import Contestant, Continuation, Progress, Prompt
from benchmarks.protocol.runs import key_of
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.summary import inspect
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import decode
from reviser.decoding.batch.sampling import GREEDY, Sampling, draw
from reviser.scoring.loading import (
    default_device,
    dtype_for,
    fingerprint,
    home_checkpoint,
    home_folder,
    load_causal_lm,
    load_hf_tokenizer,
    read_config,
    short_name,
)
from reviser.session.engine import load_engine

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Runs that are made together; after each such group, what it wrote is known. Other people's models may be
# large, and a diffusion model reads whole texts at every step.
_CAUSAL_GROUP = {"cpu": 4, "cuda": 256}
_DIFFUSION_GROUP = {"cpu": 4, "cuda": 1024}


def _of_one_length(given: Sequence[tuple[Prompt, list[int]]], size: int) -> Iterator[list[tuple[Prompt, list[int]]]]:
    """Yields groups of at most `size` prompts with ids of equal length, which need no padding."""
    by_length: dict[int, list[tuple[Prompt, list[int]]]] = defaultdict(list)
    for prompt, ids in given:
        by_length[len(ids)].append((prompt, ids))
    for rows in by_length.values():
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


@dataclass(frozen=True)
class RealText:
    """The real continuations as a contestant."""

    name: str = "real text"
    fingerprint: str = "real text"

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        from reviser.core.tokenizer import Gpt2Tokenizer

        tokenizer = Gpt2Tokenizer()
        for prompt in prompts:
            tokens = tuple(tokenizer.encode(prompt.reference))
            yield Continuation(prompt.id, self.name, seed, prompt.reference, tokens, "stop", None, 0.0)
            progress(1)


class CausalLm:
    """A causal language model of transformers, as autoregressive baseline.

    Prompts of one length are continued together, so that none needs padding, which the families treat
    in different ways. It ends at its end-of-text token or at the protocol's number of tokens.
    """

    def __init__(self, name: str, weights: str, model: Any, tokenizer: PreTrainedTokenizerBase, setup: Setup) -> None:
        self.name = name
        self.fingerprint = key_of(
            weights=weights, new_tokens=setup.new_tokens, temperature=setup.temperature, top_k=setup.top_k
        )
        self._model = model
        self._tokenizer = tokenizer
        self._setup = setup
        self._ends = _end_ids(model, tokenizer)

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        given = [(prompt, self._prompt_ids(prompt.text)) for prompt in prompts]
        for part in _of_one_length(given, _CAUSAL_GROUP[self._model.device.type]):
            yield from self._continue(part, seed)
            progress(len(part))

    def _prompt_ids(self, text: str) -> list[int]:
        """The ids of the prompt with the special tokens that the tokenizer adds before a text, but not those after."""
        encoded = self._tokenizer(text, return_special_tokens_mask=True)
        ids, special = list(encoded["input_ids"]), list(encoded["special_tokens_mask"])
        while len(ids) > 1 and special.pop():
            ids.pop()
        return ids

    def _continue(self, rows: Sequence[tuple[Prompt, list[int]]], seed: int) -> Iterator[Continuation]:
        began = time.perf_counter()
        steps = self._room(len(rows[0][1]))
        drawn = np.stack([np.random.default_rng(stream_of(prompt, seed)).random(steps) for prompt, _ in rows])
        written = self._sample(torch.tensor([ids for _, ids in rows]), torch.from_numpy(drawn))
        seconds = (time.perf_counter() - began) / len(rows)
        for (prompt, given), row in zip(rows, written, strict=True):
            end = next((at for at, id in enumerate(row) if id in self._ends), None)
            tokens = row if end is None else row[:end]
            text, shown = self._text([*given, *tokens]), self._text(given)
            yield Continuation(
                prompt.id,
                self.name,
                seed,
                text[len(shown) :],
                tuple(tokens),
                "limit" if end is None else "stop",
                None,
                seconds,
            )

    def _room(self, given: int) -> int:
        context = getattr(self._model.config, "max_position_embeddings", None)
        steps = min(self._setup.new_tokens, context - given) if context else self._setup.new_tokens
        if steps < 1:
            raise ReviserError(f"a prompt of {given} tokens leaves {self.name} no room")
        return steps

    def _text(self, ids: list[int]) -> str:
        text = self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        # Bytes that are not yet a character show as this one; they are not part of the text.
        return str(text).rstrip("\ufffd")

    @torch.no_grad()
    def _sample(self, ids: Tensor, drawn: Tensor) -> list[list[int]]:
        """Samples a token for each column of `drawn`, or fewer if all rows end earlier."""
        device = self._model.device
        last, drawn = ids.to(device), drawn.to(device)
        ends = torch.tensor(sorted(self._ends), device=device)
        over = torch.zeros(len(ids), dtype=torch.bool, device=device)
        cache, chosen = None, []
        for step in range(drawn.shape[1]):
            result = self._model(input_ids=last, past_key_values=cache, use_cache=True)
            cache = result.past_key_values
            picked = pick(result.logits[:, -1], drawn[:, step], self._setup)
            chosen.append(picked)
            last = picked[:, None]
            over |= torch.isin(picked, ends)
            # Looking waits for the device, so look seldom.
            if step % 16 == 15 and bool(over.all()):
                break
        rows: list[list[int]] = torch.stack(chosen, dim=1).tolist()
        return rows


class Diffusion:
    """SEDD or MDLM: writes all positions of a text of the protocol's length in a fixed number of steps.

    SEDD is sampled by Tweedie's formula, MDLM ancestrally. A text ends before its first end marker.
    """

    def __init__(self, name: str, weights: str, made: DiffusionModel, setup: Setup) -> None:
        self.name = name
        self.method: Method = "analytic" if made.config.kind == "sedd" else "ancestral"
        self.fingerprint = key_of(
            weights=weights, method=self.method, new_tokens=setup.new_tokens, steps=setup.diffusion_steps
        )
        self._made = made
        self._setup = setup

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        given = [(prompt, self._prompt_ids(prompt)) for prompt in prompts]
        for part in _of_one_length(given, _DIFFUSION_GROUP[self._made.device.type]):
            yield from self._continue(part, seed)
            progress(len(part))

    def _prompt_ids(self, prompt: Prompt) -> list[int]:
        tokenizer = self._made.tokenizer
        given = prompt.tokens if tokenizer.name == "gpt2" else tokenizer.encode(prompt.text)
        return [*self._made.start, *given]

    def _continue(self, rows: Sequence[tuple[Prompt, list[int]]], seed: int) -> Iterator[Continuation]:
        began = time.perf_counter()
        places = self._setup.new_tokens + self._made.closing
        shape = (self._setup.diffusion_steps + 1, places, 2)
        drawn = np.stack(
            [np.random.default_rng(stream_of(prompt, seed)).random(shape, dtype=np.float32) for prompt, _ in rows]
        )
        given = torch.tensor([ids for _, ids in rows])
        whole = sample(self._made, given, places, torch.from_numpy(drawn), self.method).tolist()
        seconds = (time.perf_counter() - began) / len(rows)
        for (prompt, ids), row in zip(rows, whole, strict=True):
            yield self._generation(prompt, seed, ids, row[len(ids) :], seconds)

    def _generation(self, prompt: Prompt, seed: int, given: list[int], row: list[int], seconds: float) -> Continuation:
        row = row[: self._setup.new_tokens]
        end = next((at for at, id in enumerate(row) if id in self._made.ends), None)
        tokens = row if end is None else row[:end]
        tokenizer = self._made.tokenizer
        text, shown = decode(tokenizer, [*given, *tokens]), decode(tokenizer, given)
        return Continuation(
            prompt.id,
            self.name,
            seed,
            text[len(shown) :],
            tuple(tokens),
            "limit" if end is None else "stop",
            None,
            seconds,
        )


def pick(logits: Tensor, drawn: Tensor, setup: Setup) -> Tensor:
    """Samples an id for each row by a number from 0 to 1, after temperature and top-k."""
    if setup.temperature == 0:
        return draw(logits, drawn, GREEDY)[0]
    # Divided in single precision, in which all results so far were drawn.
    return draw(logits.float() / setup.temperature, drawn, Sampling(1.0, setup.top_k))[0]


def _end_ids(model: Any, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = set(named) if isinstance(named, list) else {named}
    ends.add(tokenizer.eos_token_id)
    return {end for end in ends if end is not None}


PLAIN = "plain:"
UNCHECKED = "unchecked:"


def named_source(model: str) -> tuple[str, str]:
    """Parses `MODEL` or `NAME=MODEL` to name and source; a path may contain an equals sign."""
    name, mark, source = model.partition("=")
    if mark and not Path(model).exists():
        return name, source
    for mark in (PLAIN, UNCHECKED):
        if model.startswith(mark):
            return f"{short_name(model.removeprefix(mark))}, {mark.rstrip(':')}", model
    return short_name(model), model


def load_contestant(
    source: str,
    setup: Setup,
    *,
    name: str | None = None,
    device: torch.device | None = None,
    decoding: DecodingOptions = USUAL,
) -> Contestant:
    """Loads the contestant of a name or path.

    A folder or library name of ours (a Reviser, or a baseline trained here), a GGUF or released `.pt` file,
    `smollm2`, or by folder or hub name a released SEDD or MDLM or any causal language model. `plain:` before a
    model of ours lets it insert and stop alone, `unchecked:` lets it make all its steps back where the rules of our
    commands would check them. `decoding` is for models of ours.
    """
    device = device or default_device()
    name = name or named_source(source)[0]
    if source.startswith(PLAIN):
        source, decoding = source.removeprefix(PLAIN), replace(decoding, plain=True)
    if source.startswith(UNCHECKED):
        source, decoding = source.removeprefix(UNCHECKED), replace(decoding, checked=False)
    own = _load_own(source, setup, name, device, decoding)
    if own is not None:
        return own
    if decoding.plain or not decoding.checked:
        raise ReviserError(f"{source} is no model of ours, so it writes from left to right anyway")
    if is_diffusion(Path(source)):
        made = load_diffusion(Path(source), device, dtype_for(device))
        return Diffusion(name, fingerprint(source), made, setup)
    if is_released(read_config(source)):
        made = read_released(source, device, dtype_for(device))
        return Diffusion(name, fingerprint(source), made, setup)
    return CausalLm(name, fingerprint(source), load_causal_lm(source, device), load_hf_tokenizer(source), setup)


def _load_own(
    source: str, setup: Setup, name: str, device: torch.device, decoding: DecodingOptions
) -> Contestant | None:
    """The model of ours that a name or path means, or None: natively on a processor, in batches on a GPU."""
    if is_diffusion(Path(source)):
        return None
    folder = home_folder(source)
    if folder is not None and (device.type == "cpu" or decoding.rules):
        engine, config = load_engine(str(folder)), inspect(folder).config
        return NativeReviser(name, fingerprint(source), config, engine, setup, decoding)
    checkpoint = home_checkpoint(source, device)
    if checkpoint is None:
        return None
    # A base has no rules of ours.
    decoding = replace(decoding, rules=False)
    if device.type == "cpu":
        engine, config = engine_of(name, checkpoint), checkpoint.model.config
        return NativeReviser(name, fingerprint(source), config, engine, setup, decoding)
    return BatchedReviser(name, fingerprint(source), checkpoint, setup, decoding)
