"""The training loop: optimizer steps on batches, with measures and the state for resuming."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reviser.model import Reviser
from training.batches.packing import PackedRows
from training.trainer.distillation import AskedPlaces, BaseTeacher, plain_places
from training.trainer.loss import chunk_loss, summed_loss
from training.trainer.parallel import World, last_pass_syncs, share
from training.trainer.recording import RecordedObjective
from training.trainer.rounding import Rounding
from training.trainer.settings import Settings, learning_rate


class BatchSource(Protocol):
    """A source of batches; the same number always gives the same rows."""

    waited: float
    """Seconds that callers have spent waiting so far."""

    def batches(self, first: int) -> Iterator[PackedRows]:
        """Yields this process's share of each batch from number `first` on, without end."""


class Objective(RecordedObjective):
    """The model together with its loss, as one module whose forward pass is a training pass."""

    def __init__(self, model: Reviser, compiled: bool, teacher: BaseTeacher | None = None) -> None:
        """`teacher` adds the divergence from the base model to the loss."""
        super().__init__(model, model.blocks, model.hidden_packed)
        self.model = model
        # Not a part of what is trained, saved or shared.
        self._teacher = teacher
        if compiled:
            # One block compiled serves them all, in a small part of the time that the whole takes.
            for block in model.blocks:
                block.compile()
        self._of_chunk = chunk_loss(compiled)

    def trunk_inputs(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        ids, _, positions, *_ = inputs
        return ids, positions

    def forward(
        self,
        ids: Tensor,
        samples: Tensor,
        positions: Tensor,
        places: Tensor,
        targets: Tensor,
        kept: AskedPlaces | None = None,
    ) -> Tensor:
        """The summed loss of predicting `targets` at `places` of the flattened rows.

        At the positions `kept`, the divergence from the base is added. `samples` is for objectives that cannot
        separate samples by positions alone.
        """
        states = self.states(ids, positions).flatten(0, 1)
        table = self.model.embedding.weight if self.model.head is None else self.model.head.weight
        chosen = states.index_select(0, places)
        loss = summed_loss(chosen, table, targets, self._of_chunk)
        if kept is not None and self._teacher is not None:
            away = self._teacher.divergence(ids, positions, kept, states, table)
            loss = loss + self._teacher.weight * away
        return loss


@dataclass
class Progress:
    """The progress of a run; saved with every checkpoint."""

    step: int = 0
    seconds: float = 0.0
    actions: int = 0


StateDict = dict[str, Any]
"""What torch says of a module or of an optimizer."""


class TrainerState(TypedDict):
    """The state that a resumed run needs beside the model's weights; plain tensors and numbers."""

    progress: dict[str, float]
    optimizer: StateDict
    average: dict[str, Tensor] | None
    generators: dict[str, Tensor]


@dataclass(frozen=True)
class StepMeasures:
    """The measures of one optimizer step; reading the tensors waits for the device, so read them seldom."""

    summed_loss: Tensor
    gradient: Tensor
    rate: float
    actions: int
    targets: int


@dataclass
class Trainer:
    """One run of `settings` on `model`, as this process of the world."""

    settings: Settings
    model: Reviser
    source: BatchSource
    world: World
    progress: Progress = field(default_factory=Progress)
    moves: range = range(0)
    """The ids of moves, for settings that let the choices after them count more."""
    teacher: BaseTeacher | None = None
    """Holds the model to what its base knows, where a history is a plain text."""

    def __post_init__(self) -> None:
        settings, device = self.settings, self.world.device
        self.model.to(device).train()
        if self.teacher is not None:
            self.teacher.to(device, settings.compile)
        self.objective = self.make_objective()
        self.shared = share(self.objective, self.model.blocks, self.world)
        self.optimizer = make_optimizer(self.shared, settings, fused=device.type == "cuda")
        self.average = average_of(self.model) if settings.ema else None
        bits = settings.round_bits
        self.rounding = Rounding(self.model, 4 if bits == 4 else 8, compiled=settings.compile) if bits else None

    def make_objective(self) -> RecordedObjective:
        """The module whose forward pass is a training pass; subclasses for other models override this."""
        settings = self.settings
        return Objective(self.model, settings.compile, self.teacher)

    @property
    def done(self) -> float:
        """The share of the run that is over, 0 to 1."""
        if self.settings.steps is not None:
            return self.progress.step / self.settings.steps
        assert self.settings.minutes is not None
        return self.progress.seconds / (60 * self.settings.minutes)

    def steps(self) -> Iterator[StepMeasures]:
        """Trains until the run is over; yields the measures of each optimizer step."""
        per_step = self.settings.accumulate
        batches = self.source.batches(self.progress.step * per_step)
        if self.settings.compile:
            self._warm_up(next(self.source.batches(0)))
        clock = time.perf_counter()
        while self._goes_on():
            measured = self._step([next(batches) for _ in range(per_step)])
            now = time.perf_counter()
            self.progress.seconds += now - clock
            clock = now
            yield measured

    def _warm_up(self, batch: PackedRows) -> None:
        """Compiles the model before the clock starts; this pass changes neither weights nor random states."""
        device = self.world.device
        on_gpu = device.type == "cuda"
        with torch.random.fork_rng([device] if on_gpu else []), self._precision():
            inputs = inputs_of(batch, device)
            alone = on_gpu and self.world.kind == "none"
            if alone and not self.objective.recorded:
                shapes = self.objective.trunk_inputs(inputs)
                if shapes is not None:
                    self.objective.record(*shapes)
            self.shared(*inputs).backward()
            self.optimizer.zero_grad(set_to_none=True)
        self._forget_gradients()
        if self.rounding is not None:
            with self.rounding.applied():
                pass
        if on_gpu:
            torch.cuda.synchronize()

    def _forget_gradients(self) -> None:
        # A replayed pass writes its gradients where it wrote the last ones. Where several are to be added up,
        # that must not be where the sum is.
        adds = self.objective.recorded and self.settings.accumulate > 1
        self.optimizer.zero_grad(set_to_none=not adds)
        if adds:
            for weight in self.shared.parameters():
                if weight.grad is None:
                    weight.grad = torch.zeros_like(weight)

    def _goes_on(self) -> bool:
        # The processes' clocks differ; all of them stop when the leader's time is over.
        over = self.done >= 1
        return self.world.total(float(over and self.world.leads)) == 0

    def _step(self, batches: list[PackedRows]) -> StepMeasures:
        settings, device = self.settings, self.world.device
        rate = learning_rate(settings, self.progress.step, self.done)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        counts = [self._counts(batch) for batch in batches]
        kept = [self._kept(batch) for batch in batches]
        asked = sum(len(places.places) for places in kept if places is not None)
        targets = self.world.total(float(sum(count.sum() for count in counts) + asked))
        loss = torch.zeros((), device=device)
        with self.rounded():
            for number, (batch, count) in enumerate(zip(batches, counts, strict=True)):
                with last_pass_syncs(self.shared, number == len(batches) - 1), self._precision():
                    inputs = inputs_of(batch, device, count)
                    if (places := kept[number]) is not None:
                        inputs += (places,)
                    summed = self.shared(*inputs)
                    # Processes average their gradients, so each sum is scaled up by their number.
                    (summed * self.world.size / targets).backward()
                loss += summed.detach()
        alone = device.type == "cuda" and self.world.kind == "none"
        gradient = clip(self.optimizer, self.shared, settings.clip, divides=alone)
        self.optimizer.step()
        self._forget_gradients()
        self._update_average()
        self.progress.step += 1
        actions = sum(batch.ids.shape[0] * batch.ids.shape[1] for batch in batches) * self.world.size
        self.progress.actions += actions
        return StepMeasures(loss, gradient, rate, actions, int(targets))

    def _counts(self, batch: PackedRows) -> NDArray[np.int64]:
        """The weight in the loss of each id after the first of a row."""
        before = batch.ids[:, :-1]
        moved = (before >= self.moves.start) & (before < self.moves.stop)
        times = np.where(moved, self.settings.after_moves, 1).astype(np.int64)
        if self.teacher is not None:
            # There the base says what is wanted.
            times[plain_places(batch, self.teacher.base_size)] = 0
        return times * batch.mask[:, 1:]

    def _kept(self, batch: PackedRows) -> AskedPlaces | None:
        if self.teacher is None:
            return None
        plain = plain_places(batch, self.teacher.base_size)
        return self.teacher.choose(batch, plain, self.world.device)

    def mean_loss(self, measured: StepMeasures) -> float:
        """The mean loss of a step over all processes, all of which must call this."""
        return self.world.total(float(measured.summed_loss)) / measured.targets

    def _precision(self) -> AbstractContextManager[Any]:
        if self.settings.precision == "fp32":
            return nullcontext()
        # No weight is used twice in a pass, and what is recorded may keep no copies.
        kind = self.world.device.type
        return torch.autocast(kind, dtype=torch.bfloat16, cache_enabled=False)

    def rounded(self) -> AbstractContextManager[None]:
        """A context in which the weights are quantised, if that part of the run has begun."""
        if self.rounding is None or self.done < self.settings.round_from:
            return nullcontext()
        return self.rounding.applied()

    def _update_average(self) -> None:
        if self.average is None:
            return
        decay = min(self.settings.ema or 0.0, (1 + self.progress.step) / (10 + self.progress.step))
        with torch.no_grad():
            for name, new in self.model.named_parameters():
                self.average[name].lerp_(new, 1 - decay)

    @torch.no_grad()
    def evaluate(self, batches: list[PackedRows]) -> float:
        """The mean loss on held-out batches."""
        self.model.eval()
        summed, targets = 0.0, 0
        with self.rounded(), self._precision():
            for batch in batches:
                summed += float(self.shared(*inputs_of(batch, self.world.device)))
                targets += int(batch.mask[:, 1:].sum())
        self.model.train()
        return self.world.total(summed) / self.world.total(targets)

    def state(self) -> TrainerState:
        return {
            "progress": vars(self.progress).copy(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            "generators": self.generators(),
        }

    def generators(self) -> dict[str, Tensor]:
        """The states of this process's random generators."""
        states = {"cpu": torch.get_rng_state()}
        if self.world.device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(self.world.device)
        return states

    def restore_generators(self, states: dict[str, Tensor]) -> None:
        torch.set_rng_state(states["cpu"].cpu())
        if "cuda" in states and self.world.device.type == "cuda":
            torch.cuda.set_rng_state(states["cuda"].cpu(), self.world.device)

    def restore(self, state: TrainerState) -> None:
        saved: Mapping[str, Any] = state["progress"]
        self.progress = Progress(**saved)
        self.optimizer.load_state_dict(state["optimizer"])
        if self.average is not None and state["average"] is not None:
            for name, kept in self.average.items():
                kept.copy_(state["average"][name])
        self.restore_generators(state["generators"])


def inputs_of(batch: PackedRows, device: torch.device, counts: NDArray[np.int64] | None = None) -> tuple[Any, ...]:
    """The objective's inputs for a batch: rows, the flat positions whose next id counts, and the targets there.

    A position whose next id counts n times occurs n times.
    """
    length = batch.ids.shape[1]
    row, column = np.nonzero(batch.mask[:, 1:])
    if counts is not None:
        row, column = (np.repeat(part, counts[row, column]) for part in (row, column))
    parts = [
        batch.ids.astype(np.int64),
        batch.samples,
        batch.positions.astype(np.int64),
        row * length + column,
        batch.wanted[row, column + 1].astype(np.int64),
    ]
    tensors = (torch.from_numpy(np.ascontiguousarray(part)) for part in parts)
    if device.type == "cuda":
        tensors = (tensor.pin_memory() for tensor in tensors)
    return tuple(tensor.to(device, non_blocking=True) for tensor in tensors)


def make_optimizer(module: nn.Module, settings: Settings, *, fused: bool) -> torch.optim.AdamW:
    """AdamW with weight decay for matrices only, not for norms, biases and gates."""
    parameters = [p for p in module.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.peak_rate, betas=settings.betas, eps=settings.epsilon, fused=fused)


def clip(optimizer: torch.optim.Optimizer, module: nn.Module, most: float, *, divides: bool) -> Tensor:
    """Scales gradients so that their norm is at most `most`; returns the norm before.

    If the optimizer is fused and on one device, it is told to scale the gradients itself as it reads them.
    """
    if not divides:
        return nn.utils.clip_grad_norm_(module.parameters(), most)
    gradients = [weight.grad for weight in module.parameters() if weight.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    # What a GradScaler leaves here for optimizers that take it; torch does not declare it.
    optimizer.grad_scale = (norm / most).clamp(min=1.0)  # type: ignore[attr-defined]
    return norm


def average_of(model: Reviser) -> dict[str, Tensor]:
    """A copy of the weights for their running average; of sharded weights each process keeps its part."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


@contextmanager
def interruptible() -> Iterator[list[bool]]:
    """A context in which Ctrl-C ends the run after the current step; the yielded list is then non-empty."""
    asked: list[bool] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(True)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
