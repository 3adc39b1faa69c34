"""The PPO loop: sample episodes, reward them, and update the policy."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypedDict

import numpy as np
import torch
from torch import Tensor, nn

from reviser.checkpoints.home import Checkpoint
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import KINDS
from reviser.decoding.batch.validity import Rules
from reviser.model import Reviser
from training.data.randomness import KeyedRandom, key
from training.ppo.losses import (
    Floats,
    PolicyScores,
    ValueHead,
    advantages,
    clipped_loss,
    explained_variance,
    k3,
    kind_matrix,
    normalised,
    score_visited,
    type_loss,
)
from training.ppo.minibatches import Minibatch, minibatches
from training.ppo.rewards import Rewarded, repeated
from training.ppo.rollouts import DocumentPrompts, Episode, Group, PrefixOracle, roll_out
from training.ppo.settings import PpoSettings
from training.trainer.settings import learning_rate
from training.trainer.trainer import StateDict

_BATCHES, _EPOCH = range(2)
# The weight of the KL penalty is adapted by this factor, when the KL is off its target by as much.
_ADAPTED = 1.5
_KL_WEIGHTS = (1e-4, 100.0)
# An iteration stops learning beyond so many times the KL that is meant to be its end.
_BEYOND = 1.5

Rewarder = Callable[[Sequence[Group]], Rewarded]


@dataclass
class TunerProgress:
    """The progress of a run; saved with every checkpoint."""

    iteration: int = 0
    updates: int = 0
    seconds: float = 0.0
    actions: int = 0
    kl_weight: float = 0.0


Entry = dict[str, Any]
"""The figures of one iteration, as the metrics file keeps them."""


class TunerState(TypedDict):
    """The state that a resumed run needs beside the weights of the model and the value head."""

    progress: dict[str, float]
    optimizer: StateDict


@dataclass(frozen=True)
class _ActingScores:
    """The scores of all actions before the first update, in the order of `Minibatch.numbers`."""

    acted: Tensor
    values: Floats
    entropy: float
    kl: float
    types: Tensor
    reference_states: list[Tensor]


class Tuner:
    """One run on one device: the policy, the frozen reference model, and the value head."""

    def __init__(
        self,
        settings: PpoSettings,
        parts: Checkpoint,
        source: DocumentPrompts,
        oracle: PrefixOracle,
        rewarder: Rewarder,
        device: torch.device,
    ) -> None:
        config = parts.model.config
        if config.uses_canvas:
            raise ReviserError("a model conditioned on the canvas cannot be tuned here")
        if settings.longest > config.context:
            raise ReviserError(
                f"the model reads {config.context} ids, and prompts with their actions have up to {settings.longest}"
            )
        self.settings = settings
        self.device = device
        self.vocabulary = parts.vocabulary
        self._tokenizer = parts.tokenizer
        self._source = source
        self._oracle = oracle
        self._rewarder = rewarder
        # Dropout would make the policy that learns another one than the policy that acted.
        self.model = parts.model.to(device).eval()
        self._reference = copy.deepcopy(self.model).requires_grad_(False)
        # On a GPU a copy in half precision decodes twice as fast.
        on_gpu = device.type == "cuda"
        self._writer = copy.deepcopy(self.model).to(torch.bfloat16).requires_grad_(False) if on_gpu else self.model
        torch.manual_seed(settings.seed)
        self.value = ValueHead(config.width).to(device)
        groups: list[dict[str, object]] = [
            {"params": list(self.model.parameters())},
            {"params": list(self.value.parameters()), "lr": settings.value_rate},
        ]
        self.optimizer = torch.optim.AdamW(
            groups, lr=settings.peak_rate, betas=(0.9, 0.95), weight_decay=0.0, fused=on_gpu
        )
        self._rules = Rules.of(self.vocabulary, device)
        self._kinds = kind_matrix(self.vocabulary, device)
        self.progress = TunerProgress(kl_weight=settings.kl_weight)
        if on_gpu:
            for block in (*self.model.blocks, *self._reference.blocks):
                block.compile()

    @property
    def done(self) -> float:
        """The share of the run that is over, 0 to 1."""
        if self.settings.iterations is not None:
            return self.progress.iteration / self.settings.iterations
        assert self.settings.minutes is not None
        return self.progress.seconds / (60 * self.settings.minutes)

    def iterate(self) -> Entry:
        """Runs one iteration (sample, reward, learn) and returns its metrics."""
        started = time.perf_counter()
        settings, number = self.settings, self.progress.iteration
        share = self._oracle.share(self.done)
        groups = self._act(number)
        acted_at = time.perf_counter()
        rewarded = self._rewarder(groups)
        rewarded_at = time.perf_counter()
        episodes = [episode for group in groups for episode in group]
        totals = [total for row in rewarded.totals for total in row]
        batches = minibatches(
            episodes,
            self.vocabulary,
            self._rules,
            self.device,
            row_length=settings.row_length,
            rows=settings.minibatch_rows,
            name=key(settings.seed, number, _BATCHES),
        )
        before = self._acting_scores(batches)
        lengths = [len(episode.taken) for episode in episodes]
        gains, returns = advantages(before.values, lengths, totals, settings.gamma, settings.gae_lambda)
        kl_weight = self.progress.kl_weight
        learned = self._learn(batches, before, normalised(gains), returns)
        self._adapt(before.kl)
        ended = time.perf_counter()
        self.progress.iteration += 1
        self.progress.actions += sum(lengths)
        self.progress.seconds += ended - started
        return {
            "step": self.progress.iteration,
            "seconds": round(self.progress.seconds, 2),
            "reward": fmean(totals),
            "reward_spread": float(np.std(totals)),
            "rewards": rewarded.means,
            "kl": before.kl,
            "kl_weight": kl_weight,
            "entropy": before.entropy,
            "explained_variance": explained_variance(before.values, returns),
            **learned,
            **self._described(episodes, before.types),
            "oracle_share": share,
            "acting_s": round(acted_at - started, 3),
            "judging_s": round(rewarded_at - acted_at, 3),
            "learning_s": round(ended - rewarded_at, 3),
        }

    def _act(self, number: int) -> list[list[Episode]]:
        if self._writer is not self.model:
            with torch.no_grad():
                for kept, new in zip(self._writer.parameters(), self.model.parameters(), strict=True):
                    kept.copy_(new)
        prompts = self._source.prompts(number)
        prefixes = self._oracle.prefixes(prompts, number, self.done)
        groups = roll_out(self._writer, self.vocabulary, self._tokenizer, prompts, prefixes, self.settings, number)
        if self.device.type == "cuda":
            # Generation takes a stream of its own each time, whose freed memory no other would reuse.
            torch.cuda.empty_cache()
        return groups

    def _states(self, model: Reviser, batch: Minibatch) -> Tensor:
        """The final states in which actions were taken."""
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            states = model.hidden_packed(batch.ids, batch.positions)
        return states.flatten(0, 1).index_select(0, batch.places)

    def _scores(self, states: Tensor, reference_states: Tensor, batch: Minibatch) -> PolicyScores:
        return score_visited(
            (states, _table(self.model)),
            (reference_states, _table(self._reference)),
            batch.visited,
            self._rules,
            self._kinds,
            self.settings.temperature,
        )

    def _acting_scores(self, batches: Sequence[Minibatch]) -> _ActingScores:
        """Scores the actions by the acting policy, with the same forward pass that is trained.

        Generation uses other kernels, and their rounding must not look like a change of the policy, so no
        score is taken from it. Gradients stay on because the model computes differently without them.
        """
        count = sum(len(batch.visited) for batch in batches)
        acted = torch.empty(count, device=self.device)
        values = np.empty(count, dtype=np.float32)
        types = torch.zeros(len(KINDS), device=self.device)
        entropy = kl = 0.0
        reference_states = []
        for batch in batches:
            with torch.no_grad():
                reference_states.append(self._states(self._reference, batch))
            states = self._states(self.model, batch)
            looked = self._scores(states, reference_states[-1], batch).detached()
            acted[torch.from_numpy(batch.numbers).to(self.device)] = looked.log_probabilities
            with torch.no_grad():
                values[batch.numbers] = self.value(states).cpu().numpy()
            share = len(batch.visited) / count
            types += looked.types * share
            entropy += float(looked.entropy.mean()) * share
            kl += float(looked.kl.mean()) * share
        return _ActingScores(acted, values, entropy, kl, types, reference_states)

    def _learn(self, batches: Sequence[Minibatch], before: _ActingScores, gains: Floats, returns: Floats) -> Entry:
        """Runs the epochs of updates, fewer if the KL from the acting policy is large enough; returns mean metrics."""
        settings = self.settings
        chosen = torch.from_numpy(gains).to(self.device)
        targets = torch.from_numpy(returns).to(self.device)
        made: list[dict[str, float]] = []
        told = {"update_kl": 0.0, "first_ratio": 1.0}
        for epoch in range(settings.epochs):
            for at in _order(len(batches), key(settings.seed, self.progress.iteration, epoch)):
                batch = batches[at]
                numbers = torch.from_numpy(batch.numbers).to(self.device)
                states = self._states(self.model, batch)
                looked = self._scores(states, before.reference_states[at], batch)
                acted = before.acted[numbers]
                with torch.no_grad():
                    told["update_kl"] = float(k3(looked.log_probabilities, acted).mean())
                    if not made:
                        ratio = (looked.log_probabilities - acted).exp()
                        told["first_ratio"] = float(ratio[(ratio - 1).abs().argmax()])
                if told["update_kl"] > _BEYOND * settings.stop_kl:
                    return self._summed_up(made, told)
                loss, parts = self._loss(looked, acted, chosen[numbers])
                value = 0.5 * (self.value(states) - targets[numbers]).square().mean()
                # The two have no weight in common, so their sum gives each its own gradient.
                torch.autograd.backward(loss + value)
                parts |= {"loss": loss, "value_loss": value, "gradient": self._update()}
                made.append({name: float(part) for name, part in parts.items()})
        return self._summed_up(made, told)

    def _summed_up(self, made: Sequence[Mapping[str, float]], told: Mapping[str, float]) -> Entry:
        means = {name: fmean(each[name] for each in made) for name in made[0]} if made else {}
        return {**means, **told, "updates": len(made), "rate": self.optimizer.param_groups[0]["lr"]}

    def _loss(self, looked: PolicyScores, acted: Tensor, gains: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of the policy on a minibatch, and its parts for the metrics."""
        settings = self.settings
        policy, clipped = clipped_loss(looked.log_probabilities, acted, gains, settings.clip_ratio)
        typed = type_loss(looked.types, looked.reference_types)
        loss = (
            policy.mean()
            - settings.entropy_weight * looked.entropy.mean()
            + self.progress.kl_weight * looked.kl.mean()
            + settings.type_weight * typed
        )
        parts = {"policy_loss": policy.mean(), "type_loss": typed, "clip_fraction": clipped.float().mean()}
        return loss, parts

    def _update(self) -> Tensor:
        settings = self.settings
        self.optimizer.param_groups[0]["lr"] = learning_rate(settings, self.progress.updates, self.done)
        nn.utils.clip_grad_norm_(self.value.parameters(), settings.clip)
        gradient = nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.progress.updates += 1
        return gradient

    def _adapt(self, kl: float) -> None:
        """Adapts the KL coefficient: larger when the policy is too far from the reference, smaller when it is near."""
        target = self.settings.kl_target
        if target is None:
            return
        weight = self.progress.kl_weight
        if kl > target * _ADAPTED:
            weight *= _ADAPTED
        elif kl < target / _ADAPTED:
            weight /= _ADAPTED
        self.progress.kl_weight = min(max(weight, _KL_WEIGHTS[0]), _KL_WEIGHTS[1])

    def _described(self, episodes: Sequence[Episode], types: Tensor) -> Entry:
        """Metrics of the episodes: length, ending and variety of texts, and the share of each action (`p_KIND`)."""
        written = [episode.tokens for episode in episodes]
        taken = np.concatenate([episode.taken for episode in episodes])
        first = self.vocabulary.first_move_id
        moves = (taken >= first) & (taken < self.vocabulary.first_reserved_id)
        return {
            "tokens": fmean(map(len, written)),
            "actions": fmean(len(episode.ids) for episode in episodes),
            "stopped": fmean(episode.ending == "stop" for episode in episodes),
            "moves": float(moves.mean()),
            "repeated_4": fmean(repeated(tokens, 4) for tokens in written),
            "distinct_2": fmean(1 - repeated(tokens, 2) for tokens in written),
            **{f"p_{kind}": share for kind, share in zip(KINDS, types.tolist(), strict=True) if share > 0},
        }

    def state(self) -> TunerState:
        return {"progress": vars(self.progress).copy(), "optimizer": self.optimizer.state_dict()}

    def restore(self, state: TunerState) -> None:
        saved: Mapping[str, Any] = state["progress"]
        self.progress = TunerProgress(**saved)
        self.optimizer.load_state_dict(state["optimizer"])


def _table(model: Reviser) -> Tensor:
    return model.embedding.weight if model.head is None else model.head.weight


def _order(count: int, name: int) -> list[int]:
    """The numbers below `count` in random order."""
    random = KeyedRandom(name, _EPOCH)
    return sorted(range(count), key=lambda _: random.bits())
