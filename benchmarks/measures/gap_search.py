"""The search of `reviser infill` for the best filling, for many gaps at once with torch.

The decisions are those of `reviser.decoding.filling`, and the guidance that of `reviser.decoding.guidance`. Only who writes and reads
differs: here all searches that wait for the model are answered together. Fillings are written from left to right, without steps back and
without the rules against repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reviser.checkpoints.home import Checkpoint
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.random_numbers import signed, uniform
from reviser.decoding.batch.sampling import Sampling, draw
from reviser.decoding.batch.validity import Rules
from reviser.decoding.filling import (
    Answer,
    Filling,
    FillingSearch,
    Read,
    Search,
    Surroundings,
    Write,
)
from reviser.decoding.guidance import GUIDANCE, MOST, PLAUSIBLE
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Choice
from reviser.model import Reviser

# Ids that go through the model at once when texts are read.
_READ = 1 << 15


@dataclass
class _Gap:
    """A gap whose filling is being searched."""

    canvas: Canvas
    history: list[int]
    around: Surroundings
    search: Search
    seed: int
    asked: Write | Read | None = None
    found: Filling | None = None
    written: int = 0

    def send(self, answer: Answer | None) -> None:
        """Let the search go on until it asks again or is over."""
        try:
            self.asked = next(self.search) if answer is None else self.search.send(answer)
        except StopIteration as over:
            self.asked, self.found = None, over.value


def search_fillings(
    checkpoint: Checkpoint,
    gaps: Sequence[tuple[Sequence[int], Sequence[int]]],
    seeds: Sequence[int],
    *,
    tries: int,
    max_actions: int,
    sampling: Sampling,
    rows: int,
) -> list[Filling]:
    """The best filling of each gap, given by what stands before and behind it, `rows` at a time."""
    model, vocabulary = checkpoint.model.eval(), checkpoint.vocabulary
    found: list[Filling] = []
    for at in range(0, len(gaps), rows):
        some: list[_Gap] = []
        for (prefix, suffix), number in zip(
            gaps[at : at + rows], seeds[at : at + rows], strict=True
        ):
            canvas, history = seed(vocabulary, prefix, suffix)
            around = Surroundings.of(canvas, model.config.context)
            allowed = min(max_actions, model.config.context - len(history))
            search = FillingSearch(canvas, around, tries, allowed).run()
            some.append(_Gap(canvas, history, around, search, number))
        _answer_all(model, vocabulary, some, sampling)
        found += [gap.found for gap in some if gap.found is not None]
    return found


@torch.inference_mode()
def _answer_all(
    model: Reviser, vocabulary: Vocabulary, gaps: Sequence[_Gap], sampling: Sampling
) -> None:
    for gap in gaps:
        gap.send(None)
    while True:
        # Those that wait for a text to be read come first, so that the others write together.
        if reading := [gap for gap in gaps if isinstance(gap.asked, Read)]:
            asked = [gap.asked for gap in reading if isinstance(gap.asked, Read)]
            for gap, chances in zip(reading, read(model, asked), strict=True):
                gap.send(Answer(chances=chances))
        elif writing := [gap for gap in gaps if isinstance(gap.asked, Write)]:
            for gap, ids in zip(writing, _write(model, vocabulary, writing, sampling), strict=True):
                gap.written += len(ids)
                gap.send(Answer(choices=[Choice.certain(id) for id in ids]))
        else:
            return


def read(model: Reviser, asked: Sequence[Read]) -> list[list[float]]:
    """What each asks for, in its order."""
    order = sorted(range(len(asked)), key=lambda number: len(asked[number].ids))
    found: dict[int, list[float]] = {}
    for numbers in _batches(order, [len(one.ids) for one in asked]):
        width = max(len(asked[number].ids) for number in numbers)
        padded = [
            [*asked[number].ids] + [0] * (width - len(asked[number].ids)) for number in numbers
        ]
        batch = torch.tensor(padded, device=model.cos.device)
        hidden = model.hidden(batch)
        for row, number in enumerate(numbers):
            one = asked[number]
            end = len(one.ids) if one.token is not None else len(one.ids) - 1
            chances = model.logits(hidden[row, end - one.last : end]).float().log_softmax(-1)
            if one.token is not None:
                found[number] = chances[:, one.token].tolist()
            else:
                wanted = batch[row, len(one.ids) - one.last : len(one.ids), None]
                found[number] = chances.gather(1, wanted)[:, 0].tolist()
    return [found[number] for number in range(len(asked))]


def _batches(order: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Numbers in order, as many together as can be read at once."""
    some: list[int] = []
    for number in order:
        if some and (len(some) + 1) * sizes[number] > _READ:
            yield some
            some = []
        some.append(number)
    if some:
        yield some


def _write(
    model: Reviser, vocabulary: Vocabulary, gaps: Sequence[_Gap], sampling: Sampling
) -> list[list[int]]:
    """The next ids of each run, as many as it asks for or up to Stop."""
    device = model.cos.device
    begun = [
        [choice.id for choice in gap.asked.begun] if isinstance(gap.asked, Write) else []
        for gap in gaps
    ]
    counts = [gap.asked.count if isinstance(gap.asked, Write) else 0 for gap in gaps]
    seeing = _Rows(model, [gap.history + ids for gap, ids in zip(gaps, begun, strict=True)])
    # Nothing but inserts was written, so the ids are the text.
    unseeing = _Rows(model, [gap.around.before + ids for gap, ids in zip(gaps, begun, strict=True)])
    nothing = torch.zeros(len(gaps), dtype=torch.int64, device=device)
    # Neither moves nor deletions are valid where nothing stands beside the cursor.
    valid = Rules.of(vocabulary, device).valid(nothing, nothing, nothing + (1 << 20))
    streams = torch.tensor([signed(gap.seed) for gap in gaps], device=device)
    taken = torch.tensor([gap.written for gap in gaps], device=device)
    written: list[list[int]] = [[] for _ in gaps]
    active = [True] * len(gaps)
    while True:
        scores = guided(seeing.logits, unseeing.logits, vocabulary.base_size)
        scores = scores.masked_fill(~valid, -torch.inf)
        picked, _ = draw(scores, uniform(streams, taken), sampling)
        for row, id in enumerate(picked.tolist()):
            if active[row]:
                written[row].append(id)
                active[row] = id != vocabulary.stop_id and len(written[row]) < counts[row]
        if not any(active):
            return written
        taken += 1
        # Rows that are over go on with anything; nobody looks at it.
        going = picked.where(picked < vocabulary.base_size, 0)
        seeing.step(going)
        unseeing.step(going)


class _Rows:
    """Histories that a model reads together, one id more at a time."""

    def __init__(self, model: Reviser, histories: Sequence[Sequence[int]]) -> None:
        self._model = model
        counts = [len(ids) for ids in histories]
        width = max(counts)
        padded = [[*ids] + [0] * (width - len(ids)) for ids in histories]
        self._cache = model.new_cache(len(counts), min(width + 64, model.config.context))
        batch = torch.tensor(padded, device=model.cos.device)
        self.logits: Tensor = model.prefill(batch, self._cache, counts=counts)

    def step(self, ids: Tensor) -> None:
        self.logits = self._model.decode(ids, self._cache)


def guided(seeing: Tensor, unseeing: Tensor, tokens: int) -> Tensor:
    """`reviser.decoding.guidance.guided_scores` for rows; the first `tokens` ids are guided."""
    scores = seeing.float().clone()
    of_tokens = scores[:, :tokens]
    shares = of_tokens.log_softmax(-1)
    difference = shares - unseeing.float().log_softmax(-1)[:, :tokens]
    made = shares + GUIDANCE * difference.clamp(-MOST, MOST)
    made.masked_fill_(shares < shares.amax(1, keepdim=True) - PLAUSIBLE, -torch.inf)
    made += of_tokens.logsumexp(1, keepdim=True) - made.logsumexp(1, keepdim=True)
    scores[:, :tokens] = made
    return scores
