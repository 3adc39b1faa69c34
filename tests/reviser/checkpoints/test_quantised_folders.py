"""Quantised models in the home format: small, exact in what they stand for, and checked like all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from reviser.checkpoints import load, save
from reviser.checkpoints.description import describe, load_tokenizer, quantised_arrays, quick_tokenizer
from reviser.checkpoints.home import Checkpoint, save_checkpoint
from reviser.checkpoints.summary import inspect
from reviser.checkpoints.tensors import INDEX_FILE, SINGLE_FILE
from reviser.checkpoints.tokenizer_files import BUILT_IN, PACKED_FILE, read_table
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import preset
from reviser.model.layout import Quantisation
from reviser.model.quantised import dequantise_model, quantise_model
from tests.reviser.checkpoints.parts import assert_same, edit_config, edit_tensors, random_model, toy_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_checkpoint(tmp_path / "small", toy_checkpoint(), quantisation=Quantisation(4))


def rounded(checkpoint: Checkpoint, quantisation: Quantisation) -> Checkpoint:
    """The same checkpoint with the weights that rounding leaves."""
    config = checkpoint.model.config
    tensors = quantise_model(checkpoint.model, quantisation.bits, quantisation.table_bits, thorough=True)
    model = random_model(config)
    model.load_state_dict(dequantise_model(config, tensors))
    return Checkpoint(
        model, checkpoint.vocabulary, checkpoint.tokenizer, checkpoint.tokenizer_json, checkpoint.metadata
    )


@pytest.mark.parametrize("quantisation", [Quantisation(4), Quantisation(8), Quantisation(4, 4)])
@pytest.mark.parametrize("changes", [{}, {"tied": False, "width": 40, "ff": 50}])
def test_it_loads_as_the_rounded_model(tmp_path: Path, quantisation: Quantisation, changes: dict[str, object]) -> None:
    checkpoint = toy_checkpoint(**changes)
    save_checkpoint(tmp_path / "it", checkpoint, quantisation=quantisation)
    assert json.loads((tmp_path / "it" / "config.json").read_text())["quantisation"] == {
        "bits": quantisation.bits,
        "table_bits": quantisation.table_bits,
    }
    again = load(tmp_path / "it")
    assert_same(rounded(checkpoint, quantisation), again)
    assert {parameter.dtype for parameter in again.model.parameters()} == {torch.float32}
    half = load(tmp_path / "it", dtype=torch.bfloat16).model
    assert torch.equal(half.embedding.weight, again.model.embedding.weight.bfloat16())


def test_a_table_of_its_tokens_lies_beside_the_tokenizer(folder: Path) -> None:
    table = read_table(folder)
    assert table is not None
    quick, (_, whole) = quick_tokenizer(describe(folder)), load_tokenizer(describe(folder))
    assert (quick.size, quick.markers) == (whole.size, whole.markers)
    for text in ("The cat sat.", "a\u0301 — 漢 7\n"):
        assert quick.encode(text) == whole.encode(text)


def test_the_paper_kind_has_biases_and_the_built_in_tokenizer(tmp_path: Path) -> None:
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    model = random_model(preset("tiny-paper", vocab_size=vocabulary.size))
    save(tmp_path / "paper", model, vocabulary, BUILT_IN, quantisation=Quantisation(4))
    again = load(tmp_path / "paper")
    assert torch.equal(again.model.blocks[1].mlp.fc1.bias, model.blocks[1].mlp.fc1.bias)
    assert again.tokenizer.name == "gpt2"
    assert not (tmp_path / "paper" / PACKED_FILE).exists()


def test_shards_stay_below_their_limit_and_are_indexed(tmp_path: Path, folder: Path) -> None:
    limit = 9_000
    sharded = save_checkpoint(tmp_path / "it", toy_checkpoint(), quantisation=Quantisation(4), shard_bytes=limit)
    files = sorted(sharded.glob("*.safetensors"))
    names = [f"model-{number:05}-of-{len(files):05}.safetensors" for number in range(1, 99)]
    assert [file.name for file in files] == names[: len(files)]
    assert len(files) > 2
    assert all(file.stat().st_size <= limit for file in files[1:])  # the embedding alone is larger
    index = json.loads((sharded / INDEX_FILE).read_text())
    stored = load_file(folder / SINGLE_FILE)
    assert index["weight_map"].keys() == stored.keys()
    assert index["metadata"]["total_size"] == sum(tensor.nbytes for tensor in stored.values())
    assert_same(load(folder), load(sharded))


def test_arrays_are_the_tensors(folder: Path) -> None:
    description = describe(folder)
    assert description.quantisation == Quantisation(4)
    arrays = quantised_arrays(description, description.quantisation)
    stored = load_file(folder / SINGLE_FILE)
    assert arrays.keys() == stored.keys()
    for name, tensor in stored.items():
        wanted = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
        assert arrays[name].dtype == wanted.numpy().dtype
        assert np.array_equal(arrays[name], wanted.numpy()), name
    assert not arrays["embedding.weight.codes"].flags.writeable


def test_it_is_small(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint(width=256, ff=512, layers=3)
    save_checkpoint(tmp_path / "it", checkpoint, quantisation=Quantisation(4))
    count = sum(parameter.numel() for parameter in checkpoint.model.parameters())
    table = checkpoint.model.embedding.weight.numel()
    ideal = table + (count - table) * 4.5 / 8
    assert inspect(tmp_path / "it").file_bytes < 1.05 * ideal


def test_summary(folder: Path) -> None:
    summary = inspect(folder)
    assert summary.quantisation == Quantisation(4)
    assert summary.parameters == sum(parameter.numel() for parameter in toy_checkpoint().model.parameters())
    assert summary.dtypes.keys() == {"I8", "U8", "BF16", "F32"}
    assert summary.to_dict()["quantisation"] == {"bits": 4, "table_bits": 8}


def test_quantising_again_changes_next_to_nothing(tmp_path: Path, folder: Path) -> None:
    once = load(folder)
    save_checkpoint(tmp_path / "twice", once, quantisation=Quantisation(4))
    for name, weight in load(tmp_path / "twice").model.state_dict().items():
        before = once.model.state_dict()[name]
        assert (weight - before).norm() <= 0.02 * before.norm(), name


def test_a_model_that_sees_the_canvas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="sees the canvas cannot be quantised"):
        save_checkpoint(tmp_path / "it", toy_checkpoint(canvas_input="linear"), quantisation=Quantisation(4))
    assert list(tmp_path.iterdir()) == []


def see_the_canvas(folder: Path) -> None:
    model = json.loads((folder / "config.json").read_text())["model"]
    edit_config(model=model | {"canvas_input": "identity"})(folder)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "unknown bits": (
        edit_config(quantisation={"bits": 3, "table_bits": 8}),
        "does not describe a usable quantisation: bits must be 4 or 8, not 3",
    ),
    "other bits": (
        edit_config(quantisation={"bits": 8, "table_bits": 8}),
        r"has a tensor that this model does not: blocks\.0\.attention\..*minima \(and 41 more\)",
    ),
    "no object": (edit_config(quantisation=4), "lacks a usable 'quantisation'"),
    "not said": (edit_config(quantisation=None), r"lacks the tensor embedding\.weight"),
    "canvas": (see_the_canvas, "quantised and sees the canvas"),
    "missing part": (
        edit_tensors(lambda tensors: tensors.pop("blocks.1.mlp.up.weight.minima")),
        r"lacks the tensor blocks\.1\.mlp\.up\.weight\.minima",
    ),
    "extra tensor": (
        edit_tensors(lambda tensors: tensors.update(extra=torch.zeros(2))),
        "has a tensor that this model does not: extra",
    ),
    "wrong shape": (
        edit_tensors(
            lambda tensors: tensors.update(
                {"embedding.weight.codes": tensors["embedding.weight.codes"][:-1].contiguous()}
            )
        ),
        r"embedding\.weight\.codes in .* has the shape 298×32, and .* asks for 299×32",
    ),
    "wrong type": (
        edit_tensors(
            lambda tensors: tensors.update(
                {"embedding.weight.row_scales": tensors["embedding.weight.row_scales"].float()}
            )
        ),
        r"embedding\.weight\.row_scales in .* is stored as F32, which is not BF16",
    ),
    "no tokenizer": (lambda folder: (folder / PACKED_FILE).unlink(), "there is no file"),
    "cut tokenizer": (
        lambda folder: (folder / PACKED_FILE).write_bytes((folder / PACKED_FILE).read_bytes()[:-20]),
        "tokenizer.json.gz is damaged",
    ),
    "no gzip": (lambda folder: (folder / PACKED_FILE).write_bytes(b"{}"), "tokenizer.json.gz is damaged"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_has_its_sentence(folder: Path, damage: str) -> None:
    change, sentence = DAMAGES[damage]
    change(folder)
    with pytest.raises(ReviserError, match=sentence) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
