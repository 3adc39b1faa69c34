"""The cache: whatever way a history reaches the model, the scores are those of one full pass."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch._dynamo.testing import CompileCounter

from reviser.model import CanvasBatch, KVCache, ModelConfig, Reviser, preset

Build = Callable[[ModelConfig], Reviser]
Make = Callable[..., Any]


def test_decoding_equals_the_full_pass(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, part: Make
) -> None:
    model = build(config)
    ids = ids_for(config, 2, 14)
    canvas = canvas_for(config, ids)
    expected = model(ids, canvas=canvas).detach()
    cache = model.new_cache(2, 24)
    scores = model.prefill(ids[:, :5], cache, canvas=part(canvas, slice(0, 5)))
    torch.testing.assert_close(scores, expected[:, 4])
    for t in range(5, 14):
        scores = model.decode(ids[:, t], cache, canvas=part(canvas, slice(t, t + 1)))
        torch.testing.assert_close(scores, expected[:, t])
    assert cache.lengths == [14, 14]


def test_chunked_prefill_equals_one_prefill(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, part: Make
) -> None:
    model = build(config)
    ids = ids_for(config, 2, 14)
    canvas = canvas_for(config, ids)
    expected = model(ids, canvas=canvas).detach()
    cache = model.new_cache(2, 24)
    pieces = []
    with torch.no_grad():
        for cut in (slice(0, 3), slice(3, 10), slice(10, 14)):
            pieces.append(model(ids[:, cut], cache=cache, canvas=part(canvas, cut)))
    torch.testing.assert_close(torch.cat(pieces, dim=1), expected)


def test_truncate_then_continue_equals_a_fresh_run(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, part: Make
) -> None:
    model = build(config)
    first, second = ids_for(config, 2, 12, seed=1), ids_for(config, 2, 12, seed=5)
    second[:, :4] = first[:, :4]
    canvas, other = canvas_for(config, first, seed=2), canvas_for(config, second, seed=3)
    if canvas is not None:
        other.tokens[:, :4], other.lengths[:, :4] = canvas.tokens[:, :4], canvas.lengths[:, :4]
    cache = model.new_cache(2, 24)
    model.prefill(first, cache, canvas=canvas)
    cache.truncate(4)
    model.prefill(second[:, 4:9], cache, canvas=part(other, slice(4, 9)))
    expected = model(second, canvas=other).detach()
    for t in range(9, 12):
        scores = model.decode(second[:, t], cache, canvas=part(other, slice(t, t + 1)))
        torch.testing.assert_close(scores, expected[:, t])


def test_ragged_rows_equal_each_alone(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, part: Make
) -> None:
    model = build(config)
    ids = ids_for(config, 3, 16)
    canvas = canvas_for(config, ids)
    expected = [
        model(ids[row : row + 1], canvas=part(canvas, slice(None), slice(row, row + 1)))[0].detach() for row in range(3)
    ]

    def shifted(starts: list[int], width: int) -> tuple[torch.Tensor, CanvasBatch | None]:
        columns = torch.tensor([[min(s + i, 15) for i in range(width)] for s in starts])
        rows = torch.arange(3)[:, None]
        if canvas is None:
            return ids[rows, columns], None
        return ids[rows, columns], CanvasBatch(canvas.tokens[rows, columns], canvas.lengths[rows, columns])

    cache = model.new_cache(3, 24)
    for counts in ([2, 7, 4], [1, 1, 1], [5, 1, 3], [1, 1, 1]):
        starts = list(cache.lengths)
        piece, piece_canvas = shifted(starts, max(counts))
        if max(counts) == 1:
            scores = model.decode(piece[:, 0], cache, canvas=piece_canvas)
        else:
            scores = model.prefill(piece, cache, canvas=piece_canvas, counts=counts)
        for row in range(3):
            assert cache.lengths[row] == starts[row] + counts[row]
            torch.testing.assert_close(scores[row], expected[row][cache.lengths[row] - 1])


def test_a_full_row_and_a_short_row_share_a_cache(build: Build, ids_for: Make) -> None:
    """The short row's many ids must not push the full row's padding out of the cache."""
    config = preset("tiny", context=10)
    model = build(config)
    ids = ids_for(config, 2, 10)
    expected = model(ids).detach()
    cache = model.new_cache(2, 10)
    model.prefill(ids[:, :9], cache, counts=[9, 9])
    cache.truncate([9, 1])
    piece = torch.zeros(2, 9, dtype=torch.int64)
    piece[0, 0] = ids[0, 9]
    piece[1] = ids[1, 1:]
    scores = model.prefill(piece, cache, counts=[1, 9])
    torch.testing.assert_close(scores, expected[:, 9])


def test_stale_slots_are_never_seen(build: Build, ids_for: Make) -> None:
    config = preset("tiny")
    model = build(config)
    ids = ids_for(config, 2, 12)
    expected = model(ids).detach()
    cache = model.new_cache(2, 24)
    model.prefill(ids[:, :8], cache)
    cache.truncate([8, 5])
    for layer in range(config.layers):
        for row, length in enumerate(cache.lengths):
            cache.keys[layer][row, :, length:] = 1e3
            cache.values[layer][row, :, length:] = 1e3
    scores = model.decode(torch.stack((ids[0, 8], ids[1, 5])), cache)
    torch.testing.assert_close(scores, torch.stack((expected[0, 8], expected[1, 5])))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    script=st.lists(st.sampled_from(["extend", "step", "truncate", "select"]), max_size=8), seed=st.integers(0, 2**32)
)
def test_any_script_of_cache_operations(script: list[str], seed: int, build: Build) -> None:
    """Rows grow, rewind, leave and fork in any order; scores stay those of a full pass."""
    config = preset("tiny", layers=1, context=40)
    model = build(config)
    chance = random.Random(seed)
    histories: list[list[int]] = [[], [], []]
    cache = model.new_cache(3)
    for operation in ["extend", *script, "step"]:
        rows = range(len(histories))
        if operation == "truncate":
            lengths = [chance.randint(0, len(history)) for history in histories]
            histories = [histories[row][: lengths[row]] for row in rows]
            cache.truncate(lengths)
        elif operation == "select":
            chosen = [chance.choice(rows) for _ in range(chance.randint(1, 3))]
            histories = [list(histories[row]) for row in chosen]
            cache.select(chosen)
        else:
            longest = 4 if operation == "extend" else 1
            new = [[chance.randrange(128) for _ in range(chance.randint(1, longest))] for _ in rows]
            width = max(map(len, new))
            ids = torch.tensor([ids + [0] * (width - len(ids)) for ids in new])
            histories = [histories[row] + new[row] for row in rows]
            scores = model.prefill(ids, cache, counts=[len(ids) for ids in new])
            for row in rows:
                expected = model(torch.tensor([histories[row]]))[0, -1].detach()
                torch.testing.assert_close(scores[row], expected)
        assert cache.lengths == [len(history) for history in histories]


def test_select_compacts_and_forks(build: Build, ids_for: Make) -> None:
    config = preset("tiny-paper")
    model = build(config)
    ids = ids_for(config, 3, 9)
    expected = model(ids).detach()
    cache = model.new_cache(3, 24)
    model.prefill(ids[:, :8], cache, counts=[8, 4, 8])
    cache.truncate([8, 4, 6])
    rows = [2, 0, 2]
    cache.select(rows)
    assert cache.batch == 3
    assert cache.lengths == [6, 8, 6]
    at = torch.tensor(cache.lengths)
    scores = model.decode(ids[rows, at], cache)
    torch.testing.assert_close(scores, expected[rows, at])
    cache.select([1])
    assert cache.lengths == [9]
    assert cache.keys[0].shape[0] == 1
    # The copies are separate rows: writing one leaves the other.
    cache.select([0, 0])
    model.decode(torch.tensor([1, 2]), cache)
    assert not torch.equal(cache.keys[0][0, :, 9], cache.keys[0][1, :, 9])


@pytest.mark.parametrize("config", ["paper", "llama-gqa", "cross-pooled-scalar", "everything"], indirect=True)
def test_static_step_equals_decode_and_compiles_once(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, part: Make
) -> None:
    model = build(config)
    ids = ids_for(config, 2, 12)
    canvas = canvas_for(config, ids)
    expected = model(ids, canvas=canvas).detach()
    counter = CompileCounter()
    torch._dynamo.reset()
    step = torch.compile(model.decode_static, backend=counter, fullgraph=True, dynamic=False)
    cache = model.new_cache(2, 24)
    model.prefill(ids[:, :6], cache, canvas=part(canvas, slice(0, 6)))
    cache.truncate([6, 3])
    for _ in range(4):
        at = cache.positions()
        now = (torch.arange(2), at)
        seen = None
        if canvas is not None:
            seen = CanvasBatch(canvas.tokens[now][:, None], canvas.lengths[now][:, None])
        scores = step(ids[now], at, cache, canvas=seen)
        cache.advance()
        torch.testing.assert_close(scores, expected[now])
    assert cache.lengths == [10, 7]
    assert counter.frame_count == 1


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_working_precisions_decode(dtype: torch.dtype, ids_for: Make) -> None:
    config = preset("tiny")
    torch.manual_seed(0)
    model = Reviser(config).to(dtype).eval()
    ids = ids_for(config, 2, 10)
    cache = model.new_cache(2)
    assert cache.keys[0].dtype == dtype
    assert cache.capacity == config.context
    model.prefill(ids[:, :6], cache, counts=[6, 2])
    cache.truncate([5, 2])
    scores = model.decode(ids[[0, 1], [5, 2]], cache)
    expected = model(ids)[[0, 1], [5, 2]].detach()
    tolerance = 1e-5 if dtype is torch.float32 else 2e-2
    torch.testing.assert_close(scores, expected, atol=tolerance, rtol=tolerance)


def test_mistakes_are_refused() -> None:
    config = preset("tiny", context=8)
    model = Reviser(config).eval()
    ids = torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="holds 1 to 8 ids, not 9"):
        KVCache(config, 1, 9)
    cache = KVCache(config, 2, 4)
    with pytest.raises(RuntimeError, match="no gradients"):
        model(ids, cache=cache)
    model.prefill(ids, cache)
    with pytest.raises(ValueError, match="The cache holds 4 ids and 6 are needed"):
        model.prefill(ids, cache)
    assert cache.lengths == [3, 3]
    with pytest.raises(ValueError, match="Row 0 holds 3 ids and cannot be cut to 4"):
        cache.truncate(4)
    with pytest.raises(ValueError, match="1 lengths were given for 2 cached rows"):
        cache.truncate([1])
    with pytest.raises(ValueError, match="has 2 rows and no row 2"):
        cache.select([0, 2])
    with pytest.raises(ValueError, match="do not fit a cache of 2 rows"):
        model.prefill(ids[:1, :1], cache)
    with pytest.raises(ValueError, match="do not fit a cache of 2 rows"):
        model.prefill(ids[:1, :1], cache, counts=[1, 1])
    with pytest.raises(ValueError, match="do not fit a cache of 2 rows"):
        model.prefill(ids[:, :1], cache, counts=[1, 0])
    with pytest.raises(ValueError, match="The cache holds 4 ids and row lengths are"):
        cache.advance(2)
