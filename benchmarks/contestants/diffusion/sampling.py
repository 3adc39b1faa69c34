"""Samplers: from a prompt and masks to a text, in a fixed number of steps.

Noise is taken back from time 1 to `END`. A step decides for every masked place whether it is shown
now, and draws its token if so; what is shown stays. The two decisions are drawn one after the other and not
from one distribution over tokens and mask together, where the few digits of single precision would
favour likely tokens. The prompt is put back in its place before every step.
"""

from __future__ import annotations

from typing import Literal, Protocol

import torch
from torch import Tensor

from benchmarks.contestants.diffusion.model import Schedule, masked_share

END = 1e-5
# Places whose outputs over the vocabulary are held at once.
_CHUNK = {"cpu": 4096, "cuda": 16384}

Method = Literal["ancestral", "analytic"]


class Noisy(Protocol):
    """What a sampler asks of a model."""

    @property
    def mask_id(self) -> int: ...
    @property
    def schedule(self) -> Schedule: ...
    @property
    def device(self) -> torch.device: ...

    def states(self, ids: Tensor, sigma: Tensor) -> Tensor:
        """(rows, places, anything) for rows with `sigma` (rows,) noise."""

    def outputs(self, states: Tensor, sigma: Tensor) -> Tensor:
        """Log-scores or logits (places, vocabulary) of single places' states; -inf for the mask."""


@torch.no_grad()
def sample(model: Noisy, prompts: Tensor, places: int, drawn: Tensor, method: Method = "ancestral") -> Tensor:
    """Continue `prompts` (rows, given) by `places` tokens; returns the whole rows.

    `drawn` (rows, steps + 1, places, 2) holds the numbers from 0 to 1 by which everything is decided:
    each step uses one to show a place and one for its token, and the last finishes what is left.
    """
    given, steps = prompts.shape[1], drawn.shape[1] - 1
    prompts, drawn = prompts.to(model.device), drawn.to(model.device)
    blank = prompts.new_full((len(prompts), places), model.mask_id)
    ids = torch.cat((prompts, blank), dim=1)
    times = torch.linspace(1, END, steps + 1, device=model.device)
    for step in range(steps):
        ids[:, :given] = prompts
        show = _ancestral if method == "ancestral" else _by_scores
        show(model, ids, given, times[step], times[step + 1], drawn[:, step])
    ids[:, :given] = prompts
    masked = ids[:, given:] == model.mask_id
    _fill(model, ids, given, masked, times[-1], drawn[:, -1, :, 1])
    return ids


def _ancestral(model: Noisy, ids: Tensor, given: int, t: Tensor, s: Tensor, drawn: Tensor) -> None:
    """MDLM: whether a place is shown does not depend on the model, so only rows that change are run.

    That is what caching its output saves: an unchanged row would have the same output again.
    """
    then, now = (masked_share(model.schedule.total(time)) for time in (t, s))
    chosen = (ids[:, given:] == model.mask_id) & (drawn[..., 0] < (then - now) / then)
    _fill(model, ids, given, chosen, t, drawn[..., 1])


def _by_scores(model: Noisy, ids: Tensor, given: int, t: Tensor, s: Tensor, drawn: Tensor) -> None:
    """SEDD: a place is shown with a probability that grows with the sum of its tokens' scores.

    With the sum S, that is (exp(d) - 1) S after Tweedie's formula, with d the noise taken back.
    """
    noise = model.schedule
    factor = torch.expm1(noise.total(t) - noise.total(s))
    masked = ids[:, given:] == model.mask_id
    rows = masked.any(dim=1).nonzero().squeeze(1)
    if not len(rows):
        return
    sigma = noise.total(t).expand(len(rows))
    states = model.states(ids[rows], sigma)[:, given:]
    sums = torch.zeros(masked.shape, device=ids.device)
    kept = masked[rows]
    flat = states[kept]
    found = [
        model.outputs(part, sigma[:1].expand(len(part))).logsumexp(dim=-1).exp()
        for part in flat.split(_CHUNK[ids.device.type])  # type: ignore[no-untyped-call]
    ]
    sums[masked] = torch.cat(found).float()
    chosen = masked & (drawn[..., 0] < factor * sums)
    picked = chosen[rows]
    _put(model, ids, given, chosen, states[picked], sigma[:1], drawn[..., 1])


def _fill(model: Noisy, ids: Tensor, given: int, chosen: Tensor, t: Tensor, drawn: Tensor) -> None:
    """Show a token at all chosen places."""
    rows = chosen.any(dim=1).nonzero().squeeze(1)
    if not len(rows):
        return
    sigma = model.schedule.total(t).expand(len(rows))
    states = model.states(ids[rows], sigma)[:, given:]
    _put(model, ids, given, chosen, states[chosen[rows]], sigma[:1], drawn)


def _put(model: Noisy, ids: Tensor, given: int, chosen: Tensor, states: Tensor, sigma: Tensor, drawn: Tensor) -> None:
    """Draw the tokens of chosen places from their states' outputs and write them."""
    numbers = drawn[chosen]
    chunk = _CHUNK[ids.device.type]
    tokens = [
        _draw(model.outputs(part, sigma.expand(len(part))), number)
        for part, number in zip(
            states.split(chunk),  # type: ignore[no-untyped-call]
            numbers.split(chunk),  # type: ignore[no-untyped-call]
            strict=True,
        )
    ]
    if tokens:
        # A view of the rows behind their prompts: written through it, the rows change.
        ids[:, given:][chosen] = torch.cat(tokens)


def _draw(outputs: Tensor, numbers: Tensor) -> Tensor:
    """The token that each number picks by inverting the running sum of probabilities."""
    sums = outputs.double().softmax(dim=-1).cumsum(dim=-1)
    wanted = numbers.double()[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, wanted, right=True).squeeze(1).clamp(max=outputs.shape[1] - 2)
