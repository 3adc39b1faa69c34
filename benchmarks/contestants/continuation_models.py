"""Models that continue prompts: our own, any causal language model of transformers, SEDD and MDLM.

`load_contestant` finds out what a name or path means. All of them draw what they draw for a prompt from
a stream named by the seed and the prompt, so a run that is cut short and resumed writes what it would
have written.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, is_diffusion, load_diffusion
from benchmarks.contestants.diffusion.released import is_released, read_released
from benchmarks.contestants.diffusion.sampling import Method, sample
from benchmarks.protocol.records import Contestant, Generation, Progress, Prompt
from benchmarks.protocol.runs import key_of
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.summary import inspect
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch import GREEDY, Sampling, draw, generate
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, Sampler, seed
from reviser.model import ModelConfig
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
from reviser.session.engine import CAPACITY, Engine, load_engine

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Runs that are made together; after each such group, what it wrote is known. Other people's models may be
# large, and a diffusion model reads whole texts at every step.
_GROUP = {"cpu": 16, "cuda": 1024}
_CAUSAL_GROUP = {"cpu": 4, "cuda": 256}
_DIFFUSION_GROUP = {"cpu": 4, "cuda": 1024}


def _of_one_length(
    given: Sequence[tuple[Prompt, list[int]]], size: int
) -> Iterator[list[tuple[Prompt, list[int]]]]:
    """Prompts with their ids in groups of at most `size`, all of a group equally long: no padding."""
    by_length: dict[int, list[tuple[Prompt, list[int]]]] = defaultdict(list)
    for prompt, ids in given:
        by_length[len(ids)].append((prompt, ids))
    for rows in by_length.values():
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def stream_of(prompt: Prompt, seed: int) -> int:
    """The name of the random stream for a prompt under a seed."""
    digest = hashlib.sha256(f"{seed}\0{prompt.id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@dataclass(frozen=True)
class RealText:
    """How the texts really go on, as if a model had written it."""

    name: str = "real text"
    fingerprint: str = "real text"

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        from reviser.core.tokenizer import Gpt2Tokenizer

        tokenizer = Gpt2Tokenizer()
        for prompt in prompts:
            tokens = tuple(tokenizer.encode(prompt.reference))
            yield Generation(
                prompt.id, self.name, seed, prompt.reference, tokens, "stop", None, 0.0
            )
            progress(1)


class OwnModel:
    """What our models have in common, a Reviser or one trained to insert and stop alone: the AR baseline."""

    def __init__(
        self,
        name: str,
        weights: str,
        config: ModelConfig,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        setup: Setup,
    ) -> None:
        self.name = name
        self.config = config
        self.vocabulary = vocabulary
        self.tokenizer = tokenizer
        # A model that cannot move writes tokens, and is held to their number.
        self.moves = "move" in vocabulary.kinds
        self.max_actions = setup.max_actions if self.moves else setup.new_tokens
        self.temperature = setup.temperature
        self.top_k = setup.top_k
        self.fingerprint = key_of(
            weights=weights,
            decoder=type(self).__name__,
            kinds=sorted(vocabulary.kinds),
            max_actions=self.max_actions,
            temperature=self.temperature,
            top_k=self.top_k,
        )

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        if self.tokenizer.name == "gpt2":
            return list(prompt.tokens)
        return self.tokenizer.encode(prompt.text)

    def generation(
        self, prompt: Prompt, seed_: int, ids: Sequence[int], ending: str, seconds: float
    ) -> Generation:
        """What the ids that the model chose after a prompt have written."""
        given = self.prompt_ids(prompt)
        canvas, _ = seed(self.vocabulary, given)
        for id in ids:
            canvas.apply(canvas.action(id))
        text = decode(self.tokenizer, canvas.tokens)
        return Generation(
            prompt.id,
            self.name,
            seed_,
            text[len(decode(self.tokenizer, given)) :],
            tuple(canvas.tokens[len(given) :]),
            ending,
            tuple(ids) if self.moves else None,
            seconds,
        )


class BatchedReviser(OwnModel):
    """A model of ours with many runs at once, for GPUs."""

    def __init__(self, name: str, weights: str, checkpoint: Checkpoint, setup: Setup) -> None:
        super().__init__(
            name,
            weights,
            checkpoint.model.config,
            checkpoint.vocabulary,
            checkpoint.tokenizer,
            setup,
        )
        self._model = checkpoint.model.eval()

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        size = _GROUP[self._model.cos.device.type]
        for start in range(0, len(prompts), size):
            part = prompts[start : start + size]
            began = time.perf_counter()
            runs = generate(
                self._model,
                self.vocabulary,
                [self.prompt_ids(prompt) for prompt in part],
                seeds=[stream_of(prompt, seed) for prompt in part],
                sampling=Sampling(self.temperature, self.top_k),
                max_actions=self.max_actions,
                rows=size,
            )
            seconds = (time.perf_counter() - began) / len(part)
            for prompt, run in zip(part, runs, strict=True):
                yield self.generation(prompt, seed, run.ids, run.ending, seconds)
            progress(len(part))


class NativeReviser(OwnModel):
    """A model of ours on the processor: one run after the other, with the native decoder."""

    def __init__(
        self, name: str, weights: str, config: ModelConfig, engine: Engine, setup: Setup
    ) -> None:
        super().__init__(name, weights, config, engine.policy.vocabulary, engine.tokenizer, setup)
        self._policy = engine.policy

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        for prompt in prompts:
            began = time.perf_counter()
            run = self._run(prompt, seed)
            ids = [step.id for step in run]
            seconds = time.perf_counter() - began
            yield self.generation(prompt, seed, ids, str(run.ending), seconds)
            progress(1)

    def _run(self, prompt: Prompt, seed_: int) -> Rollout:
        policy = self._policy
        canvas, history = seed(
            policy.vocabulary, self.prompt_ids(prompt), max_length=policy.max_length
        )
        sampler = Sampler(
            self.temperature, self.top_k, seed=stream_of(prompt, seed_), move_temperature=None
        )
        most = min(self.max_actions, policy.context - len(history))
        return Rollout(policy, canvas, history, sampler, max_actions=most)


class CausalLm:
    """Any causal language model of transformers, as autoregressive baseline.

    Prompts of one length are continued together, so that none needs padding, which the families treat
    in different ways. It ends at its end-of-text token or at the protocol's number of tokens.
    """

    def __init__(
        self,
        name: str,
        weights: str,
        model: Any,
        tokenizer: PreTrainedTokenizerBase,
        setup: Setup,
    ) -> None:
        self.name = name
        self.fingerprint = key_of(
            weights=weights,
            new_tokens=setup.new_tokens,
            temperature=setup.temperature,
            top_k=setup.top_k,
        )
        self._model = model
        self._tokenizer = tokenizer
        self._setup = setup
        self._ends = _end_ids(model, tokenizer)

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        given = [(prompt, self._prompt_ids(prompt.text)) for prompt in prompts]
        for part in _of_one_length(given, _CAUSAL_GROUP[self._model.device.type]):
            yield from self._continue(part, seed)
            progress(len(part))

    def _prompt_ids(self, text: str) -> list[int]:
        """The prompt with whatever the tokenizer puts before a text, but not what it puts after it."""
        encoded = self._tokenizer(text, return_special_tokens_mask=True)
        ids, special = list(encoded["input_ids"]), list(encoded["special_tokens_mask"])
        while len(ids) > 1 and special.pop():
            ids.pop()
        return ids

    def _continue(
        self, rows: Sequence[tuple[Prompt, list[int]]], seed: int
    ) -> Iterator[Generation]:
        began = time.perf_counter()
        steps = self._room(len(rows[0][1]))
        drawn = np.stack(
            [np.random.default_rng(stream_of(prompt, seed)).random(steps) for prompt, _ in rows]
        )
        written = self._sample(torch.tensor([ids for _, ids in rows]), torch.from_numpy(drawn))
        seconds = (time.perf_counter() - began) / len(rows)
        for (prompt, given), row in zip(rows, written, strict=True):
            end = next((at for at, id in enumerate(row) if id in self._ends), None)
            tokens = row if end is None else row[:end]
            text, shown = self._text([*given, *tokens]), self._text(given)
            yield Generation(
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
        text = self._tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        # Bytes that are not yet a character show as this one; they are not part of the text.
        return str(text).rstrip("\ufffd")

    @torch.no_grad()
    def _sample(self, ids: Tensor, drawn: Tensor) -> list[list[int]]:
        """As many tokens for each row as there are numbers drawn, or fewer once all rows have ended."""
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
    """SEDD or MDLM: all places of a text of the protocol's length at once, in a fixed number of steps.

    SEDD is sampled by Tweedie's formula, MDLM ancestrally. A text ends before its first end marker.
    """

    def __init__(self, name: str, weights: str, made: DiffusionModel, setup: Setup) -> None:
        self.name = name
        self.method: Method = "analytic" if made.config.kind == "sedd" else "ancestral"
        self.fingerprint = key_of(
            weights=weights,
            method=self.method,
            new_tokens=setup.new_tokens,
            steps=setup.diffusion_steps,
        )
        self._made = made
        self._setup = setup

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        given = [(prompt, self._prompt_ids(prompt)) for prompt in prompts]
        for part in _of_one_length(given, _DIFFUSION_GROUP[self._made.device.type]):
            yield from self._continue(part, seed)
            progress(len(part))

    def _prompt_ids(self, prompt: Prompt) -> list[int]:
        tokenizer = self._made.tokenizer
        given = prompt.tokens if tokenizer.name == "gpt2" else tokenizer.encode(prompt.text)
        return [*self._made.start, *given]

    def _continue(
        self, rows: Sequence[tuple[Prompt, list[int]]], seed: int
    ) -> Iterator[Generation]:
        began = time.perf_counter()
        places = self._setup.new_tokens + self._made.closing
        shape = (self._setup.diffusion_steps + 1, places, 2)
        drawn = np.stack(
            [
                np.random.default_rng(stream_of(prompt, seed)).random(shape, dtype=np.float32)
                for prompt, _ in rows
            ]
        )
        given = torch.tensor([ids for _, ids in rows])
        whole = sample(self._made, given, places, torch.from_numpy(drawn), self.method).tolist()
        seconds = (time.perf_counter() - began) / len(rows)
        for (prompt, ids), row in zip(rows, whole, strict=True):
            yield self._generation(prompt, seed, ids, row[len(ids) :], seconds)

    def _generation(
        self, prompt: Prompt, seed: int, given: list[int], row: list[int], seconds: float
    ) -> Generation:
        row = row[: self._setup.new_tokens]
        end = next((at for at, id in enumerate(row) if id in self._made.ends), None)
        tokens = row if end is None else row[:end]
        tokenizer = self._made.tokenizer
        text, shown = decode(tokenizer, [*given, *tokens]), decode(tokenizer, given)
        return Generation(
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
    """The id of each row that a number from 0 to 1 picks, after temperature and top-k."""
    if setup.temperature == 0:
        return draw(logits, drawn, GREEDY)[0]
    # Divided in single precision, in which all results so far were drawn.
    return draw(logits.float() / setup.temperature, drawn, Sampling(1.0, setup.top_k))[0]


def _end_ids(model: Any, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = set(named) if isinstance(named, list) else {named}
    ends.add(tokenizer.eos_token_id)
    return {end for end in ends if end is not None}


def load_contestant(
    source: str, setup: Setup, *, name: str | None = None, device: torch.device | None = None
) -> Contestant:
    """The contestant that a name or path means.

    A folder or library name of ours (a Reviser, or a baseline trained here), a GGUF or released `.pt`
    file, `smollm2`, or by folder or hub name a released SEDD or MDLM or any causal language model.
    """
    device = device or default_device()
    name = name or short_name(source)
    if is_diffusion(Path(source)):
        made = load_diffusion(Path(source), device, dtype_for(device))
        return Diffusion(name, fingerprint(source), made, setup)
    folder = home_folder(source)
    if folder is not None and device.type == "cpu":
        config = inspect(folder).config
        return NativeReviser(name, fingerprint(source), config, load_engine(str(folder)), setup)
    checkpoint = home_checkpoint(source, device)
    if checkpoint is None and is_released(read_config(source)):
        made = read_released(source, device, dtype_for(device))
        return Diffusion(name, fingerprint(source), made, setup)
    if checkpoint is None:
        return CausalLm(
            name,
            fingerprint(source),
            load_causal_lm(source, device),
            load_hf_tokenizer(source),
            setup,
        )
    if device.type == "cpu":
        engine = engine_of(name, checkpoint)
        return NativeReviser(name, fingerprint(source), checkpoint.model.config, engine, setup)
    return BatchedReviser(name, fingerprint(source), checkpoint, setup)


def engine_of(name: str, checkpoint: Checkpoint) -> Engine:
    """An engine for a checkpoint that is not in a folder of ours."""
    from reviser.native import make_decoder

    config = checkpoint.model.config
    decoder = make_decoder(checkpoint.model, 8, capacity=min(config.context, CAPACITY))
    policy = ModelPolicy(decoder, checkpoint.vocabulary, config.canvas_length)
    return Engine(name, policy, checkpoint.tokenizer)
