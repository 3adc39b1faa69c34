"""Samplers for another branch: an action that was not tried before, drawn or the likeliest."""

from __future__ import annotations

from reviser.core.vocabulary import ValidIds
from reviser.decoding.sampler import Choice, Sampler
from reviser.model.scoring import Scores


class UntriedSampler(Sampler):
    """Draws an action; if it was `tried` here before, takes the likeliest one that was not."""

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
    """Takes the likeliest action; the other candidates are recorded with their probabilities."""

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        return self._likeliest(super().choose(scores, valid, moving=moving))
