"""Small real parts: a byte-level tokenizer, and random models of both kinds with their vocabularies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from reviser.checkpoints.formats.gguf_tokens import PRE_TOKENIZERS
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.operators import base_vocabulary
from reviser.checkpoints.tensors import SINGLE_FILE
from reviser.checkpoints.tokenizer_files import added_token, byte_level_bpe, make_tokenizer
from reviser.core.encoding.pieces import byte_of_character
from reviser.model import ModelConfig, Reviser, preset

MERGES = ["Ġ t", "h e", "Ġt he", "i n", "Ġ a", "l l"]
END = "<|endoftext|>"
# Two rows more than the tokenizer has ids, as pretrained models often have.
SPARE_ROWS = 2


def toy_tokenizer_data(pre: str = "smollm") -> dict[str, Any]:
    characters = sorted(byte_of_character(), key=lambda text: byte_of_character()[text])
    tokens = [END, *characters, *(merge.replace(" ", "") for merge in MERGES)]
    vocabulary = {token: id for id, token in enumerate(tokens)}
    return byte_level_bpe(vocabulary, MERGES, [added_token(0, END)], PRE_TOKENIZERS[pre])


def toy_tokenizer_json(pre: str = "smollm") -> bytes:
    return json.dumps(toy_tokenizer_data(pre), ensure_ascii=False).encode()


def random_model(config: ModelConfig, seed: int = 0) -> Reviser:
    """A model whose weights are large enough that a mistake anywhere shows."""
    torch.manual_seed(seed)
    model = Reviser(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def toy_checkpoint(seed: int = 0, **changes: Any) -> Checkpoint:
    """A tiny Llama with operators behind the toy tokenizer's ids."""
    data = toy_tokenizer_json()
    tokenizer = make_tokenizer(data, "toy")
    vocabulary = base_vocabulary(tokenizer.size + SPARE_ROWS, tokenizer, "toy")
    config = preset("tiny", vocab_size=vocabulary.size, **changes)
    metadata = {"source": "a test", "note": "tokens and moves"}
    return Checkpoint(random_model(config, seed), vocabulary, tokenizer, data, metadata)


def some_ids(vocab_size: int, length: int = 24, rows: int = 2) -> Tensor:
    return torch.randint(vocab_size, (rows, length), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def scores(model: Reviser, ids: Tensor) -> Tensor:
    return model(ids)


def assert_same_weights(one: Reviser, other: Reviser) -> None:
    left, right = one.state_dict(), other.state_dict()
    assert left.keys() == right.keys()
    for name, tensor in left.items():
        assert torch.equal(tensor, right[name]), name


def assert_same(one: Checkpoint, other: Checkpoint) -> None:
    """Equal in all that was saved."""
    assert other.model.config == one.model.config
    assert other.vocabulary == one.vocabulary
    assert other.metadata == one.metadata
    assert (one.tokenizer_json is None) == (other.tokenizer_json is None)
    if one.tokenizer_json and other.tokenizer_json:
        assert json.loads(other.tokenizer_json) == json.loads(one.tokenizer_json)
    assert other.tokenizer.encode("all the things, 12") == one.tokenizer.encode("all the things, 12")
    assert_same_weights(one.model, other.model)


def edit_config(**changes: object) -> Callable[[Path], None]:
    """Damage to a folder: other values in its description."""

    def edit(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return edit


def edit_tensors(change: Callable[[dict[str, Tensor]], object]) -> Callable[[Path], None]:
    """Damage to a folder: other tensors in its weights."""

    def edit(folder: Path) -> None:
        tensors = load_file(folder / SINGLE_FILE)
        change(tensors)
        save_file(tensors, folder / SINGLE_FILE)

    return edit
