"""Histories packed into one row are read as if each were alone."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from reviser.model import Reviser, packed_span, preset
from reviser.model.cache import packed_blocks


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
def test_packed_rows_equal_histories_alone(kind: str) -> None:
    torch.manual_seed(0)
    model = Reviser(preset(kind)).eval()
    lengths = [[5, 9, 2], [12, 3, 1]]
    ids = torch.randint(0, 128, (2, 18))
    positions = torch.zeros((2, 18), dtype=torch.int64)
    for row, row_lengths in enumerate(lengths):
        start = 0
        for length in row_lengths:
            positions[row, start : start + length] = torch.arange(length)
            start += length
    with torch.no_grad():
        packed = model.hidden_packed(ids, packed_span(positions))
        for row, row_lengths in enumerate(lengths):
            start = 0
            for length in row_lengths:
                part = slice(start, start + length)
                alone = model.hidden(ids[row : row + 1, part])
                torch.testing.assert_close(packed[row : row + 1, part], alone, rtol=1e-4, atol=1e-5)
                start += length


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_compiled_blocks_on_a_gpu_read_packed_rows_as_a_processor_does() -> None:
    torch.manual_seed(0)
    model = Reviser(preset("tiny", width=128, context=300)).eval()
    ids = torch.randint(0, 128, (2, 300))
    # Histories that begin within a block of keys, so that its first keys are nothing to some queries.
    positions = torch.cat([torch.arange(each) for each in (100, 90, 70, 40)]).repeat(2, 1)
    with torch.no_grad():
        expected = model.hidden_packed(ids, packed_span(positions))
    model.cuda()
    for block in model.blocks:
        block.compile()
    found = model.hidden_packed(ids.cuda(), packed_span(positions.cuda()))
    found.square().sum().backward()
    torch.testing.assert_close(found.detach().cpu(), expected, rtol=2e-2, atol=2e-2)
    assert all(weight.grad.isfinite().all() for weight in model.blocks.parameters())


@given(
    st.integers(1, 400),
    st.lists(st.lists(st.integers(1, 300), max_size=8), min_size=1, max_size=3),
)
def test_block_masks_are_those_that_torch_finds_by_asking_of_every_pair(
    length: int, rows: list[list[int]]
) -> None:
    firsts = torch.arange(length).repeat(len(rows), 1)
    for row, lengths in enumerate(rows):
        start = 0
        for each in lengths:
            firsts[row, start : start + each] = start
            start += each

    def visible(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (query >= key) & (key >= firsts[row, query])

    expected = create_block_mask(visible, len(rows), None, length, length, device="cpu")
    made = packed_blocks(firsts)
    assert made.seq_lengths == expected.seq_lengths
    for name in ("", "full_"):
        for side in ("kv", "q"):
            counts = getattr(made, f"{name}{side}_num_blocks")
            assert torch.equal(counts, getattr(expected, f"{name}{side}_num_blocks"))
            found, wanted = (getattr(m, f"{name}{side}_indices") for m in (made, expected))
            listed = torch.arange(counts.shape[-1]) < counts[..., None]
            assert torch.equal(found[listed], wanted[listed])
