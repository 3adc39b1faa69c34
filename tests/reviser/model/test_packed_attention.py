"""The kernels for packed rows find what plain attention finds, with its gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from reviser.model import Reviser, preset
from reviser.model.cache import history_bounds
from reviser.model.decoder import rotate
from tests.interpreting import interpreted, needs_triton

ROWS = [
    [[17, 3, 20], [40]],
    [[50, 1, 1, 38], [20, 70]],
    [[100, 28], [64, 64]],
    [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
]
TILES = [(16, 16, 4, 1), (32, 16, 4, 1), (16, 32, 4, 1), (64, 64, 4, 1)]


def firsts_of(rows: list[list[int]]) -> Tensor:
    positions = torch.stack([torch.cat([torch.arange(n) for n in row]) for row in rows])
    return torch.arange(positions.shape[1]) - positions


def plain(qkv: Tensor, model: Reviser, positions: Tensor) -> Tensor:
    """What the layers of a model do where no kernel helps them."""
    config = model.config
    width = config.head_dim
    q, k, v = (
        part.unflatten(-1, (-1, width)).transpose(1, 2)
        for part in qkv.split([size * width for size in (config.heads, *[config.kv_heads] * 2)], -1)
    )
    cos, sin = model.cos[positions].unsqueeze(1), model.sin[positions].unsqueeze(1)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    place = torch.arange(q.shape[2], device=q.device)
    firsts = place - positions
    mask = ((place >= firsts[..., None]) & (place <= place[:, None]))[:, None]
    found = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return found.transpose(1, 2).flatten(-2)


def check(device: str, dtype: torch.dtype, tolerance: float) -> None:
    """Run by this test where there is a GPU, and by an interpreting process where there is none."""
    from reviser.model.kernels import packed

    torch.manual_seed(0)
    for rows, tiles in zip(ROWS, TILES, strict=True):
        packed.FORWARD = packed.QUERIES = packed.KEYS = packed.Tiles(*tiles)
        firsts = firsts_of(rows).to(device)
        length = firsts.shape[1]
        positions = torch.arange(length, device=device) - firsts
        for heads, kv_heads in ((6, 2), (2, 2)):
            config = preset("tiny", width=16 * heads, heads=heads, kv_heads=kv_heads, context=128)
            model = Reviser(config).to(device)
            qkv = torch.randn(
                len(rows), length, 16 * (heads + 2 * kv_heads), dtype=dtype, device=device
            ).requires_grad_()
            found = packed.packed_attention(qkv, (model.cos, model.sin), history_bounds(firsts), heads, kv_heads)
            expected = plain(qkv, model, positions)
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
            grad = torch.randn_like(found)
            one, other = (torch.autograd.grad(out, qkv, grad)[0] for out in (found, expected))
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def check_shapes(device: str) -> None:
    """What a compiler is told of shapes is what there is."""
    from reviser.model.kernels import packed

    packed.FORWARD = packed.QUERIES = packed.KEYS = packed.Tiles(16, 16, 4, 1)
    config = preset("tiny", width=32, heads=2, kv_heads=1, context=16)
    model = Reviser(config).to(device)
    qkv = torch.randn(1, 16, 4 * 16, device=device)
    given = (qkv, model.cos, model.sin, *history_bounds(firsts_of([[9, 7]]).to(device)))
    kept = torch.ops.reviser.packed_attention(*given, 2, 1)
    operators = torch.ops.reviser
    for operator, words in (
        (operators.packed_attention, (*given, 2, 1)),
        (operators.packed_attention_backward, (torch.randn_like(kept[0]), *given, *kept, 2, 1)),
    ):
        torch.library.opcheck(operator, words, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 3e-2)])
def test_on_a_gpu(dtype: torch.dtype, tolerance: float) -> None:
    check("cuda", dtype, tolerance)
    check_shapes("cuda")


@pytest.mark.slow
@needs_triton
def test_interpreted() -> None:
    interpreted("tests.reviser.model.test_packed_attention", "check('cpu', torch.float32, 1e-4); check_shapes('cpu')")


def test_bounds_are_those_of_each_history() -> None:
    firsts, lasts = history_bounds(firsts_of([[3, 1, 2], [6]]))
    assert firsts.tolist() == [[0, 0, 0, 3, 4, 4], [0] * 6]
    assert lasts.tolist() == [[2, 2, 2, 3, 5, 5], [5] * 6]
