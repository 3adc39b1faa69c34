"""vLLM in processes of its own, with either of its model runners: runs without a server, and servers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from reviser.core.errors import ReviserError
from reviser.remote.client import CompletionsClient
from tests.conftest import ROOT

Runner = Literal["first", "second"]
RAISE = 8.0
"""What is added to the scores of raised ids."""
MASK = "reviser.integrations.masks:VllmMask"
# Blocks of 32 ids, so that short histories find something in the prefix cache too; nothing is compiled, which takes
# minutes.
SETTINGS = {
    "dtype": "float32",
    "max-model-len": "512",
    "max-num-seqs": "128",
    "block-size": "32",
    "max-logprobs": "50",
    "logprobs-mode": "processed_logprobs",
}


@dataclass(frozen=True)
class Asked:
    """Some runs with the same settings."""

    prompts: Sequence[Sequence[int]]
    temperature: float
    actions: int
    options: dict[str, int] = field(default_factory=dict)
    raised: Sequence[int] = ()
    top_k: int = 0


@dataclass(frozen=True)
class Answer:
    """What the runs chose, and which model runner ran."""

    second_runner: bool
    prefix_caching: bool
    runs: list[list[list[int]]]


def environment(runner: Runner, folder: Path) -> dict[str, str]:
    """The variables for a runner. The second one's kernels are Triton's, which its interpreter runs; `folder` is
    empty."""
    chosen = os.environ | {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "OMP_NUM_THREADS": "2",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT),
    }
    if runner == "second":
        told = folder / "interpreted-0.dist-info"
        told.mkdir(parents=True, exist_ok=True)
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: interpreted\nVersion: 0\n")
        (told / "entry_points.txt").write_text("[triton.backends]\ncpu = tests.reviser.remote.interpreted\n")
        chosen |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "TRITON_INTERPRET": "1"}
        # A step of many requests takes minutes when its kernels are interpreted.
        chosen["VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS"] = "3600"
    return chosen


def offline(model: Path, runner: Runner, folder: Path, asked: Sequence[Asked]) -> Answer:
    """Run vLLM's engine without a server."""
    given, found = folder / "asked.json", folder / "answer.json"
    given.write_text(json.dumps([asdict(some) for some in asked]))
    command = [sys.executable, "-m", __name__, str(model), str(given), str(found)]
    subprocess.run(command, cwd=ROOT, env=environment(runner, folder), check=True)
    return Answer(**json.loads(found.read_text()))


@contextmanager
def vllm_server(model: Path, runner: Runner, folder: Path, *more: str) -> Iterator[str]:
    """The address of vLLM's own server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # `vllm serve` is the same; the package vllm-cpu 0.32.0 has that command, but it looks for a package named vllm.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", "reviser", "--host", "127.0.0.1", "--port", str(port)]
    command += [word for name, value in SETTINGS.items() for word in (f"--{name}", value)]
    command += ["--enable-prefix-caching", "--enforce-eager", *more]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(runner, folder))
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None
            try:
                CompletionsClient(url).get("/v1/models")
                break
            except ReviserError:
                time.sleep(1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=120)


def _main(model: str, given: str, found: str) -> None:
    import vllm  # type: ignore[import-not-found]

    settings = {name.replace("-", "_"): value for name, value in SETTINGS.items()}
    numbers = {name: int(value) for name, value in settings.items() if value.isdecimal()}
    engine = vllm.LLM(
        model, **settings | numbers, logits_processors=[MASK], enable_prefix_caching=True, enforce_eager=True
    )
    runs = []
    for some in [Asked(**record) for record in json.loads(Path(given).read_text())]:
        sampled = {"top_k": some.top_k, "seed": 1} if some.temperature else {}
        params = vllm.SamplingParams(
            temperature=some.temperature,
            max_tokens=some.actions,
            extra_args=some.options or None,
            logit_bias=dict.fromkeys(some.raised, RAISE) or None,
            **sampled,
        )
        prompts = [{"prompt_token_ids": list(ids)} for ids in some.prompts]
        results = engine.generate(prompts, params, use_tqdm=False)
        runs.append([list(result.outputs[0].token_ids) for result in results])
    config = engine.llm_engine.vllm_config
    answer = Answer(
        bool(getattr(config, "use_v2_model_runner", False)), bool(config.cache_config.enable_prefix_caching), runs
    )
    Path(found).write_text(json.dumps(asdict(answer)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
