"""Episodes of PPO: a prompt, the actions taken after it, and the text they wrote.

An episode of the decision process starts from a prompt on the canvas. Its state is the history, which
determines canvas and cursor; an action is any id that the canvas accepts; it ends at Stop or at the limit of
actions. All candidates of a prompt start from the same state, oracle prefix included, so that they can be
ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.sampling import Sampling
from reviser.decoding.batch.scheduler import generate
from reviser.decoding.rollout import seed
from reviser.model import Reviser
from training.data.boundaries import Classes
from training.data.corpus import Corpus
from training.data.randomness import key, shuffled
from training.ppo.settings import PpoSettings
from training.samples.generator import Generator
from training.samples.histories import Texts
from training.samples.obfuscation import PLAIN, STRUCTURED
from training.samples.obfuscation import Task as Writing

_PROMPTS, _ORACLE, _CANDIDATE = range(3)
# A document shorter than its prompt and so many tokens is left out.
_LEAST_TEXT = 16


@dataclass(frozen=True)
class RealPrompt:
    """The first tokens of a document, and its real continuation."""

    tokens: list[int]
    text: list[int]


@dataclass(frozen=True)
class Episode:
    """The actions taken after a prompt.

    `ids` are all actions, the first `played` of them the oracle's; `tokens` is the text they wrote.
    """

    prompt: list[int]
    ids: list[int]
    played: int
    tokens: list[int]
    ending: str
    prompt_text: str
    continuation: str

    @property
    def taken(self) -> list[int]:
        """The policy's own actions."""
        return self.ids[self.played :]


Group = Sequence[Episode]


class DocumentPrompts:
    """The beginnings of documents; every document occurs once per pass."""

    def __init__(self, corpus: Corpus, settings: PpoSettings) -> None:
        self._corpus = corpus
        self._settings = settings
        self._places = [
            (number, document)
            for number, shard in enumerate(corpus.shards)
            for document in np.flatnonzero(np.diff(shard.offsets) >= settings.prompt_tokens + _LEAST_TEXT).tolist()
        ]
        if not self._places:
            raise ReviserError(
                f"no document has the {settings.prompt_tokens + _LEAST_TEXT} tokens that a prompt and its text need"
            )

    def prompts(self, iteration: int) -> list[RealPrompt]:
        first = iteration * self._settings.prompts
        return [self._prompt(number) for number in range(first, first + self._settings.prompts)]

    def _prompt(self, number: int) -> RealPrompt:
        epoch, index = divmod(number, len(self._places))
        name = np.uint64(key(self._settings.seed, epoch, _PROMPTS))
        number, document = self._places[shuffled(index, len(self._places), name)]
        shard = self._corpus.shards[number]
        start, end = shard.offsets[document : document + 2].tolist()
        given = self._settings.prompt_tokens
        tokens = shard.tokens[start : min(end, start + given + self._settings.text_tokens)].tolist()
        return RealPrompt(tokens[:given], tokens[given:])


class PrefixOracle:
    """Plays the first actions of a trajectory that writes the real text, made as in supervised samples."""

    def __init__(self, vocabulary: Vocabulary, classes: Classes, settings: PpoSettings) -> None:
        self._vocabulary = vocabulary
        self._classes = classes
        self._settings = settings
        self._writing = STRUCTURED if "move" in vocabulary.kinds else PLAIN

    def share(self, done: float) -> float:
        """The share of a restoration to play when the share `done` (0 to 1) of the run is over."""
        until = self._settings.oracle_until
        return self._settings.oracle_share * max(0.0, 1 - done / until) if until else 0.0

    def prefixes(self, prompts: Sequence[RealPrompt], iteration: int, done: float) -> list[list[int]]:
        """The ids to play after each prompt; Stop is never among them."""
        share = self.share(done)
        if share == 0:
            return [[] for _ in prompts]
        texts = [prompt.tokens + prompt.text for prompt in prompts]
        tasks = [Writing(self._writing, len(prompt.tokens)) for prompt in prompts]
        generator = Generator(self._vocabulary, self._classes, 3 * max(map(len, texts)) + 16)
        names = [key(self._settings.seed, iteration, _ORACLE, n) for n in range(len(prompts))]
        histories = generator(Texts.of(texts, tasks), np.array(names, dtype=np.uint64))
        played = []
        for prompt, ids, length in zip(prompts, histories.ids, histories.lengths, strict=True):
            restoration = ids[1 + len(prompt.tokens) : length - 1].tolist()
            # The policy always has an action left to take.
            most = min(int(share * len(restoration)), self._settings.max_actions - 1)
            played.append(restoration[:most])
        return played


def roll_out(
    model: Reviser,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    prompts: Sequence[RealPrompt],
    prefixes: Sequence[Sequence[int]],
    settings: PpoSettings,
    iteration: int,
) -> list[list[Episode]]:
    """Samples `candidates` episodes for each prompt with its oracle prefix."""
    each = settings.candidates
    runs = generate(
        model,
        vocabulary,
        [prompt.tokens for prompt in prompts for _ in range(each)],
        seeds=[key(settings.seed, iteration, _CANDIDATE, number) for number in range(len(prompts) * each)],
        begun=[prefix for prefix in prefixes for _ in range(each)],
        sampling=Sampling(settings.temperature, top_k=None),
        max_actions=settings.max_actions,
        rows=settings.generation_rows,
    )
    groups = []
    for number, (prompt, prefix) in enumerate(zip(prompts, prefixes, strict=True)):
        shown = decode(tokenizer, prompt.tokens)
        group = []
        for run in runs[number * each : (number + 1) * each]:
            ids = [*prefix, *run.ids]
            canvas, _ = seed(vocabulary, prompt.tokens)
            for id in ids:
                canvas.apply(canvas.action(id))
            continuation = decode(tokenizer, canvas.tokens)[len(shown) :]
            tokens = canvas.tokens[len(prompt.tokens) :]
            group.append(Episode(prompt.tokens, ids, len(prefix), tokens, run.ending, shown, continuation))
        groups.append(group)
    return groups
