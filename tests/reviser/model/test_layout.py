"""The tensors of a model and its rotary tables, known without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from reviser.checkpoints.building import empty_model
from reviser.model import ModelConfig, preset
from reviser.model.layout import (
    Quantisation,
    matrix_shapes,
    quantised_tensors,
    tensor_shapes,
    vector_sizes,
    weight_count,
)
from reviser.model.rotary import rope_tables

CONFIGS = {
    "llama": preset("tiny"),
    "untied": preset("tiny", tied=False, width=40, heads=4, ff=50),
    "paper": preset("tiny-paper", kv_heads=2),
}


def shapes_of_model(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in empty_model(config).state_dict().items()}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_tensors_are_those_of_the_model(name: str) -> None:
    config = CONFIGS[name]
    known = matrix_shapes(config) | {n: (size,) for n, size in vector_sizes(config).items()}
    shapes = shapes_of_model(config)
    assert known == shapes
    assert weight_count(config) == sum(torch.Size(shape).numel() for shape in shapes.values())


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
@pytest.mark.parametrize("canvas_input", ["none", "identity", "linear"])
@pytest.mark.parametrize("cross_layers", [0, 1])
@pytest.mark.parametrize("cross_memory", ["pooled", "tokens"])
@pytest.mark.parametrize("cross_gate", ["none", "scalar", "mlp"])
def test_the_tensors_of_models_that_see_the_canvas(
    kind: str, canvas_input: str, cross_layers: int, cross_memory: str, cross_gate: str
) -> None:
    try:
        config = preset(
            kind, canvas_input=canvas_input, cross_layers=cross_layers, cross_memory=cross_memory, cross_gate=cross_gate
        )
    except ValueError:
        assert not cross_layers  # options of cross-attention say nothing without it
        return
    assert tensor_shapes(config) == shapes_of_model(config)


def test_weights_of_the_shape_that_is_embedded() -> None:
    """In bytes, without the headers of files: 88.9 MB."""
    widths = {"U8": 1, "I8": 1, "BF16": 2, "F32": 4}
    parts = quantised_tensors(preset("smol"), Quantisation(4)).values()
    assert sum(torch.Size(part.shape).numel() * widths[part.dtype] for part in parts) == 88_911_812


@pytest.mark.parametrize("theta", [10_000.0, 100_000.0])
def test_rotary_tables_are_right_to_the_last_bit_or_so(theta: float) -> None:
    config = preset("tiny", width=256, rope_theta=theta)
    even = torch.arange(0, config.head_dim, 2, dtype=torch.float32)
    frequency = theta ** (-even / config.head_dim)
    angle = torch.outer(torch.arange(2000).float(), frequency)
    cosine, sine = map(torch.from_numpy, rope_tables(config, 2000))
    # A last bit of a frequency is worth more the further the position.
    within = 2e-7 + 1.2e-7 * angle
    assert ((cosine - angle.cos()).abs() <= within).all()
    assert ((sine - angle.sin()).abs() <= within).all()


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"bits": 4}, "bits and table_bits"),
        ({"bits": 3, "table_bits": 8}, "bits must be 4 or 8, not 3"),
        ({"bits": 4, "table_bits": 8.0}, "table_bits must be 4 or 8, not 8.0"),
        ({"bits": 4, "table_bits": 8, "group": 64}, "nothing else"),
    ],
)
def test_a_quantisation_that_is_none(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Quantisation.from_dict(values)


def test_a_quantisation_comes_back() -> None:
    for quantisation in (Quantisation(4), Quantisation(8), Quantisation(4, 4)):
        assert Quantisation.from_dict(quantisation.to_dict()) == quantisation
    assert str(Quantisation(4)) == "4 bits (embedding 8)"
    assert str(Quantisation(8)) == "8 bits"


def test_shapes_and_the_native_decoder_need_no_torch() -> None:
    program = (
        "import sys, reviser.model.layout, reviser.native.decoder;"
        "from reviser.model import ModelConfig; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
