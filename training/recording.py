"""A training pass that is recorded once and replayed: the GPU then never waits for Python.

Told kernel by kernel, a GPU is idle between them wherever a kernel is short; a recorded pass is told once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

_WARM_UPS = 3


class Recording:
    """`trunk` of inputs of these shapes, forward and backward, with gradients for `weights`."""

    def __init__(
        self, trunk: Callable[..., Tensor], inputs: tuple[Tensor, ...], weights: list[nn.Parameter]
    ) -> None:
        self._inputs = [given.clone() for given in inputs]
        self._weights = weights
        # What is compiled or chosen at the first use must not be part of the recording.
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UPS):
                states = trunk(*self._inputs)
                self._gradients_of(states, torch.zeros_like(states))
            del states
        torch.cuda.current_stream().wait_stream(aside)
        self._forward, self._backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._forward):
            states = trunk(*self._inputs)
        self._grad = torch.zeros_like(states)
        with torch.cuda.graph(self._backward, pool=self._forward.pool()):
            self._gradients = self._gradients_of(states, self._grad)
        self._states = states.detach()

    def _gradients_of(self, states: Tensor, grad: Tensor) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(states, self._weights, grad, allow_unused=True)

    def fits(self, inputs: tuple[Tensor, ...]) -> bool:
        return all(
            given.shape == own.shape for given, own in zip(inputs, self._inputs, strict=True)
        )

    def __call__(self, *inputs: Tensor) -> Tensor:
        """What the trunk gives; it is overwritten by the next call. Backward, the weights get gradients."""
        # Nothing of the recording is known to autograd; a weight stands for all of them.
        # torch does not type the way a function with a hand-written gradient is called.
        states: Tensor = _Replay.apply(self._weights[0], self, *inputs)  # type: ignore[no-untyped-call]
        return states

    def replay(self, inputs: tuple[Tensor, ...]) -> Tensor:
        for own, given in zip(self._inputs, inputs, strict=True):
            own.copy_(given)
        self._forward.replay()
        return self._states

    def replay_backward(self, grad: Tensor) -> None:
        """Add gradients to those of the weights; one that has none gets the place where the next replay writes."""
        self._grad.copy_(grad)
        self._backward.replay()
        sums, parts = [], []
        for weight, gradient in zip(self._weights, self._gradients, strict=True):
            if gradient is None:
                continue
            if weight.grad is None:
                weight.grad = gradient
            else:
                sums.append(weight.grad)
                parts.append(gradient)
        if sums:
            torch._foreach_add_(sums, parts)


class _Replay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, recording: Recording, *inputs: Tensor) -> Tensor:
        ctx.recording = recording
        return recording.replay(inputs).detach()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        ctx.recording.replay_backward(grads[0])
        return (None,) * (2 + len(ctx.recording._inputs))
