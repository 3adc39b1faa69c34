"""One run of the benchmark: every model continues every prompt, and all texts are measured.

All texts are generated and stored before anything is measured. A measurement that cannot be made (an unavailable
evaluator, too few texts) is listed with its reason in `missing`, and the others are made.
"""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar

import numpy as np
import torch

from benchmarks.contestants.continuation_models import RealText, load_contestant, named_source
from benchmarks.measures import flops
from benchmarks.measures.arena import judge_matches, matches, score
from benchmarks.measures.evaluators import load_evaluator
from benchmarks.measures.mauve_score import mauve_each
from benchmarks.measures.statistics import RESAMPLES, summary, walks
from benchmarks.measures.variety import variety
from benchmarks.protocol.records import (
    Contestant,
    Continuation,
    Editing,
    Judgement,
    Progress,
    Prompt,
    Scored,
    write_records,
)
from benchmarks.protocol.results import REAL, Results, Row
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, file_name, generations_of, key_of, measured_each
from benchmarks.protocol.setup import Setup, prompts_by_seed
from benchmarks.report.provenance import surroundings
from reviser import __version__
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.trajectory import Trajectory, dump_trajectories
from reviser.scoring.evaluators import DRAWS
from reviser.scoring.judges import LIKELIHOOD, Judge, LikelihoodJudge, load_judge
from reviser.scoring.loading import default_device, fingerprint
from reviser.scoring.perplexity import Evaluator, Kind, Loss, PromptedText, summarise
from reviser.session.replay import replay
from reviser.viewer import render_page

T = TypeVar("T")

FEWEST_FOR_MAUVE = 100
VIEWED = 20
BASE = "smollm2"
QUICK_PROMPTS = 32
# Texts that an evaluator is given at once; what it found is then kept.
_MEASURED = {"cpu": 32, "cuda": 1024}


@dataclass(frozen=True)
class SuitePlan:
    """The plan of a run: models, prompts and measures.

    A model is a name or path, or NAME=SOURCE to give it another name in tables. Arenas are between the first
    model and each of the others; `both_ways` asks every judge in both orders.
    """

    setup: Setup
    models: tuple[str, ...]
    evaluators: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    both_ways: bool = False
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.named_models()]
        if not names or len({*names, REAL}) <= len(names):
            raise ReviserError(f"a run needs models, each with a name of its own, and none called {REAL!r}")

    def named_models(self) -> list[tuple[str, str]]:
        return [named_source(model) for model in self.models]

    def to_dict(self) -> Row:
        return asdict(self)


@dataclass(frozen=True)
class WrittenRuns:
    """The texts of one contestant by seed, and its runs if it writes by actions."""

    name: str
    source: str
    generations: dict[int, list[Continuation]]
    trajectories: list[Trajectory]
    shape: flops.TransformerShape | None
    viewer: str | None

    @property
    def all(self) -> list[Continuation]:
        return [entry for part in self.generations.values() for entry in part]


class _KeptLoss(TypedDict):
    """The loss of a text in the cache."""

    nats: list[float]
    size: int


class KeptEvaluator:
    """An evaluator with a cache, which measures no text twice."""

    def __init__(self, evaluator: Evaluator, fingerprint: str, cache: RunCache) -> None:
        self.name = evaluator.name
        self.kind: Kind = evaluator.kind
        self._evaluator = evaluator
        # A bound that is estimated depends on the number of draws, too.
        drawn = f", {DRAWS} draws" if evaluator.kind == "diffusion" else ""
        self.fingerprint = fingerprint + drawn
        self._cache = cache

    def losses(self, texts: Sequence[PromptedText], progress: Progress = lambda done: None) -> list[Loss]:
        found = measured_each(
            texts,
            lambda text: key_of(kind="losses", evaluator=self.fingerprint, text=asdict(text)),
            self._measure,
            self._cache,
            progress,
            chunk=_MEASURED[default_device().type],
        )
        return [Loss(tuple(entry["nats"]), entry["size"]) for entry in found]

    def _measure(self, texts: Sequence[PromptedText]) -> list[_KeptLoss]:
        return [
            {"nats": [round(value, 6) for value in loss.nats], "size": loss.size}
            for loss in self._evaluator.losses(texts)
        ]


class Suite:
    """The execution of a plan. `unavailable` has the reasons for sources known to be unavailable."""

    unavailable: Mapping[str, str] = MappingProxyType({})

    def __init__(self, plan: SuitePlan, folder: RunFolder, cache: RunCache, bars: ProgressBars) -> None:
        self.plan = plan
        self.folder = folder
        self.cache = cache
        self.bars = bars
        self.missing: list[Row] = []
        self._loaded: tuple[str, KeptEvaluator] | None = None
        bars.say(f"reading texts from {plan.setup.data}")
        self.prompts = prompts_by_seed(plan.setup)
        self._by_id = {prompt.id: prompt for part in self.prompts.values() for prompt in part}

    def run(self) -> Results:
        """Executes the plan; returns all results, which are also stored in the folder."""
        for seed, prompts in self.prompts.items():
            write_records(self.folder.file("prompts", f"{seed}.jsonl"), prompts)
        fewest = min(map(len, self.prompts.values()))
        if fewest < self.plan.setup.prompts:
            self.bars.say(f"{self.plan.setup.data} has {fewest} prompts, fewer than asked for")
        written = self.write()
        results: Results = {
            "settings": self.plan.to_dict(),
            "provenance": surroundings() | {"Torch": torch.__version__, "Reviser": __version__},
            "prompts": {str(seed): len(prompts) for seed, prompts in self.prompts.items()},
            "contestants": [self.facts_of(entry) for entry in written],
            "perplexity": [],
            "arena": [],
            "mauve": [],
            "missing": self.missing,
        }
        # Whatever is known so far can be looked at, should the rest be interrupted.
        self.folder.write_json("results.json", finite(results))
        results["perplexity"] = self.perplexities(written)
        self.folder.write_json("results.json", finite(results))
        results["arena"] = self.arenas(written)
        self.folder.write_json("results.json", finite(results))
        results["mauve"] = self.mauve(written)
        self.folder.write_json("results.json", finite(results))
        measured: Results = self.folder.read_json("results.json")
        return measured

    def write(self) -> list[WrittenRuns]:
        """Lets every contestant continue every prompt; returns the texts."""
        done = []
        for name, source in [(REAL, REAL), *self.plan.named_models()]:
            contestant = self._attempt(
                f"{name} as a contestant",
                partial(self._load, name, source),
                needed=(name, source) == self.plan.named_models()[0],
            )
            if contestant is not None:
                done.append(self._written_by(contestant, source))
            # The next model may need the memory of this one.
            del contestant
            gc.collect()
        return done

    def _load(self, name: str, source: str) -> Contestant:
        if name == REAL:
            return RealText()
        self._refuse_unavailable(source)
        self.bars.say(f"loading {name}")
        return load_contestant(source, self.plan.setup, name=name)

    def _refuse_unavailable(self, source: str) -> None:
        """Raises `ReviserError` for a source known to be unavailable, since every attempt over the network is slow."""
        if reason := self.unavailable.get(source):
            raise ReviserError(reason)

    def _written_by(self, contestant: Contestant, source: str) -> WrittenRuns:
        total = sum(map(len, self.prompts.values()))
        with self.bars.task(f"{contestant.name}: writing", total) as progress:
            generations = {
                seed: generations_of(contestant, prompts, seed, self.plan.setup, self.cache, progress)
                for seed, prompts in self.prompts.items()
            }
        name = file_name(contestant.name)
        everything = [entry for part in generations.values() for entry in part]
        write_records(self.folder.file("generations", f"{name}.jsonl"), everything)
        trajectories: list[Trajectory] = []
        shape = viewer = None
        if isinstance(contestant, Editing) and any(entry.actions for entry in everything):
            trajectories = [trajectory_of(contestant, self._by_id[entry.prompt_id], entry) for entry in everything]
            path = self.folder.file("trajectories", f"{name}.json")
            write_atomically(path, dump_trajectories(trajectories).encode())
            viewer = self._attempt(
                f"a page on which runs of {contestant.name} can be watched",
                partial(self._viewer, contestant, name, trajectories[:VIEWED]),
            )
            if not contestant.config.uses_canvas:
                shape = flops.TransformerShape.of(contestant.config)
        return WrittenRuns(contestant.name, source, generations, trajectories, shape, viewer)

    def _viewer(self, contestant: Editing, name: str, shown: Sequence[Trajectory]) -> str:
        """Writes a page that replays the first runs; returns its path in the folder."""
        page = render_page([replay(run, contestant.tokenizer).for_viewer() for run in shown])
        write_atomically(self.folder.file("trajectories", f"{name}.html"), page.encode())
        return f"trajectories/{name}.html"

    def facts_of(self, written: WrittenRuns) -> Row:
        """The statistics of a contestant's texts and runs that need no other model."""
        entries = written.all
        followed = walks(written.trajectories)
        return {
            "name": written.name,
            "source": written.source,
            "file": file_name(written.name),
            "viewer": written.viewer,
            "texts": len(entries),
            "tokens": fmean(len(entry.tokens) for entry in entries),
            "endings": dict(Counter(entry.ending for entry in entries)),
            "seconds": fmean(entry.seconds for entry in entries),
            "variety": asdict(variety([entry.continuation for entry in entries])),
            "statistics": summary(followed).to_dict() if followed else None,
            "flops": (
                asdict(flops.measure(written.shape, followed))
                if written.shape and any(run.tokens for run in followed)
                else None
            ),
        }

    def perplexities(self, written: Sequence[WrittenRuns]) -> list[Row]:
        """Each contestant's perplexity under each evaluator."""
        rows: list[Row] = []
        for source in self.plan.evaluators:
            found = self._attempt(f"evalPPL under {source}", partial(self._perplexities_under, source, written))
            rows += found or []
        return rows

    def _perplexities_under(self, source: str, written: Sequence[WrittenRuns]) -> list[Row]:
        evaluator = self._evaluator(source)
        rows: list[Row] = []
        scored: list[Scored] = []
        for entry in written:
            generations = entry.all
            texts = [PromptedText(self._by_id[one.prompt_id].text, one.continuation) for one in generations]
            with self.bars.task(f"{entry.name}: evalPPL", len(texts)) as progress:
                losses = evaluator.losses(texts, progress)
            scored += [
                Scored(
                    *(one.prompt_id, entry.name, one.seed, evaluator.name),
                    *(round(loss.total, 4), len(loss.nats), loss.size),
                )
                for one, loss in zip(generations, losses, strict=True)
            ]
            found = summarise(evaluator, losses)
            spread = _spread(losses, [one.seed for one in generations])
            rows.append({"contestant": entry.name} | asdict(found) | spread)
        # Means can be the work of a few texts; here is which.
        write_records(self.folder.file("perplexities", f"{file_name(evaluator.name)}.jsonl"), scored)
        return rows

    def _evaluator(self, source: str) -> KeptEvaluator:
        """Loads the evaluator of a name; the last one used stays loaded."""
        if self._loaded is None or self._loaded[0] != source:
            self._refuse_unavailable(source)
            self._loaded = None
            gc.collect()
            self.bars.say(f"loading {source}, an evaluator")
            kept = KeptEvaluator(load_evaluator(source), fingerprint(source), self.cache)
            self._loaded = source, kept
        return self._loaded[1]

    def _judge(self, source: str) -> Judge:
        if source.startswith(LIKELIHOOD):
            evaluator = self._evaluator(source.removeprefix(LIKELIHOOD))
            return LikelihoodJudge(evaluator, evaluator.fingerprint)
        self._loaded = None
        gc.collect()
        self.bars.say(f"loading {source}, a judge")
        return load_judge(source, load=load_evaluator)

    def arenas(self, written: Sequence[WrittenRuns]) -> list[Row]:
        """Arenas of the first model against each other one and against the real continuations."""
        judgements: list[Judgement] = []
        for source in self.plan.judges:
            found = self._attempt(f"an arena judged by {source}", partial(self._judged_by, source, written))
            judgements += found or []
        write_records(self.folder.file("judgements.jsonl"), judgements)
        pairs: dict[tuple[str, str], list[Judgement]] = {}
        for entry in judgements:
            pairs.setdefault((entry.judge, entry.second), []).append(entry)
        return [asdict(score(entries)) for entries in pairs.values()]

    def _judged_by(self, source: str, written: Sequence[WrittenRuns]) -> list[Judgement]:
        judge = self._judge(source)
        (first,) = (entry for entry in written if entry.name == self.plan.named_models()[0][0])
        judgements: list[Judgement] = []
        for other in written:
            if other is first:
                continue
            met = matches(list(self._by_id.values()), first.all, other.all)
            asked = len(met) * (2 if self.plan.both_ways else 1)
            with self.bars.task(f"{first.name} against {other.name}", asked) as progress:
                judgements += judge_matches(judge, met, self.cache, both_ways=self.plan.both_ways, progress=progress)
        return judgements

    def mauve(self, written: Sequence[WrittenRuns]) -> list[Row]:
        """The MAUVE of each contestant's texts with respect to the real ones."""
        rows: list[Row] = []
        for name in self.plan.features:
            found = self._attempt(f"MAUVE with {name} features", partial(self._mauve_with, name, written))
            rows += found or []
        return rows

    def _mauve_with(self, features: str, written: Sequence[WrittenRuns]) -> list[Row]:
        # Without the prompts: they are the same on both sides and would flatter everybody.
        texts = {entry.name: [one.continuation for one in entry.all] for entry in written}
        references = texts.pop(REAL)
        if len(references) < FEWEST_FOR_MAUVE:
            raise ReviserError(
                f"{len(references)} texts are too few to compare distributions; "
                f"it takes {FEWEST_FOR_MAUVE} at least, and hundreds are better"
            )
        self.bars.say(f"MAUVE with {features} features")
        key = key_of(kind="mauve", features=features, references=references, texts=texts)
        scores = self.cache.get(key)
        if scores is None:
            scores = {name: asdict(score) for name, score in mauve_each(references, texts, features).items()}
            self.cache.put(key, scores)
        return [{"contestant": name} | score for name, score in scores.items()]

    def _attempt(self, what: str, make: Callable[[], T], *, needed: bool = False) -> T | None:
        """The result of `make`; a failure is reported and listed in `missing`, or raised if the result is `needed`."""
        try:
            return make()
        except ReviserError as error:
            if needed:
                raise
            self.bars.say(f"without {what}: {error}")
            self.missing.append({"what": what, "why": str(error)})
            return None


def trajectory_of(contestant: Editing, prompt: Prompt, entry: Continuation) -> Trajectory:
    """The trajectory, for replay, of a contestant's run."""
    given = contestant.prompt_ids(prompt)
    return Trajectory(
        action_ids=(*given, *(entry.actions or ())),
        prefix_tokens=len(given),
        prompt=prompt.text,
        final_text=prompt.text + entry.continuation,
        model=entry.contestant,
        seed=entry.seed,
        vocabulary=contestant.vocabulary,
        others={"prompt_id": entry.prompt_id},
    )


def _spread(losses: Sequence[Loss], seeds: Sequence[int]) -> Row:
    """The uncertainty of mean and median: resampled 95 % intervals, and the means of single seeds."""
    pairs = [(loss.perplexity, seed) for loss, seed in zip(losses, seeds, strict=True) if loss.nats]
    values = np.array([value for value, _ in pairs])
    means = {
        str(seed): fmean(value for value, of in pairs if of == seed) for seed in dict.fromkeys(of for _, of in pairs)
    }
    return {
        "interval": resampled(values, np.mean),
        "median_interval": resampled(values, np.median),
        "by_seed": means,
        "seed_spread": pstdev(means.values()) if len(means) > 1 else None,
    }


def resampled(values: np.ndarray[Any, np.dtype[np.float64]], middle: Callable[..., Any]) -> tuple[float, float]:
    """The interval that contains `middle` of 95 % of the resamplings; the draws are always the same."""
    random = np.random.default_rng(0)
    found = [middle(random.choice(values, len(values))) for _ in range(RESAMPLES)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def finite(data: Any) -> Any:
    """The same JSON value with None in place of NaN and infinities."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
