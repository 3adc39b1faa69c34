"""Building of models from a configuration and tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reviser.model import ModelConfig, Reviser

Progress = Callable[[str, int, int], None]
"""A callback with what is being done, how much of it is done, and how much there is."""


def no_progress(what: str, done: int, total: int) -> None:
    """A callback for callers that show no progress."""


class _SkipInitialisation(TorchFunctionMode):
    """Skips the random initialisation of weights.

    On the meta device it has no effect, but torch loads its compiler for it, which takes seconds.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") in ("normal_", "uniform_"):
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def empty_model(config: ModelConfig) -> Reviser:
    """A model with shapes but without memory, to be given its weights."""
    with torch.device("meta"), _SkipInitialisation():
        return Reviser(config)


def build_model(
    config: ModelConfig,
    tensors: Mapping[str, Tensor],
    device: torch.device | str = "cpu",
    dtype: torch.dtype | None = None,
) -> Reviser:
    """A model that owns `tensors`, all in one precision: `dtype`, or the widest among them."""
    if dtype is None:
        dtype = reduce(torch.promote_types, (tensor.dtype for tensor in tensors.values()))
    model = empty_model(config)
    model.load_state_dict({name: tensor.to(device, dtype) for name, tensor in tensors.items()}, assign=True)
    return model.to(device, dtype).eval().requires_grad_(True)
