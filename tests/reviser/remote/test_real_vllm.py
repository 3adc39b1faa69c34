"""vLLM itself: the embedded model exported, served with the mask, offline and over HTTP. For machines that have vLLM."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.home import load
from reviser.checkpoints.library import find_model
from reviser.core.errors import ReviserError
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Sampler
from reviser.integrations.following import exported_vocabulary
from reviser.remote.client import Client
from reviser.session.engine import load_engine
from tests.reviser.integrations.test_masks import Greedy
from tests.reviser.remote.servers import Wire

pytestmark = pytest.mark.slow
vllm = pytest.importorskip(
    "vllm", reason="vLLM is not installed (it has no wheel for Arm; see docs/serving.md)"
)

TEXT = "The cat sat on the mat and"
ACTIONS = 40
RUNS = 1000
# The interface of the mask is that of the first model runner; newer versions have another beside it.
ENVIRONMENT = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
MASK = "reviser.integrations.masks:VllmMask"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    folder = tmp_path_factory.mktemp("exported") / "my-reviser-hf"
    write_llama(load(find_model("default"), dtype=torch.float32), folder)
    return folder


@pytest.fixture(scope="module")
def engine(exported: Path) -> Any:
    os.environ.update(ENVIRONMENT)
    from reviser.integrations.masks import VllmMask

    return vllm.LLM(
        str(exported),
        dtype="float32",
        logits_processors=[VllmMask],
        enable_prefix_caching=True,
        async_scheduling=False,
        max_model_len=512,
    )


def own_greedy(text: str) -> list[int]:
    """What this engine does with the exact weights, as vLLM has them."""
    import torch

    from reviser.decoding.rollout import Rollout

    checkpoint = load(find_model("default"), dtype=torch.float32)
    canvas, history = seed(checkpoint.vocabulary, checkpoint.tokenizer.encode(text))
    run = Rollout(Greedy(checkpoint), canvas, history, Sampler.greedy(), max_actions=ACTIONS)
    return [step.id for step in run]


def test_offline_greedy_runs_are_ours(engine: Any) -> None:
    params = vllm.SamplingParams(temperature=0, max_tokens=ACTIONS)
    (result,) = engine.generate(TEXT, params)
    assert list(result.outputs[0].token_ids) == own_greedy(TEXT)


def test_offline_samples_are_valid(engine: Any) -> None:
    vocabulary = exported_vocabulary(engine.llm_engine.model_config.hf_config)
    texts = [f"{TEXT} number {number}" for number in range(RUNS)]
    params = vllm.SamplingParams(temperature=0.9, top_k=50, max_tokens=ACTIONS, seed=1)
    for result in engine.generate(texts, params):
        prompt = list(result.prompt_token_ids)
        canvas, _ = seed(vocabulary, prompt[1:])
        for id in result.outputs[0].token_ids:
            canvas.apply(canvas.action(id))


@pytest.fixture(scope="module")
def served(exported: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(exported), "--served-model-name", "reviser", "--port", str(port)]
    command += ["--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "512"]
    command += ["--logits-processors", MASK, "--logprobs-mode", "processed_logprobs"]
    command += ["--max-logprobs", "50", "--enable-prefix-caching", "--no-async-scheduling"]
    process = subprocess.Popen(command, env=os.environ | ENVIRONMENT)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None
            try:
                Client(url).get("/v1/models")
                break
            except ReviserError:
                time.sleep(1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=120)


def test_over_http_greedy_runs_are_ours(served: str) -> None:
    remote = load_engine(f"openai:{served}#reviser")
    run = remote.session(TEXT).continue_(Sampler.greedy(), max_actions=ACTIONS)
    assert [frame.step.id for frame in run] == own_greedy(TEXT)


def test_over_http_a_server_that_is_gone_gets_a_sentence(served: str) -> None:
    remote = load_engine(f"openai:{Wire(served, 3, cut=True).url}#reviser")
    run = remote.session(TEXT).continue_(Sampler.greedy(), max_actions=ACTIONS)
    with pytest.raises(ReviserError, match="cannot be reached"):
        list(run)
