"""Where the time of one action, of a prompt and of several texts goes, by the clocks inside the native library.

python -m benchmarks speed --profile [--threads 2] [--json]

The bundled model makes full actions: scores, mask, sampling, the canvas and its text. Then it reads prompts, and
texts together and one after the other. No other contestant runs. The processor's time is that of all threads; the
clocks are those of the calling thread.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable

from benchmarks.speed.contestants.contest import prompt
from benchmarks.speed.contestants.ours import Ours
from benchmarks.speed.contestants.page import CONTEXTS
from benchmarks.speed.decoding import STEPS, memory_bandwidth
from reviser.core.errors import ReviserError
from reviser.decoding.policy import ModelPolicy
from reviser.native import NativeBatch, NativeDecoder
from reviser.native.decoder import Profile
from reviser.session.engine import load_engine

TEXTS = 32
TEXT_LENGTH = 34
ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Spent:
    """Seconds of one piece of work, and the library's clocks over it."""

    wall: float
    processor: float
    clocks: Profile

    def shares(self) -> dict[str, float]:
        """Microseconds by what they were spent on."""
        clocks = self.clocks
        parts = {
            "products with weights": clocks.matrices - clocks.preparation,
            "norms and rounding of their inputs": clocks.preparation,
            "attention": clocks.attention,
            "the rest of the library": clocks.total - clocks.matrices - clocks.attention,
            "outside the library": self.wall - clocks.total,
        }
        return {name: seconds * 1e6 for name, seconds in parts.items()}


@dataclasses.dataclass(frozen=True)
class Prompt:
    """How a prompt is read; `us` by what the microseconds were spent on."""

    ms: float
    processor_ms: float
    tokens_per_s: float
    us: dict[str, float]


@dataclasses.dataclass(frozen=True)
class Texts:
    """How several texts are read, together and one after the other."""

    count: int
    tokens_each: int
    together_tokens_per_s: float
    alone_tokens_per_s: float
    gain: float


@dataclasses.dataclass(frozen=True)
class ProfileResult:
    """All figures of a profile; prompts by their length."""

    model: str
    level: str
    threads: int
    memory_bandwidth_gb_s: float
    weights_mb: float
    actions_per_s: float
    action_us: dict[str, float]
    prompts: dict[str, Prompt]
    texts: Texts


def spent(decoder: NativeDecoder, work: Callable[[], object], rounds: int = ROUNDS) -> Spent:
    """The quickest of some rounds, by the processor's time: others may use it, too."""
    found = []
    for _ in range(rounds):
        decoder.start_profile()
        wall, processor = time.perf_counter(), time.process_time()
        work()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        found.append(Spent(wall, processor, decoder.stop_profile()))
    return min(found, key=lambda one: one.processor)


def profile(threads: int) -> ProfileResult:
    """Measure an action, prompts of several lengths, and texts together and one by one."""
    engine = load_engine(threads=threads)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        raise ReviserError("only the native library has clocks inside, and this model runs in torch")
    decoder = policy.decoder
    vocab = policy.vocabulary.base_size
    ours = Ours(decoder, policy.vocabulary, engine.tokenizer, engine.name)
    ours.prefill(prompt(CONTEXTS[0], vocab))
    ours.steps(8)
    action = spent(decoder, lambda: ours.steps(STEPS))
    prompts = {
        length: spent(decoder, lambda: read(decoder, prompt(length, vocab)))  # noqa: B023
        for length in CONTEXTS
    }
    ids = prompt(TEXTS * TEXT_LENGTH, vocab)
    texts = [ids[at : at + TEXT_LENGTH] for at in range(0, len(ids), TEXT_LENGTH)]
    with NativeBatch(decoder, TEXTS, TEXT_LENGTH) as batch:
        together = spent(decoder, lambda: read_together(batch, texts))
        alone = spent(decoder, lambda: read_alone(batch, texts))
    return ProfileResult(
        model=engine.name,
        level=decoder.level,
        threads=decoder.threads,
        memory_bandwidth_gb_s=memory_bandwidth(threads) / 1e9,
        weights_mb=decoder.step_bytes / 1e6,
        actions_per_s=STEPS / action.wall,
        action_us={name: us / STEPS for name, us in action.shares().items()},
        prompts={
            str(length): Prompt(
                ms=one.wall * 1e3, processor_ms=one.processor * 1e3, tokens_per_s=length / one.wall, us=one.shares()
            )
            for length, one in prompts.items()
        },
        texts=Texts(
            count=TEXTS,
            tokens_each=TEXT_LENGTH,
            together_tokens_per_s=len(ids) / together.wall,
            alone_tokens_per_s=len(ids) / alone.wall,
            gain=alone.processor / together.processor,
        ),
    )


def read(decoder: NativeDecoder, ids: list[int]) -> None:
    decoder.truncate(0)
    decoder.prefill(ids)


def read_together(batch: NativeBatch, texts: list[list[int]]) -> None:
    for row in range(len(texts)):
        batch.clear(row)
    batch.read(range(len(texts)), texts)


def read_alone(batch: NativeBatch, texts: list[list[int]]) -> None:
    for text in texts:
        read_together(batch, [text])


def report(result: ProfileResult) -> str:
    total = sum(result.action_us.values())
    lines = [
        f"{result.model}: {result.level}, {result.threads} threads, which can read "
        f"{result.memory_bandwidth_gb_s:.1f} GB/s",
        "",
        f"One action: {total:.0f} µs ({result.actions_per_s:.1f} a second), {result.weights_mb:.1f} MB of weights",
    ]
    lines += [
        f"  {microseconds:8.1f} µs  {microseconds / total:6.1%}  {name}"
        for name, microseconds in result.action_us.items()
    ]
    for length, one in result.prompts.items():
        lines += [
            "",
            f"A prompt of {length} tokens: {one.ms:.0f} ms ({one.tokens_per_s:.0f} tokens a second), "
            f"{one.processor_ms:.0f} ms of processors",
        ]
        whole = sum(one.us.values())
        lines += [
            f"  {microseconds / 1e3:8.1f} ms  {microseconds / whole:6.1%}  {name}"
            for name, microseconds in one.us.items()
        ]
    texts = result.texts
    lines += [
        "",
        f"{texts.count} texts of {texts.tokens_each} tokens: {texts.together_tokens_per_s:.0f} tokens a second "
        f"together, {texts.alone_tokens_per_s:.0f} one after the other; {texts.gain:.2f} times by the "
        "processors' time",
    ]
    return "\n".join(lines) + "\n"


def show(threads: int, as_json: bool) -> None:
    result = profile(threads)
    print(json.dumps(dataclasses.asdict(result)) if as_json else report(result))
