"""Which attention is fastest over rows that hold several histories each: forward and backward, on a GPU.

    python -m benchmarks.attention --data SHARDS [--preset smol] [--mixture FILE] [--history 1024] [--write FILE]

Queries, keys and values are random; how long the histories are, and how they lie in rows, is that of a batch of
training. Every candidate is checked against the first, which is the one that training uses. A candidate that
this torch or this GPU does not have is named and left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.results import provenance
from benchmarks.tables import Table
from reviser.errors import ReviserError
from reviser.files import write_atomically
from reviser.model import preset
from reviser.model.cache import packed_blocks
from training.corpus import Corpus
from training.parallel import join_world
from training.run import loader_of, mixture_of
from training.samples import Samples
from training.settings import PRESETS, Settings, preset_settings

ROUNDS = 10
# How far two kernels may differ that compute the same in bf16.
TOLERANCE = 0.03

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


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

# Sizes of the tiles that a kernel works on, its warps and its stages, by the names that torch gives them.
_FORWARD = {
    "forward 128x64, 4 warps": (128, 64, 4, 3),
    "forward 128x128, 8 warps": (128, 128, 8, 2),
    "forward 64x64, 4 warps": (64, 64, 4, 3),
}
_BACKWARD = {
    "backward 64x64, 4 warps": (64, 64, 64, 64, 4, 3),
    "backward 32x64, 4 warps": (32, 64, 64, 32, 4, 3),
    "backward 64x128, 8 warps": (64, 128, 128, 64, 8, 2),
    "backward 64x128, 4 warps": (64, 128, 128, 64, 4, 3),
    "backward 32x128, 4 warps": (32, 128, 128, 32, 4, 3),
    "backward 128x128, 8 warps": (128, 128, 128, 128, 8, 2),
}


def _forward_options(m: int, n: int, warps: int, stages: int) -> dict[str, int]:
    return {
        "fwd_BLOCK_M": m,
        "fwd_BLOCK_N": n,
        "fwd_num_warps": warps,
        "fwd_num_stages": stages,
    }


def _backward_options(
    m1: int, n1: int, m2: int, n2: int, warps: int, stages: int
) -> dict[str, int]:
    return {
        "bwd_BLOCK_M1": m1,
        "bwd_BLOCK_N1": n1,
        "bwd_BLOCK_M2": m2,
        "bwd_BLOCK_N2": n2,
        "bwd_num_warps": warps,
        "bwd_num_stages": stages,
    }


def candidates(rows: Rows) -> Iterator[tuple[str, Callable[[], Attention]]]:
    """Name by name, what makes the attention; the one that training uses comes first."""
    yield "blocks of 128", partial(block_sparse, rows, 128, None)
    for name, sizes in _FORWARD.items():
        options = _forward_options(*sizes)
        yield f"blocks of 128, {name}", partial(block_sparse, rows, 128, options)
    for name, tiles in _BACKWARD.items():
        options = _backward_options(*tiles)
        yield f"blocks of 128, {name}", partial(block_sparse, rows, 128, options)
    # torch has sizes for smaller blocks only where it is told to try several.
    for block in (128, 64):
        yield f"blocks of {block}, tuned by torch", partial(block_sparse, rows, block, None, True)
    yield "each history alone", partial(by_history, rows)


def block_sparse(
    rows: Rows, block: int, options: dict[str, int] | None, tuned: bool = False
) -> Attention:
    from torch.nn.attention.flex_attention import flex_attention

    blocks = packed_blocks(rows.firsts, block)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        found: Tensor = flex_attention(
            q,
            k,
            v,
            block_mask=blocks,
            enable_gqa=q.shape[1] != k.shape[1],
            kernel_options=options,  # type: ignore[arg-type]
        )
        return found

    return torch.compile(attend, options={"max_autotune": True} if tuned else None)


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


def by_history(rows: Rows) -> Attention:
    """Flash attention, which is told where histories begin instead of a mask."""
    bounds = rows.bounds()
    longest = int(rows.positions.max()) + 1

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        flat = (part.transpose(1, 2).flatten(0, 1).contiguous() for part in (q, k, v))
        out: Tensor = _Flash.apply(*flat, bounds, longest)  # type: ignore[no-untyped-call]
        return out.view(q.shape[0], q.shape[2], *out.shape[1:]).transpose(1, 2)

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


def compare(rows: Rows, settings: Settings) -> tuple[list[Timed], list[str]]:
    """The times of all candidates, and what is to be said of those that have none."""
    config = preset(settings.model)
    device = rows.positions.device
    torch.manual_seed(0)

    def random(heads: int) -> Tensor:
        shape = (rows.positions.shape[0], heads, rows.positions.shape[1], config.head_dim)
        return torch.randn(shape, device=device, dtype=torch.bfloat16).requires_grad_()

    q, k, v = random(config.heads), random(config.kv_heads), random(config.kv_heads)
    grad = torch.randn_like(q)
    timed: list[Timed] = []
    missing: list[str] = []
    expected: list[Tensor] = []
    for name, make in candidates(rows):
        torch.compiler.reset()
        try:
            attend = make()
            out = attend(q, k, v)
            found = [out, *torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)]
            expected = expected or [part.detach() for part in found]
            if not same(found, expected):
                missing.append(f"{name}: computes something else")
                continue
            forward = milliseconds(partial(attend, q, k, v))
            backward = milliseconds(
                partial(torch.autograd.grad, out, (q, k, v), grad, retain_graph=True)
            )
        except Exception as error:
            # What a GPU cannot do shows in many kinds of errors; here that is a finding.
            missing.append(f"{name}: {str(error).strip().splitlines()[-1][:120]}")
            continue
        timed.append(Timed(name, forward, backward))
        print(f"{name}: {forward:.3f} + {backward:.3f} ms", file=sys.stderr, flush=True)
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


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attention", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="token shards")
    parser.add_argument("--preset", choices=PRESETS, default="smol")
    parser.add_argument("--mixture", type=Path, help="JSON file; by default the paper's recipe")
    parser.add_argument("--history", type=int, help="longest history of a sample, in ids")
    parser.add_argument("--rows", type=int, help="rows in a pass")
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file")
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(words)
    try:
        if not torch.cuda.is_available():
            raise ReviserError("attention is measured on a GPU, and there is none here")
        changes = {"history": chosen.history, "rows": chosen.rows}
        settings = preset_settings(chosen.preset, **changes)
        rows = packed_rows(settings, chosen.data, chosen.mixture, torch.device("cuda"))
    except ReviserError as error:
        print(f"attention: {error}", file=sys.stderr)
        return 2
    timed, missing = compare(rows, settings)
    text = table(timed) + "".join(f"\n- Not measured: {entry}" for entry in missing)
    print(text)
    if chosen.write:
        ids, histories = rows.positions.numel(), len(rows.bounds()) - 1
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks.attention", *words]),
            Torch=torch.__version__,
            Shape=dataclasses.asdict(preset(settings.model)),
            Rows=f"{ids:,} ids in {len(rows.positions)} rows, {histories:,} histories",
            Seed=settings.seed,
        )
        write_atomically(chosen.write, f"# Attention in training\n\n{facts}\n{text}\n".encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
