"""Is a model fit to be the default? Its continuations and infills beside real text and a left-to-right model.

    python -m benchmarks quality RUN --model NAME=FOLDER … --evaluator BASE --data SHARDS
    python -m benchmarks quality RUN --compare NAME [--baseline NAME] [--mauve minilm] [--write FILE]
    python -m benchmarks quality RUN --side-by-side NAME … [--mauve minilm] [--write FILE]

The first form writes with each model and keeps what it wrote, and how likely that is under BASE, in the
folder RUN; a model that is there already is not asked again. The second compares one of them with real text
and, where one is named, a baseline; the third shows what several wrote, at whatever temperatures. Neither needs
models or a GPU. FOLDERs and BASE are model folders with one tokenizer; SHARDS are held-out token shards made with it.
Prompts and writing are those of the continuation protocol (`benchmarks.protocol`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated, Any

import numpy as np

from benchmarks.contestants.continuation_models import RealText, load_contestant
from benchmarks.contestants.own_models import DecodingOptions
from benchmarks.measures import continuation, infill
from benchmarks.measures.statistics import Walk
from benchmarks.protocol.records import Contestant, Generation
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import written_by
from benchmarks.protocol.setup import Setup, held_out_prompts
from benchmarks.report.provenance import provenance, surroundings
from benchmarks.report.tables import Table
from reviser.checkpoints.home import Checkpoint, load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.scoring.loading import default_device, dtype_for
from training.data.corpus import Corpus

RESAMPLES = 2000
TEMPERATURE = Setup.temperature
# What a default model is held to, beside the left-to-right model.
MOST_PERPLEXITY = 1.3
LEAST_STOPS = 0.95
LEAST_MOVES = 0.05
LEAST_REVISED = 0.8


@dataclass(frozen=True)
class Conditions:
    """On what, how and where a model was measured; older files have no temperatures."""

    evaluator: str
    data: str
    prompts: int
    seeds: list[int]
    Hardware: str
    Date: str
    Commit: str
    Python: str
    temperature: float = TEMPERATURE
    move_temperature: float | None = None


@dataclass(frozen=True)
class Measured:
    """One model's figures, and the parts that comparisons are made from."""

    continuation: continuation.Report
    infill: infill.Report
    scores: list[tuple[float, int, int]]
    """Of each continuation: its loss, tokens and bytes; all prompts for the first seed, then the next."""
    joins: list[float]
    """The loss of each text after its gap."""
    facts: Conditions

    @property
    def name(self) -> str:
        return self.continuation.name

    @property
    def temperature(self) -> float:
        return self.facts.temperature

    @classmethod
    def read(cls, path: Path) -> Measured:
        try:
            data = json.loads(read_utf8(path))
            return cls(
                continuation.Report(**data["continuation"]),
                infill.Report(**data["infill"]),
                [(float(loss), int(tokens), int(size)) for loss, tokens, size in data["scores"]],
                data["joins"],
                Conditions(**data["facts"]),
            )
        except (ValueError, KeyError, TypeError):
            raise ReviserError(f"{path} does not hold a model's figures") from None


# Writing -----------------------------------------------------------------------------------------


class Evaluation:
    """Held-out prompts and passages, and the evaluator that reads what is made of them."""

    def __init__(self, chosen: QualityOptions, evaluator: Path, data: Path) -> None:
        self.device = default_device()
        self.evaluator = self.load(evaluator)
        self.setup = Setup(
            prompts=chosen.prompts, seeds=chosen.seeds, temperature=chosen.temperature
        )
        self.decoding = DecodingOptions(move_temperature=chosen.move_temperature, rows=chosen.batch)
        self.prompts = held_out_prompts(data, self.evaluator.tokenizer, self.setup)
        self.passages = infill.passages_of(Corpus.open(data), chosen.prompts)
        self.real_joins = self.joins([passage.gap for passage in self.passages])
        self.rows = chosen.batch
        self.facts = Conditions(
            evaluator=evaluator.name,
            data=data.name,
            prompts=len(self.prompts),
            seeds=list(chosen.seeds),
            temperature=chosen.temperature,
            move_temperature=chosen.move_temperature,
            **surroundings(),
        )

    def load(self, folder: Path) -> Checkpoint:
        return load(folder, device=self.device, dtype=dtype_for(self.device))

    def joins(self, gaps: Sequence[Sequence[int]]) -> list[float]:
        return infill.joins(self.evaluator, self.evaluator.tokenizer, self.passages, gaps)

    def take(self, run: Path, name: str, folder: Path | None) -> None:
        """Measure a model, or real text where there is no folder, and keep the figures in `run`."""
        contestant: Contestant = RealText()
        seeds = self.setup.seeds[:1]
        filled = [(passage.gap, "stop") for passage in self.passages]
        if folder is not None:
            seeds = self.setup.seeds
            filled = infill.fill(self.load(folder), self.passages, seeds[0], self.rows)
            contestant = load_contestant(str(folder), self.setup, name=name, decoding=self.decoding)
        written = written_by(contestant, self.prompts, seeds)
        followed = continuation.walks_of(contestant, self.prompts, written)
        measured = self._measured(name, written, followed, filled)
        texts = _texts_file(run, name)
        texts.unlink(missing_ok=True)
        continuation.save_texts(texts, self.prompts, written, followed)
        write_atomically(_figures_file(run, name), json.dumps(asdict(measured)).encode())
        print(json.dumps(asdict(measured.continuation)), flush=True)
        print(json.dumps(asdict(measured.infill)), flush=True)

    def _measured(
        self,
        name: str,
        written: Sequence[Generation],
        followed: Sequence[Walk],
        filled: Sequence[tuple[list[int], str]],
    ) -> Measured:
        scores = continuation.scores_of(self.prompts, written, self.evaluator)
        gaps = [gap for gap, _ in filled]
        joins = self.joins(gaps)
        stopped = [ending == "stop" for _, ending in filled]
        return Measured(
            continuation.report(name, written, scores, followed),
            infill.report(name, joins, self.real_joins, [len(gap) for gap in gaps], stopped),
            scores,
            joins,
            self.facts,
        )


def write_with(models: dict[str, Path], chosen: QualityOptions) -> None:
    """Measure real text and each of `models`, unless that was done."""
    if not chosen.evaluator or not chosen.data:
        raise ReviserError("writing needs an evaluator and held-out data")
    everything: dict[str, Path | None] = {REAL: None, **models}
    missing = {
        name: folder
        for name, folder in everything.items()
        if not _figures_file(chosen.run, name).exists()
    }
    if missing:
        chosen.run.mkdir(parents=True, exist_ok=True)
        evaluation = Evaluation(chosen, chosen.evaluator, chosen.data)
        for name, folder in missing.items():
            evaluation.take(chosen.run, name, folder)


def _figures_file(run: Path, name: str) -> Path:
    return run / f"{name.replace(' ', '-')}.json"


def _texts_file(run: Path, name: str) -> Path:
    return run / f"{name.replace(' ', '-')}.texts.jsonl"


# Comparing ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overlap:
    """MAUVE against real text: the mean over the seeds of sampling, and how far these differ."""

    score: float
    spread: float

    def __str__(self) -> str:
        return f"{self.score:.3f} ± {self.spread:.3f}"


@dataclass(frozen=True)
class Target:
    """Something that a default model is held to."""

    what: str
    wanted: str
    found: str
    met: bool


def ratio_interval(model: Measured, baseline: Measured) -> tuple[float, float]:
    """The middle 95 % of the ratio of perplexities when prompts are drawn anew."""
    prompts = model.facts.prompts
    random = np.random.default_rng(0)
    chosen = random.integers(0, prompts, (RESAMPLES, prompts))

    def resampled(measured: Measured) -> np.ndarray[Any, np.dtype[np.float64]]:
        by_prompt = np.array(measured.scores)[:, :2].reshape(-1, prompts, 2).sum(axis=0)
        summed = by_prompt[chosen].sum(axis=1)
        perplexities: np.ndarray[Any, np.dtype[np.float64]] = np.exp(summed[:, 0] / summed[:, 1])
        return perplexities

    low, high = np.quantile(resampled(model) / resampled(baseline), [0.025, 0.975])
    return float(low), float(high)


def texts_of(run: Path, name: str) -> list[continuation.SavedText]:
    """What a model wrote, with its prompts and seeds."""
    # Not splitlines(): a text may hold characters that it takes for the end of a line.
    lines = read_utf8(_texts_file(run, name)).split("\n")
    return [json.loads(line) for line in lines if line]


def overlaps(run: Path, names: Sequence[str], features: str) -> dict[str, Overlap]:
    """MAUVE of what each model wrote with each seed, against the same prompts' real continuations."""
    from benchmarks.measures.mauve_score import mauve_each

    groups: dict[str, list[str]] = {}
    references: dict[str, str] = {}
    for name in names:
        for entry in texts_of(run, name):
            groups.setdefault(f"{name}\n{entry['seed']}", []).append(entry["continuation"])
            references[entry["prompt"]] = entry["reference"]
    scores = mauve_each(list(references.values()), groups, features)
    found = {}
    for name in names:
        mine = [score.score for group, score in scores.items() if group.split("\n")[0] == name]
        found[name] = Overlap(fmean(mine), pstdev(mine))
    return found


def targets(model: Measured, baseline: Measured | None, mauve: dict[str, Overlap]) -> list[Target]:
    """What the model is held to, and whether it is so."""
    ours = model.continuation
    by_itself = [
        Target(
            "runs that end in Stop",
            f"{LEAST_STOPS:.0%}",
            f"{ours.stopped:.1%}",
            ours.stopped >= LEAST_STOPS,
        ),
        Target("moves", f"{LEAST_MOVES:.0%}", f"{ours.moves:.1%}", ours.moves >= LEAST_MOVES),
        Target(
            "runs that insert before what they wrote",
            f"{LEAST_REVISED:.0%}",
            f"{ours.revised:.1%}",
            ours.revised >= LEAST_REVISED,
        ),
    ]
    return by_itself if baseline is None else _beside(model, baseline, mauve) + by_itself


def _beside(model: Measured, baseline: Measured, mauve: dict[str, Overlap]) -> list[Target]:
    """What the model is held to beside a left-to-right one."""
    ours, theirs = model.continuation, baseline.continuation
    ratio = ours.ppl / theirs.ppl
    low, high = ratio_interval(model, baseline)
    better = fmean(mine < its for mine, its in zip(model.joins, baseline.joins, strict=True))
    found = [
        Target(
            f"evalPPL against {theirs.name}'s",
            f"at most {MOST_PERPLEXITY} times",
            f"{ratio:.3f} ({low:.3f} to {high:.3f})",
            ratio <= MOST_PERPLEXITY,
        ),
        Target(
            f"repeated 4-grams against {theirs.name}'s",
            f"at most {theirs.repeated_4:.4f}",
            f"{ours.repeated_4:.4f}",
            ours.repeated_4 <= theirs.repeated_4,
        ),
        Target(
            f"gaps joined better than {theirs.name} joins them",
            "more than half",
            f"{better:.1%}",
            better > 0.5,
        ),
    ]
    if mauve:
        mine, its = mauve[model.name], mauve[baseline.name]
        found.insert(
            1,
            Target(
                f"MAUVE against {theirs.name}'s",
                f"at least {its.score:.3f}",
                f"{mine.score:.3f}",
                mine.score >= its.score,
            ),
        )
    return found


def page(measured: Sequence[Measured], held: Sequence[Target], mauve: dict[str, Overlap]) -> str:
    """The tables of a results file."""
    columns = (
        "", "evalPPL", "median", "bits/byte", "MAUVE", "distinct-2", "distinct-3", "repeated 4-grams",
        "tokens", "stop", "moves", "backward", "revised",
    )  # fmt: skip
    rows = []
    for entry in measured:
        figures, overlap = entry.continuation, mauve.get(entry.name)
        moved = entry.name != REAL
        rows.append(
            (
                entry.name,
                f"{figures.ppl:.2f}",
                f"{figures.median_ppl:.2f}",
                f"{figures.bits_per_byte:.3f}",
                str(overlap or ""),
                f"{figures.distinct_2:.3f}",
                f"{figures.distinct_3:.3f}",
                f"{figures.repeated_4:.4f}",
                f"{figures.tokens:.0f}",
                *(
                    f"{share:.1%}" if moved else ""
                    for share in (figures.stopped, figures.moves, figures.backward, figures.revised)
                ),
            )
        )
    gaps = Table(
        (
            "gap filled by",
            "PPL of what follows",
            "median",
            "tokens",
            "stop",
            "no worse than real text",
        ),
        tuple(
            (
                entry.name,
                f"{entry.infill.ppl:.2f}",
                f"{entry.infill.median_ppl:.2f}",
                f"{entry.infill.tokens:.1f}",
                f"{entry.infill.stopped:.1%}",
                f"{entry.infill.beaten:.1%}",
            )
            for entry in measured
        ),
    )
    met = Table(
        ("held to", "wanted", "found", ""),
        tuple((t.what, t.wanted, t.found, "met" if t.met else "missed") for t in held),
    )
    return (
        f"## Continuations\n\n{Table(columns, tuple(rows)).markdown()}\n"
        f"## Gaps of {infill.GAP_TOKENS} tokens\n\n{gaps.markdown()}\n"
        f"## Held to\n\n{met.markdown()}"
    )


def compare(chosen: QualityOptions, name: str) -> str:
    """A model's figures, and whether they are what a default is held to."""
    names = [REAL, chosen.baseline, name] if chosen.baseline else [REAL, name]
    measured = _kept(chosen.run, names)
    model, baseline = measured[-1], measured[1] if chosen.baseline else None
    if baseline and baseline.temperature != model.temperature:
        raise ReviserError(
            f"{baseline.name} and {model.name} were measured at different temperatures"
        )
    mauve = overlaps(chosen.run, names[1:], chosen.mauve) if chosen.mauve else {}
    text = page(measured, targets(model, baseline, mauve), mauve)
    if chosen.write:
        asked = f"--compare {model.name}" + (f" --baseline {baseline.name}" if baseline else "")
        temperature = f"temperature {model.temperature:g}"
        _file(chosen.write, chosen, asked, measured, temperature, text)
    return text


def side_by_side(chosen: QualityOptions) -> str:
    """What several wrote, each at its temperature, from the likeliest to the least likely."""
    measured = _kept(chosen.run, [REAL, *chosen.side_by_side])
    mauve = overlaps(chosen.run, chosen.side_by_side, chosen.mauve) if chosen.mauve else {}
    columns = ("", "temperature", "evalPPL", "MAUVE", "distinct-2", "repeated 4-grams", "stop")
    rows = []
    for entry in sorted(measured, key=lambda entry: entry.continuation.ppl):
        figures, overlap = entry.continuation, mauve.get(entry.name)
        sampled = entry.name != REAL
        rows.append(
            (
                entry.name,
                f"{entry.temperature:g}" if sampled else "",
                f"{figures.ppl:.2f}",
                str(overlap or ""),
                f"{figures.distinct_2:.3f}",
                f"{figures.repeated_4:.4f}",
                f"{figures.stopped:.1%}" if sampled else "",
            )
        )
    text = Table(columns, tuple(rows)).markdown()
    if chosen.write:
        asked = f"--side-by-side {' '.join(chosen.side_by_side)}"
        _file(chosen.write, chosen, asked, measured, "each at its temperature", text)
    return text


def _kept(run: Path, names: Sequence[str]) -> list[Measured]:
    """The figures of these models, of which all wrote after the same prompts."""
    for name in names:
        if not _figures_file(run, name).exists():
            raise ReviserError(f"{run} holds no figures of {name}")
    measured = [Measured.read(_figures_file(run, name)) for name in names]
    last = measured[-1]
    for entry in measured[1:]:
        if any(
            getattr(entry.facts, key) != getattr(last.facts, key)
            for key in ("evaluator", "data", "prompts", "seeds")
        ):
            raise ReviserError(f"{entry.name} and {last.name} were measured on different things")
    return measured


def _file(
    path: Path,
    chosen: QualityOptions,
    asked: str,
    measured: Sequence[Measured],
    temperature: str,
    text: str,
) -> None:
    """Write a results file of what was found, real text first among what was measured."""
    last = measured[-1].facts
    facts = provenance(
        f"python -m benchmarks quality {chosen.run} {asked}"
        + (f" --mauve {chosen.mauve}" if chosen.mauve else ""),
        Generated="; ".join(
            f"{entry.name} at {entry.facts.Commit} on {entry.facts.Hardware}, {entry.facts.Date}"
            for entry in measured[1:]
        ),
        Data=f"{last.prompts} documents of {last.data}: prompts of "
        f"{Setup.prompt_tokens} GPT-2 tokens; gaps after {infill.PREFIX_TOKENS}",
        Seeds=", ".join(map(str, last.seeds)),
        Sampling=_sampling(temperature, last.move_temperature),
        Evaluator=last.evaluator,
    )
    if chosen.mauve:
        from benchmarks.measures.mauve_score import SEEDS

        facts += (
            f"- MAUVE: {chosen.mauve} features, 100 GPT-2 tokens, each seed's texts by themselves, "
            f"the mean of {len(SEEDS)} clusterings\n"
        )
    write_atomically(path, f"# {chosen.title}\n\n{facts}\n{text}".encode())


def _sampling(temperature: str, move_temperature: float | None) -> str:
    usual = f"{temperature}, top-k 50, at most 256 actions"
    return usual if move_temperature is None else f"{usual}; where to go at {move_temperature}"


@dataclass(frozen=True, kw_only=True)
class QualityOptions:
    """Which models write after which prompts, and which of them are compared."""

    run: Annotated[Path, Argument("folder of what was written")]
    model: Annotated[tuple[str, ...], Option("a model to write with", metavar="NAME=FOLDER")] = ()
    evaluator: Annotated[Path | None, Option("model folder")] = None
    data: Annotated[Path | None, Option("held-out token shards")] = None
    prompts: Annotated[int, Option("how many prompts")] = 500
    seeds: Annotated[tuple[int, ...], Option("random seed of the sampling", together=True)] = (
        Setup.seeds
    )
    batch: Annotated[int, Option("texts at a time")] = 512
    temperature: Annotated[float, Option("continue at this temperature")] = TEMPERATURE
    move_temperature: Annotated[float | None, Option("temperature of moves, if lower")] = None
    compare: Annotated[str | None, Option("the model whose figures are shown", metavar="NAME")] = (
        None
    )
    baseline: Annotated[str | None, Option("the left-to-right model beside it", metavar="NAME")] = (
        None
    )
    side_by_side: Annotated[
        tuple[str, ...],
        Option("show what these wrote, at any temperature", metavar="NAME", together=True),
    ] = ()
    mauve: Annotated[
        str | None, Option("also MAUVE, with these features", choices=("minilm", "gpt2", "bert"))
    ] = None
    title: Annotated[str, Option("of the Markdown file")] = (
        "The embedded model's continuations and infills"
    )
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        QualityOptions,
        run,
        arguments,
        prog="python -m benchmarks quality",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: QualityOptions) -> None:
    models = dict(_named(word) for word in chosen.model)
    if models:
        write_with(models, chosen)
    if chosen.baseline and not chosen.compare:
        raise ReviserError("a baseline needs a model to compare with it")
    if chosen.compare and chosen.side_by_side:
        raise ReviserError("compare one model, or show several side by side")
    if chosen.compare:
        print(compare(chosen, chosen.compare))
    elif chosen.side_by_side:
        print(side_by_side(chosen))
    elif not models:
        raise ReviserError("name a model to write with, or one to compare")


def _named(word: str) -> tuple[str, Path]:
    name, equals, folder = word.partition("=")
    if not equals or not name or name == REAL:
        raise ReviserError(f"a model is named as NAME=FOLDER, not {word}")
    return name, Path(folder)
