"""Which attention is fastest over rows that hold several histories each: forward and backward, on a GPU.

    python -m benchmarks attention --data SHARDS [--preset smol] [--mixture FILE] [--history 1024] [--tiles] [--write FILE]

Measured is what lies between two matrix products of a layer: turning queries and keys by their positions, and
attention itself. Numbers are random; how long the histories are, and how they lie in rows, is that of a batch of
training. Every candidate is checked against the first, which is the one that training uses. A candidate that
this torch or this GPU does not have is named and left out.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.model import ModelConfig, Reviser, preset
from reviser.model.cache import history_bounds
from reviser.model.decoder import rotate
from training.data.corpus import Corpus
from training.samples.samples import Samples
from training.trainer.parallel import join_world
from training.trainer.run import loader_of, mixture_of
from training.trainer.settings import PRESETS, Settings, preset_settings

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

    from reviser.model.kernels.packed import Tiles

ROUNDS = 10
# How far two kernels may differ that compute the same in bf16.
TOLERANCE = 0.03

# From queries, keys and values, all heads of an id side by side, to what is found.
Attention = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Rows:
    """Where histories lie: the position of every id in its own, (rows, ids)."""

    positions: Tensor

    @property
    def firsts(self) -> Tensor:
        """Where the history of each id begins in its row."""
        return torch.arange(self.positions.shape[1], device=self.positions.device) - self.positions

    def bounds(self) -> Tensor:
        """Where histories begin among all ids, and the end."""
        flat = self.positions.flatten()
        starts = torch.nonzero(flat == 0).flatten()
        return torch.cat((starts, starts.new_tensor([len(flat)]))).to(torch.int32)


@dataclass(frozen=True)
class Layer:
    """Attention's shape in a model, its rotary tables, and the rows that it is for."""

    config: ModelConfig
    tables: tuple[Tensor, Tensor]
    rows: Rows

    @classmethod
    def of(cls, config: ModelConfig, rows: Rows) -> Layer:
        with torch.device("meta"):
            made = Reviser(config)
        device = rows.positions.device
        return cls(config, (made.cos.to(device), made.sin.to(device)), rows)

    def random(self) -> Tensor:
        heads = self.config.heads + 2 * self.config.kv_heads
        shape = (*self.rows.positions.shape, heads * self.config.head_dim)
        made = torch.randn(shape, device=self.rows.positions.device, dtype=torch.bfloat16)
        return made.requires_grad_()

    def parts(self, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries and keys, turned, and values: (rows, heads, ids, head_dim)."""
        config, width = self.config, self.config.head_dim
        sizes = [heads * width for heads in (config.heads, config.kv_heads, config.kv_heads)]
        q, k, v = (
            part.view(*qkv.shape[:2], -1, width).transpose(1, 2)
            for part in torch.split(qkv, sizes, dim=-1)
        )
        cos, sin = (table[self.rows.positions].unsqueeze(1) for table in self.tables)
        return rotate(q, cos, sin), rotate(k, cos, sin), v


@dataclass(frozen=True)
class Timed:
    """Milliseconds of one layer's attention."""

    name: str
    forward: float
    backward: float

    @property
    def both(self) -> float:
        return self.forward + self.backward


def packed_rows(settings: Settings, data: Path, mixture: Path | None, device: torch.device) -> Rows:
    """The first batch of a run."""
    corpus = Corpus.open(data)
    samples = Samples(corpus, corpus.vocabulary(), mixture_of(settings, mixture), settings.seed)
    with join_world("none") as world:
        batch = next(loader_of(samples, settings, world, workers=2).batches(0))
    return Rows(torch.from_numpy(batch.positions.astype(np.int64)).to(device))


# Candidates --------------------------------------------------------------------------------------

# Queries and keys of a tile, warps, and loads under way.
_TILES = tuple(
    (queries, keys, warps, stages)
    for queries, keys, warps in (
        (64, 64, 4),
        (128, 64, 4),
        (128, 64, 8),
        (64, 128, 4),
        (64, 32, 4),
        (32, 64, 4),
    )
    for stages in (2, 3)
)
_KERNELS = ("FORWARD", "QUERIES", "KEYS")
# The sizes that training uses, which are put back after others were tried.
_usual: dict[str, Tiles] = {}


def candidates(layer: Layer, tiles: bool = False) -> Iterator[tuple[str, Callable[[], Attention]]]:
    """Name by name, what makes the attention; the one that training uses comes first."""
    yield "ours", partial(ours, layer)
    if tiles:
        for kernel in _KERNELS:
            for sizes in _TILES:
                name = "{} x {}, {} warps, {} stages".format(*sizes)
                yield f"ours, {kernel.lower()} {name}", partial(ours, layer, kernel, sizes)
        return
    yield "blocks of 128", partial(block_sparse, layer, 128)
    # torch has sizes for smaller blocks only where it is told to try several.
    for block in (128, 64):
        yield f"blocks of {block}, tuned by torch", partial(block_sparse, layer, block, True)
    yield "each history alone", partial(by_history, layer)


def ours(
    layer: Layer, kernel: str | None = None, sizes: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> Attention:
    """The kernels of training, one of them perhaps with other sizes."""
    from reviser.model.kernels import packed

    for name in _KERNELS:
        usual = _usual.setdefault(name, getattr(packed, name))
        setattr(packed, name, packed.Tiles(*sizes) if name == kernel else usual)
    bounds = history_bounds(layer.rows.firsts)
    heads, kv_heads = layer.config.heads, layer.config.kv_heads
    return lambda qkv: packed.packed_attention(qkv, layer.tables, bounds, heads, kv_heads)


def block_sparse(layer: Layer, block: int, tuned: bool = False) -> Attention:
    """torch's block-sparse attention."""
    from torch.nn.attention.flex_attention import flex_attention

    blocks = packed_blocks(layer.rows.firsts, block)

    def attend(qkv: Tensor) -> Tensor:
        grouped = layer.config.heads != layer.config.kv_heads
        found: Tensor = flex_attention(*layer.parts(qkv), block_mask=blocks, enable_gqa=grouped)
        return found.transpose(1, 2).flatten(-2)

    return torch.compile(attend, options={"max_autotune": True} if tuned else None)


def packed_blocks(firsts: Tensor, block: int) -> BlockMask:
    """Which blocks of keys each block of queries sees, where query q sees keys from `firsts[row, q]` to q.

    Asking that of every pair of ids, as torch does by itself, would cost a hundred times as much.
    """
    from torch.nn.attention.flex_attention import BlockMask

    rows, length = firsts.shape
    blocks = -(-length // block)
    padded = torch.cat((firsts, firsts[:, -1:].expand(-1, blocks * block - length)), dim=1)
    by_block = padded.view(rows, blocks, 1, block)
    lowest, highest = by_block.amin(dim=-1), by_block.amax(dim=-1)
    key = torch.arange(blocks, device=firsts.device)
    query = key[:, None]
    seen = (key <= query) & (key * block + block > lowest)
    whole = (key < query) & (key * block >= highest) & ((query + 1) * block <= length)

    def visible(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (key >= firsts[row, query])

    return BlockMask.from_kv_blocks(
        *_listed(seen & ~whole),
        *_listed(whole),
        BLOCK_SIZE=block,
        mask_mod=visible,
        seq_lengths=(length, length),
    )


def _listed(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """How many key blocks each query block has, and which: those first; (rows, 1, blocks[, blocks])."""
    order = torch.argsort(chosen.to(torch.int8), dim=-1, descending=True, stable=True)
    return chosen.sum(dim=-1, dtype=torch.int32)[:, None], order.to(torch.int32)[:, None]


class _Flash(torch.autograd.Function):
    """torch's flash attention over histories of any length, one after the other."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int) -> Tensor:
        out, sums, state, unused, _ = torch.ops.aten._flash_attention_forward(
            q, k, v, bounds, bounds, longest, longest, 0.0, True, False
        )
        ctx.save_for_backward(q, k, v, out, sums, bounds, state, unused)
        ctx.longest = longest
        return out  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        q, k, v, out, sums, bounds, state, unused = ctx.saved_tensors
        found = torch.ops.aten._flash_attention_backward(
            *(grads[0].contiguous(), q, k, v, out, sums, bounds, bounds),
            *(ctx.longest, ctx.longest, 0.0, True, state, unused),
        )
        return (*found, None, None)


def by_history(layer: Layer) -> Attention:
    """Flash attention, which is told where histories begin instead of a mask."""
    bounds = layer.rows.bounds()
    longest = int(layer.rows.positions.max()) + 1

    @torch.compile
    def flat(qkv: Tensor) -> list[Tensor]:
        return [part.transpose(1, 2).flatten(0, 1).contiguous() for part in layer.parts(qkv)]

    def attend(qkv: Tensor) -> Tensor:
        out: Tensor = _Flash.apply(*flat(qkv), bounds, longest)  # type: ignore[no-untyped-call]
        return out.view(*qkv.shape[:2], -1)

    return attend


# Measuring ---------------------------------------------------------------------------------------


def milliseconds(work: Callable[[], object]) -> float:
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    began, ended = (torch.Event("cuda", enable_timing=True) for _ in range(2))
    began.record()
    for _ in range(ROUNDS):
        work()
    ended.record()
    torch.cuda.synchronize()
    return float(began.elapsed_time(ended)) / ROUNDS


def same(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    """Whether two kernels agree, as far as bf16 does."""
    return all(
        float((one.float() - other.float()).norm() / other.float().norm()) < TOLERANCE
        for one, other in zip(found, expected, strict=True)
    )


def compare(rows: Rows, settings: Settings, tiles: bool = False) -> tuple[list[Timed], list[str]]:
    """The times of all candidates, and what is to be said of those that have none."""
    layer = Layer.of(preset(settings.model), rows)
    torch.manual_seed(0)
    qkv = layer.random()
    grad: Tensor | None = None
    timed: list[Timed] = []
    missing: list[str] = []
    expected: list[Tensor] = []
    for name, make in candidates(layer, tiles):
        torch.compiler.reset()
        try:
            attend = make()
            out = attend(qkv)
            grad = torch.randn_like(out) if grad is None else grad
            backward = partial(torch.autograd.grad, out, qkv, grad, retain_graph=True)
            found = [out, *backward()]
            expected = expected or [part.detach() for part in found]
            if not same(found, expected):
                missing.append(f"{name}: computes something else")
                continue
            times = milliseconds(partial(attend, qkv)), milliseconds(backward)
        except Exception as error:
            # What a GPU cannot do shows in many kinds of errors; here that is a finding.
            missing.append(f"{name}: {str(error).strip().splitlines()[-1][:120]}")
            continue
        timed.append(Timed(name, *times))
        print("{}: {:.3f} + {:.3f} ms".format(name, *times), file=sys.stderr, flush=True)
    return timed, missing


def table(timed: Sequence[Timed]) -> str:
    rows = [
        (
            entry.name,
            f"{entry.forward:.3f}",
            f"{entry.backward:.3f}",
            f"{entry.both:.3f}",
            f"{timed[0].both / entry.both:.2f}",
        )
        for entry in timed
    ]
    columns = ("", "forward, ms", "backward, ms", "together", "times as fast as the first")
    return Table(columns, tuple(rows)).markdown()


@dataclass(frozen=True, kw_only=True)
class AttentionOptions:
    """Of which training run the rows are."""

    data: Annotated[Path, Option("token shards")]
    preset: Annotated[str, Option("of the run", choices=tuple(PRESETS))] = "smol"
    mixture: Annotated[Path | None, Option("JSON file", default="the paper's recipe")] = None
    history: Annotated[int | None, Option("longest history of a sample, in ids")] = None
    rows: Annotated[int | None, Option("rows in a pass")] = None
    tiles: Annotated[bool, Option("our kernels with tiles of other sizes")] = False
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        AttentionOptions,
        run,
        arguments,
        prog="python -m benchmarks attention",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: AttentionOptions) -> None:
    if not torch.cuda.is_available():
        raise ReviserError("attention is measured on a GPU, and there is none here")
    settings = preset_settings(chosen.preset, history=chosen.history, rows=chosen.rows)
    rows = packed_rows(settings, chosen.data, chosen.mixture, torch.device("cuda"))
    timed, missing = compare(rows, settings, chosen.tiles)
    text = table(timed) + "".join(f"\n- Not measured: {entry}" for entry in missing)
    print(text)
    if chosen.write:
        ids, histories = rows.positions.numel(), len(rows.bounds()) - 1
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "attention", *chosen.words]),
            Torch=torch.__version__,
            Shape=dataclasses.asdict(preset(settings.model)),
            Rows=f"{ids:,} ids in {len(rows.positions)} rows, {histories:,} histories",
            Seed=settings.seed,
        )
        write_atomically(chosen.write, f"# Attention in training\n\n{facts}\n{text}\n".encode())
