"""CUDA graphs of the training pass: it is recorded once and replayed, so the GPU does not wait for Python.

When kernels are launched one by one, a GPU is idle between short ones; a recorded pass is launched at once. If the
pass computes in half precision, the weights of all layers are rounded together instead of each at its use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

_WARM_UPS = 3


Copies = dict[nn.Parameter, nn.Parameter]


@contextmanager
def _rounded(layers: Sequence[nn.Linear]) -> Iterator[Copies]:
    """A context in which the layers have copies of their weights in the precision of autocast, if that is lower."""
    copies: Copies = {}
    places = [(layer, name) for layer in layers for name, _ in layer.named_parameters()]
    kind = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else None
    if kind is not None:
        for layer, name in places:
            weight = layer.get_parameter(name)
            copies[weight] = nn.Parameter(weight.detach().to(kind), weight.requires_grad)
            setattr(layer, name, copies[weight])
    try:
        yield copies
    finally:
        own = {copy: weight for weight, copy in copies.items()}
        for layer, name in places:
            weight = layer.get_parameter(name)
            setattr(layer, name, own.get(weight, weight))


class Recording:
    """A recording of `trunk` for inputs of these shapes, forward and backward, with gradients for `weights`.

    `layers` are the matrix multiplications of the trunk.
    """

    def __init__(
        self,
        trunk: Callable[..., Tensor],
        inputs: tuple[Tensor, ...],
        weights: list[nn.Parameter],
        layers: Sequence[nn.Linear] = (),
    ) -> None:
        self._inputs = [given.clone() for given in inputs]
        self._weights = weights
        with _rounded(layers) as copies:
            self._record(trunk, copies)
        # What is replayed writes there and reads it.
        self._copies = copies

    def _record(self, trunk: Callable[..., Tensor], copies: Copies) -> None:
        # What is compiled or chosen at the first use must not be part of the recording.
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UPS):
                _copy(list(copies.values()), list(copies))
                states = trunk(*self._inputs)
                self._gradients_of(states, torch.zeros_like(states), copies)
            del states
        torch.cuda.current_stream().wait_stream(aside)
        self._forward, self._backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._forward):
            _copy(list(copies.values()), list(copies))
            states = trunk(*self._inputs)
        self._grad = torch.zeros_like(states)
        with torch.cuda.graph(self._backward, pool=self._forward.pool()):
            self._gradients = self._gradients_of(states, self._grad, copies)
        self._states = states.detach()

    def _gradients_of(self, states: Tensor, grad: Tensor, copies: Copies) -> list[Tensor | None]:
        used = [copies.get(weight, weight) for weight in self._weights]
        found = list(torch.autograd.grad(states, used, grad, allow_unused=True))
        whole = {
            number: torch.empty_like(weight)
            for number, weight in enumerate(self._weights)
            if weight in copies and found[number] is not None
        }
        _copy(list(whole.values()), [part for n, part in enumerate(found) if n in whole])
        return [whole.get(number, part) for number, part in enumerate(found)]

    def fits(self, inputs: tuple[Tensor, ...]) -> bool:
        return all(given.shape == own.shape for given, own in zip(inputs, self._inputs, strict=True))

    def __call__(self, *inputs: Tensor) -> Tensor:
        """The trunk's output, which the next call overwrites. Its backward pass gives the weights gradients."""
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
        """Adds gradients to those of the weights; a weight without one gets the buffer that the next replay writes."""
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


def _copy(to: list[Any], given: list[Any]) -> None:
    if to:
        with torch.no_grad():
            torch._foreach_copy_(to, given)


class _Replay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, recording: Recording, *inputs: Tensor) -> Tensor:
        ctx.recording = recording
        return recording.replay(inputs).detach()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        ctx.recording.replay_backward(grads[0])
        return (None,) * (2 + len(ctx.recording._inputs))


class RecordedObjective(nn.Module):
    """A model with its loss, whose trunk (all that comes before the loss) can be recorded."""

    def __init__(self, learner: nn.Module, layers: nn.Module, trunk: Callable[..., Tensor]) -> None:
        """`trunk` computes the final states of `learner` without waiting for the device. `layers` are the matrix
        multiplications of the learner."""
        super().__init__()
        # A subclass registers the model itself, by the name that its loss uses.
        self._parts = learner, layers
        self._trunk = trunk
        self._recording: Recording | None = None

    def trunk_inputs(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        """The part of the objective's inputs that the trunk gets; None if it cannot be recorded."""
        raise NotImplementedError

    @property
    def recorded(self) -> bool:
        return self._recording is not None

    def record(self, *inputs: Tensor) -> None:
        """Records a pass of the trunk over inputs of these shapes, to be replayed from now on; needs a GPU."""
        learner, layers = self._parts
        weights = [weight for weight in learner.parameters() if weight.requires_grad]
        products = [each for each in layers.modules() if isinstance(each, nn.Linear)]
        self._recording = Recording(self._trunk, inputs, weights, products)

    def states(self, *inputs: Tensor) -> Tensor:
        """The trunk's output, replayed if it was recorded for such inputs and the model is in training mode."""
        learner, _ = self._parts
        if learner.training and self._recording and self._recording.fits(inputs):
            return self._recording(*inputs)
        return self._trunk(*inputs)
