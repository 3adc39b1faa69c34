"""The batch scheduler: many runs of one model at once, continuing or filling in thousands of prompts, for benchmarks.

A rollout asks the model, the mask and the sampler in turn, on the host, for each action. Here one step of all rows is
the model, the mask, the draw and the edit, as tensors on the device, in shapes that never change: on a GPU it is
recorded once as a CUDA graph and replayed. The host looks at the rows now and then, takes out those that are finished
and puts waiting prompts in their places.

A canvas enters only by the five numbers that the mask needs: cursor, length, the two protected ends and the greatest
length. Its tokens follow from the ids, afterwards (`reviser.core.canvas.Canvas`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, Literal

import torch
from torch import Tensor

from reviser.core.counts import counted
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.sampling import GOLDEN, Sampling, choose, signed, uniform
from reviser.decoding.batch.validity import NEVER, Rules
from reviser.decoding.rollout import seed
from reviser.model import Reviser

# Steps between two looks of the host; a row that ends in between idles for the rest. Where runs take turns
# with somebody, rows end often: the host looks when they do on average, but a look costs some steps, too.
_STRIDE: Final = 32
_LEAST_STRIDE: Final = 4
# Attention reads this many slots, or twice, three times as many: one graph is recorded for each.
_WINDOW: Final = 128
# Ids that go through the model at once when prompts are read.
_PREFILL: Final = 1 << 16
Turns = Callable[[list[int], list[list[int]]], list[tuple[list[int], int]]]
"""The other participant, who acts between the turns of the model. It is called with runs and the ids that each chose in
its turn (none before its first). It returns for each run the ids that come after these, and the number of actions of
the model's next turn: 0 if the run is over."""


@dataclass(frozen=True, slots=True)
class GeneratedRun:
    """The ids that were chosen after a prompt, Stop included, and the reason why the run ended."""

    ids: list[int]
    ending: Literal["stop", "limit"]


def generate(
    model: Reviser,
    vocabulary: Vocabulary,
    prompts: Sequence[Sequence[int]],
    *,
    seeds: Sequence[int],
    suffixes: Sequence[Sequence[int]] | None = None,
    drafts: Sequence[Sequence[int]] | None = None,
    begun: Sequence[Sequence[int]] | None = None,
    sampling: Sampling | None = None,
    max_actions: int = 256,
    max_length: int | None = None,
    rows: int = 512,
    ends: Collection[int] = (),
    turns: Turns | None = None,
) -> list[GeneratedRun]:
    """Run the model after every prompt, before its suffix if there are any, `rows` runs at a time.

    `drafts`, one between each prompt and its suffix, are to be revised. `begun` are ids of actions that each run has
    already taken: they count as actions, and the run goes on after them.

    A run ends with Stop, and with any of the ids in `ends`. With `turns` the model chooses a few actions and then waits
    for others to act; the ids of a run are then those of both.

    Each prompt has a seed, and the random numbers for it depend on that alone: neither on the batch nor on its place
    among the prompts. (The model's rounding may differ with `rows`, as its kernels do: in half precision that can
    change a choice, so keep `rows` too where a run must be reproduced.) Prompt and actions together are at most as long
    as the model's context.
    """
    if model.config.uses_canvas:
        raise ReviserError("a model conditioned on the canvas decodes one run at a time")
    if suffixes is None:
        suffixes = [()] * len(prompts)
    given: Sequence[Sequence[int] | None] = [None] * len(prompts) if drafts is None else drafts
    taken = [()] * len(prompts) if begun is None else begun
    if not len(prompts) == len(seeds) == len(suffixes) == len(given) == len(taken):
        raise ReviserError("every prompt needs a seed, and a suffix and a draft if any has one")
    context = model.config.context
    starts = [
        _Start.of(vocabulary, prompt, suffix, draft, ids, number, max_length, max_actions, context)
        for prompt, suffix, draft, ids, number in zip(prompts, suffixes, given, taken, seeds, strict=True)
    ]
    if not starts:
        return []
    sampled = sampling or Sampling()
    batch = _Batch(model, vocabulary, starts, min(rows, len(starts)), sampled, ends, turns)
    if batch.stream is None:
        return batch.run()
    # Graphs are recorded on a stream of their own, and what they read is best written there too.
    batch.stream.wait_stream(torch.cuda.current_stream(batch.device))
    with torch.cuda.device(batch.device), torch.cuda.stream(batch.stream):
        return batch.run()


@dataclass(frozen=True, slots=True)
class _Start:
    """The start of a run: the history that seeds it, and the numbers of its canvas."""

    history: list[int]
    cursor: int
    length: int
    low: int
    suffix: int
    max_length: int
    limit: int
    seed: int

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        prompt: Sequence[int],
        suffix: Sequence[int],
        draft: Sequence[int] | None,
        begun: Sequence[int],
        number: int,
        max_length: int | None,
        max_actions: int,
        context: int,
    ) -> _Start:
        canvas, history = seed(vocabulary, prompt, suffix, draft=draft, max_length=max_length)
        for id in begun:
            canvas.apply(canvas.action(id))
        history += begun
        if len(history) > context:
            raise ReviserError(
                f"the model reads {counted(context, 'action')} at the most, and this history has {len(history)}"
            )
        return cls(
            history=history,
            cursor=canvas.cursor,
            length=canvas.length,
            low=canvas.low,
            suffix=canvas.suffix,
            max_length=NEVER if max_length is None else max_length,
            limit=max(min(max_actions - len(begun), context - len(history)), 0),
            seed=signed(number),
        )

    def after(self, ids: Sequence[int], actions: int, step: Sequence[int], growth: Sequence[int]) -> _Start:
        """The start of the next turn, `ids` later, in which the model may choose `actions` actions.

        `step` and `growth` are those of the rules, for each id.
        """
        return replace(
            self,
            history=[*self.history, *ids],
            cursor=self.cursor + sum(step[id] for id in ids),
            length=self.length + sum(growth[id] for id in ids),
            limit=actions,
            # The stream of random numbers goes on where it would be without turns.
            seed=signed(self.seed + len(ids) * GOLDEN),
        )


@dataclass(frozen=True)
class _BatchState:
    """The state of the runs on the device: row r of every tensor is row r of the cache.

    `last` is the id that is not in the cache yet and `position` its place there. Rows that are not `active` go through
    every step too and change nothing that is read again.
    """

    last: Tensor
    position: Tensor
    cursor: Tensor
    length: Tensor
    low: Tensor
    suffix: Tensor
    max_length: Tensor
    limit: Tensor
    seed: Tensor
    taken: Tensor
    active: Tensor
    stopped: Tensor
    stuck: Tensor
    ids: Tensor

    @classmethod
    def empty(cls, rows: int, actions: int, device: torch.device) -> _BatchState:
        # One place more than actions, where rows at their limit write what nobody reads.
        shapes = {"ids": (rows, actions + 1)}
        flags = ("active", "stopped", "stuck")
        return cls(
            **{
                field.name: torch.zeros(
                    shapes.get(field.name, (rows,)),
                    dtype=torch.bool if field.name in flags else torch.int64,
                    device=device,
                )
                for field in fields(cls)
            }
        )

    def tensors(self) -> list[Tensor]:
        return [getattr(self, field.name) for field in fields(self)]

    def first(self, rows: int) -> _BatchState:
        """The first `rows` rows, on the same memory."""
        return _BatchState(*(tensor[:rows] for tensor in self.tensors()))


class _Batch:
    """A model, its rows of runs, and the queue of waiting runs."""

    def __init__(
        self,
        model: Reviser,
        vocabulary: Vocabulary,
        starts: Sequence[_Start],
        rows: int,
        sampling: Sampling,
        ends: Collection[int],
        turns: Turns | None,
    ) -> None:
        self.device = model.cos.device
        on_gpu = self.device.type == "cuda"
        self.stream = torch.cuda.Stream(self.device) if on_gpu else None  # type: ignore[no-untyped-call]
        self._model = model.eval()
        self._starts = list(starts)
        self._ends = torch.zeros(vocabulary.size, dtype=torch.bool, device=self.device)
        self._last = frozenset((vocabulary.stop_id, *ends))
        self._ends[list(self._last)] = True
        self._rules = Rules.of(vocabulary, self.device)
        self._sampling = sampling
        self._moves = vocabulary.move_ids
        actions = max(start.limit for start in starts)
        longest = max(len(start.history) + start.limit for start in starts)
        capacity = min(-(-longest // _WINDOW) * _WINDOW, model.config.context)
        self._cache = model.new_cache(rows, capacity)
        self._state = _BatchState.empty(rows, actions, self.device)
        self._written = torch.zeros(len(starts), actions, dtype=torch.int32, device=self.device)
        self._rows = rows
        self._owners: list[int | None] = [None] * rows
        self._graphs: dict[tuple[int, int], torch.cuda.CUDAGraph] = {}
        # Rows filled together are padded to the longest, so that those of a length go together.
        by_length = sorted(range(len(starts)), key=lambda run: len(starts[run].history))
        self._waiting = [run for run in by_length if starts[run].limit > 0]
        self._endings: dict[int, tuple[int, Literal["stop", "limit"]]] = {}
        self._turns = turns
        # What runs that take turns have made so far, and how long their histories may become.
        self._made: list[list[int]] = [[] for _ in starts]
        self._room = [len(start.history) + start.limit for start in starts]
        # Lists: for the few ids of a turn the host is quicker with numbers than with tensors.
        self._effects = [rule.tolist() for rule in (self._rules.step, self._rules.growth)]

    @torch.no_grad()
    def run(self) -> list[GeneratedRun]:
        if self._turns is not None:
            every, self._waiting = self._waiting, []
            self._pass_on(self._turns, every, [[] for _ in every])
        furthest = self._refill()
        while furthest is not None:
            position, remaining = furthest
            steps = min(_STRIDE, remaining)
            window = -(-(position + steps) // _WINDOW) * _WINDOW
            self._advance(steps, min(window, self._cache.capacity))
            self._take_out_finished()
            furthest = self._refill()
        written = self._written.cpu().numpy()
        runs = []
        for number in range(len(self._starts)):
            taken, ending = self._endings.get(number, (0, "limit"))
            ids = written[number, :taken].tolist() if self._turns is None else self._made[number]
            runs.append(GeneratedRun(ids, ending))
        return runs

    def _pass_on(self, turns: Turns, runs: list[int], taken: list[list[int]]) -> None:
        """Let the other participant act in `runs`, in which the model took its turn, and queue those that go on."""
        for run, ids, (given, actions) in zip(runs, taken, turns(runs, taken), strict=True):
            self._made[run] += [*ids, *given]
            start = self._starts[run].after([*ids, *given], actions, *self._effects)
            room = self._room[run] - len(start.history)
            stopped = any(made[-1] in self._last for made in (ids, given) if made)
            if stopped or actions < 1 or room < 1:
                self._endings[run] = (0, "stop" if stopped else "limit")
            else:
                self._starts[run] = replace(start, limit=min(actions, room))
                self._waiting.append(run)

    def _refill(self) -> tuple[int, int] | None:
        """Give free rows to waiting runs; returns the furthest position and the most actions left, if any."""
        free = [row for row in range(self._rows) if self._owners[row] is None]
        count = min(len(free), len(self._waiting))
        if count:
            runs = [self._waiting.pop() for _ in range(count)]
            longest = max(len(self._starts[run].history) for run in runs)
            at_once = max(1, _PREFILL // longest)
            for start in range(0, count, at_once):
                part = slice(start, min(start + at_once, count))
                self._fill(free[part], runs[part])
        elif not self._waiting:
            self._close_ranks()
        return self._furthest()

    def _furthest(self) -> tuple[int, int] | None:
        state = self._state.first(self._rows)
        if not any(owner is not None for owner in self._owners):
            return None
        known = torch.stack((state.position, state.limit - state.taken))[:, state.active]
        position, remaining = known.amax(dim=1).tolist()
        if self._turns is not None:
            usual = int(known[1].double().mean().ceil())
            remaining = min(remaining, max(usual, _LEAST_STRIDE))
        return position, remaining

    def _fill(self, rows: Sequence[int], runs: Sequence[int]) -> None:
        """Read the histories of `runs` into the cache and set the rows' state to their starts."""
        starts = [self._starts[run] for run in runs]
        counts = [len(start.history) for start in starts]
        width = max(counts)
        padded = [start.history + [0] * (width - len(start.history)) for start in starts]
        fresh = self._model.new_cache(len(runs), width)
        self._model.hidden(torch.tensor(padded, device=self.device), cache=fresh, counts=counts)
        places = torch.tensor(rows, device=self.device)
        for whole, part in zip(self._cache.tensors(), fresh.tensors(), strict=True):
            whole[places, :, :width] = part
        state = self._state
        columns = {
            "last": [start.history[-1] for start in starts],
            # The last id goes through the model once more, now for its scores.
            "position": [count - 1 for count in counts],
            **{
                name: [getattr(start, name) for start in starts]
                for name in ("cursor", "length", "low", "suffix", "max_length", "limit", "seed")
            },
        }
        for name, values in columns.items():
            getattr(state, name)[places] = torch.tensor(values, device=self.device)
        state.taken[places] = 0
        state.stopped[places] = False
        state.stuck[places] = False
        state.active[places] = True
        for row, run in zip(rows, runs, strict=True):
            self._owners[row] = run

    def _take_out_finished(self) -> None:
        state = self._state.first(self._rows)
        seen = torch.stack((state.active, state.stopped, state.stuck, state.taken)).tolist()
        rows, runs = [], []
        for row, (active, stopped, stuck, taken) in enumerate(zip(*seen, strict=True)):
            run = self._owners[row]
            if stuck:
                raise InvalidAction("the policy gives no valid action any chance")
            if run is not None and not active:
                self._endings[run] = (taken, "stop" if stopped else "limit")
                self._owners[row] = None
                rows.append(row)
                runs.append(run)
        if rows:
            left = torch.tensor(rows, device=self.device)
            ids = self._state.ids[left, :-1].to(torch.int32)
            self._written[torch.tensor(runs, device=self.device)] = ids
            # An idle row still writes to the cache, which must not be beyond the next window.
            self._state.position[left] = 0
            if self._turns is not None:
                counts = (self._endings[run][0] for run in runs)
                taken = [made[:size] for made, size in zip(ids.tolist(), counts, strict=True)]
                self._pass_on(self._turns, runs, taken)

    def _close_ranks(self) -> None:
        """Move the last runs into a quarter (or a sixteenth) of the rows, and step only those."""
        taken = [row for row in range(self._rows) if self._owners[row] is not None]
        fewer = self._rows
        while 0 < 4 * len(taken) <= fewer:
            fewer //= 4
        if fewer == self._rows:
            return
        self._rows = fewer
        source = [row for row in taken if row >= self._rows]
        free = [row for row in range(self._rows) if self._owners[row] is None]
        for row, place in zip(source, free, strict=False):
            self._owners[place], self._owners[row] = self._owners[row], None
        if source:
            places, rows = (torch.tensor(some, device=self.device) for some in (free[: len(source)], source))
            for tensor in (*self._cache.tensors(), *self._state.tensors()):
                tensor[places] = tensor[rows]
        self._owners = self._owners[: self._rows]

    def _advance(self, steps: int, window: int) -> None:
        for _ in range(steps):
            if self.stream is None:
                self._step(window)
            elif graph := self._graphs.get((self._rows, window)):
                graph.replay()
            else:
                # Libraries set themselves up in the first step of a kind, which must not be recorded.
                self._step(window)
                self._graphs[self._rows, window] = self._record(window)

    def _record(self, window: int) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        shared = next(iter(self._graphs.values())).pool() if self._graphs else None
        with torch.cuda.graph(graph, pool=shared, stream=self.stream):
            self._step(window)
        return graph

    def _step(self, window: int) -> None:
        """One action of every row; nothing here waits for the device or reads from it."""
        state = self._state.first(self._rows)
        cache = self._cache.first(self._rows, window)
        logits = self._model.decode_static(state.last, state.position, cache)
        valid = self._rules.valid(
            state.cursor - state.low, state.length - state.suffix - state.cursor, state.max_length - state.length
        )
        drawn = uniform(state.seed, state.taken)
        picked, possible = choose(logits, valid, drawn, state.last, self._sampling, self._moves)
        state.stuck.logical_or_(state.active & ~possible)
        state.ids.scatter_(1, state.taken[:, None], picked[:, None])
        active = state.active.to(torch.int64)
        state.cursor.add_(self._rules.step[picked] * active)
        state.length.add_(self._rules.growth[picked] * active)
        state.position.add_(active)
        state.taken.add_(active)
        state.last.copy_(torch.where(state.active, picked, state.last))
        state.stopped.logical_or_(state.active & self._ends[picked])
        state.active.logical_and_(~state.stopped & (state.taken < state.limit))
