"""Histories packed into one row are read as if each were alone."""

from __future__ import annotations

import pytest
import torch

from reviser.model import Reviser, preset


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
        packed = model.hidden_packed(ids, positions)
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
        expected = model.hidden_packed(ids, positions)
    model.cuda()
    for block in model.blocks:
        block.compile()
    found = model.hidden_packed(ids.cuda(), positions.cuda())
    found.square().sum().backward()
    torch.testing.assert_close(found.detach().cpu(), expected, rtol=2e-2, atol=2e-2)
    assert all(weight.grad.isfinite().all() for weight in model.blocks.parameters())


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
def test_layers_joined_for_training_make_and_learn_the_same(kind: str) -> None:
    torch.manual_seed(0)
    model = Reviser(preset(kind, dropout=0.0))
    ids = torch.randint(0, 128, (2, 18))
    gradients, losses = [], []
    for mode in (model.train, model.eval):
        mode()
        model.zero_grad()
        loss = model(ids).logsumexp(dim=-1).sum()
        loss.backward()
        losses.append(loss.detach())
        gradients.append([weight.grad.clone() for weight in model.parameters()])
    torch.testing.assert_close(*losses)
    for joined, apart in zip(*gradients, strict=True):
        torch.testing.assert_close(joined, apart, rtol=1e-4, atol=1e-6)
