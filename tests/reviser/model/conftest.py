"""Every configuration variant, and models, histories and canvases to try it with."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from reviser.model import CanvasBatch, ModelConfig, Reviser, preset

CANVAS_VARIANTS = {
    "pooled-identity": preset("tiny", canvas_input="identity"),
    "pooled-linear": preset("tiny-paper", canvas_input="linear"),
    "cross-pooled": preset("tiny-paper", cross_layers=2),
    "cross-pooled-scalar": preset("tiny", cross_layers=1, cross_gate="scalar"),
    "cross-pooled-mlp": preset("tiny", cross_layers=1, cross_gate="mlp"),
    "cross-tokens": preset("tiny", cross_layers=1, cross_memory="tokens"),
    "cross-tokens-mlp": preset("tiny-paper", cross_layers=2, cross_memory="tokens", cross_gate="mlp"),
    "everything": preset("tiny", canvas_input="linear", cross_layers=2, cross_memory="tokens", cross_gate="scalar"),
}
VARIANTS = {
    "paper": preset("tiny-paper"),
    "llama": preset("tiny", kv_heads=4),
    "llama-gqa": preset("tiny", heads=8, kv_heads=2, rope_theta=500.0),
    "llama-untied": preset("tiny", tied=False),
    **CANVAS_VARIANTS,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """These models are so small that handing work to threads costs more than the work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=VARIANTS)
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return VARIANTS[request.param]


@pytest.fixture(params=CANVAS_VARIANTS)
def canvas_config(request: pytest.FixtureRequest) -> ModelConfig:
    return CANVAS_VARIANTS[request.param]


@pytest.fixture
def build() -> Callable[[ModelConfig], Reviser]:
    """A double-precision model with weights large enough that a mistake anywhere shows."""

    def build(config: ModelConfig) -> Reviser:
        torch.manual_seed(0)
        model = Reviser(config).double().eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
        return model

    return build


@pytest.fixture
def ids_for() -> Callable[..., Tensor]:
    def ids_for(config: ModelConfig, rows: int, length: int, seed: int = 1) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(config.vocab_size, (rows, length), generator=generator)

    return ids_for


@pytest.fixture
def canvas_for() -> Callable[..., CanvasBatch | None]:
    """Random canvases for ids, some of them empty; None for a model that takes none."""

    def canvas_for(config: ModelConfig, ids: Tensor, seed: int = 2) -> CanvasBatch | None:
        if not config.uses_canvas:
            return None
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.randint(config.vocab_size, (*ids.shape, 7), generator=generator)
        lengths = torch.randint(8, ids.shape, generator=generator)
        lengths[:, 0] = 0
        return CanvasBatch(tokens, lengths)

    return canvas_for


@pytest.fixture
def part() -> Callable[..., CanvasBatch | None]:
    """The canvases of some rows and columns of a batch."""

    def part(canvas: CanvasBatch | None, columns: slice, rows: slice = slice(None)) -> CanvasBatch | None:
        if canvas is None:
            return None
        return CanvasBatch(canvas.tokens[rows, columns], canvas.lengths[rows, columns])

    return part
