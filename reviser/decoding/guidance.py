"""Guidance of fillings: the scores of tokens are raised by how much the text after the gap makes them likelier.

A model that fills a gap has read both sides of it. Read from left to right, the same model knows only what stands
before. By Bayes' rule, a filling makes what follows likelier by as much as what follows makes the filling likelier. So
the difference between the two log-probabilities of a token, times `GUIDANCE`, is added to its score. This is
classifier-free guidance, as used with image models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.filling import GapSurroundings
from reviser.decoding.left_to_right import Reading
from reviser.decoding.rollout import Policy
from reviser.model.scoring import Scores

GUIDANCE: Final = 0.5
"""The factor of the difference that is added to a token's score."""
MOST: Final = 2.0
"""The greatest difference that counts, in nats: tokens that the model would hardly write without a gap are mostly odd.
"""
PLAUSIBLE: Final = 3.0
"""Tokens less likely than the likeliest by more nats than this are put last: guidance alone must not choose them."""
LAST: Final = 40.0
"""The penalty of those tokens in nats; they are drawn only where rules refuse all others."""


class Guided:
    """A policy that is guided at the end of the text in the gap; elsewhere it equals the policy that it wraps.

    The total probability of tokens, beside Stop and moves, stays the same. For each text that was read, `noted` has the
    log-probability of the first token after the gap, and `last` that of the text's last token.
    """

    def __init__(self, policy: Policy, reading: Reading, surroundings: GapSurroundings) -> None:
        self._policy = policy
        self._reading = reading
        self._surroundings = surroundings
        self.noted: dict[tuple[int, ...], float] = {}
        self.last: dict[tuple[int, ...], float] = {}
        # The text that was read last, and the log-probabilities of what follows it.
        self._before: tuple[tuple[int, ...], NDArray[np.float32]] | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        around = self._surroundings
        if scores is None or canvas.cursor != canvas.high or not around.behind:
            return scores
        ids = [*around.before, *canvas.between(canvas.low, canvas.high)]
        if len(ids) > self._reading.readable:
            return scores
        size = self.vocabulary.base_size
        unseeing = _log_shares(self._reading.scores(ids))
        self._note(tuple(ids), unseeing)
        guided = scores.copy()
        guided[:size] = guided_scores(scores[:size], unseeing[:size])
        return guided

    def _note(self, text: tuple[int, ...], unseeing: NDArray[np.float32]) -> None:
        self.noted[text] = float(unseeing[self._surroundings.behind[0]])
        if self._before is not None and self._before[0] == text[:-1]:
            self.last[text] = float(self._before[1][text[-1]])
        self._before = (text, unseeing)


def guided_scores(seeing: Scores, unseeing: NDArray[np.float32]) -> Scores:
    """Scores of tokens from `seeing`, those of a model that has read what follows, and the log-probabilities `unseeing`
    of one that has not."""
    finite = np.isfinite(seeing)
    if not finite.any():
        return seeing
    shares = _log_shares(seeing)
    made = shares + GUIDANCE * np.clip(shares - unseeing, -MOST, MOST)
    odd = shares < shares.max() - PLAUSIBLE
    made[odd] = shares[odd] - LAST
    made[~finite] = -np.inf
    # As likely together as they were.
    found: Scores = made + (_log_sum(seeing) - _log_sum(made))
    return found


def _log_shares(scores: Scores) -> NDArray[np.float32]:
    shares: NDArray[np.float32] = scores - _log_sum(scores)
    return shares


def _log_sum(scores: NDArray[np.float32]) -> np.float32:
    highest = scores.max()
    found: np.float32 = highest + np.log(np.exp(scores - highest).sum())
    return found
