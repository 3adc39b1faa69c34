"""The formulas give the paper's digits, and what the model here really multiplies."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.measures import flops
from benchmarks.measures.flops import REFERENCE, TransformerShape
from benchmarks.measures.statistics import walks
from benchmarks.report import paper_tables
from reviser.core.errors import ReviserError
from reviser.core.trajectory import Trajectory
from reviser.model import preset
from tests.conftest import PAPER_TRAJECTORIES
from tests.toys import toy_model

SHAPES = st.builds(
    TransformerShape,
    layers=st.integers(1, 40),
    width=st.integers(8, 4096),
    ff=st.integers(8, 8192),
    vocabulary=st.integers(10, 200_000),
    kv_width=st.integers(8, 4096),
    gated=st.booleans(),
)


def test_every_figure_has_the_printed_digits() -> None:
    computed = [(figure.method, figure.variant) for figure in flops.figures()]
    assert computed == list(paper_tables.FLOPS)
    for figure in flops.figures():
        printed = paper_tables.FLOPS[figure.method, figure.variant]
        assert (flops.digits(figure.gflops), flops.digits(figure.multiplier)) == printed


def test_every_term_has_the_printed_digits() -> None:
    assert {term.name: flops.digits(term.value) for term in flops.terms()} == paper_tables.FLOPS_TERMS


def test_departures_from_the_letter_are_told() -> None:
    departing = {figure.method for figure in flops.figures() if figure.departure}
    assert departing == {"Reviser", "Dream-7B", "LLaDA-8B"}
    text = flops.paper_report(as_json=False, with_terms=False)
    # Dream with the plain MLP: 28 (4 n d² + 2 n² d + 2 n d f) ten times, and 5.5 times the scores.
    n, d, f = 128, 3584, 18944
    plain = 10 * 28 * (4 * n * d * d + 2 * n * n * d + 2 * n * d * f) + 5.5 * n * d * 152064
    assert f"{plain / 1e9:.4f} G" in text


def test_json_is_the_ordered_list_and_nothing_else() -> None:
    rows = json.loads(flops.paper_report(as_json=True, with_terms=False))
    assert all(list(row) == ["method", "variant", "gflops", "multiplier"] for row in rows)
    assert rows[2] == {"method": "Reviser", "variant": "p_move=0.28", "gflops": 22.2191, "multiplier": 1.394}
    more = json.loads(flops.paper_report(as_json=True, with_terms=True))
    assert more["figures"] == rows
    assert len(more["departures"]) == 6


@given(SHAPES, st.integers(1, 300), st.integers(1, 16))
def test_blocks_of_any_size_cost_what_single_steps_do(shape: TransformerShape, n: int, size: int) -> None:
    """Keys and values that are kept make the order of computing irrelevant to its amount."""
    starts = range(0, n, size)
    blocks = sum(shape.block(min(size, n - start), start) for start in starts)
    assert blocks == pytest.approx(shape.causal(n))
    assert shape.causal(n) <= shape.full(n)


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
def test_the_model_multiplies_what_the_formula_counts(kind: str) -> None:
    """torch counts every product of a cached run, id by id: a prompt of 7 and 9 actions."""
    model = toy_model(kind)
    cache = model.new_cache()
    # Attention in plain products: torch does not count its fused kernel on a processor.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        for _ in range(6):
            with torch.no_grad():
                model.hidden(torch.tensor([[1]]), cache=cache)
        for _ in range(9):
            model.decode(torch.tensor([1]), cache)
    shape = TransformerShape.of(model.config)
    assert counter.get_total_flops() == 2 * shape.continuation(7, 9)


def test_a_model_that_sees_the_canvas_is_refused() -> None:
    with pytest.raises(ReviserError, match="history alone"):
        TransformerShape.of(preset("tiny", canvas_input="linear"))


def test_predicted_against_counted(published: list[Trajectory]) -> None:
    measured = flops.measure(REFERENCE, walks(published[5:]))
    assert measured.tokens == 658 / 5
    assert measured.actions == 831 / 5
    assert measured.move_fraction == pytest.approx(168 / 826)
    # The formula leaves out Stop and how lengths vary, so it is near but below.
    assert measured.predicted < measured.counted < measured.predicted * 1.02
    assert 1 < measured.with_prompt < measured.counted


def test_a_run_that_only_appends_costs_no_more_than_its_stop() -> None:
    run = Trajectory(action_ids=(*range(100, 228), 50260), prefix_tokens=0)
    measured = flops.measure(REFERENCE, walks([run]))
    assert measured.predicted == 1
    assert measured.counted == REFERENCE.autoregressive(129) / REFERENCE.autoregressive(128)
    empty = replace(run, action_ids=(50260,))
    with pytest.raises(ReviserError, match="nothing to compare"):
        flops.measure(REFERENCE, walks([empty]))


def test_the_report_of_a_file_uses_the_models_shape() -> None:
    small = json.loads(flops.measured_report("paper-100m", PAPER_TRAJECTORIES, as_json=True))
    assert small["shape"]["layers"] == 24
    assert set(small["models"]) == {"100M", "300M"}
    assert small["models"]["100M"]["runs"] == 5
    assert "predicted" in flops.measured_report(None, PAPER_TRAJECTORIES, as_json=False)
