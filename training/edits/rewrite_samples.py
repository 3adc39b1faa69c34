"""Samples of rewriting: the baseline that is given an edit and writes the whole text anew, from left to right.

A history has the edit's parts one after the other, parted by the draft's marker: the text on the left, the
text on the right, the text before, and the text after, which is what counts in the loss, and Stop. They are the
samples of `training.edits.edit_samples` for a model that only inserts: the same edits in the same order, the same
ones shown finished. `rewriting_sample` is the readable reference; `Rewritings` makes the same, compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.data.corpus import Corpus
from training.data.randomness import Random, State, compiled, folded, key, share
from training.data.shards import PARTS
from training.edits.alignment import Tokens
from training.edits.edit_samples import (
    EDIT,
    PASS,
    Parts,
    edit_tokens,
    in_passes,
    names_of,
    neighbours,
    put,
)
from training.samples.generator import Histories
from training.samples.mixture import Mixture
from training.samples.obfuscation import Sample

# Beside the four parts: the start marker, the marker before each of the last three, and Stop.
MARKS = 5


def rewriting_prompt(
    vocabulary: Vocabulary, right: Sequence[int], draft: Sequence[int]
) -> list[int]:
    """What comes before the rewritten text, but for the start marker and the text on the left."""
    marker = vocabulary.draft_id
    return [marker, *right, marker, *draft, marker]


def rewriting_sample(vocabulary: Vocabulary, parts: Parts, name: int, mixture: Mixture) -> Sample:
    """The sample called `name` of an edit."""
    left, before, after, right = parts
    draft = after if Random(name).share() < mixture.unchanged else before
    room = mixture.max_history - MARKS - len(draft) - len(after)
    kept_left, kept_right = neighbours(len(left), len(right), room)
    shown = left[len(left) - kept_left :]
    prompt = rewriting_prompt(vocabulary, right[:kept_right], draft)
    given = [vocabulary.start_id, *shown, *prompt]
    written = [*after, vocabulary.stop_id]
    return Sample([*given, *written], [False] * len(given) + [True] * len(written))


_fitting = compiled(neighbours)


@compiled
def _make(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    chosen: NDArray[np.int64],
    names: State,
    unchanged: float,
    start: int,
    marker: int,
    stop: int,
    histories: Tokens,
    given: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> None:
    state = np.empty(1, dtype=np.uint64)
    for sample in range(chosen.size):
        first = PARTS * chosen[sample]
        left = tokens[offsets[first] : offsets[first + 1]]
        before = tokens[offsets[first + 1] : offsets[first + 2]]
        after = tokens[offsets[first + 2] : offsets[first + 3]]
        right = tokens[offsets[first + 3] : offsets[first + 4]]
        state[0] = folded(np.uint64(0), names[sample])
        draft = after if share(state) < unchanged else before
        history = histories[sample]
        room = history.size - MARKS - draft.size - after.size
        kept_left, kept_right = _fitting(left.size, right.size, room)
        history[0] = start
        at = put(left[left.size - kept_left :], history, 1)
        history[at] = marker
        at = put(right[:kept_right], history, at + 1)
        history[at] = marker
        at = put(draft, history, at + 1)
        history[at] = marker
        given[sample] = at + 1
        at = put(after, history, at + 1)
        history[at] = stop
        lengths[sample] = at + 1


class Rewritings:
    """Samples of rewriting from a corpus of edits."""

    def __init__(
        self, corpus: Corpus, vocabulary: Vocabulary, mixture: Mixture, seed: int = 0
    ) -> None:
        self.mixture = mixture
        self.seed = seed
        self._vocabulary = vocabulary
        self._tokens, self._offsets = edit_tokens(corpus, vocabulary)
        sizes = np.diff(self._offsets).reshape(-1, PARTS)
        longest = np.maximum(sizes[:, 1], sizes[:, 2])
        fits = MARKS + longest + sizes[:, 2] <= mixture.max_history
        self.usable = np.array(
            [edit for edit in np.flatnonzero(fits).tolist() if self._changes(edit)]
        )
        if not len(self.usable):
            raise ReviserError(f"no edit fits into a history of {mixture.max_history} ids")

    def _changes(self, edit: int) -> bool:
        before, after, end = self._offsets[PARTS * edit + 1 : PARTS * edit + 4]
        return not np.array_equal(self._tokens[before:after], self._tokens[after:end])

    def __len__(self) -> int:
        """How many edits fit into a history."""
        return len(self.usable)

    @property
    def start_id(self) -> int:
        return self._vocabulary.start_id

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        """Samples `first` to `last` of an epoch, which begins at number `start` of the stream."""
        vocabulary, width = self._vocabulary, self.mixture.max_history
        ids = np.full((last - first, width), vocabulary.start_id, dtype=np.int32)
        given, lengths = (np.zeros(last - first, dtype=np.int32) for _ in range(2))
        _make(
            self._tokens,
            self._offsets,
            in_passes(start + first, start + last, self.usable, np.uint64(key(self.seed, PASS))),
            names_of(first, last, np.uint64(key(self.seed, epoch, EDIT))),
            float(self.mixture.unchanged),
            vocabulary.start_id,
            vocabulary.draft_id,
            vocabulary.stop_id,
            ids,
            given,
            lengths,
        )
        places = np.arange(width, dtype=np.int32)
        counted = (places >= given[:, None]) & (places < lengths[:, None])
        return Histories(ids, counted, lengths, 0)
