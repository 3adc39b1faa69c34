"""Kernels for packed rows: the ways in which they are told where histories lie agree."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from benchmarks.speed.attention import (
    Layer,
    Rows,
    candidates,
    compare,
    main,
    packed_blocks,
    packed_rows,
    same,
    table,
)
from reviser.model import Reviser, preset
from tests.benchmarks.tiny_reviser import base_and_shards
from training.trainer.settings import preset_settings


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=4))
def test_bounds_and_first_ids_say_the_same(lengths: list[list[int]]) -> None:
    width = max(map(sum, lengths))
    positions = torch.zeros((len(lengths), width), dtype=torch.int64)
    for row, parts in enumerate(lengths):
        whole = torch.cat([torch.arange(part) for part in parts])
        positions[row, : len(whole)] = whole
    rows = Rows(positions)
    bounds = rows.bounds().tolist()
    assert bounds == sorted(bounds)
    assert (bounds[0], bounds[-1]) == (0, positions.numel())
    # Every id's history begins at the last bound that is not behind it.
    firsts = (rows.firsts + width * torch.arange(len(lengths))[:, None]).flatten().tolist()
    for place, first in enumerate(firsts):
        assert first == max(bound for bound in bounds if bound <= place)


def test_rows_are_those_of_training(tmp_path: Path) -> None:
    base_and_shards(tmp_path, "the thing in all the tins is a thin ill the " * 12, 12)
    settings = preset_settings("tiny", history=128)
    rows = packed_rows(settings, tmp_path / "data", None, torch.device("cpu"))
    assert rows.positions.shape == (settings.rows, settings.row_length)
    assert len(rows.bounds()) - 1 > settings.rows


def test_agreement_is_as_close_as_half_precision() -> None:
    one = [torch.randn(64, 64)]
    assert same(one, one)
    assert same([one[0].bfloat16()], one)
    assert not same([one[0] * 1.1], one)


def test_says_that_it_needs_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["--data", "nowhere"]) == 2
    assert capsys.readouterr().err == (
        "reviser: attention is measured on a GPU, and there is none here\n"
    )


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
    made = packed_blocks(firsts, 128)
    assert made.seq_lengths == expected.seq_lengths
    for name in ("", "full_"):
        for side in ("kv", "q"):
            counts = getattr(made, f"{name}{side}_num_blocks")
            assert torch.equal(counts, getattr(expected, f"{name}{side}_num_blocks"))
            found, wanted = (getattr(m, f"{name}{side}_indices") for m in (made, expected))
            listed = torch.arange(counts.shape[-1]) < counts[..., None]
            assert torch.equal(found[listed], wanted[listed])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_all_candidates_that_run_here_compute_the_same() -> None:
    torch.manual_seed(0)
    lengths = [[200, 40, 16], [256], [100, 90, 60]]
    positions = torch.zeros((3, 256), dtype=torch.int64)
    for row, parts in enumerate(lengths):
        whole = torch.cat([torch.arange(part) for part in parts])
        positions[row, : len(whole)] = whole
    rows = Rows(positions.cuda())
    layer = Layer.of(preset("smol"), rows)
    timed, missing = compare(rows, preset_settings("smol"))
    assert timed[0].name == "ours"
    assert not any("something else" in entry for entry in missing)
    assert len(timed) + len(missing) == len(list(candidates(layer)))
    assert "1.00" in table(timed)


def test_what_is_compared_turns_as_a_model_does() -> None:
    torch.manual_seed(0)
    config = preset("tiny")
    rows = Rows(torch.cat([torch.arange(7), torch.arange(5)])[None])
    layer = Layer.of(config, rows)
    q, k, v = layer.parts(layer.random().float())
    assert q.shape == (1, config.heads, 12, config.head_dim)
    assert k.shape == v.shape == (1, config.kv_heads, 12, config.head_dim)
    model = Reviser(config)
    assert all(
        torch.equal(*pair) for pair in zip(layer.tables, (model.cos, model.sin), strict=True)
    )
