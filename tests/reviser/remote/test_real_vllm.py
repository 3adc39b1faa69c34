"""vLLM itself: the embedded model exported, served with the mask, offline and over HTTP, by both of its model runners.

For environments that have vLLM and Triton: `make test-vllm` makes one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.library import find_model
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy, Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.remote.client import CompletionsClient
from reviser.session.engine import load_engine
from tests.conftest import ROOT
from tests.reviser.remote.servers import Wire
from tests.reviser.remote.vllm_runs import MASK, RAISE, Answer, Asked, Runner, environment, offline, vllm_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed (`make test-vllm` installs it)"),
]

TEXTS = ("The cat sat on the mat and", "Dear Anna,\n\nthank you for", "It rained. We")
BEFORE, BEHIND = "I would love to come, but", " Best wishes,\nPaul"
ACTIONS = 40
# Interpreted kernels take a third of a second for one choice of one run.
RUNS: dict[Runner, int] = {"first": 1000, "second": 12}
SAMPLED_ACTIONS = 10
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="vLLM's second model runner needs Triton")
# Triton's interpreter stops at a line of vLLM's kernel for top-k, so the second runner chooses among all ids.
TOP_K: dict[Runner, int] = {"first": 50, "second": 0}
RUNNERS = ("first", pytest.param("second", marks=needs_triton))


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    import torch

    return load(find_model("default"), dtype=torch.float32)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "my-reviser-hf"
    command = [sys.executable, "-m", "reviser", "models", "export", "default", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


@dataclass(frozen=True)
class Gap:
    """What stands before and behind a gap; behind may be nothing."""

    before: Sequence[int]
    behind: Sequence[int]

    def history(self, vocabulary: Vocabulary) -> list[int]:
        return seed(vocabulary, self.before, self.behind)[1]

    @property
    def options(self) -> dict[str, int]:
        return {"prefix": len(self.before), "suffix": len(self.behind)}


def greedy(policy: Policy, gap: Gap) -> list[int]:
    canvas, history = seed(policy.vocabulary, gap.before, gap.behind)
    run = Rollout(policy, canvas, history, Sampler.greedy(), max_actions=ACTIONS)
    return [step.id for step in run]


@pytest.fixture(scope="module")
def gaps(checkpoint: Checkpoint) -> list[Gap]:
    encode = checkpoint.tokenizer.encode
    return [*(Gap(encode(text), ()) for text in TEXTS), Gap(encode(BEFORE), encode(BEHIND))]


@pytest.fixture(scope="module")
def ours(checkpoint: Checkpoint, gaps: list[Gap]) -> list[list[int]]:
    """What this engine does with the exact weights, as vLLM has them."""
    from tests.reviser.integrations.test_masks import Greedy

    return [greedy(Greedy(checkpoint), gap) for gap in gaps]


def sampled_prompts(checkpoint: Checkpoint, runner: Runner) -> list[list[int]]:
    encode = checkpoint.tokenizer.encode
    texts = [f"{TEXTS[number % 3]} number {number}" for number in range(RUNS[runner])]
    return [seed(checkpoint.vocabulary, encode(text))[1] for text in texts]


def operators(vocabulary: Vocabulary) -> list[int]:
    """All but Stop, valid and invalid: in half of the runs they are made likelier, so that the mask has something
    to do."""
    return [id for id in range(vocabulary.base_size, vocabulary.size) if id != vocabulary.stop_id]


def count_valid(vocabulary: Vocabulary, prompts: list[list[int]], runs: list[list[int]]) -> int:
    """How many runs can be carried out from their first action to their last."""
    good = 0
    for prompt, ids in zip(prompts, runs, strict=True):
        canvas, _ = seed(vocabulary, prompt[1:])
        try:
            for id in ids:
                canvas.apply(canvas.action(id))
        except ReviserError:
            continue
        good += bool(ids)
    return good


def assert_valid(
    runner: Runner, vocabulary: Vocabulary, prompts: list[list[int]], plain: list[list[int]], raised: list[list[int]]
) -> None:
    assert count_valid(vocabulary, prompts[::2], plain) == len(prompts) // 2
    assert count_valid(vocabulary, prompts[1::2], raised) == len(prompts) // 2
    if runner == "second":
        # Interpreted, vLLM's kernel for raised scores has been seen to raise none.
        return
    chosen = [id for ids in raised for id in ids if id >= vocabulary.base_size]
    assert len(chosen) > len(prompts) // 2
    assert len(set(chosen)) > 3


@pytest.fixture(scope="module", params=RUNNERS)
def answer(
    request: Any, exported: Path, checkpoint: Checkpoint, gaps: list[Gap], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Runner, Answer]:
    """Greedy runs, all texts together and then the gap, and many sampled ones, without a server."""
    folder = tmp_path_factory.mktemp(request.param)
    vocabulary, top_k = checkpoint.vocabulary, TOP_K[request.param]
    plain = [gap.history(vocabulary) for gap in gaps[:-1]]
    prompts = sampled_prompts(checkpoint, request.param)
    asked = [
        Asked(plain, 0.0, ACTIONS),
        Asked([gaps[-1].history(vocabulary)], 0.0, ACTIONS, gaps[-1].options),
        Asked(prompts[::2], 0.9, SAMPLED_ACTIONS, top_k=top_k),
        Asked(prompts[1::2], 0.9, SAMPLED_ACTIONS, top_k=top_k, raised=operators(vocabulary)),
    ]
    return request.param, offline(exported, request.param, folder, asked)


def test_offline_greedy_runs_are_ours(answer: tuple[Runner, Answer], ours: list[list[int]]) -> None:
    runner, found = answer
    assert found.second_runner == (runner == "second")
    assert found.prefix_caching
    assert [*found.runs[0], *found.runs[1]] == ours


def test_offline_samples_are_valid(answer: tuple[Runner, Answer], checkpoint: Checkpoint) -> None:
    runner, found = answer
    prompts = sampled_prompts(checkpoint, runner)
    assert_valid(runner, checkpoint.vocabulary, prompts, found.runs[2], found.runs[3])


def test_the_documented_program(exported: Path, tmp_path: Path) -> None:
    from tests.reviser.integrations.test_masks import documented_program

    (tmp_path / "my-reviser-hf").symlink_to(exported)
    # Nothing is compiled, which would take minutes.
    program = documented_program("vllm").replace("max_model_len=", "enforce_eager=True, max_model_len=")
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment("first", tmp_path),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert "The cat sat" in done.stdout


@dataclass(frozen=True)
class Served:
    runner: Runner
    url: str


@pytest.fixture(scope="module", params=RUNNERS)
def server(request: Any, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(request.param)
    with vllm_server(exported, request.param, folder, "--logits-processors", MASK) as url:
        yield Served(request.param, url)


@pytest.fixture
def served(server: Served) -> str:
    return server.url


def test_over_http_greedy_runs_are_ours(server: Served, gaps: list[Gap], ours: list[list[int]]) -> None:
    policy = load_engine(f"openai:{server.url}#reviser").policy
    some = slice(None) if server.runner == "first" else slice(2, None)
    assert [greedy(policy, gap) for gap in gaps[some]] == ours[some]


def test_over_http_samples_are_valid(server: Served, checkpoint: Checkpoint) -> None:
    prompts = sampled_prompts(checkpoint, server.runner)
    client = CompletionsClient(server.url, timeout=3600)
    body = {
        "model": "reviser",
        "max_tokens": SAMPLED_ACTIONS,
        "temperature": 0.9,
        "top_k": TOP_K[server.runner],
        "seed": 1,
        "return_token_ids": True,
    }
    likelier = {str(id): RAISE for id in operators(checkpoint.vocabulary)}
    runs = []
    for more in ({"prompt": prompts[::2]}, {"prompt": prompts[1::2], "logit_bias": likelier}):
        choices = client.post("/v1/completions", body | more)["choices"]
        choices.sort(key=lambda choice: choice["index"])
        runs.append([choice["token_ids"] for choice in choices])
    assert_valid(server.runner, checkpoint.vocabulary, prompts, *runs)


def test_over_http_what_was_read_is_kept(served: str) -> None:
    """An action reads what the one before it has not: the history's beginning is in the prefix cache."""
    import urllib.request

    list(load_engine(f"openai:{served}#reviser").session(TEXTS[0] * 8).continue_(max_actions=8))
    with urllib.request.urlopen(f"{served}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    hits = [line for line in lines if line.startswith("vllm:prefix_cache_hits_total")]
    assert float(hits[0].split()[-1]) > 100


def test_over_http_what_is_no_history_does_not_end_the_server(served: str, checkpoint: Checkpoint) -> None:
    client = CompletionsClient(served)
    body = {"model": "reviser", "prompt": [1, 2, 3], "max_tokens": 4, "return_token_ids": True}
    body["temperature"] = 0
    ids = client.post("/v1/completions", body)["choices"][0]["token_ids"]
    assert ids == [checkpoint.vocabulary.stop_id]
    for wrong in (-1, "all", 1 << 40):
        with pytest.raises(ReviserError, match="suffix must be a number of tokens"):
            client.post("/v1/completions", body | {"vllm_xargs": {"suffix": wrong}})
    assert client.get("/v1/models")["data"]


@pytest.mark.parametrize(("cut", "said"), [(True, "cannot be reached"), (False, "within 2 sec")])
def test_over_http_a_server_that_is_gone_or_silent_gets_a_sentence(
    served: str, cut: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Wire(served, 3, cut=cut)
    if not cut:
        monkeypatch.setenv("REVISER_SERVER_TIMEOUT", "2")
    remote = load_engine(f"openai:{wire.url}#reviser")
    with pytest.raises(ReviserError, match=said):
        list(remote.session(TEXTS[0]).continue_(Sampler.greedy(), max_actions=ACTIONS))
    wire.close()


def test_over_http_another_name_gets_a_sentence(served: str) -> None:
    with pytest.raises(ReviserError, match="has no model other; it has reviser"):
        load_engine(f"openai:{served}#other")
