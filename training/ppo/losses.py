"""The scores of a policy that PPO needs, and the terms of its loss.

    loss = - policy - c_entropy entropy + c_kl KL(policy, reference) + c_type KL(types)

(The value loss belongs to a separate network, see `training.ppo.losses`.) The policy is the distribution
from which actions were sampled: scores masked by validity and divided by the temperature, without a cut-off. The
logits of a batch would take gigabytes, so positions are processed in chunks whose logits are computed again
for the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from reviser.core.vocabulary import KINDS, Vocabulary
from reviser.decoding.batch.validity import Rules

# Positions whose logits are held at once.
_CHUNK = {"cpu": 512, "cuda": 4096}


@dataclass(frozen=True)
class VisitedStates:
    """The states in which actions were taken, for the validity mask, and the actions; all of shape (actions,)."""

    actions: Tensor
    left: Tensor
    right: Tensor
    room: Tensor

    def __getitem__(self, part: slice) -> VisitedStates:
        return VisitedStates(self.actions[part], self.left[part], self.right[part], self.room[part])

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True)
class PolicyScores:
    """The policy's scores of the visited states.

    `log_probabilities` of the actions taken, `entropy`, and `kl` from the reference have shape (actions,).
    `types` and `reference_types`, shape (kinds,), are the mean probabilities of each kind of action.
    """

    log_probabilities: Tensor
    entropy: Tensor
    kl: Tensor
    types: Tensor
    reference_types: Tensor

    def detached(self) -> PolicyScores:
        """The same scores without the graph of the gradient, which takes much memory."""
        return PolicyScores(*(getattr(self, part.name).detach() for part in fields(self)))


def kind_matrix(vocabulary: Vocabulary, device: torch.device) -> Tensor:
    """(ids, kinds): 1 where an id is an action of that kind."""
    matrix = torch.zeros(vocabulary.size, len(KINDS))
    matrix[: vocabulary.base_size, KINDS.index("insert")] = 1
    first = vocabulary.first_replace_id
    if first is not None:
        matrix[first:, KINDS.index("replace")] = 1
    for id in range(vocabulary.delete_id, vocabulary.size if first is None else first):
        reserved = vocabulary.first_reserved_id <= id < vocabulary.first_extension_id
        if not reserved and not vocabulary.is_marker(id):
            matrix[id, KINDS.index(vocabulary.action(id).kind)] = 1
    return matrix.to(device)


def _by_kind(chances: Tensor, kinds: Tensor) -> Tensor:
    """The probabilities of each kind of action, summed over states."""
    # Not as a matrix product, which rounds its factors: some kinds have very small probabilities.
    return (chances.sum(0)[:, None] * kinds).sum(0)


def score_visited(
    policy: tuple[Tensor, Tensor],
    reference: tuple[Tensor, Tensor],
    visited: VisitedStates,
    rules: Rules,
    kinds: Tensor,
    temperature: float,
) -> PolicyScores:
    """Scores the visited states by policy and reference, with gradients for the policy.

    Each of the two is its final states and the output table that turns them into logits.
    """

    def of_chunk(ours: Tensor, table: Tensor, part: slice) -> tuple[Tensor, ...]:
        chunk = visited[part]
        valid = rules.valid(chunk.left, chunk.right, chunk.room)

        def scores(states: Tensor, table: Tensor) -> Tensor:
            # Single precision, since ratios of probabilities are used.
            logits = functional.linear(states.float() / temperature, table.float())
            return logits.masked_fill(~valid, -torch.inf).log_softmax(dim=-1)

        logs = scores(ours, table)
        with torch.no_grad():
            theirs = scores(reference[0][part], reference[1])
        chances = logs.exp()
        taken = logs.gather(1, chunk.actions[:, None]).squeeze(1)
        # An id that is not valid has probability 0; its infinite logarithm must not meet that zero.
        logs, theirs = logs.masked_fill(~valid, 0.0), theirs.masked_fill(~valid, 0.0)
        entropy, kl = -(chances * logs).sum(dim=-1), (chances * (logs - theirs)).sum(dim=-1)
        return taken, entropy, kl, _by_kind(chances, kinds), _by_kind(theirs.exp() * valid, kinds)

    states, table = policy
    size = _CHUNK[states.device.type]
    with torch.autocast(states.device.type, enabled=False):
        parts: Sequence[tuple[Tensor, ...]] = [
            checkpoint(of_chunk, states[part], table, part, use_reentrant=False, preserve_rng_state=False)
            for part in (slice(start, start + size) for start in range(0, len(visited), size))
        ]
    taken, entropy, kl, types, others = zip(*parts, strict=True)
    means = (torch.stack(summed).sum(0) / len(visited) for summed in (types, others))
    return PolicyScores(torch.cat(taken), torch.cat(entropy), torch.cat(kl), *means)


def clipped_loss(
    log_probabilities: Tensor, acted: Tensor, advantages: Tensor, clip_ratio: float
) -> tuple[Tensor, Tensor]:
    """PPO's clipped loss of each action, and where it is clipped (there the gradient is 0)."""
    ratio = (log_probabilities - acted).exp()
    free = ratio * advantages
    held = ratio.clamp(1 - clip_ratio, 1 + clip_ratio) * advantages
    return -torch.minimum(free, held), held < free


def k3(log_probabilities: Tensor, acted: Tensor) -> Tensor:
    """An estimate, for each action, of KL(acting policy, current policy); never negative.

    It is r - 1 - ln r for the ratio r of their probabilities; its mean over actions is the KL.
    """
    difference = log_probabilities - acted
    return difference.exp() - 1 - difference


def type_loss(types: Tensor, target: Tensor) -> Tensor:
    """KL(target, types): how far the mean probabilities of action types are from those wanted.

    It compares means over many states, so it limits how often the policy moves or stops, not where.
    """
    wanted = target.clamp_min(1e-12)
    return (target * (wanted.log() - types.clamp_min(1e-12).log())).sum()


Floats = NDArray[np.float32]


class ValueHead(nn.Module):
    """A small network on the model's final hidden states.

    Its loss sends no gradient into the model, so learning about rewards cannot harm the language model. It is
    saved apart from the model, which does not need it.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        # No opinion at first: then advantages are plain rewards.
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, states: Tensor) -> Tensor:
        with torch.autocast(states.device.type, enabled=False):
            values: Tensor = self.outer(torch.tanh(self.inner(states.detach().float())))
        return values.squeeze(-1)


def advantages(
    values: Floats, lengths: Sequence[int], rewards: Sequence[float], gamma: float, gae_lambda: float
) -> tuple[Floats, Floats]:
    """Generalised advantages and returns of episodes that are rewarded at their last action.

    `values` are those of the states in which actions were taken, episode after episode.
    """
    known = values.tolist()
    found = [0.0] * len(known)
    end = 0
    for length, reward in zip(lengths, rewards, strict=True):
        start, end = end, end + length
        gain, later = reward, 0.0
        for at in range(end - 1, start - 1, -1):
            later = gain - known[at] + gamma * gae_lambda * later
            found[at] = later
            # What an earlier action gains is the state it leads to.
            gain = gamma * known[at]
    gains = np.array(found, dtype=np.float32)
    return gains, gains + values


def normalised(values: Floats) -> Floats:
    """The values scaled to mean 0 and standard deviation 1."""
    scaled: Floats = (values - values.mean()) / (values.std() + 1e-8)
    return scaled


def explained_variance(values: Floats, returns: Floats) -> float:
    """1 if the values predict the returns exactly, 0 if a constant would do as well; NaN if all returns are equal."""
    variance = float(returns.var())
    return 1 - float((returns - values).var()) / variance if variance > 0 else float("nan")
