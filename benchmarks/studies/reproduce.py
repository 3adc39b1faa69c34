"""The paper's comparison at a smaller scale: trains AR, Reviser, SEDD and MDLM alike, then measures all.

python -m benchmarks reproduce --scale lab --data TRAIN… --held-out TEXTS --out runs/lab

All four have the same trunk (layers, width, heads, MLP), see the same texts and as many ids, in batches
of the same size under the same schedule; AR, SEDD and MDLM see the very same rows. A Reviser's ids include
its moves, as in the paper. What is finished is kept in OUT, so a second call goes on where the first ended
(`--train AR` does one part alone); `--measure OUT` measures what a run has written by further evaluators,
without its models. `--scale bench`, `bench-small` and `bench-warm` are larger, with a fifth model and several budgets, and are carried
out in stages, on any machines and days (`benchmarks.reproduction`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import hashlib
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal, TypeVar, cast

import torch

from benchmarks.builtin import builtin_texts
from benchmarks.contestants.diffusion.checkpoint import is_diffusion, save_diffusion
from benchmarks.contestants.diffusion.training import DiffusionTrainer, fresh_diffusion
from benchmarks.protocol.passages import passages
from benchmarks.protocol.records import (
    Generation,
    Judgement,
    Progress,
    Prompt,
    read_records,
    write_records,
)
from benchmarks.protocol.results import (
    REAL,
    ArenaRow,
    MauveRow,
    MissingEntry,
    PerplexityRow,
    Reproduced,
    Reproduction,
    Results,
    SettingsFacts,
    TrainingRecord,
)
from benchmarks.protocol.runs import Bars, Cache, RunFolder, file_name
from benchmarks.protocol.setup import BUILTIN, Setup
from benchmarks.report.findings import NAMES, Name, findings
from benchmarks.report.page import tables_of, write_report
from benchmarks.report.provenance import surroundings
from benchmarks.suite import Plan, Suite, Written, finite
from reviser.checkpoints.summary import is_home
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from training.data.corpus import Corpus, Manifest
from training.data.shards import Options, tokenise, unpack
from training.data.sources import documents, expand
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.metrics import MetricsLog, PlainView, read_metrics
from training.trainer.options import RunOptions
from training.trainer.parallel import join_world
from training.trainer.run import Reporter, loader_of, train
from training.trainer.settings import Settings, preset_settings

Say = Callable[[str], None]
_HELD_OUT_SHARE = 10
_RECORD = "reproduction.json"
# Scales that are carried out in stages, by `benchmarks.reproduction`, which is built of what is here.
STAGED = ("bench", "bench-small", "bench-warm", "bench-tiny")
STAGES = ("prepare", "train", "generate", "judge", "report", "cut", "join")
STAGED_NAMES = ("Reviser", "Reviser-ours", "AR", "SEDD", "MDLM")


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is. Evaluators may be named after the models that it trains."""

    settings: Settings
    setup: Setup
    evaluators: tuple[str, ...]
    judges: tuple[str, ...]
    features: tuple[str, ...]
    workers: int = 1

    def changed(self, steps: int | None, prompts: int | None) -> Scale:
        """With another number of training steps or of prompts for each seed."""
        return dataclasses.replace(
            self,
            settings=dataclasses.replace(self.settings, steps=steps or self.settings.steps),
            setup=dataclasses.replace(self.setup, prompts=prompts or self.setup.prompts),
        )


SCALES: dict[str, Scale] = {
    # Minutes on two processor cores: everything works, and nothing is learned to speak of.
    "smoke": Scale(
        dataclasses.replace(
            preset_settings("tiny", steps=24, rows=8, peak_rate=3e-3, final_rate=3e-4),
            model="tiny-paper",
        ),
        Setup(
            prompts=100,
            seeds=(123,),
            shortest=40,
            prompt_tokens=16,
            total_tokens=32,
            max_actions=32,
            diffusion_steps=8,
        ),
        evaluators=("AR", "MDLM"),
        judges=("likelihood:AR",),
        features=("minilm",),
    ),
    # Less than 25 minutes on one H200: the paper's smaller trunk, 72M ids for each model.
    "lab": Scale(
        preset_settings(
            "paper-100m",
            steps=1100,
            rows=256,
            peak_rate=6e-4,
            final_rate=6e-5,
            warmup_steps=100,
            dropout=0.0,
            checkpoint_every=10_000,
        ),
        Setup(),
        evaluators=("smollm2", "MDLM"),
        judges=("likelihood:smollm2",),
        features=("minilm",),
        workers=8,
    ),
}


@dataclass(frozen=True)
class Texts:
    """Sources of texts, or folders of token shards, to train on, and a source that is not among them.

    Without one, a tenth of the texts is held out.
    """

    data: Sequence[str] = (BUILTIN,)
    held_out: str | None = None


@dataclass(frozen=True)
class Measures:
    """Evaluators, judges and features for MAUVE."""

    evaluators: Sequence[str] = ()
    judges: Sequence[str] = ()
    features: Sequence[str] = ()


class PlainBars(Bars):
    """Plain lines on standard error, for machines without rich."""

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Progress]:
        began = time.perf_counter()
        yield lambda done: None
        self.say(f"{label}: {total} in {time.perf_counter() - began:.1f} s")


def reproduce(
    scale: str | Scale,
    out: Path,
    texts: Texts = Texts(),
    further: Measures = Measures(),
    *,
    command: str = "",
    bars: Bars | None = None,
) -> Reproduced:
    """Train the four models and measure them; returns, and leaves in `out`, everything that was found.

    They are measured by what the scale says, and by further measures.
    """
    chosen = SCALES[scale] if isinstance(scale, str) else scale
    shown = bars or PlainBars()
    # Where there is no package index, asking it again and again would only take time.
    os.environ.setdefault("PIP_RETRIES", "0")
    os.environ.setdefault("PIP_DEFAULT_TIMEOUT", "10")
    prompts, training = train_models(NAMES, chosen, out, texts, shown.say)
    trained = time.perf_counter()
    found: Reproduction = {
        "scale": scale if isinstance(scale, str) else "custom",
        "command": command,
        "training": training,
    }
    _write_json(out / _RECORD, found)
    plan = Plan(
        setup=dataclasses.replace(chosen.setup, data=str(prompts)),
        models=tuple(f"{name}={model_folder(out, name)}" for name in NAMES),
        evaluators=tuple(
            _resolved(out, name) for name in (*chosen.evaluators, *further.evaluators)
        ),
        judges=tuple(_resolved(out, name) for name in (*chosen.judges, *further.judges)),
        features=(*chosen.features, *further.features),
    )
    with Cache(out / "cache.sqlite") as cache:
        folder = RunFolder.start(out / "run", plan.to_dict())
        results = Suite(plan, folder, cache, shown).run()
    # Models may have been trained one by one, before this call.
    spent = sum(entry["seconds"] for entry in training.values()) + time.perf_counter() - trained
    found["seconds"] = round(spent, 1)
    return _concluded(out, folder, results, found)


def _concluded(out: Path, folder: RunFolder, results: Results, found: Reproduction) -> Reproduced:
    """Say what follows from results, there and in the report; returns all of it."""
    concluded: Reproduction = finite({**found, "findings": findings(results)})
    results = {**results, "reproduction": concluded}
    folder.write_json("results.json", results)
    write_report(folder)
    _write_json(out / _RECORD, concluded)
    return {**concluded, "results": results}


def train_models(
    names: Sequence[Name], scale: Scale, out: Path, texts: Texts, say: Say
) -> tuple[Path, dict[str, TrainingRecord]]:
    """Train these of the four; returns the file of texts to be continued, and how training went."""
    out.mkdir(parents=True, exist_ok=True)
    corpus, prompts = prepare(out / "data", texts, scale.setup, scale.workers, say)
    return prompts, {name: train_model(name, scale, corpus, out / "models", say) for name in names}


def model_folder(out: Path, name: str) -> Path:
    return out / "models" / name.lower() / "model"


def _resolved(out: Path, source: str) -> str:
    """An evaluator or judge, where it is named after a model that was trained here, as its folder."""
    head, mark, name = source.rpartition(":")
    return f"{head}{mark}{model_folder(out, name)}" if name in NAMES else source


def prepare(
    folder: Path, texts: Texts, setup: Setup, workers: int, say: Say, tokenizer: str = "gpt2"
) -> tuple[Path, Path]:
    """Token shards to train on and a file of passages to be continued, none of them trained on."""
    data, held_out = texts.data, texts.held_out
    folder.mkdir(parents=True, exist_ok=True)
    shards = _ready_shards(folder, data)
    if shards is not None and held_out is None:
        raise ReviserError("token shards are trained on whole: name held-out texts beside them")
    passages_file = folder / "held-out.jsonl"
    if not passages_file.exists():
        kept = filter(_is_held_out, _texts(data)) if held_out is None else _texts([held_out])
        cut = (part for text in kept for part in passages(text, setup.shortest, setup.longest))
        _write_texts(passages_file, cut)
    if shards is not None:
        return shards, passages_file
    sources = list(data)
    if held_out is None:
        sources = [str(folder / "train.jsonl")]
        if not Path(sources[0]).exists():
            _write_texts(Path(sources[0]), (x for x in _texts(data) if not _is_held_out(x)))
    tokenise(folder / "tokens", sources, tokenizer, Options(workers=workers), say)
    return folder / "tokens", passages_file


def _write_texts(path: Path, texts: Iterable[str]) -> None:
    lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    write_atomically(path, "".join(lines).encode())


def _ready_shards(folder: Path, data: Sequence[str]) -> Path | None:
    """The folder of shards that `data` is, unpacked if it was packed for transport."""
    if len(data) != 1 or not (Path(data[0]) / "manifest.json").is_file():
        return None
    source = Path(data[0])
    if not Manifest.load(source).packed:
        return source
    if not (folder / "tokens" / "manifest.json").is_file():
        unpack(source, folder / "tokens")
    return folder / "tokens"


def _texts(sources: Sequence[str]) -> Iterator[str]:
    for source in sources:
        if source == BUILTIN:
            yield from builtin_texts()
        else:
            for name in expand([source]):
                yield from documents(name)


def _is_held_out(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] % _HELD_OUT_SHARE == 0


def train_model(name: Name, scale: Scale, corpus: Path, models: Path, say: Say) -> TrainingRecord:
    """Train one of the four, unless that was done already; returns how it went."""
    out = models / name.lower()
    record = out / "training.json"
    folder = out / "model"
    if record.exists() and (is_home(folder) or is_diffusion(folder)):
        kept: TrainingRecord = json.loads(record.read_text("utf-8"))
        if Settings.from_dict(kept["settings"]) != scale.settings:
            raise ReviserError(f"{out} was trained with other settings; name another folder")
        say(f"{name} is trained already")
        return kept
    say(f"training {name}")
    began = time.perf_counter()
    # What training prints is not the result of this program.
    with contextlib.redirect_stdout(sys.stderr):
        if name in ("SEDD", "MDLM"):
            kind: Literal["sedd", "mdlm"] = "sedd" if name == "SEDD" else "mdlm"
            train_diffusion(kind, scale, corpus, out)
        else:
            _train_own(name, scale, corpus, out)
    torch.compiler.reset()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    found = _training_record(out, scale, time.perf_counter() - began)
    _write_json(record, found)
    return found


def _train_own(name: str, scale: Scale, corpus: Path, out: Path) -> None:
    """A Reviser by the paper's recipe, or the autoregressive baseline, with the usual training run."""
    settings = dataclasses.replace(scale.settings, objective="ar" if name == "AR" else "reviser")
    options = RunOptions(
        preset=settings.model,
        data=corpus,
        out=out,
        tokenizer="gpt2",
        workers=scale.workers,
        words=(f"as {name} of a reproduction",),
    )
    with join_world(settings.parallel) as world:
        train(options, settings, world)


def train_diffusion(kind: Literal["sedd", "mdlm"], scale: Scale, corpus: Path, out: Path) -> None:
    """SEDD or MDLM, on the rows of the autoregressive baseline."""
    settings = scale.settings
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = Gpt2Tokenizer()
    kinds = frozenset({"insert", "stop"})
    vocabulary = Vocabulary(tokenizer.size, tokenizer.markers, kinds=kinds, name=tokenizer.name)
    trunk = preset(settings.model, vocab_size=vocabulary.size, dropout=settings.dropout)
    samples = Samples(
        Corpus.open(corpus), vocabulary, Mixture.left_to_right(settings.history), settings.seed
    )
    torch.set_float32_matmul_precision("high")
    with join_world(settings.parallel) as world:
        made = fresh_diffusion(kind, trunk, vocabulary, tokenizer, seed=settings.seed)
        source = loader_of(samples, settings, world, scale.workers)
        trainer = DiffusionTrainer(settings, made.model, source, world)
        log = MetricsLog(out / "metrics.jsonl")
        reporter = Reporter(trainer, log, PlainView())
        measured = None
        for measured in trainer.steps():
            reporter.take(measured)
        if measured is not None and reporter.unreported:
            reporter.report(measured)
        log.close()
    metadata = {"settings": settings.to_dict(), "objective": kind}
    made.model.eval()
    save_diffusion(out / "model", dataclasses.replace(made, metadata=metadata), replace=True)


def _training_record(out: Path, scale: Scale, seconds: float) -> TrainingRecord:
    entries = [entry for entry in read_metrics(out / "metrics.jsonl") if "loss" in entry]
    last = entries[-max(1, len(entries) // 10) :]
    weights = (out / "model").glob("*.safetensors")
    return {
        "steps": entries[-1]["step"],
        "ids": entries[-1]["actions"],
        # The first entry has compiling in it, and the last may be of a moment.
        "ids_per_s": median(entry["actions_per_s"] for entry in entries),
        "loss": sum(entry["loss"] for entry in last) / len(last),
        "weights_mb": round(sum(path.stat().st_size for path in weights) / 1e6, 1),
        "training_seconds": entries[-1]["seconds"],
        "seconds": round(seconds, 1),
        "settings": cast(SettingsFacts, scale.settings.to_dict()),
    }


class KeptSuite(Suite):
    """A run whose texts are read from its folder: its models and data need not be there."""

    def __init__(self, plan: Plan, folder: RunFolder, cache: Cache, bars: Bars) -> None:
        self.plan = plan
        self.folder = folder
        self.cache = cache
        self.bars = bars
        self.missing = []
        self._loaded = None
        self.prompts = {
            int(path.stem): read_records(path, Prompt)
            for path in sorted((folder.path / "prompts").glob("*.jsonl"))
        }
        self._by_id = {prompt.id: prompt for part in self.prompts.values() for prompt in part}

    def written(self) -> list[Written]:
        """What every contestant of the run wrote."""
        found = []
        for name, source in [(REAL, REAL), *self.plan.named_models()]:
            path = self.folder.path / "generations" / f"{file_name(name)}.jsonl"
            if path.exists():
                by_seed: dict[int, list[Generation]] = {}
                for entry in read_records(path, Generation):
                    by_seed.setdefault(entry.seed, []).append(entry)
                found.append(Written(name, source, by_seed, [], None, None))
        return found


def measure(out: Path, further: Measures, *, bars: Bars | None = None) -> Reproduced:
    """Measure a reproduction's texts by what was not to be had when they were written."""
    folder = RunFolder.existing(out / "run")
    results: Results = folder.read_json("results.json")
    settings = results["settings"]
    plan = Plan(
        Setup.from_dict(settings["setup"]),
        tuple(settings["models"]),
        tuple(further.evaluators),
        tuple(further.judges),
        both_ways=settings["both_ways"],
        features=tuple(further.features),
    )
    with Cache(out / "cache.sqlite") as cache:
        suite = KeptSuite(plan, folder, cache, bars or PlainBars())
        kept = suite.written()
        new = Tables(
            suite.perplexities(kept),
            _further_arenas(suite, kept) if further.judges else [],
            suite.mauve(kept),
        )
    merged = merge(results, new, suite.missing)
    if new.perplexity or new.arena or new.mauve:
        asked = ", ".join((*further.evaluators, *further.judges, *further.features))
        place = surroundings()
        words = f"{asked} on {place['Hardware']}, {place['Date']}, commit {place['Commit']}"
        merged["provenance"] = merged["provenance"] | {"Measured later": words}
    record = out / _RECORD
    found: Reproduction = json.loads(record.read_text("utf-8")) if record.exists() else {}
    return _concluded(out, folder, merged, found)


def _further_arenas(suite: KeptSuite, kept: Sequence[Written]) -> list[ArenaRow]:
    """More arenas, whose judgements join those that the run's folder holds."""
    path = suite.folder.path / "judgements.jsonl"
    old = read_records(path, Judgement) if path.exists() else []
    rows = suite.arenas(kept)
    new = read_records(path, Judgement)
    judges = {entry.judge for entry in new}
    write_records(path, [*(entry for entry in old if entry.judge not in judges), *new])
    return rows


@dataclass(frozen=True)
class Tables:
    """Rows of results that were measured later."""

    perplexity: Sequence[PerplexityRow] = ()
    arena: Sequence[ArenaRow] = ()
    mauve: Sequence[MauveRow] = ()


_Row = TypeVar("_Row", bound=Mapping[str, object])


def merge(old: Results, new: Tables, missing: list[MissingEntry]) -> Results:
    """Old results with new rows added, or put in the place of the same rows; what was missing may not be now."""
    merged = old.copy()
    merged["perplexity"] = _joined(
        old["perplexity"], finite(new.perplexity), "contestant", "evaluator"
    )
    merged["arena"] = _joined(old["arena"], finite(new.arena), "first", "second", "judge")
    merged["mauve"] = _joined(old["mauve"], finite(new.mauve), "contestant", "features")
    sources = (
        {f"evalPPL under {row['evaluator']}" for row in new.perplexity}
        | {f"an arena judged by {row['judge']}" for row in new.arena}
        | {f"MAUVE with {row['features']} features" for row in new.mauve}
    )
    still = [entry for entry in old["missing"] if entry["what"] not in sources]
    merged["missing"] = [*still, *(entry for entry in missing if entry not in still)]
    return merged


def _joined(old: Sequence[_Row], new: Sequence[_Row], *keys: str) -> list[_Row]:
    """Rows of both; of those with the same values of `keys`, the last."""
    return list({tuple(row[key] for key in keys): row for row in (*old, *new)}.values())


def summary(found: Reproduced) -> str:
    """What was found, for people."""
    lines = [
        f"{name}: {entry['ids']:,} ids, loss {entry['loss']:.3f}, {entry['seconds']:.0f} s"
        for name, entry in found.get("training", {}).items()
    ]
    words = {True: "holds", False: "does not hold", None: "open"}
    for entry in found.get("findings", ()):
        lines.append(f"{words[entry['holds']]:>13}  {entry['measure']}: {entry['claim']}")
    missing = found["results"]["missing"] if "results" in found else ()
    lines += [f"without {entry['what']}: {entry['why']}" for entry in missing]
    return "\n".join(lines)


def page(found: Reproduced) -> str:
    """The file of results: where they come from, and all tables of the report."""
    results = found["results"]
    facts = {
        "Command": f"`{found.get('command', '')}`",
        **results["provenance"],
        "Seeds": ", ".join(map(str, results["settings"]["setup"]["seeds"])),
        "Minutes": round(found.get("seconds", 0) / 60, 1),
    }
    head = "".join(f"- {name}: {value}\n" for name, value in facts.items())
    return f"# The paper's comparison, reproduced\n\n{head}\n{tables_of(results)}"


def _write_json(path: Path, data: Any) -> None:
    write_atomically(path, (json.dumps(finite(data), indent=1) + "\n").encode())


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """How large a reproduction is, and what it is trained and measured on."""

    scale: Annotated[str, Option("size of the models and data", choices=(*SCALES, *STAGED))] = (
        "smoke"
    )
    out: Annotated[Path | None, Option("folder of the reproduction")] = None
    data: Annotated[tuple[str, ...], Option("texts or token shards", together=True)] = (BUILTIN,)
    held_out: Annotated[
        str | None, Option("texts to be continued; by default a tenth of the data")
    ] = None
    steps: Annotated[int | None, Option("training steps of each model")] = None
    train: Annotated[
        tuple[Name, ...],
        Option("train these alone, as a part of the whole", choices=NAMES, together=True),
    ] = ()
    prompts: Annotated[int | None, Option("prompts for each seed")] = None
    evaluator: Annotated[tuple[str, ...], Option("another evaluator")] = ()
    judge: Annotated[tuple[str, ...], Option("another judge")] = ()
    features: Annotated[tuple[str, ...], Option("other features for MAUVE")] = ()
    measure: Annotated[Path | None, Option("measure what a run has written", metavar="OUT")] = None
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None
    stage: Annotated[
        tuple[str, ...],
        Option("bench: these stages alone", choices=STAGES, together=True),
    ] = ()
    model: Annotated[
        tuple[str, ...], Option("bench: these models alone", choices=STAGED_NAMES, together=True)
    ] = ()
    budgets: Annotated[
        tuple[int, ...],
        Option("bench: these budgets alone, in million ids", metavar="COUNT", together=True),
    ] = ()
    minutes: Annotated[
        float | None, Option("bench: stop after so many minutes; the same command continues")
    ] = None
    init: Annotated[str | None, Option("bench-warm: what all models start from")] = None
    tokenizer: Annotated[str | None, Option("bench-warm: its tokenizer.json, for texts")] = None
    critic: Annotated[Path | None, Option("bench: file of the critic, a GGUF")] = None
    slice_mb: Annotated[int, Option("bench: megabytes of a slice, for --stage cut")] = 15
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ReproduceOptions,
        run,
        arguments,
        prog="python -m benchmarks reproduce",
        about=(__doc__ or "").splitlines()[0],
    )


def run_stages(chosen: ReproduceOptions) -> None:
    """A reproduction in stages (`benchmarks.reproduction`), which is made of parts of this one."""
    staged = import_module("benchmarks.reproduction.command")
    scales = import_module("benchmarks.reproduction.scales")
    options = staged.StageOptions(
        chosen.out or Path("runs") / f"reproduce-{chosen.scale}",
        Texts(chosen.data, chosen.held_out),
        chosen.stage or staged.STAGES,
        chosen.model or scales.NAMES,
        chosen.minutes,
        chosen.init,
        chosen.tokenizer,
        chosen.critic,
        chosen.evaluator,
        chosen.features,
        chosen.slice_mb,
        chosen.write,
        shlex.join(["python", "-m", "benchmarks", "reproduce", *chosen.words]),
    )
    scale = scales.SCALES[chosen.scale]
    if chosen.prompts:
        scale = dataclasses.replace(
            scale, setup=dataclasses.replace(scale.setup, prompts=chosen.prompts)
        )
    if chosen.budgets:
        scale = scale.with_budgets([count * scales.MILLION for count in chosen.budgets])
    if chosen.steps or chosen.train or chosen.measure or chosen.judge:
        raise ReviserError("--steps, --train, --measure and --judge are not for this scale")
    done = staged.carry_out(options, scale)
    print("done" if done else "not done yet: the same command goes on")


def run(chosen: ReproduceOptions) -> None:
    if chosen.scale in STAGED:
        run_stages(chosen)
        return
    if any(
        (chosen.stage, chosen.model, chosen.budgets, chosen.minutes, chosen.init, chosen.critic)
    ):
        raise ReviserError(f"--stage and the like are for the scales {', '.join(STAGED)}")
    scale = SCALES[chosen.scale].changed(chosen.steps, chosen.prompts)
    out = chosen.out or Path("runs") / f"reproduce-{chosen.scale}"
    measures = Measures(chosen.evaluator, chosen.judge, chosen.features)
    texts = Texts(chosen.data, chosen.held_out)
    if chosen.measure is not None:
        found = measure(chosen.measure, measures)
    elif chosen.train:
        _, training = train_models(chosen.train, scale, out, texts, PlainBars().say)
        found = {"training": training}
    else:
        command = shlex.join(["python", "-m", "benchmarks", "reproduce", *chosen.words])
        found = reproduce(scale, out, texts, measures, command=command)
    if chosen.write and "results" in found:
        write_atomically(chosen.write, page(found).encode())
    print(json.dumps(found) if chosen.json else summary(found))
