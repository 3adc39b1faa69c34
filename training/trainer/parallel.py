"""Distributed training: the processes of a run, and how they share a model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch._C._distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from reviser.core.errors import ReviserError

# Process groups live as long as the process. Otherwise DDP's reducer, which a trainer holds, may be the last that
# refers to its group. It would then end the group's threads and hold Python's lock while it waits for them; a thread
# that needs that lock to give back a tensor never ends.
_GROUPS: list[dist.ProcessGroup | None] = []


@dataclass(frozen=True)
class World:
    """The processes of a run; `torchrun` starts several and sets their environment."""

    rank: int
    size: int
    device: torch.device
    kind: str

    @property
    def leads(self) -> bool:
        """Whether this is the leading process, which writes files and prints."""
        return self.rank == 0

    def total(self, value: float) -> float:
        """The sum of a number over all processes."""
        if self.size == 1:
            return value
        summed = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(summed)
        return float(summed)

    def broadcast(self, text: str) -> str:
        """Broadcasts the leader's text; the other processes' arguments are ignored."""
        if self.size == 1:
            return text
        said = [text]
        dist.broadcast_object_list(said, src=0)
        return said[0]

    def wait(self) -> None:
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_world(kind: str) -> Iterator[World]:
    """Joins the run that `torchrun` started; without one, the world is a single process."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size > 1 and kind == "none":
        raise ReviserError("several processes were started; choose --parallel ddp or fsdp")
    rank, local = int(os.environ.get("RANK", "0")), int(os.environ.get("LOCAL_RANK", "0"))
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    if size == 1:
        yield World(0, 1, device, "none")
        return
    store, rank, size = next(rendezvous("env://"))
    if os.environ.get("GROUP_WORLD_SIZE") == "1":
        # The agent on this machine keeps its store from one restart to the next, and with it the addresses of processes
        # that are gone. (Agents of several machines count restarts apart: see docs/training.md.)
        store = PrefixStore(f"start {os.environ.get('TORCHELASTIC_RESTART_COUNT')}", store)
    kind_of_links = "nccl" if cuda else "gloo"
    dist.init_process_group(kind_of_links, store=store, rank=rank, world_size=size)
    _GROUPS.append(dist.group.WORLD)
    try:
        yield World(rank, size, device, kind)
    finally:
        dist.destroy_process_group()


def share(module: nn.Module, blocks: nn.ModuleList, world: World) -> nn.Module:
    """`module` distributed over the processes: replicated (DDP) or sharded (FSDP2)."""
    if world.kind == "ddp":
        devices = [world.device.index] if world.device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(module, device_ids=devices)
    if world.kind == "fsdp":
        from torch.distributed.fsdp import fully_shard

        for block in blocks:
            fully_shard(block)
        fully_shard(module)
    return module


@contextmanager
def last_pass_syncs(module: nn.Module, last: bool) -> Iterator[None]:
    """A context that synchronises gradients only in the last pass of an optimizer step."""
    if isinstance(module, nn.parallel.DistributedDataParallel) and not last:
        with module.no_sync():
            yield
    else:
        yield
