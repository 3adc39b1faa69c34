"""Rounding of weights: how far off it can be, and what survives it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.torch import load_file, save_file
from torch import Tensor

from reviser.model import Reviser, preset
from reviser.model.layout import bits_of
from reviser.model.quantised import dequantise, dequantise_model, quantise, quantise_model, rounded

matrices = st.tuples(st.integers(1, 5), st.integers(1, 100)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.floats(-1, 1, width=32, allow_subnormal=False))
)


def groups_of(matrix: Tensor) -> Tensor:
    padded = torch.nn.functional.pad(matrix, (0, -matrix.shape[1] % 32))
    return padded.unflatten(1, (-1, 32))


@settings(max_examples=150, deadline=None)
@given(matrices)
def test_eight_bits_are_within_half_a_step(values: np.ndarray) -> None:
    matrix = torch.from_numpy(values)
    back = dequantise(quantise(matrix, 8), matrix.shape[1])
    step = matrix.abs().amax(dim=1, keepdim=True) / 127
    # The step itself is rounded up to eight bits.
    assert ((back - matrix).abs() <= step * 0.505 + 1e-9).all()


@settings(max_examples=50, deadline=None)
@given(matrices, st.sampled_from([4, 8]))
def test_two_bytes_hold_the_scales_of_rows(values: np.ndarray, bits: int) -> None:
    for name, part in quantise(torch.from_numpy(values), bits).items():
        if name.startswith("row_"):
            assert torch.equal(part.bfloat16().float(), part)


@settings(max_examples=150, deadline=None)
@given(matrices, st.booleans())
def test_four_bits_are_within_a_step_or_so(values: np.ndarray, thorough: bool) -> None:
    matrix = torch.from_numpy(values)
    groups = groups_of(matrix)
    back = groups_of(dequantise(quantise(matrix, 4, thorough=thorough), matrix.shape[1]))
    spread = groups.amax(dim=2).clamp(min=0) - groups.amin(dim=2).clamp(max=0)
    largest = spread.amax(dim=1, keepdim=True)
    # Half a step of the group, and what rounding its scale and minimum adds: a hundredth of the
    # spread, or of the row's where the group's is a small part of that.
    bound = spread / 30 + torch.maximum(spread / 50, largest / 250)
    within = (back - groups).square().mean(dim=2).sqrt() <= bound
    assert within.all()


def test_four_bits_of_normal_weights() -> None:
    matrix = torch.randn(64, 576, generator=torch.Generator().manual_seed(0)) * 0.05
    for thorough, limit in ((False, 0.085), (True, 0.082)):
        back = dequantise(quantise(matrix, 4, thorough=thorough), 576)
        assert ((back - matrix).norm() / matrix.norm()).item() < limit


def test_weights_on_a_grid_of_sixteen_survive() -> None:
    """Weights that came from another 4-bit format lose next to nothing."""
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(16, (48, 18, 32), generator=generator).float()
    codes[..., 0], codes[..., 1] = 0, 15
    scale = 0.002 + 0.004 * torch.rand(48, 18, 1, generator=generator)
    matrix = (codes * scale - 7.3 * scale).flatten(1)
    back = dequantise(quantise(matrix, 4), 576)
    assert ((back - matrix).norm() / matrix.norm()).item() < 0.015


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_zeros_stay_zeros(bits: int) -> None:
    assert not dequantise(quantise(torch.zeros(3, 40), bits), 40).any()


def test_a_vector_is_not_a_matrix() -> None:
    with pytest.raises(ValueError, match="1 dimension"):
        quantise(torch.zeros(32), 4)


@pytest.mark.parametrize("name", ["tiny", "tiny-paper"])
@pytest.mark.parametrize("bits", [4, 8, 32])
def test_model_to_file_and_back(name: str, bits: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Reviser(preset(name, width=40, heads=4, ff=50, tied=name == "tiny")).eval()
    tensors = quantise_model(model, bits)
    assert bits_of(
        {"codes": tensors["embedding.weight.codes"]} if bits != 32 else {"values": tensors["embedding.weight.values"]}
    ) == max(bits, 8)
    path = tmp_path / "model.safetensors"
    save_file(dict(tensors), path)
    state = dequantise_model(model.config, load_file(path))
    again = Reviser(model.config)
    again.load_state_dict(state)
    for key, value in model.state_dict().items():
        if bits == 32 or value.ndim == 1:
            assert torch.equal(state[key], value)
        else:
            limit = 0.12 if bits == 4 else 0.01
            assert (state[key] - value).norm() < limit * value.norm()


def test_a_matrix_that_is_missing_is_named() -> None:
    config = preset("tiny")
    tensors = quantise_model(Reviser(config), 4)
    for part in ("codes", "row_scales"):
        del tensors[f"embedding.weight.{part}"]
    with pytest.raises(ValueError, match=r"'embedding\.weight' is missing"):
        dequantise_model(config, tensors)


def test_canvas_models_are_refused() -> None:
    with pytest.raises(ValueError, match="canvas"):
        quantise_model(Reviser(preset("tiny", canvas_input="identity")), 4)


@pytest.mark.parametrize("bits", [4, 8])
def test_rounded_weights_are_those_that_a_thorough_file_holds(bits: Literal[4, 8]) -> None:
    weight = torch.randn(300, 72)
    expected = dequantise(quantise(weight, bits, thorough=True), 72)
    assert torch.equal(rounded(weight, bits), expected)
