"""Quantisation-aware training: a pass uses the weights as a quantised file will have them.

A small model that was never trained with rounded weights loses much quality at four bits. Here the forward and the
backward pass use rounded weights, and the optimizer step changes the exact ones, in which small changes
accumulate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import nn

from reviser.core.errors import ReviserError
from reviser.model import Reviser
from reviser.model.layout import TABLES, matrix_shapes
from reviser.model.quantised import attempt, rounded


class Rounding:
    """The matrices of a model that can be rounded temporarily."""

    def __init__(self, model: Reviser, bits: Literal[4, 8], *, compiled: bool = False) -> None:
        if model.config.uses_canvas:
            raise ReviserError("a model that sees the canvas cannot be quantised, nor trained for it")
        # Compiled, the search for the best scales takes a small part of the time on a GPU. A weight that lies
        # exactly between two codes may then go to the other one.
        self._of_try = torch.compile(attempt, dynamic=False) if compiled else attempt
        # Matrices of one width are rounded together: a GPU does few large things faster than many small ones.
        self._alike: dict[tuple[Literal[4, 8], int], list[nn.Parameter]] = {}
        for name, (_, columns) in matrix_shapes(model.config).items():
            kind = 8 if name in TABLES else bits
            self._alike.setdefault((kind, columns), []).append(model.get_parameter(name))

    @contextmanager
    def applied(self) -> Iterator[None]:
        """A context in which the weights are rounded; afterwards the exact ones are restored, and gradients stay."""
        kept = [self._round(bits, matrices) for (bits, _), matrices in self._alike.items()]
        try:
            yield
        finally:
            for exact, matrices in zip(kept, self._alike.values(), strict=True):
                _put(exact, matrices)

    @torch.no_grad()
    def _round(self, bits: Literal[4, 8], matrices: list[nn.Parameter]) -> torch.Tensor:
        exact = torch.cat([matrix.detach() for matrix in matrices])
        _put(rounded(exact, bits, self._of_try).to(exact.dtype), matrices)
        return exact


@torch.no_grad()
def _put(stacked: torch.Tensor, matrices: list[nn.Parameter]) -> None:
    parts = torch.split(stacked, [len(matrix) for matrix in matrices])
    for matrix, part in zip(matrices, parts, strict=True):
        matrix.copy_(part)
