"""Drawing of an id from scores: by the library in one call, or in numpy."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from reviser.native import library as native


def top_k_in_numpy(
    scores: NDArray[np.float32], allowed: NDArray[np.bool_], count: int, temperature: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` highest-scored ids that are allowed, and their probabilities among themselves.

    Highest first, of equal ones the lower id first. Scores of minus infinity are left out, so there may be fewer.
    """
    masked = np.where(allowed, scores, -np.inf)
    candidates = np.flatnonzero(masked > -np.inf)
    if count < len(candidates):
        floor = np.partition(masked[candidates], -count)[-count]
        candidates = candidates[masked[candidates] >= floor]
    ids = candidates[np.argsort(-masked[candidates], kind="stable")[:count]]
    logits = scores[ids].astype(np.float64)
    with np.errstate(invalid="ignore"):  # where a score is infinite
        powers = np.exp((logits - logits[:1]) / temperature)
    return ids, powers / powers.sum()


RANKED: Final = np.dtype([("id", np.int64), ("probability", np.float64)])
"""An id with its probability, as the library has them."""

Drawn = tuple[int, float, bytes]
"""An id, its probability, and all candidates, likeliest first, in the layout of `RANKED`."""

_RANKED_BYTES: Final = RANKED.itemsize


@dataclass(frozen=True, slots=True)
class DrawingRule:
    """The settings of a draw: from the `count` highest scores (None: all), at a temperature above 0, cut by top-p and
    min-p.

    The probabilities of `moves` are raised to `power`; see `with_sharper_moves`.
    """

    count: int | None = None
    temperature: float = 1.0
    top_p: float = 1.0
    min_p: float = 0.0
    moves: range = range(0)
    power: float = 1.0
    odds: float = 1.0


class Chooser(Protocol):
    """Draws ids by a rule."""

    def choose(
        self, scores: NDArray[np.float32], allowed: NDArray[np.bool_], moving: bool, drawn: float
    ) -> Drawn | None:
        """Draw one of the allowed ids by a number in [0, 1); None if none has a probability above 0, or a score is
        infinite.

        Of equal scores the lower id comes first. `moving` says that the last action was a move.
        """


def make_chooser(rule: DrawingRule) -> Chooser:
    """The fastest chooser on this machine."""
    loaded = native.library()
    return NumpyChooser(rule) if loaded is None else NativeChooser(rule, loaded)


def certain(id: int) -> bytes:
    """A list of candidates that has one, with probability 1."""
    return struct.pack("=qd", id, 1.0)


class NativeChooser:
    """A chooser that draws in the library.

    Asking an array for its address takes longer than most of a draw, so addresses are cached.
    """

    def __init__(self, rule: DrawingRule, loaded: ctypes.CDLL) -> None:
        self._choose = loaded.reviser_choose
        self._count = rule.count
        self._choosing = native.ChoosingStruct(
            temperature=rule.temperature,
            top_p=rule.top_p,
            min_p=rule.min_p,
            power=rule.power,
            odds=rule.odds,
            first_move=rule.moves.start,
            end_of_moves=rule.moves.stop,
        )
        self._choosing_at = ctypes.addressof(self._choosing)
        self._picked = self._choosing.picked
        self._scores: NDArray[np.float32] | None = None
        self._allowed: NDArray[np.bool_] | None = None
        # A run has few masks, which come again and again; scores are mostly in one array, or in that of the rules
        # that have changed them.
        self._all_scores = _Addresses(np.dtype(np.float32), 4)
        self._masks = _Addresses(np.dtype(np.bool_), 64)

    def choose(
        self, scores: NDArray[np.float32], allowed: NDArray[np.bool_], moving: bool, drawn: float
    ) -> Drawn | None:
        if scores is not self._scores or allowed is not self._allowed:
            self._take(scores, allowed)
        found = self._choose(self._choosing_at, moving, drawn)
        if not found:
            return None
        picked = self._picked
        return picked.id, picked.value, self._ranking[: found * _RANKED_BYTES].tobytes()

    def _take(self, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        _check(scores, allowed)
        self._scores, self._choosing.scores = self._all_scores.find(scores)
        self._allowed, self._choosing.allowed = self._masks.find(allowed)
        if len(scores) != self._choosing.count:
            self._choosing.count = len(scores)
            self._make_room(len(scores) if self._count is None else min(self._count, len(scores)))

    def _make_room(self, wanted: int) -> None:
        candidates = (ctypes.c_char * (wanted * _RANKED_BYTES))()
        self._ranking = memoryview(candidates)
        self._choosing.wanted = wanted
        self._choosing.candidates = ctypes.addressof(candidates)


class _Addresses:
    """A cache of the addresses of a few arrays, which are kept alive with them."""

    def __init__(self, kind: np.dtype[Any], most: int) -> None:
        self._kind = kind
        self._most = most
        self._known: dict[int, tuple[NDArray[Any], int]] = {}

    def find(self, array: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """An array that the library can read, and its address."""
        found = self._known.get(id(array))
        if found is None:
            if len(self._known) == self._most:
                self._known.clear()
            readable = np.ascontiguousarray(array, dtype=self._kind)
            found = readable, readable.ctypes.data
            # Kept under its own number, which no other array has as long as it is kept: a copy is not found by what
            # it was made of.
            self._known[id(readable)] = found
        return found


class NumpyChooser:
    """A chooser that draws in numpy."""

    def __init__(self, rule: DrawingRule) -> None:
        self._rule = rule

    def choose(
        self, scores: NDArray[np.float32], allowed: NDArray[np.bool_], moving: bool, drawn: float
    ) -> Drawn | None:
        _check(scores, allowed)
        rule = self._rule
        count = len(scores) if rule.count is None else rule.count
        ids, probabilities = top_k_in_numpy(scores, allowed, count, rule.temperature)
        if not len(ids) or not np.isfinite(scores[ids[0]]):
            return None
        if rule.top_p < 1 or rule.min_p > 0:
            keep = self._cut(probabilities)
            ids, probabilities = ids[:keep], probabilities[:keep]
            probabilities /= probabilities.sum()
        falling = probabilities
        probabilities = with_sharper_moves(ids, probabilities, rule.moves, rule.power, moving, rule.odds)
        picked = _draw(probabilities, drawn)
        id, probability = int(ids[picked]), float(probabilities[picked])
        if probabilities is not falling:
            order = np.argsort(-probabilities, kind="stable")
            ids, probabilities = ids[order], probabilities[order]
        ranking = np.empty(len(ids), dtype=RANKED)
        ranking["id"], ranking["probability"] = ids, probabilities
        return id, probability, ranking.tobytes()

    def _cut(self, probabilities: NDArray[np.float64]) -> int:
        """The number of probabilities, in falling order, that top-p and min-p keep; at least one."""
        rule, keep = self._rule, len(probabilities)
        if rule.top_p < 1:
            keep = min(keep, int(np.searchsorted(np.cumsum(probabilities), rule.top_p)) + 1)
        if rule.min_p > 0:
            keep = min(keep, int((probabilities >= rule.min_p * probabilities[0]).sum()))
        return max(keep, 1)


def with_sharper_moves(
    candidates: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    moves: range,
    power: float,
    moving: bool,
    odds: float = 1.0,
) -> NDArray[np.float64]:
    """The probabilities, with those of moves raised to a power.

    The odds of any move become `odds` times what they were. After a move (`moving`) they are not kept: all other
    actions together then count as one more choice among the moves, and keep their proportions.
    """
    # Moves are the last ids or nearly so, and mostly none of them is likely.
    if candidates.max(initial=-1) < moves.start:
        return probabilities
    going = (candidates >= moves.start) & (candidates < moves.stop)
    of_moves = np.where(going, probabilities, 0.0)
    highest = of_moves.max(initial=0.0)
    if highest == 0:
        return probabilities
    sharper: NDArray[np.float64]
    if not moving:
        raised = (of_moves / highest) ** power
        # Where there is nothing but moves, one is made whatever its odds are.
        together = 1.0 if going.all() else float(of_moves.sum())
        wanted = odds * together / (1 + (odds - 1) * together) if together < 1 else 1.0
        others = (1 - wanted) / (1 - together) if together < 1 else 1.0
        sharper = np.where(going, raised * (wanted / raised.sum()), probabilities * others)
        return sharper
    staying = float(probabilities[~going].sum())
    # Divided by the largest first, since high powers of small numbers are 0.
    largest = max(highest, staying)
    raised, stays = (of_moves / largest) ** power, (staying / largest) ** power
    others = stays / staying if staying > 0 else 0.0
    sharper = np.where(going, raised, probabilities * others)
    sharper /= raised.sum() + stays
    return sharper


def _draw(probabilities: NDArray[np.float64], drawn: float) -> int:
    """The index at which the cumulative probability passes `drawn`."""
    # The likeliest come first, so few are added, and faster one by one than all by numpy.
    for place, probability in enumerate(probabilities.tolist()):
        drawn -= probability
        if drawn < 0:
            return place
    return len(probabilities) - 1


def _check(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
    if scores.shape != allowed.shape or scores.ndim != 1:
        raise ValueError("Each score needs a mark of whether it is allowed.")
