"""`python -m training run PRESET --data … --out …`: a whole training run, from its data to its model."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from reviser.checkpoints.home import Checkpoint
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, decode, load_tokenizer
from reviser.core.vocabulary import EXTENSIONS, Vocabulary
from reviser.decoding.rollout import Run, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.torch_policy import run_batch
from reviser.model import Reviser, preset, resize_vocabulary
from training.batches.loader import Loader, SampleSource, samples_of
from training.batches.packing import SLACK, PackedRows, packed
from training.data.corpus import Corpus
from training.edits.edit_samples import EditSource, Revisions
from training.edits.mistakes.kinds import Recipe
from training.edits.mistakes.source import MadeUpMistakes
from training.edits.mistakes.table import load_table
from training.edits.sessions.shards import StoredNextEdits
from training.samples.histories import Histories
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.distillation import BaseTeacher
from training.trainer.metrics import Metrics, MetricsLog, PlainView, make_view
from training.trainer.parallel import World, join_world
from training.trainer.saving import (
    RunFacts,
    check_out,
    has_checkpoint,
    lanes_of,
    resume,
    save_result,
    save_run,
    save_settings,
    tidy,
)
from training.trainer.settings import RunOptions, Settings
from training.trainer.trainer import StepMeasures, Trainer, interruptible

_REPORT_SECONDS = 2.0
_EVALUATION_BATCHES = 4
_EVALUATION_EDITS = 500
_SAMPLED_PROMPTS = 8
_SAMPLED_ACTIONS = 200


def loader_of(samples: SampleSource, settings: Settings, world: World, workers: int) -> Loader:
    """The loader of packed rows for one process of the run."""
    return Loader(
        samples,
        settings.rows // world.size,
        row_length=settings.row_length,
        rank=world.rank,
        world=world.size,
        lanes=settings.lanes,
        workers=workers,
    )


def mixture_of(settings: Settings, path: Path | None) -> Mixture:
    """The mixture of a run: that of the file, or the paper's recipe; left to right for the AR baseline.

    For the baseline, the lengths of texts and the share of openings still come from the file.
    """
    mixture = Mixture.load(path) if path else Mixture.as_in_the_paper(settings.history)
    if settings.objective == "ar":
        plain = Mixture.left_to_right(settings.history)
        return dataclasses.replace(plain, min_text=mixture.min_text, openings=mixture.openings)
    return dataclasses.replace(mixture, max_history=settings.history)


def starting_point(settings: Settings, tokenizer: str, init: str | None) -> Checkpoint:
    """The initial model: random weights, or a pretrained model with ids of operators appended."""
    if init is None:
        return _fresh(settings, load_tokenizer(tokenizer), tokenizer)
    from reviser.checkpoints.importing import import_model

    start = import_model(init)
    vocabulary = _with_operators(start.vocabulary, settings)
    if vocabulary.size > start.vocabulary.size:
        resize_vocabulary(start.model, vocabulary.size)
    start.model.to(torch.float32)
    return dataclasses.replace(start, vocabulary=vocabulary)


def teacher_of(settings: Settings, base: str | None, vocabulary: Vocabulary) -> BaseTeacher | None:
    """The teacher of the run, if its settings ask for distillation."""
    if not settings.keep:
        return None
    if base is None:
        raise ReviserError("--keep needs the model to be held to: --base, or --init")
    from reviser.checkpoints.importing import import_model

    return BaseTeacher(import_model(base).model, vocabulary.base_size, settings.keep)


def mistakes_of(options: RunOptions, vocabulary: Vocabulary, mixture: Mixture, seed: int) -> MadeUpMistakes | None:
    """The source of synthetic mistakes if a table is given, made in the texts of the run or in others."""
    if options.mistakes is None:
        return None
    texts = Corpus.open(options.mistakes_in or options.data)
    recipe = Recipe.load(options.recipe) if options.recipe else Recipe()
    table = load_table(options.mistakes)
    return MadeUpMistakes(texts, table, vocabulary, mixture, recipe, seed)


def check_history(history: int, model: Reviser) -> None:
    context = model.config.context
    if history > context:
        raise ReviserError(f"the model reads {context} ids at the most: lower --history {history}")


def _with_operators(old: Vocabulary, settings: Settings) -> Vocabulary:
    """The vocabulary with the actions that the run teaches in use; new ids are appended."""
    added = settings.kinds & set(EXTENSIONS)
    new = dataclasses.replace(old, kinds=settings.kinds, extensions=(*old.extensions, *(added - set(old.extensions))))
    if new.extensions[: len(old.extensions)] != old.extensions:
        raise ReviserError(f"{', '.join(sorted(added))} cannot be added to this model's vocabulary")
    return new


def _fresh(settings: Settings, tokenizer: Tokenizer, source: str) -> Checkpoint:
    bare = Vocabulary(tokenizer.size, tokenizer.markers, name=tokenizer.name)
    vocabulary = _with_operators(bare, settings)
    torch.manual_seed(settings.seed)
    config = preset(
        settings.model, vocab_size=vocabulary.size, dropout=settings.dropout, cursor_id=vocabulary.cursor_id
    )
    file = Path(source, "tokenizer.json") if Path(source).is_dir() else Path(source)
    content = None if source == "gpt2" else file.read_bytes()
    return Checkpoint(Reviser(config), vocabulary, tokenizer, content)


def matrix_rate(device: torch.device) -> float | None:
    """Floating-point operations per second of a large bf16 matrix product on this GPU; None without one."""
    if device.type != "cuda":
        return None
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        a @ b
    # The best of some: others may use the same GPU just now.
    seconds = []
    for _ in range(3):
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(20):
            a @ b
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return 20 * 2 * 8192**3 / min(seconds)


class Reporter:
    """A reporter that turns steps into log entries every few seconds, so that it seldom waits for the device."""

    def __init__(self, trainer: Trainer, log: MetricsLog | None, view: PlainView) -> None:
        self.trainer = trainer
        self._log = log
        self._view = view
        self._rate = matrix_rate(trainer.world.device)
        self._parameters = sum(p.numel() for p in trainer.model.parameters())
        self.mark()

    def mark(self) -> None:
        """Starts counting time and actions anew."""
        self._at = time.perf_counter()
        self._actions = 0
        self._waited = self.trainer.source.waited

    @property
    def unreported(self) -> bool:
        """Whether steps were taken since the last report; the same in all processes."""
        return self._actions > 0

    def take(self, measured: StepMeasures) -> None:
        self._actions += measured.actions
        # All processes must report together: the leader's clock decides.
        due = time.perf_counter() - self._at >= _REPORT_SECONDS and self.trainer.world.leads
        if self.trainer.world.total(float(due)):
            self.report(measured)

    def report(self, measured: StepMeasures) -> None:
        trainer = self.trainer
        loss = trainer.mean_loss(measured)
        seconds = time.perf_counter() - self._at
        speed = self._actions / seconds
        entry: Metrics = {
            "step": trainer.progress.step,
            "seconds": round(trainer.progress.seconds, 2),
            "actions": trainer.progress.actions,
            "loss": loss,
            "rate": measured.rate,
            "gradient": float(measured.gradient),
            "actions_per_s": round(speed),
            "waited_share": round((trainer.source.waited - self._waited) / seconds, 4),
        }
        if self._rate:
            entry["mfu"] = round(6 * self._parameters * speed / self._rate / trainer.world.size, 4)
        self.write(entry)
        self.mark()

    def write(self, entry: Mapping[str, object]) -> None:
        if self._log is not None:
            self._log.write(**entry)
            self._view.show(entry, self.trainer.done)

    def say(self, text: str) -> None:
        if self.trainer.world.leads:
            self._view.say(text)


class HeldOutEvaluator:
    """An evaluator of the model during a run: its loss on held-out rows, and sample texts."""

    def __init__(self, rows: list[PackedRows], prompts: list[list[int]], parts: Checkpoint) -> None:
        self._rows = rows
        self.edits: list[PackedRows] = []
        self._prompts = prompts
        self._parts = parts

    def evaluate(self, trainer: Trainer, reporter: Reporter) -> None:
        if not self._rows and not self.edits:
            return
        entry: dict[str, float] = {"step": trainer.progress.step}
        for name, rows in (("held_out_loss", self._rows), ("held_out_edit_loss", self.edits)):
            if rows:
                entry[name] = trainer.evaluate(rows)
        if self._prompts and trainer.world.leads and trainer.world.kind != "fsdp":
            # As it will be shipped: weights that are rounded in every pass are worth little as they are.
            with trainer.rounded():
                entry |= self._write_samples(trainer.model, reporter)
        reporter.write(entry)

    def _write_samples(self, model: Reviser, reporter: Reporter) -> dict[str, float]:
        vocabulary = self._parts.vocabulary
        model.eval()
        runs = []
        for number, prompt in enumerate(self._prompts):
            canvas, history = seed(vocabulary, prompt)
            sampler = Sampler(seed=number, move_temperature=None)
            runs.append(Run(canvas, history, sampler, max_actions=_SAMPLED_ACTIONS))
        # Sampling has shapes of its own; compiling for them would take longer than it saves.
        with torch.compiler.set_stance("force_eager"):
            steps = [step for _, step in run_batch(model, runs)]
        model.train()
        moves = [step for step in steps if step.action.kind == "move"]
        back = sum(step.action.delta < 0 for step in moves)  # type: ignore[attr-defined]
        shown = decode(self._parts.tokenizer, runs[0].canvas.tokens)
        reporter.say(f"sample: {shown!r}")
        return {
            "sampled_moves": len(moves) / max(len(steps), 1),
            "sampled_backward": back / max(len(moves), 1),
            "sampled_stops": sum(run.ending == "stop" for run in runs) / max(len(runs), 1),
        }


def evaluator_for(
    corpus: Corpus | None, settings: Settings, mixture: Mixture, world: World, parts: Checkpoint
) -> HeldOutEvaluator:
    """Makes an evaluator with fixed rows and prompts of a held-out corpus; without one it has nothing to evaluate."""
    if corpus is None:
        return HeldOutEvaluator([], [], parts)
    samples = Samples(corpus, parts.vocabulary, mixture, seed=1)
    loader = loader_of(samples, settings, world, workers=1)
    rows = list(islice(loader.batches(), _EVALUATION_BATCHES))
    plain = Samples(corpus, parts.vocabulary, Mixture.left_to_right(settings.history), seed=2)
    histories = plain.histories(0, 0, _SAMPLED_PROMPTS)
    # Between the start marker and Stop stand plain tokens; a prompt is the first third of them.
    ends = np.minimum(1 + histories.lengths // 3, 36).tolist()
    prompts = [history[1:end].tolist() for history, end in zip(histories.ids, ends, strict=True)]
    return HeldOutEvaluator(rows, prompts, parts)


def edit_rows(edits: EditSource, settings: Settings, world: World) -> list[PackedRows]:
    """Fixed rows of held-out edits, the same in every process, in batches of the training size."""
    histories = edits.histories(0, 0, min(len(edits), _EVALUATION_EDITS))
    return evaluation_rows(histories, edits.start_id, settings, world)


def evaluation_rows(histories: Histories, padding: int, settings: Settings, world: World) -> list[PackedRows]:
    """Packs histories into batches of the training size, so that nothing is compiled again for them.

    Some of the last batch's rows may be empty.
    """
    size = settings.rows // world.size
    needed = histories.lengths.sum() / settings.row_length / (1 - SLACK)
    rows = packed(histories, max(math.ceil(needed / size), 1) * size, settings.row_length, padding)
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def resumes(options: RunOptions, world: World) -> bool:
    """Whether the run resumes from a checkpoint; the same in all processes."""
    if world.leads:
        tidy(options.out)
    world.wait()
    return options.resume or (options.elastic and has_checkpoint(options.out))


def in_lanes(settings: Settings, world: World, resumed: Path | None) -> Settings:
    """The settings with the number of lanes: the given one, that of the resumed run, or one per process."""
    lanes = settings.lanes or (lanes_of(resumed) if resumed else None) or world.size
    if lanes % world.size:
        raise ReviserError(
            f"the data of this run is dealt out to {lanes} lanes: start a number of processes that divides "
            f"{lanes}, not {world.size}"
        )
    return dataclasses.replace(settings, lanes=lanes)


def _learned(vocabulary: Vocabulary, mixture: Mixture, options: RunOptions) -> Vocabulary:
    """The vocabulary with what the run teaches in addition: overtyping and next edits."""
    if not mixture.overtype:
        return vocabulary
    follows = vocabulary.next_edits or bool(options.next_edits and mixture.next_edits)
    return dataclasses.replace(vocabulary, overtypes=True, next_edits=follows)


def train(options: RunOptions, settings: Settings, world: World) -> None:
    """Trains until the run is over or interrupted; saves the run in both cases."""
    out = options.out
    resumed = resumes(options, world)
    settings = in_lanes(settings, world, out if resumed else None)
    torch.manual_seed(settings.seed + world.rank)
    torch.set_float32_matmul_precision("high")
    corpus = Corpus.open(options.data)
    parts = starting_point(settings, options.tokenizer or corpus.tokenizer.name, options.init)
    check_history(settings.history, parts.model)
    mixture = mixture_of(settings, options.mixture)
    parts = dataclasses.replace(parts, vocabulary=_learned(parts.vocabulary, mixture, options))
    edits = Corpus.open(options.edits) if options.edits else None
    mistakes = mistakes_of(options, parts.vocabulary, mixture, settings.seed)
    next_edits = None
    if options.next_edits:
        start_id = parts.vocabulary.start_id
        next_edits = StoredNextEdits(options.next_edits, start_id, mixture, settings.seed)
    samples = samples_of(corpus, edits, parts.vocabulary, mixture, settings.seed, mistakes, next_edits)
    loader = loader_of(samples, settings, world, options.workers)
    trainer = Trainer(
        settings,
        parts.model,
        loader,
        world,
        moves=parts.vocabulary.move_ids,
        teacher=teacher_of(settings, options.base or options.init, parts.vocabulary),
    )
    if resumed:
        resume(out, trainer)
    facts: RunFacts = {
        "settings": settings.to_dict(),
        "mixture": mixture.to_dict(),
        "init": options.init,
        "data": str(options.data),
        "edits": None if options.edits is None else str(options.edits),
        "mistakes": None if mistakes is None else mistakes.recipe.to_dict(),
        "command": " ".join(["python -m training run", *options.words]),
    }
    held_out = Corpus.open(options.held_out) if options.held_out else None
    evaluator = evaluator_for(held_out, settings, mixture, world, parts)
    if options.held_out_edits:
        unseen = Revisions(Corpus.open(options.held_out_edits), parts.vocabulary, mixture, settings.seed)
        evaluator.edits = edit_rows(unseen, settings, world)
    with TrainingRun.begun(out, trainer, parts, facts, evaluator, trainer.progress.step) as begun:
        if resumed:
            begun.reporter.say(f"goes on from step {trainer.progress.step}")
        finished = begun.go_on()
        if finished:
            begun.evaluator.evaluate(trainer, begun.reporter)
        begun.end(finished)


@dataclass(frozen=True)
class TrainingRun:
    """A run in progress: its trainer, what is saved of it, and a list that Ctrl-C makes non-empty."""

    out: Path
    trainer: Trainer
    parts: Checkpoint
    facts: RunFacts
    evaluator: HeldOutEvaluator
    reporter: Reporter
    asked: list[bool]

    @classmethod
    @contextmanager
    def begun(
        cls,
        out: Path,
        trainer: Trainer,
        parts: Checkpoint,
        facts: RunFacts,
        evaluator: HeldOutEvaluator,
        resumed_at: int,
    ) -> Iterator[TrainingRun]:
        """A context with the run, which logs from step `resumed_at` on."""
        log, leads = None, trainer.world.leads
        if leads:
            out.mkdir(parents=True, exist_ok=True)
            save_settings(out, facts)
            log = MetricsLog(out / "metrics.jsonl", resumed_at)
        with make_view() if leads else PlainView() as view, interruptible() as asked:
            yield cls(out, trainer, parts, facts, evaluator, Reporter(trainer, log, view), asked)
        if log is not None:
            log.close()

    def save(self) -> None:
        save_run(self.out, self.trainer, self.parts, self.facts)

    def go_on(self, until: int | None = None) -> bool:
        """Trains until the run is over or step `until` is done (returns True), or until interrupted (returns False)."""
        trainer, reporter, settings = self.trainer, self.reporter, self.trainer.settings
        measured = None
        for measured in trainer.steps():
            reporter.take(measured)
            step = trainer.progress.step
            if step % settings.evaluate_every == 0:
                self.evaluator.evaluate(trainer, reporter)
            if step % settings.checkpoint_every == 0:
                self.save()
            if trainer.world.total(float(bool(self.asked))):
                return False
            if step == until:
                break
        if measured is not None and reporter.unreported:
            reporter.report(measured)
        return True

    def end(self, finished: bool) -> None:
        """Saves the run, and its model if it is finished."""
        self.save()
        if finished:
            self.reporter.say(f"wrote {save_result(self.out, self.trainer, self.parts, self.facts)}")
        else:
            self.reporter.say(f"stopped at step {self.trainer.progress.step}; go on with --resume")


def run(options: RunOptions) -> None:
    """Trains according to the options, alone or as one of several processes."""
    settings = options.settings()
    check_out(options.out, resumed=options.resume or options.elastic)
    with join_world(settings.parallel) as world:
        train(options, settings, world)
