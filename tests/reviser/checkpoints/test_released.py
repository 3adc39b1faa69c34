"""The paper's .pt files, written here under their own names and read back."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from reviser.checkpoints.formats.released import read_released
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import assert_same_weights, random_model, scores, some_ids

CONFIG = preset("tiny-paper", vocab_size=50291, context=96, canvas_length=48, dropout=0.0)
NAMES = (
    (r"^embedding\.", "token_embedding.embedding."),
    (r"^blocks\.(\d+)\.attention_norm\.", r"layers.layers.\1.ln_self_attn."),
    (r"^blocks\.(\d+)\.mlp_norm\.", r"layers.layers.\1.ln_mlp."),
    (r"^blocks\.(\d+)\.attention\.([qkvo])\.", r"layers.layers.\1.self_attn.\2_proj."),
    (r"^blocks\.(\d+)\.mlp\.", r"layers.layers.\1.mlp."),
    (r"^final_norm\.", "final_ln."),
)


@pytest.fixture(scope="module")
def model() -> Reviser:
    return random_model(CONFIG)


def released_name(name: str) -> str:
    for pattern, theirs in NAMES:
        name = re.sub(pattern, theirs, name)
    return name


def released_state(model: Reviser, tables: bool = True) -> dict[str, Tensor]:
    """What the authors' training code stores, unused parts and tables included."""
    config = model.config
    state = {released_name(name): tensor for name, tensor in model.state_dict().items()}
    state["canvas_pool_position_embedding.weight"] = torch.randn(config.canvas_length, config.width)
    state["canvas_embedding.query"] = torch.randn(config.width)
    owners = ["rope.", *(f"layers.layers.{n}.self_attn.rope." for n in range(config.layers))]
    for owner in owners if tables else ():
        state[f"{owner}inv_freq"] = torch.randn(config.head_dim // 2)
        state[f"{owner}cos_cached"] = torch.randn(1, 1, config.context, config.head_dim)
        state[f"{owner}sin_cached"] = torch.randn(1, 1, config.context, config.head_dim)
    return state


@pytest.mark.parametrize("whole", [False, True], ids=["state dict", "training state"])
def test_identical_scores(tmp_path: Path, model: Reviser, whole: bool) -> None:
    state = released_state(model)
    optimizer = {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"lr": 1e-4}]}
    beside = {"optimizer": optimizer, "scheduler": {"last_epoch": 7}, "scaler": {"scale": 2.0}}
    path = tmp_path / "reviser_100m.pt"
    torch.save({"model": state, **beside} if whole else state, path)
    checkpoint = read_released(path)
    config = checkpoint.model.config
    assert (config.heads, config.context, config.canvas_length) == (4, 96, 48)
    assert config.cursor_id == 50257
    assert checkpoint.vocabulary == Vocabulary.gpt2(kinds=PAPER_KINDS)
    assert checkpoint.tokenizer_json is None
    assert_same_weights(model, checkpoint.model)
    ids = some_ids(config.vocab_size)
    assert torch.equal(scores(checkpoint.model, ids), scores(model, ids))


def test_without_tables_heads_are_of_the_released_size(tmp_path: Path) -> None:
    config = preset("tiny-paper", vocab_size=50291, width=128, heads=2, kv_heads=2, dropout=0.0)
    model = random_model(config)
    torch.save(released_state(model, tables=False), tmp_path / "it.pt")
    read = read_released(tmp_path / "it.pt").model
    assert (read.config.heads, read.config.context) == (2, 512)
    ids = some_ids(config.vocab_size)
    assert torch.equal(scores(read, ids), scores(model, ids))


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.target,)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_bomb_is_refused_and_does_not_go_off(tmp_path: Path, model: Reviser) -> None:
    crater = tmp_path / "crater"
    torch.save({"model": released_state(model), "run": Bomb(crater)}, tmp_path / "bomb.pt")
    with pytest.raises(ReviserError, match="would run code, so it is refused"):
        read_released(tmp_path / "bomb.pt")
    (tmp_path / "raw.pt").write_bytes(pickle.dumps(Bomb(crater)))
    with pytest.raises(ReviserError, match=r"not a torch file|refused"):
        read_released(tmp_path / "raw.pt")
    assert not crater.exists()


def test_plain_sentences(tmp_path: Path, model: Reviser) -> None:
    path = tmp_path / "it.pt"
    with pytest.raises(ReviserError, match="there is no file"):
        read_released(path)
    path.write_bytes(b"not a torch file at all")
    with pytest.raises(ReviserError, match="not a torch file"):
        read_released(path)
    torch.save({"weights": torch.zeros(2)}, path)
    with pytest.raises(ReviserError, match="is not a released Reviser checkpoint"):
        read_released(path)
    state = released_state(model)
    torch.save(state | {"steps": 5}, path)
    with pytest.raises(ReviserError, match="not a tensor among its weights: steps"):
        read_released(path)
    torch.save({name: state[name] for name in state if "ln_mlp.bias" not in name}, path)
    with pytest.raises(ReviserError, match=r"lacks the tensor blocks.0.mlp_norm.bias \(and 1 more"):
        read_released(path)
    state["token_embedding.embedding.weight"] = torch.zeros(300, 32)
    torch.save(state, path)
    with pytest.raises(ReviserError, match="has 300 ids, and the released models have 50291"):
        read_released(path)
