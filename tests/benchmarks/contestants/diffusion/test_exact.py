"""Losses and samplers on a distribution of which everything is known.

For an exact denoiser the bound is the likelihood itself, of every single text, and the samples' frequencies
are the table's. Integrals over time are exact: for log-linear noise they are of polynomials.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.contestants.diffusion.loss import DiffusionObjective
from benchmarks.contestants.diffusion.model import (
    DiffusionConfig,
    DiffusionTransformer,
    Geometric,
    LogLinear,
    Schedule,
    masked_share,
)
from benchmarks.contestants.diffusion.sampling import Method, sample
from tests.benchmarks.contestants.diffusion.place_losses import PLACE_LOSSES
from tests.benchmarks.exact import MASK, PLACES, TOKENS, ExactTable

Kind = Literal["sedd", "mdlm"]
KINDS: list[Kind] = ["sedd", "mdlm"]


class ExactModel:
    """The table as a model: its state of a place is the log-chances of the tokens there."""

    mask_id = MASK
    device = torch.device("cpu")

    def __init__(self, kind: Kind, schedule: Schedule | None = None) -> None:
        self.exact = ExactTable()
        self.kind = kind
        self.schedule = schedule or LogLinear()
        self.runs = 0

    def states(self, ids: Tensor, sigma: Tensor) -> Tensor:
        self.runs += len(ids)
        return self.exact.conditionals(ids).log()

    def outputs(self, states: Tensor, sigma: Tensor) -> Tensor:
        found = torch.nn.functional.pad(states, (0, 1), value=float("-inf"))
        if self.kind == "sedd":
            found = found - torch.expm1(sigma.double()).log()[:, None]
        return found


Model = ExactModel | DiffusionTransformer


def expected_loss(model: Model, kind: Kind, schedule: Schedule, texts: Tensor, t: float) -> Tensor:
    """The mean over all masks of each text's loss at time t."""
    time = torch.tensor(t, dtype=torch.float64)
    sigma, rate = schedule.total(time), schedule.rate(time)
    share = float(masked_share(sigma))
    total = torch.zeros(len(texts), dtype=torch.float64)
    for mask in itertools.product([False, True], repeat=PLACES):
        hidden = torch.tensor(mask).expand(len(texts), -1)
        noisy = texts.masked_fill(hidden, MASK)
        sigmas = sigma.expand(len(texts))
        states = model.hidden(noisy, sigmas) if isinstance(model, DiffusionTransformer) else model.states(noisy, sigmas)
        chance = share ** sum(mask) * (1 - share) ** (PLACES - sum(mask))
        for place in (place for place in range(PLACES) if mask[place]):
            found = (
                model.output(states[:, place], sigmas)
                if isinstance(model, DiffusionTransformer)
                else model.outputs(states[:, place], sigmas)
            )
            losses = PLACE_LOSSES[kind](found.double(), texts[:, place], sigmas, rate)
            total += chance * losses
    return total


def bounds(model: Model, kind: Kind, schedule: Schedule, texts: Tensor, points: int = 8) -> Tensor:
    """Each text's loss integrated over time."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    times, weights = (nodes + 1) / 2, weights / 2
    return sum(
        (
            weight * expected_loss(model, kind, schedule, texts, time)
            for time, weight in zip(times, weights, strict=True)
        ),
        start=torch.zeros(len(texts), dtype=torch.float64),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_of_an_exact_model_is_the_exact_likelihood(kind: Kind) -> None:
    schedule = LogLinear(eps=1e-9)
    model = ExactModel(kind, schedule)
    texts = model.exact.all_texts()
    found = bounds(model, kind, schedule, texts)
    assert torch.allclose(found, -model.exact.log_likelihood(texts), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_under_another_schedule(kind: Kind) -> None:
    schedule = Geometric(1e-7, 30.0)
    model = ExactModel(kind, schedule)
    texts = model.exact.all_texts()[::4]
    found = bounds(model, kind, schedule, texts, points=200)
    assert torch.allclose(found, -model.exact.log_likelihood(texts), atol=1e-3)


@pytest.mark.parametrize("schedule", [LogLinear(), Geometric(1e-3, 5.0)])
def test_the_rate_is_the_derivative_of_the_total_noise(schedule: Schedule) -> None:
    t = torch.linspace(0.05, 0.95, 7, dtype=torch.float64)
    step = 1e-6
    slope = (schedule.total(t + step) - schedule.total(t - step)) / (2 * step)
    assert torch.allclose(slope, schedule.rate(t), rtol=1e-5)


def tiny(kind: Kind, seed: int = 0) -> DiffusionTransformer:
    torch.manual_seed(seed)
    config = DiffusionConfig(kind, TOKENS + 1, layers=2, width=32, heads=2, ff=64, context=8, timed=kind == "sedd")
    return DiffusionTransformer(config)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_no_model_beats_the_entropy(kind: Kind) -> None:
    model = tiny(kind)
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    exact = ExactTable()
    texts = exact.all_texts()
    found = bounds(model, kind, LogLinear(eps=1e-9), texts)
    assert float((exact.table.flatten() * found).sum()) > exact.entropy() + 0.01


def objective_rows(texts: Tensor) -> tuple[Tensor, ...]:
    """Texts as the trainer hands rows over: all places count, each announced by the place before it."""
    samples = torch.zeros(texts.shape, dtype=torch.int32)
    positions = torch.arange(PLACES).expand(texts.shape)
    return texts, samples, positions, torch.arange(texts.numel()) - 1, texts.flatten()


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_objective_is_an_estimate_of_the_bound(kind: Kind) -> None:
    model = tiny(kind)
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    texts = ExactTable().all_texts()
    wanted = bounds(model, kind, LogLinear(), texts, points=12).mean()
    objective = DiffusionObjective(model, compiled=False)
    torch.manual_seed(1)
    rows = [texts.repeat(60, 1) for _ in range(20)]
    found = torch.stack([objective(*objective_rows(part)) / len(part) for part in rows])
    # Four standard errors of twenty estimates; leaving out the first thousandth of time costs far less.
    error = 4 * float(found.std()) / len(rows) ** 0.5
    assert error < 0.3
    assert float(found.mean()) == pytest.approx(float(wanted), abs=error + 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_training_reaches_the_entropy(kind: Kind) -> None:
    """Nearly all is learned: the exact bound comes within 0.1 nats, from 0.65 above the entropy.

    Without a look at other places it would stay 0.47 above.
    """
    exact, model = ExactTable(), tiny(kind)
    texts = exact.all_texts()
    steps, rows, rate = 800, 256, 3e-3
    objective = DiffusionObjective(model, compiled=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    torch.manual_seed(1)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 20) * (1 - step / steps)
        drawn = torch.multinomial(exact.table.flatten(), rows, replacement=True)
        (objective(*objective_rows(texts[drawn])) / rows).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        found = bounds(model.eval(), kind, LogLinear(eps=1e-9), texts)
    reached = float((exact.table.flatten() * found).sum())
    assert exact.entropy() - 1e-4 < reached < exact.entropy() + 0.1


SAMPLERS: list[tuple[Kind, Method]] = [("mdlm", "ancestral"), ("sedd", "analytic")]
ROWS, STEPS = 10_000, 120
# Of 27 cells and so many rows, frequencies differ from the truth by 0.02 in all, half the sum over cells;
# two places shown in the same step, one time in forty, do not know of each other.
TOLERANCE = 0.03


def drawn(rows: int, steps: int, places: int) -> Tensor:
    return torch.rand(rows, steps + 1, places, 2, generator=torch.Generator().manual_seed(0))


def distance(found: Tensor, exact: Tensor) -> float:
    """Half the sum over cells of how far frequencies are from the truth."""
    counts = torch.zeros_like(exact)
    counts.index_put_(tuple(found.unbind(dim=1)), torch.ones(len(found)).double(), accumulate=True)
    return float((counts / len(found) - exact).abs().sum() / 2)


@pytest.mark.parametrize(("kind", "method"), SAMPLERS)
def test_samples_have_the_tables_frequencies(kind: Kind, method: Method) -> None:
    model = ExactModel(kind)
    empty = torch.empty(ROWS, 0, dtype=torch.int64)
    found = sample(model, empty, PLACES, drawn(ROWS, STEPS, PLACES), method)
    assert (found != MASK).all()
    assert distance(found, model.exact.table) < TOLERANCE


@pytest.mark.parametrize(("kind", "method"), SAMPLERS)
def test_samples_after_a_prompt_have_the_conditional_frequencies(kind: Kind, method: Method) -> None:
    model = ExactModel(kind)
    prompt = torch.full((ROWS, 1), 2)
    found = sample(model, prompt, PLACES - 1, drawn(ROWS, STEPS, PLACES - 1), method)
    assert (found[:, 0] == 2).all()
    conditional = model.exact.table[2] / model.exact.table[2].sum()
    assert distance(found[:, 1:], conditional) < TOLERANCE


def test_one_step_makes_places_ignore_each_other() -> None:
    """The tolerance above means something: the product of single places' chances is out of it."""
    model = ExactModel("mdlm")
    empty = torch.empty(ROWS, 0, dtype=torch.int64)
    found = sample(model, empty, PLACES, drawn(ROWS, 1, PLACES))
    assert distance(found, model.exact.table) > 2 * TOLERANCE


def test_the_ancestral_sampler_runs_only_rows_that_change() -> None:
    model = ExactModel("mdlm")
    empty = torch.empty(50, 0, dtype=torch.int64)
    sample(model, empty, PLACES, drawn(50, 100, PLACES))
    assert model.runs <= 50 * PLACES


def test_the_prompt_stays_whatever_a_model_says() -> None:
    model = ExactModel("sedd")
    states = model.states
    spoiled: Callable[[Tensor, Tensor], Tensor]

    def spoiled(ids: Tensor, sigma: Tensor) -> Tensor:
        found = states(ids, sigma)
        ids.fill_(0)
        return found

    model.states = spoiled  # type: ignore[method-assign]
    prompt = torch.tensor([[1], [2]])
    found = sample(model, prompt, 2, drawn(2, 20, 2), "analytic")
    assert found[:, 0].tolist() == [1, 2]
