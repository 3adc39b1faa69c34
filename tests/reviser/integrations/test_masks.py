"""The mask in other engines: the same greedy trajectory as here, and each engine's own protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reviser.checkpoints.formats.gguf_files import GgufType, write_gguf
from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.home import Checkpoint
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.integrations.masks import (
    Follower,
    LlamaCppMask,
    TransformersMask,
    VllmMask,
    VllmRequestMask,
    exported_vocabulary,
)
from tests.conftest import ROOT
from tests.reviser.checkpoints.parts import toy_checkpoint

TEXT = "all the cats"
SUFFIX = " in a hat"
STEPS = 40


class Greedy:
    """A policy that runs the model on the whole history each time."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.vocabulary = checkpoint.vocabulary
        self._model = checkpoint.model

    def scores(self, history: Sequence[int], canvas: Canvas) -> NDArray[np.float32]:
        with torch.no_grad():
            return self._model(torch.tensor([list(history)]))[0, -1].numpy()


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    """A random model that moves, deletes and stops often enough to make the mask matter."""
    made = toy_checkpoint(seed=3)
    vocabulary = made.vocabulary
    with torch.no_grad():
        made.model.embedding.weight[vocabulary.delete_id : vocabulary.first_reserved_id] *= 3
    return made


@pytest.fixture(scope="module")
def exported(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Any:
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("exported") / "hf"
    write_llama(checkpoint, folder)
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def own_trajectory(checkpoint: Checkpoint, text: str, suffix: str = "") -> tuple[list[int], list[int]]:
    """The prompt, and what this engine does after it."""
    encode = checkpoint.tokenizer.encode
    canvas, history = seed(checkpoint.vocabulary, encode(text), encode(suffix))
    rollout = Rollout(Greedy(checkpoint), canvas, history, Sampler.greedy(), max_actions=STEPS)
    return history, [step.id for step in rollout]


def unmasked_trajectory(checkpoint: Checkpoint, text: str) -> list[int]:
    ids = [checkpoint.vocabulary.start_id, *checkpoint.tokenizer.encode(text)]
    start = len(ids)
    for _ in range(STEPS):
        ids.append(int(np.argmax(Greedy(checkpoint).scores(ids, Canvas(checkpoint.vocabulary)))))
    return ids[start:]


def generate(model: Any, rows: list[list[int]], mask: TransformersMask, **options: Any) -> list[list[int]]:
    """What transformers generates after left-padded rows, without what follows a Stop."""
    vocabulary = exported_vocabulary(model.config)
    width = max(map(len, rows))
    padding = [width - len(row) for row in rows]
    ids = torch.tensor([[vocabulary.stop_id] * pad + row for pad, row in zip(padding, rows, strict=True)])
    attention = torch.tensor([[0] * pad + [1] * (width - pad) for pad in padding])
    made = model.generate(
        ids,
        attention_mask=attention,
        logits_processor=[mask],
        max_new_tokens=STEPS,
        **{"do_sample": False, "temperature": None, "top_k": None, "top_p": None} | options,
    )
    return [until_stop(row[width:], vocabulary) for row in made.tolist()]


def until_stop(ids: list[int], vocabulary: Vocabulary) -> list[int]:
    return ids[: ids.index(vocabulary.stop_id) + 1] if vocabulary.stop_id in ids else ids


def test_the_mask_matters_to_this_model(checkpoint: Checkpoint) -> None:
    _, ids = own_trajectory(checkpoint, TEXT)
    assert ids != unmasked_trajectory(checkpoint, TEXT)[: len(ids)]
    assert len({*ids}) > 3


def test_transformers_makes_the_same_trajectories(checkpoint: Checkpoint, exported: Any) -> None:
    texts = [TEXT, "a", "the hat is in the hall"]
    own = [own_trajectory(checkpoint, text) for text in texts]
    mask = TransformersMask(exported_vocabulary(exported.config))
    assert generate(exported, [prompt for prompt, _ in own], mask) == [ids for _, ids in own]


def test_transformers_keeps_prefix_and_suffix(checkpoint: Checkpoint, exported: Any) -> None:
    prompt, ids = own_trajectory(checkpoint, TEXT, SUFFIX)
    prefix, suffix = (len(checkpoint.tokenizer.encode(text)) for text in (TEXT, SUFFIX))
    mask = TransformersMask(checkpoint.vocabulary, prefix=prefix, suffix=suffix)
    assert generate(exported, [prompt], mask) == [ids]
    mask = TransformersMask(checkpoint.vocabulary, prefix=[prefix], suffix=suffix, max_length=2)
    with pytest.raises(ReviserError, match="do not fit on a canvas of 2"):
        generate(exported, [prompt], mask)


def test_transformers_samples_only_valid_actions(checkpoint: Checkpoint, exported: Any) -> None:
    torch.manual_seed(0)
    vocabulary = checkpoint.vocabulary
    prompt = [vocabulary.start_id, *checkpoint.tokenizer.encode(TEXT)]
    mask = TransformersMask(vocabulary)
    rows = generate(exported, [prompt] * 8, mask, do_sample=True, temperature=1.5, top_k=50)
    for row in rows:
        canvas, _ = seed(vocabulary, prompt[1:])
        for id in row:
            canvas.apply(canvas.action(id))
    assert len({tuple(row) for row in rows}) > 1


def test_a_mask_serves_one_run(checkpoint: Checkpoint, exported: Any) -> None:
    prompt, _ = own_trajectory(checkpoint, TEXT)
    mask = TransformersMask(checkpoint.vocabulary)
    generate(exported, [prompt], mask)
    with pytest.raises(ReviserError, match="make a new mask for each generate"):
        generate(exported, [prompt], mask)


def test_following_a_history() -> None:
    vocabulary = Vocabulary(100, frozenset({7}), kinds=PAPER_KINDS)
    start, back = vocabulary.start_id, vocabulary.first_move_id + 1
    follower = Follower(vocabulary, [99, 99, start, 1, 2, 3, back, 50], suffix=1)
    assert follower.canvas.tokens == [1, 2, 50, 3]
    assert (follower.canvas.low, follower.canvas.high) == (2, 3)
    assert follower.mask()[back]
    assert not follower.mask()[7]
    assert not follower.mask()[vocabulary.delete_id]
    with pytest.raises(InvalidAction):
        follower.take([vocabulary.first_move_id])
    follower.take([vocabulary.stop_id, 4, 4, -1])
    assert np.flatnonzero(follower.mask()).tolist() == [vocabulary.stop_id]


@pytest.mark.parametrize(
    ("prompt", "options", "sentence"),
    [
        ([1, 2], {}, "lacks the start marker, id 101"),
        ([101, 1, 2], {"prefix": 3}, "does not start with as many tokens"),
        ([101, 1, 2], {"suffix": 3}, "does not start with as many tokens"),
        ([101, 1, 2], {"suffix": 1}, "does not move the cursor back"),
        ([101, 1, -1], {"prefix": 1}, "turn off asynchronous scheduling"),
    ],
)
def test_prompts_that_cannot_be_followed(prompt: list[int], options: dict[str, int], sentence: str) -> None:
    with pytest.raises(ReviserError, match=sentence):
        Follower(Vocabulary(100), prompt, **options)


def test_a_model_of_someone_else_has_no_operators() -> None:
    with pytest.raises(ReviserError, match="not an export of Reviser"):
        exported_vocabulary(SimpleNamespace(hidden_size=3))


class Direction(Enum):
    """As vLLM names them."""

    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class BatchUpdate:
    """As vLLM passes it to `update_state`."""

    batch_size: int
    removed: Sequence[int] = ()
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]] = ()
    moved: Sequence[tuple[int, int, Direction]] = ()


@dataclass
class Request:
    """A request of the imitated engine: its ids are known to the mask by reference."""

    prompt: list[int]
    options: dict[str, int] = field(default_factory=dict)
    output: list[int] = field(default_factory=list)

    @property
    def params(self) -> Any:
        return SimpleNamespace(extra_args=self.options or None)


class Engine:
    """Runs requests in a batch as vLLM does: update, model, apply, choose."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        hf_config = SimpleNamespace(reviser={"vocabulary": checkpoint.vocabulary.to_dict()})
        config = SimpleNamespace(model_config=SimpleNamespace(hf_config=hf_config))
        self.mask = VllmMask(config, torch.device("cpu"), False)
        self._policy = Greedy(checkpoint)
        self._vocabulary = checkpoint.vocabulary

    def step(self, batch: list[Request], update: BatchUpdate | None = None) -> None:
        self.mask.update_state(update)
        # Engines pad the vocabulary; the scores of such ids must not win either.
        logits = torch.full((len(batch), self._vocabulary.size + 5), 1e6)
        for row, request in enumerate(batch):
            scores = self._policy.scores(request.prompt + request.output, Canvas(self._vocabulary))
            logits[row, : self._vocabulary.size] = torch.from_numpy(scores)
        for request, id in zip(batch, self.mask.apply(logits).argmax(-1).tolist(), strict=True):
            if self._vocabulary.stop_id not in request.output:
                request.output.append(id)


def test_vllm_follows_requests_that_come_go_and_move(checkpoint: Checkpoint) -> None:
    engine = Engine(checkpoint)
    assert not engine.mask.is_argmax_invariant()
    own = [own_trajectory(checkpoint, text) for text in (TEXT, "a", "the hat is in the hall")]
    first, second, third = (Request(prompt) for prompt, _ in own)

    def added(index: int, request: Request) -> tuple[int, Any, list[int], list[int]]:
        return (index, request.params, request.prompt, request.output)

    engine.step([first, second], BatchUpdate(2, added=[added(0, first), added(1, second)]))
    engine.step([first, second])
    engine.step([second, first], BatchUpdate(2, moved=[(0, 1, Direction.SWAP)]))
    engine.step([second, first, third], BatchUpdate(3, added=[added(2, third)]))
    for _ in range(STEPS):
        engine.step([second, first, third])
    assert [first.output[:STEPS], second.output[:STEPS]] == [own[0][1], own[1][1]]
    engine.step([third], BatchUpdate(1, removed=[0, 1], moved=[(2, 0, Direction.UNIDIRECTIONAL)]))
    fresh = Request(own[0][0])
    engine.step([fresh], BatchUpdate(1, added=[added(0, fresh)]))
    assert third.output[:STEPS] == own[2][1]
    assert fresh.output == own[0][1][:1]


def test_vllm_requests_may_protect_a_suffix(checkpoint: Checkpoint) -> None:
    prompt, ids = own_trajectory(checkpoint, TEXT, SUFFIX)
    request = Request(prompt, {"suffix": len(checkpoint.tokenizer.encode(SUFFIX))})
    VllmMask.validate_params(request.params)
    engine = Engine(checkpoint)
    engine.step([request], BatchUpdate(1, added=[(0, request.params, prompt, request.output)]))
    for _ in range(STEPS - 1):
        engine.step([request])
    assert request.output == ids
    with pytest.raises(ValueError, match="suffix must be a number of tokens, not 'all'"):
        VllmMask.validate_params(SimpleNamespace(extra_args={"suffix": "all"}))


def test_vllm_per_request_callable(checkpoint: Checkpoint) -> None:
    prompt, ids = own_trajectory(checkpoint, TEXT)
    mask, output = VllmRequestMask(checkpoint.vocabulary), []
    policy = Greedy(checkpoint)
    for _ in ids:
        scores = policy.scores(prompt + output, Canvas(checkpoint.vocabulary))
        output.append(int(mask(prompt, output, torch.from_numpy(scores)).argmax()))
    assert output == ids


def test_llama_cpp_protocol(checkpoint: Checkpoint) -> None:
    prompt, ids = own_trajectory(checkpoint, TEXT)
    mask, history = LlamaCppMask(checkpoint.vocabulary), list(prompt)
    policy = Greedy(checkpoint)
    for _ in ids:
        scores = policy.scores(history, Canvas(checkpoint.vocabulary))
        padded = np.append(scores, np.float32(1e6))
        history.append(int(mask(np.array(history, dtype=np.intc), padded).argmax()))
    assert history[len(prompt) :] == ids


def documented_program(engine: str) -> str:
    document = (ROOT / "docs" / "serving.md").read_text("utf-8")
    programs = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    [program] = [program for program in programs if f"import {engine}" in program or f"from {engine}" in program]
    return program


def run_program(engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(documented_program(engine), "docs/serving.md", "exec"), {})


def test_the_documented_program_for_transformers(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    write_llama(checkpoint, tmp_path / "my-reviser-hf")
    run_program("transformers", tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith("The cat sat")


def test_the_documented_program_for_vllm_is_python() -> None:
    compile(documented_program("vllm"), "docs/serving.md", "exec")


@pytest.mark.slow
def test_the_documented_program_for_llama_cpp(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    write_gguf(checkpoint, tmp_path / "my-reviser.gguf", GgufType.q8_0)
    run_program("llama_cpp", tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith("The cat sat")


@pytest.mark.slow
def test_llama_cpp_makes_the_same_trajectory(checkpoint: Checkpoint, tmp_path: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path = write_gguf(checkpoint, tmp_path / "it.gguf", GgufType.f32)
    llm = llama_cpp.Llama(str(path), n_ctx=128, n_threads=1, verbose=False)
    vocabulary = exported_vocabulary(llm.metadata)
    assert vocabulary == checkpoint.vocabulary
    prompt, ids = own_trajectory(checkpoint, TEXT)
    assert llm.tokenize(TEXT.encode()) == prompt
    processors = llama_cpp.LogitsProcessorList([LlamaCppMask(vocabulary)])
    made: list[int] = []
    for id in llm.generate(prompt, temp=0.0, logits_processor=processors):
        made.append(id)
        if id == vocabulary.stop_id or len(made) == STEPS:
            break
    assert made == ids
