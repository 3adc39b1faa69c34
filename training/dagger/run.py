"""`python -m training dagger PRESET --init MODEL …`: train a reviser on the states that it reaches when it revises
by itself.

    python -m training dagger smol --init RUN/model --data shards --edits edit-shards --out DAGGER
    python -m training dagger smol --init RUN/model --data shards --edits edit-shards --out PLAIN --plain

A run has rounds. Each lets the model revise edits of the training set, the oracle acting in its place at a share of
the steps that falls from round to round; labels every state that was visited with what the oracle would do there;
adds these episodes to those of the rounds before; and trains on them by teacher forcing, beside the texts and edits
of the supervised mixture. `--plain` trains as long on the mixture alone.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from reviser.checkpoints.home import Checkpoint
from reviser.cli.options import Argument, Group, Option, Words
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from training.dagger.oracle import Episodes
from training.dagger.visits import VisitedEdits, acting_copy, load_visited, roll_out, save_visited
from training.data.corpus import Corpus
from training.edits.edit_samples import EditSource, MixedSamples, Revisions
from training.edits.mistakes.source import BlendedEdits
from training.samples.histories import Histories
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.parallel import World, join_world
from training.trainer.run import TrainingRun, check_history, edit_rows, evaluation_rows, evaluator_for, loader_of
from training.trainer.saving import RunFacts, check_out, resume, save_result
from training.trainer.settings import PRESETS, Settings, preset_settings
from training.trainer.trainer import Trainer

# Epochs of the supervised samples are counted from 0; those of the rollouts are others.
_ROLLOUTS = 1 << 20
_EVALUATION_EPISODES = 500
_FIXED = ("model", "betas", "steps", "minutes", "objective", "operators", "parallel")


@dataclass(frozen=True)
class DaggerPlan:
    """The rounds of a DAgger run and the settings of their episodes."""

    rounds: Annotated[int, Option("how many rounds")] = 4
    updates: Annotated[int, Option("optimizer steps of each round")] = 250
    episodes: Annotated[int, Option("edits that are revised in each round")] = 8192
    beta: Annotated[float, Option("share of the steps at which the oracle acts, in the first round")] = 0.5
    decay: Annotated[float, Option("what that share is multiplied by from round to round")] = 0.5
    share: Annotated[float, Option("share of the samples of edits that are episodes")] = 0.5
    max_actions: Annotated[int, Option("most actions of an episode")] = 64
    batch: Annotated[int, Option("episodes that are under way at a time")] = 512
    plain: Annotated[bool, Option("the mixture alone, without rollouts, as a baseline")] = False

    def __post_init__(self) -> None:
        if min(self.rounds, self.updates, self.episodes, self.max_actions, self.batch) < 1:
            raise ReviserError("rounds, updates, episodes, max_actions and batch are 1 or more")
        if not all(0 <= part <= 1 for part in (self.beta, self.decay, self.share)):
            raise ReviserError("beta, decay and share lie between 0 and 1")

    def oracle_share(self, number: int) -> float:
        """The probability that the oracle acts at a step of round `number`, counted from 0."""
        return self.beta * self.decay**number


@dataclass(frozen=True, kw_only=True)
class DaggerOptions:
    """Options of a DAgger run: model, edits and rounds."""

    preset: Annotated[str, Argument(choices=tuple(PRESETS))]
    init: Annotated[str, Option("the reviser to start from")]
    data: Annotated[Path, Option("token shards of texts")]
    edits: Annotated[Path, Option("shards of edits")]
    out: Annotated[Path, Option("folder of the run")]
    held_out: Annotated[Path | None, Option("token shards to evaluate on")] = None
    held_out_edits: Annotated[Path | None, Option("shards of edits to evaluate on")] = None
    mixture: Annotated[Path | None, Option("JSON file; by default that of the model's own training")] = None
    resume: Annotated[bool, Option("resume from the run's last checkpoint")] = False
    workers: Annotated[int, Option("threads that make batches")] = 2
    plan: Annotated[DaggerPlan, Group(DaggerPlan)] = DaggerPlan()
    changes: Annotated[Mapping[str, Any], Group(Settings, without=_FIXED)] = field(default_factory=dict)
    words: Words = ()

    def settings(self) -> Settings:
        """The preset with the settings that the options override; the run is as long as all rounds together."""
        return preset_settings(self.preset, **self.changes, steps=self.plan.rounds * self.plan.updates)


@dataclass
class Data:
    """The training data of a run."""

    texts: Samples
    revisions: Revisions
    held_out: Revisions | None

    def source(self, visited: Sequence[Histories], share: float) -> MixedSamples:
        edits: EditSource = self.revisions
        if visited:
            edits = BlendedEdits(self.revisions, VisitedEdits(self.revisions, Histories.joined(visited)), share)
        return MixedSamples(self.texts, edits)


@dataclass
class Rounds:
    """The rounds of one run; the episodes of each round are a file beside the checkpoints."""

    plan: DaggerPlan
    data: Data
    run: TrainingRun
    workers: int

    @property
    def trainer(self) -> Trainer:
        return self.run.trainer

    @property
    def current(self) -> int:
        """The number of the round to which the next training step belongs."""
        return self.trainer.progress.step // self.plan.updates

    def forget(self, first: int) -> None:
        """Deletes the episode files of round `first` and later, left by an interrupted run."""
        for number in range(first, self.plan.rounds):
            self._file(number).unlink(missing_ok=True)

    def begin(self, number: int) -> None:
        """Makes the episodes of a round, unless their file exists, and the loader of its batches."""
        visited = []
        if not self.plan.plain:
            if not self._file(number).exists():
                self._visit(number)
            visited = [load_visited(self._file(earlier)) for earlier in range(number + 1)]
        trainer = self.trainer
        source = loader_of(self.data.source(visited, self.plan.share), trainer.settings, trainer.world, self.workers)
        source.waited = trainer.source.waited
        trainer.source = source

    def _file(self, number: int) -> Path:
        return self.run.out / f"visited-{number + 1:02}.npz"

    def _visit(self, number: int) -> None:
        plan, step = self.plan, self.trainer.progress.step
        if step != number * plan.updates:
            raise ReviserError(f"the episodes of round {number + 1} are gone: {self._file(number)}")
        began = time.perf_counter()
        share = plan.oracle_share(number)
        where = (_ROLLOUTS + number, 0, plan.episodes, number * plan.episodes)
        episodes = self._acted(self.data.revisions, where, share)
        seconds = time.perf_counter() - began
        save_visited(self._file(number), episodes.histories())
        found = _outcome(episodes, "visited")
        facts = {"step": step, "round": number + 1, "oracle_share": share, "rollout_seconds": round(seconds, 2)}
        self.run.reporter.write({**facts, **found})
        self.run.reporter.say(
            f"round {number + 1}: {counted(int(found['visited_states']), 'state')} of "
            f"{counted(plan.episodes, 'edit')} in {seconds:.1f} s; "
            f"{found['visited_right']:.1%} of the actions were right"
        )
        self.run.reporter.mark()

    def _acted(self, revisions: Revisions, where: tuple[int, int, int, int], share: float) -> Episodes:
        """Runs episodes to their end with the current model, with quantised weights if it is trained with them."""
        plan, vocabulary = self.plan, self.run.parts.vocabulary
        episodes = Episodes(revisions, vocabulary, *where, oracle_share=share, max_actions=plan.max_actions)
        with self.trainer.rounded():
            actor = acting_copy(self.trainer.model)
        roll_out(actor, vocabulary, episodes, plan.batch)
        if self.trainer.world.device.type == "cuda":
            # Generation takes a stream of its own each time, whose freed memory no other would reuse.
            torch.cuda.empty_cache()
        return episodes

    def evaluate(self, number: int) -> None:
        """Lets the model revise held-out edits greedily, without the oracle, and reports metrics and the loss."""
        held_out, trainer = self.data.held_out, self.trainer
        if held_out is None:
            return
        episodes = self._acted(held_out, (0, 0, min(len(held_out), _EVALUATION_EPISODES), 0), 0.0)
        loss = trainer.evaluate(
            evaluation_rows(episodes.histories(), held_out.start_id, trainer.settings, trainer.world)
        )
        found = _outcome(episodes, "held_out")
        self.run.reporter.write(
            {"step": trainer.progress.step, "round": number, "held_out_visited_loss": loss, **found}
        )
        self.run.reporter.say(
            f"after {number} rounds: loss where the model comes by {loss:.4f}, "
            f"exact {found['held_out_exact']:.1%}, left alone {found['held_out_left_alone']:.1%}"
        )
        self.run.reporter.mark()

    def look(self, number: int) -> None:
        """Evaluates the model after `number` rounds."""
        step = self.trainer.progress.step
        # Now and then a step has just been looked at, as in any run.
        if step == 0 or step % self.trainer.settings.evaluate_every:
            self.run.evaluator.evaluate(self.trainer, self.run.reporter)
        self.evaluate(number)

    def go_on(self) -> bool:
        """Trains for all rounds from the current one on; returns False if interrupted."""
        run = self.run
        for number in range(self.current, self.plan.rounds):
            self.begin(number)
            if run.asked or not run.go_on(until=(number + 1) * self.plan.updates):
                return False
            self.look(number + 1)
            run.save()
            save_result(run.out / f"round-{number + 1:02}", run.trainer, run.parts, run.facts)
            if run.asked:
                return number + 1 == self.plan.rounds
        return True


def _outcome(episodes: Episodes, name: str) -> dict[str, float]:
    """Metrics of finished episodes; "exact" is the share that reached the person's text, of those needing a change."""
    made = episodes.histories()
    assert made.targets is not None
    right = (made.ids == made.targets)[made.counted]
    last = made.ids[np.arange(len(made)), made.lengths - 1]
    reached, finished = episodes.reached(), episodes.finished
    return {
        f"{name}_states": int(made.counted.sum()),
        f"{name}_right": float(right.mean()),
        f"{name}_exact": float(reached[~finished].mean()) if (~finished).any() else 0.0,
        f"{name}_left_alone": float(reached[finished].mean()) if finished.any() else 0.0,
        f"{name}_stopped": float((last == episodes.stop_id).mean()),
    }


def _reviser_to_train(source: str) -> Checkpoint:
    """Loads the model that a run starts from; raises `ReviserError` if it cannot revise."""
    from reviser.checkpoints.importing import import_model

    start = import_model(source)
    if not start.vocabulary.revises:
        raise ReviserError(f"{source} was not trained to revise: start with python -m training run")
    start.model.to(torch.float32)
    return start


def _mixture_for(start: Checkpoint, path: Path | None, history: int) -> Mixture:
    """The supervised mixture: that of the file, or the one the model was trained with."""
    kept = start.metadata.get("mixture")
    if path:
        mixture = Mixture.load(path)
    elif isinstance(kept, dict):
        mixture = Mixture.from_dict(kept)
    else:
        raise ReviserError("the model does not say what it was trained with, so name a --mixture")
    if not mixture.edits:
        raise ReviserError("the mixture has no share of edits")
    return dataclasses.replace(mixture, max_history=history)


def train(options: DaggerOptions, settings: Settings, world: World) -> None:
    """Trains for all rounds or until interrupted; saves the run in both cases."""
    out, plan = options.out, options.plan
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    parts = _reviser_to_train(options.init)
    check_history(settings.history, parts.model)
    mixture = _mixture_for(parts, options.mixture, settings.history)
    edits, unseen = (
        Revisions(Corpus.open(folder), parts.vocabulary, mixture, settings.seed) if folder else None
        for folder in (options.edits, options.held_out_edits)
    )
    assert edits is not None
    data = Data(Samples(Corpus.open(options.data), parts.vocabulary, mixture, settings.seed), edits, unseen)
    supervised = loader_of(data.source([], 0.0), settings, world, options.workers)
    trainer = Trainer(settings, parts.model, supervised, world, moves=parts.vocabulary.move_ids)
    if options.resume:
        resume(out, trainer)
    facts: RunFacts = {
        "settings": settings.to_dict(),
        "dagger": dataclasses.asdict(plan),
        "mixture": mixture.to_dict(),
        "init": options.init,
        "data": str(options.data),
        "edits": str(options.edits),
        "command": " ".join(["python -m training dagger", *options.words]),
    }
    held_out = Corpus.open(options.held_out) if options.held_out else None
    evaluator = evaluator_for(held_out, settings, mixture, world, parts)
    if unseen is not None:
        evaluator.edits = edit_rows(unseen, settings, world)
    at = trainer.progress.step if options.resume else -1
    with TrainingRun.begun(out, trainer, parts, facts, evaluator, at) as begun:
        rounds = Rounds(plan, data, begun, options.workers)
        if options.resume:
            rounds.forget(rounds.current + 1)
        else:
            rounds.forget(0)
            rounds.look(0)
        begun.end(rounds.go_on())


def run(options: DaggerOptions) -> None:
    """Train a reviser in rounds."""
    settings = options.settings()
    check_out(options.out, resumed=options.resume)
    with join_world("none") as world:
        train(options, settings, world)
