"""Hugging Face folders: scores as in transformers, exports that come back, plain refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from reviser.checkpoints.formats.llama import read_llama, write_llama
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.importing import import_path
from reviser.checkpoints.operators import operator_names
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import EXTENSIONS, Vocabulary
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import (
    SPARE_ROWS,
    assert_same,
    random_model,
    scores,
    some_ids,
    toy_checkpoint,
    toy_tokenizer_json,
)

transformers = pytest.importorskip("transformers")

TOKENS = 263
ROWS = TOKENS + SPARE_ROWS


def base_folder(folder: Path, shards: str = "5GB", **settings: Any) -> tuple[Path, Any]:
    """A small Llama or Mistral as transformers saves it, and the model itself."""
    torch.manual_seed(0)
    shape = {
        "vocab_size": ROWS,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-5,
        "initializer_range": 0.3,
    }
    kind = settings.pop("kind", "Llama")
    config = getattr(transformers, f"{kind}Config")(**shape | settings)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    model.save_pretrained(folder, max_shard_size=shards)
    (folder / "tokenizer.json").write_bytes(toy_tokenizer_json())
    return folder, model


@torch.no_grad()
def their_scores(model: Any, ids: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = model(ids).logits
    return logits


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        {"tie_word_embeddings": True, "num_key_value_heads": 4},
        {"shards": "30KB"},
        {"kind": "Mistral", "sliding_window": None},
    ],
    ids=["rope theta", "tied", "sharded", "mistral"],
)
def test_scores_as_in_transformers(tmp_path: Path, settings: dict[str, Any]) -> None:
    folder, reference = base_folder(tmp_path / "base", **settings)
    checkpoint = read_llama(folder)
    ids = some_ids(ROWS)
    ours = scores(checkpoint.model, ids)[..., :ROWS]
    torch.testing.assert_close(ours, their_scores(reference, ids), rtol=1e-4, atol=1e-4)
    assert checkpoint.model.config.tied == bool(settings.get("tie_word_embeddings"))
    assert (len(list(folder.glob("*.safetensors"))) > 1) == ("shards" in settings)


def test_operators_follow_all_rows(tmp_path: Path) -> None:
    folder, _ = base_folder(tmp_path / "base")
    checkpoint = read_llama(folder, "toy")
    vocabulary = checkpoint.vocabulary
    assert (vocabulary.base_size, vocabulary.size) == (ROWS, ROWS + 34)
    assert vocabulary.never_inserted == {0, TOKENS, TOKENS + 1}
    assert checkpoint.model.config.vocab_size == vocabulary.size
    assert checkpoint.metadata["operators"] == "untrained"
    assert vocabulary.name == "toy"


def test_older_configurations(tmp_path: Path) -> None:
    """`rope_theta` beside `rope_scaling: null`, and no `num_key_value_heads`."""
    folder, reference = base_folder(tmp_path / "base", num_key_value_heads=4)
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    for key in ("rope_parameters", "num_key_value_heads", "head_dim"):
        settings.pop(key, None)
    path.write_text(json.dumps(settings | {"rope_theta": 10000.0, "rope_scaling": None}))
    ids = some_ids(ROWS)
    ours = scores(read_llama(folder).model, ids)[..., :ROWS]
    torch.testing.assert_close(ours, their_scores(reference, ids), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"architectures": ["GPT2LMHeadModel"]}, "architecture GPT2LMHeadModel; only Llama"),
        ({"architectures": None}, "architecture an unnamed one"),
        ({"attention_bias": True}, "sets attention_bias to True, which is not supported"),
        ({"sliding_window": 64}, "sets sliding_window to 64"),
        ({"rope_scaling": {"type": "linear"}}, "sets rope_scaling to"),
        ({"rope_parameters": {"rope_type": "llama3"}}, "sets rope_type to llama3"),
        ({"quantization_config": {"bits": 4}}, "sets quantization_config to"),
        ({"hidden_act": "gelu"}, "sets hidden_act to gelu"),
        ({"head_dim": 16}, "4 heads of 16, which do not fill its width of 32"),
        ({"intermediate_size": 128}, r"model.layers.0.mlp.gate_proj.weight in .* 64×32, .* 128×32"),
        ({"num_hidden_layers": 1}, "has a tensor that this model does not: model.layers.1"),
        ({"num_hidden_layers": 3}, "lacks the tensor model.layers.2"),
        ({"vocab_size": "many"}, "does not describe a usable model"),
    ],
)
def test_plain_refusals(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    folder, _ = base_folder(tmp_path / "base")
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ReviserError, match=sentence):
        read_llama(folder)


def test_a_folder_without_its_parts(tmp_path: Path) -> None:
    folder, _ = base_folder(tmp_path / "base")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ReviserError, match=r"has no tokenizer\.json"):
        read_llama(folder)
    settings = json.loads((folder / "config.json").read_text())
    del settings["hidden_size"]
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ReviserError, match="lacks the setting hidden_size"):
        read_llama(folder)
    (folder / "config.json").unlink()
    with pytest.raises(ReviserError, match="there is no file"):
        read_llama(folder)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_an_export_has_the_same_scores_in_transformers(tmp_path: Path, tied: bool) -> None:
    checkpoint = toy_checkpoint(tied=tied, rope_theta=300.0)
    write_llama(checkpoint, tmp_path / "out")
    reference = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    ids = some_ids(checkpoint.vocabulary.size)
    torch.testing.assert_close(their_scores(reference, ids), scores(checkpoint.model, ids), rtol=1e-4, atol=1e-4)
    assert reference.generation_config.eos_token_id == checkpoint.vocabulary.stop_id


def test_an_exported_tokenizer_writes_histories(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint()
    write_llama(checkpoint, tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    vocabulary = checkpoint.vocabulary
    text = "all in the 12 hats"
    assert tokenizer(text)["input_ids"] == [vocabulary.start_id, *checkpoint.tokenizer.encode(text)]
    for id, name in operator_names(vocabulary).items():
        assert tokenizer.convert_tokens_to_ids(name) == id
    assert tokenizer.convert_tokens_to_ids("<|move+4|>") == vocabulary.first_move_id + 4
    assert tokenizer.eos_token_id == vocabulary.stop_id
    written = tokenizer.encode("the<|delete|><|stop|>", add_special_tokens=False)
    assert written[-2:] == [vocabulary.delete_id, vocabulary.stop_id]
    assert len(tokenizer) == vocabulary.size


def test_an_export_comes_back_exactly(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint(canvas_length=77, tied=False)
    write_llama(checkpoint, tmp_path / "out", shard_bytes=30_000)
    assert_same(checkpoint, import_path(tmp_path / "out"))


def test_a_gpt2_vocabulary_comes_back_as_the_built_in_one(tmp_path: Path) -> None:
    vocabulary = Vocabulary.gpt2(extensions=["swap", "span_delete", "span_move"])
    model = random_model(preset("tiny", vocab_size=vocabulary.size))
    checkpoint = Checkpoint(model, vocabulary, Gpt2Tokenizer())
    write_llama(checkpoint, tmp_path / "out")
    assert_same(checkpoint, read_llama(tmp_path / "out"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    text = "Reviser's cursor moved 512 tokens;  naïve?\n\n"
    assert tokenizer(text)["input_ids"][1:] == checkpoint.tokenizer.encode(text)
    assert tokenizer.convert_tokens_to_ids("<|swap|>") == vocabulary.first_extension_id


def test_names_of_operators_are_all_different() -> None:
    names = operator_names(Vocabulary(50, extensions=EXTENSIONS))
    assert len(set(names.values())) == len(names)
    assert {"<|cursor|>", "<|start|>", "<|delete|>", "<|stop|>", "<|move-512|>"} <= {*names.values()}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (preset("tiny-paper"), "the paper's architecture"),
        (preset("tiny", canvas_input="identity"), "looks at the canvas"),
    ],
)
def test_what_other_engines_cannot_run_is_not_exported(tmp_path: Path, config: Any, sentence: str) -> None:
    vocabulary = Vocabulary(config.vocab_size - 34)
    checkpoint = Checkpoint(Reviser(config), vocabulary, Gpt2Tokenizer())
    with pytest.raises(ReviserError, match=sentence):
        write_llama(checkpoint, tmp_path / "out")
    assert not (tmp_path / "out").exists()
