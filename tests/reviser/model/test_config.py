"""Configurations: JSON form, plain errors and exact parameter counts."""

import json
import re
from typing import Any

import pytest
import torch

from reviser.model import ModelConfig, Reviser, preset, preset_names


@pytest.mark.parametrize("name", preset_names())
def test_json_round_trip(name: str) -> None:
    config = preset(name)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_defaults_may_be_left_out() -> None:
    values = preset("tiny").to_dict()
    del values["norm_eps"], values["cross_gate"]
    assert ModelConfig.from_dict(values) == preset("tiny")


def test_a_whole_number_is_taken_for_a_float() -> None:
    assert preset("tiny", rope_theta=100000).rope_theta == 100_000.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kv_head": 2}, "Unknown model setting 'kv_head' (did you mean 'kv_heads'?)."),
        ({"zzz": 2}, "Unknown model setting 'zzz'."),
        ({"heads": 5}, "width 32 does not divide into 5 heads."),
        ({"heads": 32, "kv_heads": 32}, "Rotary positions need an even head size, not 1."),
        ({"kv_heads": 3}, "4 heads do not divide into 3 key/value heads."),
        ({"kind": "gpt"}, "kind must be paper or llama, not 'gpt'."),
        ({"canvas_input": True}, "canvas_input must be none or identity or linear, not True."),
        ({"layers": 0}, "layers must be at least 1, not 0."),
        ({"layers": True}, "layers must be int, not True."),
        ({"layers": "2"}, "layers must be int, not '2'."),
        ({"tied": 1}, "tied must be bool, not 1."),
        ({"dropout": 1.0}, "dropout must be in [0, 1), not 1.0."),
        ({"norm_eps": 0.0}, "norm_eps must be above 0 and at most 1, not 0.0."),
        ({"norm_eps": float("nan")}, "norm_eps must be above 0 and at most 1, not nan."),
        ({"rope_theta": -1.0}, "rope_theta must be above 0 and at most 1e12, not -1.0."),
        ({"layers": 10**9}, "layers must be at most 4096, not 1000000000."),
        ({"context": 10**12}, "context must be at most 16777216, not 1000000000000."),
        ({"cross_layers": 3}, "cross_layers must be in [0, 2], not 3."),
        ({"cursor_id": 128}, "cursor_id 128 is outside the vocabulary of 128 ids."),
        ({"cursor_id": 1.5}, "cursor_id must be int | None, not 1.5."),
    ],
)
def test_bad_settings_are_named_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        preset("tiny", **changes)


def test_a_missing_setting_is_named() -> None:
    values = preset("tiny").to_dict()
    del values["width"]
    with pytest.raises(ValueError, match=r"^The model setting 'width' is missing\.$"):
        ModelConfig.from_dict(values)


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'huge': choose from paper-100m, paper-300m, smol"):
        preset("huge")


def count(config: ModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Reviser(config).parameters())


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # vocab*d + layers*(4dd attention + 2*d*ff + ff + d MLP + 4d norms) + 2d final norm
        (preset("paper-100m"), 50291 * 512 + 24 * (4 * 512**2 + 2 * 512 * 2048 + 2048 + 512 + 4 * 512) + 2 * 512),
        (preset("paper-300m"), 50291 * 896 + 26 * (4 * 896**2 + 2 * 896 * 3584 + 3584 + 896 + 4 * 896) + 2 * 896),
        # vocab*d + layers*(q and o, k and v of 3 heads of 64, three MLP matrices, 2 norms) + norm
        (preset("smol"), 49186 * 576 + 30 * (2 * 576**2 + 2 * 192 * 576 + 3 * 576 * 1536 + 2 * 576) + 576),
        (preset("tiny", tied=False), 2 * 128 * 32 + 2 * (3072 + 3 * 32 * 64 + 64) + 32),
        # what the released files hold: canvas positions and a pooling query beside the trunk
        (preset("paper-100m", canvas_input="identity"), 101_358_080 + 512 * 512 + 512),
        (
            preset("paper-100m", canvas_input="linear", cross_layers=2, cross_gate="scalar"),
            101_358_080 + 512 * 512 + 512 + 512**2 + 2 * (512**2 + 1),
        ),
        (
            preset("paper-100m", cross_layers=3, cross_memory="tokens", cross_gate="mlp"),
            101_358_080 + 512 * 512 + 3 * (4 * 512**2 + 1024 + 512 * 128 + 128 + 128 + 1),
        ),
    ],
)
def test_parameter_counts(config: ModelConfig, expected: int) -> None:
    assert count(config) == expected


def test_sizes_are_those_of_the_paper_and_of_smollm2() -> None:
    assert count(preset("paper-100m")) == 101_358_080
    assert count(preset("paper-300m")) == 295_750_784
    assert count(preset("smol", vocab_size=49152)) == 134_515_008
