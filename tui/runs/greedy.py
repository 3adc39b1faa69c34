"""Choosing without chance: the likeliest action, with the others still known for those who want one of them."""

from __future__ import annotations

from dataclasses import replace

from reviser.core.vocabulary import ValidIds
from reviser.decoding.rollout import Choice, Sampler, Scores


class Likeliest(Sampler):
    """Takes the likeliest action that was not `tried` in this place before."""

    tried: frozenset[int] = frozenset()

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        choice = super().choose(scores, valid, moving=moving)
        for place, id in enumerate(choice.candidates.tolist()):
            if id not in self.tried:
                return replace(choice, id=id, probability=float(choice.probabilities[place]))
        return choice
