"""Samplers for a new branch: an action that was not tried before, or the likeliest."""

from __future__ import annotations

from reviser.core.vocabulary import ValidIds
from reviser.decoding.sampler import Choice, Sampler
from reviser.model.scoring import Scores


class UntriedSampler(Sampler):
    """A sampler that avoids the actions `tried` here before; if it draws one, it takes the likeliest other one."""

    tried: frozenset[int] = frozenset()

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        choice = super().choose(scores, valid, moving=moving)
        return self._likeliest(choice) if choice.id in self.tried else choice

    def _likeliest(self, choice: Choice) -> Choice:
        for place, id in enumerate(choice.candidates.tolist()):
            if id not in self.tried:
                return choice._replace(id=id, probability=float(choice.probabilities[place]))
        return choice


class GreedySampler(UntriedSampler):
    """A sampler that takes the likeliest action; the other candidates are recorded with their probabilities."""

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        return self._likeliest(super().choose(scores, valid, moving=moving))
