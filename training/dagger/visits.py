"""Episodes of a model on real edits, and the training samples they give."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.files import read_bytes, write_atomically
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.sampling import Sampling
from reviser.decoding.batch.scheduler import generate
from reviser.model import Reviser
from training.dagger.oracle import Episodes
from training.data.randomness import key
from training.edits.alignment import Tokens
from training.edits.edit_samples import Revisions, in_passes
from training.samples.histories import Histories

_DRAWN, _VISITED = 7, 8


def acting_copy(model: Reviser) -> Reviser:
    """A copy of a model in training that generates episodes; in half precision on a GPU."""
    acting = copy.deepcopy(model).eval().requires_grad_(False)
    return acting.to(torch.bfloat16) if model.cos.device.type == "cuda" else acting


def roll_out(
    model: Reviser, vocabulary: Vocabulary, episodes: Episodes, *, temperature: float, rows: int, seed: int = 0
) -> None:
    """Runs all episodes to their end: the model acts, and the oracle where it is its turn."""
    starts = [episodes.start(number) for number in range(len(episodes))]
    generate(
        model,
        vocabulary,
        [left for left, _, _ in starts],
        seeds=[key(seed, _DRAWN, number) for number in range(len(episodes))],
        drafts=[draft for _, draft, _ in starts],
        suffixes=[right for _, _, right in starts],
        sampling=Sampling(temperature, top_k=None),
        max_actions=episodes.most_actions,
        rows=rows,
        turns=episodes.go_on,
    )


@dataclass(frozen=True)
class Visited:
    """Episodes as flat arrays: concatenated ids and labels, and for each episode its length and number of given ids."""

    ids: Tokens
    labels: Tokens
    lengths: NDArray[np.int32]
    given: NDArray[np.int32]

    @classmethod
    def of(cls, histories: Histories) -> Visited:
        inside = np.arange(histories.ids.shape[1]) < histories.lengths[:, None]
        labels = histories.ids if histories.targets is None else histories.targets
        given = histories.counted.argmax(1).astype(np.int32)
        return cls(histories.ids[inside], labels[inside], histories.lengths, given)

    @classmethod
    def joined(cls, parts: Sequence[Visited]) -> Visited:
        names = ("ids", "labels", "lengths", "given")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.lengths)

    def save(self, path: Path) -> None:
        data = io.BytesIO()
        np.savez_compressed(data, **vars(self))
        write_atomically(path, data.getvalue())

    @classmethod
    def load(cls, path: Path) -> Visited:
        try:
            with np.load(io.BytesIO(read_bytes(path))) as data:
                return cls(*(data[name] for name in ("ids", "labels", "lengths", "given")))
        except (ValueError, KeyError, OSError, EOFError):
            raise ReviserError(f"{path} does not hold episodes, or is damaged") from None

    def histories(self, chosen: NDArray[np.int64], width: int, padding: int) -> Histories:
        """The chosen episodes as samples; the loss counts every action after the given ids, by its label."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        lengths = self.lengths[chosen]
        places = np.arange(width)
        inside = places < lengths[:, None]
        source = (ends[chosen] - lengths)[:, None] + places
        ids = np.where(inside, self.ids[np.where(inside, source, 0)], np.int32(padding))
        labels = np.where(inside, self.labels[np.where(inside, source, 0)], np.int32(padding))
        counted = inside & (places >= self.given[chosen][:, None])
        return Histories(ids, counted, lengths, 0, labels)


class VisitedEdits:
    """A sample source of episodes; each occurs once in every pass."""

    def __init__(self, revisions: Revisions, visited: Visited) -> None:
        self.start_id = revisions.start_id
        self._width = revisions.mixture.max_history
        self._name = np.uint64(key(revisions.seed, _VISITED))
        self._visited = visited

    def __len__(self) -> int:
        return len(self._visited)

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        chosen = in_passes(start + first, start + last, np.arange(len(self)), self._name)
        return self._visited.histories(chosen, self._width, self.start_id)
