"""Reinforcement learning: a supervised model is tuned by PPO towards what a judge prefers."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m training ppo …`."""
    from training.ppo.run import main as run

    return run(arguments)
