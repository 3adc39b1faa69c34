"""Choosing another way: an action that was not tried before, by chance or the likeliest."""

from __future__ import annotations

from dataclasses import replace

from reviser.core.vocabulary import ValidIds
from reviser.decoding.rollout import Choice, Sampler, Scores


class Untried(Sampler):
    """Draws an action; in the place of one that was `tried` here before, it takes the likeliest that was not."""

    tried: frozenset[int] = frozenset()

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        choice = super().choose(scores, valid, moving=moving)
        return self._likeliest(choice) if choice.id in self.tried else choice

    def _likeliest(self, choice: Choice) -> Choice:
        for place, id in enumerate(choice.candidates.tolist()):
            if id not in self.tried:
                return replace(choice, id=id, probability=float(choice.probabilities[place]))
        return choice


class Likeliest(Untried):
    """Takes the likeliest action without chance, with the others still known for those who want one of them."""

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        return self._likeliest(super().choose(scores, valid, moving=moving))
