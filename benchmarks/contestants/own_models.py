"""Models of ours as contestants: a Reviser, or one trained to insert and stop alone (the AR baseline)."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import reviser.decoding
import reviser.session
from benchmarks.protocol.records import Continuation, Progress, Prompt
from benchmarks.protocol.runs import key_of
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.home import Checkpoint
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.sampling import Sampling
from reviser.decoding.batch.scheduler import generate
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.strategies import RunStart, plain
from reviser.model import ModelConfig
from reviser.session.engine import CAPACITY, Engine
from reviser.session.session import Session

# Runs that are made together; after each such group, what it wrote is known.
_GROUP = {"cpu": 16, "cuda": 1024}
_LEFT_TO_RIGHT = frozenset({"insert", "stop"})


@dataclass(frozen=True)
class DecodingOptions:
    """How a model of ours writes, beyond what the protocol says.

    A `plain` one may only insert and stop: it writes from left to right. `move_temperature` is the
    temperature of moves, if it is lower than the protocol's. `rows` runs are made together on a GPU.

    With the `rules` of our commands a model writes on the processor, one run after the other, as by `reviser
    continue`: it repeats no eight tokens in a row and no phrase of its own, ends with a sentence when it nears its
    limit, and its steps back are `checked`.
    """

    plain: bool = False
    move_temperature: float | None = None
    rows: int | None = None
    rules: bool = False
    checked: bool = True


USUAL = DecodingOptions()


def stream_of(prompt: Prompt, seed: int) -> int:
    """The name of the random stream for a prompt under a seed."""
    digest = hashlib.sha256(f"{seed}\0{prompt.id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


_RULES = Path(reviser.decoding.__file__).parent
_SESSION = Path(reviser.session.__file__).parent


@cache
def code_digest(folder: Path = _RULES) -> str:
    """A digest of the code in a folder; that of the rules decides how a model writes, so a text is known by it."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


class OwnModel(ABC):
    """What our models have in common, a Reviser or one trained to insert and stop alone: the AR baseline."""

    def __init__(
        self,
        name: str,
        weights: str,
        config: ModelConfig,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        setup: Setup,
        decoding: DecodingOptions = USUAL,
    ) -> None:
        if decoding.plain:
            vocabulary = replace(vocabulary, kinds=vocabulary.kinds & _LEFT_TO_RIGHT)
        self.name = name
        self.config = config
        self.vocabulary = vocabulary
        self.tokenizer = tokenizer
        # A model that cannot move writes tokens, and is held to their number.
        self.moves = "move" in vocabulary.kinds
        self.max_actions = setup.max_actions if self.moves else setup.new_tokens
        self.temperature = setup.temperature
        self.top_k = setup.top_k
        self.decoding = decoding
        self.fingerprint = key_of(
            weights=weights,
            decoder=type(self).__name__,
            kinds=sorted(vocabulary.kinds),
            max_actions=self.max_actions,
            temperature=self.temperature,
            top_k=self.top_k,
        )
        if decoding.move_temperature is not None:
            self.fingerprint = key_of(basis=self.fingerprint, move_temperature=decoding.move_temperature)
        if decoding.rules:
            self.fingerprint = key_of(
                basis=self.fingerprint, rules=code_digest(), session=code_digest(_SESSION), checked=decoding.checked
            )

    @abstractmethod
    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        """As `Contestant` says."""

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        if self.tokenizer.name == "gpt2":
            return list(prompt.tokens)
        return self.tokenizer.encode(prompt.text)

    def generation(self, prompt: Prompt, seed_: int, ids: Sequence[int], ending: str, seconds: float) -> Continuation:
        """What the ids that the model chose after a prompt have written."""
        given = self.prompt_ids(prompt)
        canvas, _ = seed(self.vocabulary, given)
        for id in ids:
            canvas.apply(canvas.action(id))
        text = decode(self.tokenizer, canvas.tokens)
        return Continuation(
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

    def __init__(
        self, name: str, weights: str, checkpoint: Checkpoint, setup: Setup, decoding: DecodingOptions = USUAL
    ) -> None:
        super().__init__(
            name, weights, checkpoint.model.config, checkpoint.vocabulary, checkpoint.tokenizer, setup, decoding
        )
        self._model = checkpoint.model.eval()

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        size = self.decoding.rows or _GROUP[self._model.cos.device.type]
        for start in range(0, len(prompts), size):
            part = prompts[start : start + size]
            began = time.perf_counter()
            runs = generate(
                self._model,
                self.vocabulary,
                [self.prompt_ids(prompt) for prompt in part],
                seeds=[stream_of(prompt, seed) for prompt in part],
                sampling=Sampling(self.temperature, self.top_k, self.decoding.move_temperature),
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
        self,
        name: str,
        weights: str,
        config: ModelConfig,
        engine: Engine,
        setup: Setup,
        decoding: DecodingOptions = USUAL,
    ) -> None:
        super().__init__(name, weights, config, engine.policy.vocabulary, engine.tokenizer, setup, decoding)
        policy = engine.policy
        if decoding.plain and isinstance(policy, ModelPolicy):
            policy = ModelPolicy(policy.decoder, self.vocabulary, policy.max_length)
        self._policy = policy

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        for prompt in prompts:
            began = time.perf_counter()
            run = self._run(prompt, seed)
            ids = [step.id for step in run]
            seconds = time.perf_counter() - began
            yield self.generation(prompt, seed, ids, str(run.ending), seconds)
            progress(1)

    def _run(self, prompt: Prompt, seed_: int) -> Rollout:
        sampler = Sampler(
            self.temperature, self.top_k, seed=stream_of(prompt, seed_), move_temperature=self.decoding.move_temperature
        )
        if self.decoding.rules:
            session = Session(self._policy, self.tokenizer, prompt.text)
            checks = self.decoding.checked and self.moves
            return session.continue_(sampler, max_actions=self.max_actions, check_steps_back=checks).rollout
        policy = self._policy
        canvas, history = seed(self.vocabulary, self.prompt_ids(prompt), max_length=policy.max_length)
        most = min(self.max_actions, policy.context - len(history))
        return plain(RunStart(policy, canvas, history, most), sampler)


def engine_of(name: str, checkpoint: Checkpoint) -> Engine:
    """An engine for a checkpoint that is not in a folder of ours."""
    from reviser.native import make_decoder

    config = checkpoint.model.config
    decoder = make_decoder(checkpoint.model, 8, capacity=min(config.context, CAPACITY))
    policy = ModelPolicy(decoder, checkpoint.vocabulary, config.canvas_length)
    return Engine(name, policy, checkpoint.tokenizer)
