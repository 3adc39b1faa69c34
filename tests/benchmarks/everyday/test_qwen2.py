"""Qwen2 from GGUF: the same logits as the model that was written, and plain words for other files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.everyday.qwen2 import RoundedLinear, load_qwen2, rounded
from reviser.core.errors import ReviserError
from tests.benchmarks.everyday.tiny_qwen2 import tiny_model, tokens, write_gguf

CPU = torch.device("cpu")
TEXT = "Where did the cat sleep? It's in the garden, 12 steps away.\n"


@pytest.mark.parametrize("tied", [False, True])
@torch.no_grad()
def test_a_model_comes_back_with_its_biases(tmp_path: Path, tied: bool) -> None:
    model = tiny_model(tied=tied)
    again, tokenizer = load_qwen2(write_gguf(tmp_path / "a.gguf", model), CPU, exact=True)
    ids = torch.tensor([tokenizer.encode(TEXT).ids])
    torch.testing.assert_close(again(ids).logits, model(ids).logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tied", [False, True])
@torch.no_grad()
def test_rounding_changes_little(tmp_path: Path, tied: bool) -> None:
    model = tiny_model(tied=tied)
    again, tokenizer = load_qwen2(write_gguf(tmp_path / "a.gguf", model), CPU)
    ids = torch.tensor([tokenizer.encode(TEXT).ids])
    wanted, found = model(ids).logits[0], again(ids).logits[0]
    error = (found - wanted).norm() / wanted.norm()
    other = (tiny_model(seed=1)(ids).logits[0] - wanted).norm() / wanted.norm()
    assert error < 0.15 < other


@torch.no_grad()
def test_a_rounded_matrix_multiplies_like_the_plain_one() -> None:
    torch.manual_seed(0)
    weight, bias, given = torch.randn(24, 16), torch.randn(24), torch.randn(2, 5, 16)
    made = RoundedLinear(*rounded(weight), bias)(given)
    plain = torch.nn.functional.linear(given, weight, bias)
    assert (made - plain).norm() / plain.norm() < 0.02


def test_marks_of_turns_are_one_token_each(tmp_path: Path) -> None:
    _, tokenizer = load_qwen2(write_gguf(tmp_path / "a.gguf", tiny_model()), CPU)
    ids = tokenizer.encode("<|im_start|>Yes<|im_end|>").ids
    assert [tokens()[id] for id in ids] == ["<|im_start|>", "Yes", "<|im_end|>"]
    assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "a.gguf", tiny_model(), architecture="llama")
    with pytest.raises(ReviserError, match="architecture llama, not qwen2"):
        load_qwen2(path, CPU)


def test_what_is_no_gguf_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"not a model")
    with pytest.raises(ReviserError, match="damaged or no GGUF file"):
        load_qwen2(path, CPU)
