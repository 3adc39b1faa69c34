"""Episodes of a model on real edits, and the training samples they give."""

from __future__ import annotations

import copy
import io
from pathlib import Path

import numpy as np
import torch

from reviser.core.errors import ReviserError
from reviser.core.files import read_bytes, write_atomically
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.sampling import GREEDY
from reviser.decoding.batch.scheduler import generate
from reviser.model import Reviser
from training.dagger.oracle import Episodes
from training.data.randomness import key
from training.edits.edit_samples import Revisions, in_passes
from training.samples.histories import Histories

_VISITED = 8
_ARRAYS = ("ids", "counted", "lengths", "targets")


def acting_copy(model: Reviser) -> Reviser:
    """A copy of a model in training that generates episodes; in half precision on a GPU."""
    acting = copy.deepcopy(model).eval().requires_grad_(False)
    return acting.to(torch.bfloat16) if model.cos.device.type == "cuda" else acting


def roll_out(model: Reviser, vocabulary: Vocabulary, episodes: Episodes, rows: int) -> None:
    """Runs all episodes to their end: the model acts greedily, and the oracle where it is its turn."""
    starts = [episodes.start(number) for number in range(len(episodes))]
    lefts, drafts, rights = ([start[part] for start in starts] for part in range(3))
    generate(
        model,
        vocabulary,
        lefts,
        # A greedy policy draws nothing.
        seeds=[0] * len(episodes),
        drafts=drafts,
        suffixes=rights,
        sampling=GREEDY,
        max_actions=episodes.most_actions,
        rows=rows,
        turns=episodes.go_on,
    )


def save_visited(path: Path, histories: Histories) -> None:
    """Writes finished episodes to a file."""
    data = io.BytesIO()
    kept = {name: getattr(histories, name) for name in _ARRAYS}
    np.savez_compressed(data, **kept)
    write_atomically(path, data.getvalue())


def load_visited(path: Path) -> Histories:
    """The episodes of a file that `save_visited` wrote."""
    try:
        with np.load(io.BytesIO(read_bytes(path))) as data:
            return Histories(fallbacks=0, **{name: data[name] for name in _ARRAYS})
    except (ValueError, KeyError, OSError, EOFError):
        raise ReviserError(f"{path} does not hold episodes, or is damaged") from None


class VisitedEdits:
    """A sample source of episodes; each occurs once in every pass."""

    def __init__(self, revisions: Revisions, visited: Histories) -> None:
        self.start_id = revisions.start_id
        self._name = np.uint64(key(revisions.seed, _VISITED))
        self._visited = visited

    def __len__(self) -> int:
        return len(self._visited)

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        return self._visited.taken(in_passes(start + first, start + last, np.arange(len(self)), self._name))
