"""Histories packed into one row are read as if each were alone."""

from __future__ import annotations

import pytest
import torch

from reviser.model import Reviser, packed_span, preset


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
def test_packed_rows_equal_histories_alone(kind: str) -> None:
    torch.manual_seed(0)
    model = Reviser(preset(kind)).eval()
    lengths = [[5, 9, 2], [12, 3, 1]]
    ids = torch.randint(0, 128, (2, 18))
    histories = torch.full((2, 18), -1)
    positions = torch.zeros((2, 18), dtype=torch.int64)
    for row, row_lengths in enumerate(lengths):
        start = 0
        for number, length in enumerate(row_lengths):
            histories[row, start : start + length] = number
            positions[row, start : start + length] = torch.arange(length)
            start += length
    with torch.no_grad():
        packed = model.hidden_packed(ids, packed_span(histories, positions))
        for row, row_lengths in enumerate(lengths):
            start = 0
            for length in row_lengths:
                part = slice(start, start + length)
                alone = model.hidden(ids[row : row + 1, part])
                torch.testing.assert_close(packed[row : row + 1, part], alone, rtol=1e-4, atol=1e-5)
                start += length
