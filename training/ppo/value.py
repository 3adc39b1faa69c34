"""The value head, which predicts an episode's reward from the trunk's states, and generalised advantages (GAE)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Floats = NDArray[np.float32]


class ValueHead(nn.Module):
    """A small network on the model's final hidden states.

    Its loss sends no gradient into the model, so learning about rewards cannot harm the language model. It is
    saved apart from the model, which does not need it.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        # No opinion at first: then advantages are plain rewards.
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, states: Tensor) -> Tensor:
        with torch.autocast(states.device.type, enabled=False):
            values: Tensor = self.outer(torch.tanh(self.inner(states.detach().float())))
        return values.squeeze(-1)


def advantages(
    values: Floats, lengths: Sequence[int], rewards: Sequence[float], gamma: float, gae_lambda: float
) -> tuple[Floats, Floats]:
    """Generalised advantages and returns of episodes that are rewarded at their last action.

    `values` are those of the states in which actions were taken, episode after episode.
    """
    known = values.tolist()
    found = [0.0] * len(known)
    end = 0
    for length, reward in zip(lengths, rewards, strict=True):
        start, end = end, end + length
        gain, later = reward, 0.0
        for at in range(end - 1, start - 1, -1):
            later = gain - known[at] + gamma * gae_lambda * later
            found[at] = later
            # What an earlier action gains is the state it leads to.
            gain = gamma * known[at]
    gains = np.array(found, dtype=np.float32)
    return gains, gains + values


def normalised(values: Floats) -> Floats:
    """The values scaled to mean 0 and standard deviation 1."""
    scaled: Floats = (values - values.mean()) / (values.std() + 1e-8)
    return scaled


def explained_variance(values: Floats, returns: Floats) -> float:
    """1 if the values predict the returns exactly, 0 if a constant would do as well; NaN if all returns are equal."""
    variance = float(returns.var())
    return 1 - float((returns - values).var()) / variance if variance > 0 else float("nan")
