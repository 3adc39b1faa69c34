"""Is a tuned model preferred to the one it was tuned from, and what did it pay for that?

python -m benchmarks preference SUPERVISED TUNED --data SHARDS --judge likelihood:smollm2 [--judge …] [--run RUN]

Both continue the same held-out prompts with the same seeds; every judge says which continuation is
better. A model that was tuned towards one judge should be preferred by another too, so name a second
that it was not tuned towards. Beside the win rates stands what judges do not see: how long, how
varied and how repetitive the texts are, how they end, and how often the models move. With the folder of
the tuning run, the page also shows the course that it took.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, cast

import numpy as np

from benchmarks.contestants.continuation_models import RealText, load_contestant
from benchmarks.contestants.own_models import DecodingOptions, OwnModel
from benchmarks.measures.arena import Score, judge_matches, matches, score
from benchmarks.measures.continuation import walks_of
from benchmarks.measures.evaluators import load_evaluator
from benchmarks.measures.statistics import Walk
from benchmarks.measures.variety import Variety, variety
from benchmarks.protocol.records import Contestant, Generation, Prompt
from benchmarks.protocol.runs import written_by
from benchmarks.protocol.setup import Setup, held_out_prompts
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.scoring.judges import LIKELIHOOD, load_judge
from reviser.scoring.loading import is_own, short_name
from reviser.scoring.perplexity import Text, perplexity
from training.ppo.saving import TuningFacts
from training.ppo.tuner import Iteration
from training.trainer.metrics import read_metrics

# How many rows show a tuning run's course.
_PARTS = 8
_COURSE = ("KL", "entropy", "tokens", "stopped", "moves", "repeated-4", "distinct-2")
_COLUMNS = (
    "tokens",
    "stopped",
    "moves",
    "backward",
    "revised",
    "distinct-2",
    "distinct-3",
    "distinct-2 of all",
    "repeated-4",
    "looping",
)


@dataclass(frozen=True)
class Figures:
    """What one writer's continuations are like; real text takes no actions."""

    name: str
    perplexities: dict[str, float]
    variety: Variety
    stopped: float
    moves: float | None
    backward: float | None
    revised: float | None


@dataclass(frozen=True)
class Comparison:
    """The tuned model (`first` of each score) against the supervised one, and the figures of all."""

    scores: list[Score]
    figures: list[Figures]


def compare(
    supervised: Contestant,
    tuned: Contestant,
    prompts: Sequence[Prompt],
    judges: Sequence[str],
    *,
    seed: int = 123,
    both_ways: bool = False,
) -> Comparison:
    """Let both write, and ask every judge."""
    everyone: list[Contestant] = [RealText(), supervised, tuned]
    made = {one.name: written_by(one, prompts, [seed]) for one in everyone}
    met = matches(prompts, made[tuned.name], made[supervised.name])
    scores = [
        score(list(judge_matches(load_judge(judge, load=load_evaluator), met, both_ways=both_ways)))
        for judge in judges
    ]
    found: dict[str, dict[str, float]] = {one.name: {} for one in everyone}
    for judge in judges:
        if judge.startswith(LIKELIHOOD):
            evaluator = load_evaluator(judge.removeprefix(LIKELIHOOD))
            for name, entries in made.items():
                pairs = zip(prompts, entries, strict=True)
                texts = [Text(prompt.text, entry.continuation) for prompt, entry in pairs]
                found[name][evaluator.name] = perplexity(evaluator, texts).over_tokens
    return Comparison(
        scores,
        [
            figures(made[one.name], walks_of(one, prompts, made[one.name]), found[one.name])
            for one in everyone
        ],
    )


def figures(
    written: Sequence[Generation], followed: Sequence[Walk], perplexities: dict[str, float]
) -> Figures:
    """All figures of one writer."""
    actions = sum(run.actions for run in followed)
    distances = [delta for run in followed for delta in run.distances]
    return Figures(
        written[0].contestant,
        perplexities,
        variety([entry.continuation for entry in written]),
        fmean(entry.ending == "stop" for entry in written),
        len(distances) / actions if actions else None,
        fmean(delta < 0 for delta in distances) if distances else None,
        fmean(run.revises for run in followed) if actions else None,
    )


def verdict(result: Score) -> str:
    """What a win rate says, in a sentence."""
    rate = result.win_rate
    told = (
        f"By {result.judge}, {result.first} wins {rate.share:.1%} of {result.examples:,} texts "
        f"({rate.low:.1%} to {rate.high:.1%}), ties counted half"
    )
    if rate.low > 0.5:
        return f"{told}: it is preferred."
    if rate.high < 0.5:
        return f"{told}: it is worse."
    return f"{told}: no difference is shown."


def agreement(scores: Sequence[Score]) -> str:
    """Whether the judges after the first bear it out; nothing if there is only one."""
    first, *others = (result.win_rate for result in scores)
    if not others or first.low <= 0.5:
        return ""
    if all(rate.low > 0.5 for rate in others):
        return "The judges agree, so the gain is not one judge's taste alone."
    return (
        "Another judge does not bear the first one out: what was learned may be that judge's taste, "
        "not better text."
    )


def tables(made: Comparison) -> str:
    """Win rates, then figures, as Markdown."""
    rates = tuple(
        (
            result.judge,
            f"{result.win_rate.share:.1%}",
            f"{result.win_rate.low:.1%} to {result.win_rate.high:.1%}",
            str(result.wins),
            str(result.losses),
            str(result.ties),
            str(result.invalid),
        )
        for result in made.scores
    )
    columns = ("judge", "win rate", "95 %", "wins", "losses", "ties", "invalid")
    evaluators = list(made.figures[0].perplexities)
    rows = tuple(
        (
            entry.name,
            *(f"{entry.perplexities[name]:.2f}" for name in evaluators),
            f"{entry.variety.tokens:.1f}",
            f"{entry.stopped:.1%}",
            *(_share(value) for value in (entry.moves, entry.backward, entry.revised)),
            f"{entry.variety.distinct_2:.3f}",
            f"{entry.variety.distinct_3:.3f}",
            f"{entry.variety.distinct_2_overall:.3f}",
            f"{entry.variety.repeated_4:.2%}",
            f"{entry.variety.looping:.2%}",
        )
        for entry in made.figures
    )
    head = ("", *(f"perplexity, {name}" for name in evaluators), *_COLUMNS)
    told = [verdict(result) for result in made.scores] + [agreement(made.scores)]
    return "\n".join(
        (Table(columns, rates).markdown(), *filter(None, told), "", Table(head, rows).markdown())
    )


@dataclass(frozen=True)
class Tuning:
    """A run of `python -m training ppo`: what it was told, and its figures, iteration by iteration."""

    facts: TuningFacts
    entries: list[Iteration]

    @classmethod
    def read(cls, folder: Path) -> Tuning:
        try:
            facts = json.loads(read_utf8(folder / "settings.json"))
            facts["rewards"], facts["command"], facts["settings"]["seed"]
        except (ValueError, KeyError, TypeError):
            raise ReviserError(f"{folder} is not the folder of a tuning run") from None
        # The entries of this kind of run have names of their own.
        entries = cast(list[Iteration], read_metrics(folder / "metrics.jsonl"))
        if not entries:
            raise ReviserError(f"{folder} has no iteration in its metrics")
        return cls(facts, entries)

    def page(self) -> str:
        """What was done, and the means of each part of the run."""
        terms = list(self.entries[0]["rewards"])
        rows = []
        for part in np.array_split(np.arange(len(self.entries)), min(_PARTS, len(self.entries))):
            within = [self.entries[number] for number in part]
            figures = [fmean(entry["rewards"][term] for entry in within) for term in terms]
            shown = zip(*map(_course_of, within), strict=True)
            figures += [fmean(values) for values in shown]
            rows.append(
                (
                    f"{within[0]['step']} to {within[-1]['step']}",
                    f"{fmean(entry['reward'] for entry in within):.4f}",
                    *(f"{value:.4f}" for value in figures),
                )
            )
        # What a term's name holds of paths is nobody's business.
        names = [re.sub(r"[^:*]*/", "", term) for term in terms]
        columns = ("iterations", "reward", *names, *_COURSE)
        last = self.entries[-1]
        return (
            f"## The tuning run\n\n`{self.facts['command']}`\n\n{last['step']} iterations in "
            f"{last['seconds'] / 60:.1f} minutes, seed {self.facts['settings']['seed']}. Means over parts of the "
            "run; texts here are drawn from the whole distribution, at the policy's temperature:\n\n"
            f"{Table(columns, tuple(rows)).markdown()}"
        )


def _course_of(entry: Iteration) -> tuple[float, ...]:
    """The figures of an iteration that `_COURSE` names."""
    return (
        entry["kl"],
        entry["entropy"],
        entry["tokens"],
        entry["stopped"],
        entry["moves"],
        entry["repeated_4"],
        entry["distinct_2"],
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _names(supervised: str, tuned: str) -> tuple[str, str]:
    one, other = short_name(supervised), short_name(tuned)
    return one, other if one != other else f"{other}, tuned"


@dataclass(frozen=True, kw_only=True)
class PreferenceOptions:
    """Which two models are compared, by which judges."""

    supervised: Annotated[str, Argument("the model that was tuned: a folder or a name")]
    tuned: Annotated[str, Argument("what became of it")]
    data: Annotated[Path, Option("held-out token shards")]
    judge: Annotated[
        tuple[str, ...],
        Option(
            "likelihood:EVALUATOR, or a chat model by folder or hub name; the first is the one that "
            "the model was tuned towards, others should not be"
        ),
    ]
    prompts: Annotated[int, Option("how many prompts")] = 1000
    seed: Annotated[int, Option("random seed of the sampling")] = 123
    rows: Annotated[int, Option("runs at a time")] = 512
    temperature: Annotated[float, Option("sampling temperature")] = Setup.temperature
    top_k: Annotated[int, Option("sample from the K most likely ids")] = Setup.top_k
    max_actions: Annotated[int, Option("most actions of a text")] = Setup.max_actions
    both_ways: Annotated[bool, Option("ask judges in both orders")] = False
    run: Annotated[Path | None, Option("folder of the run that tuned the model")] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        PreferenceOptions,
        run,
        arguments,
        prog="python -m benchmarks preference",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: PreferenceOptions) -> None:
    tuning = Tuning.read(chosen.run).page() if chosen.run else ""
    made, count = _measured(chosen)
    print(json.dumps(asdict(made)) if chosen.json else tables(made))
    if chosen.write:
        facts = {
            "Data": f"{chosen.data.name}, the beginnings of {count:,} held-out documents",
            "Decoding": f"temperature {chosen.temperature}, top-k {chosen.top_k}, "
            f"{chosen.max_actions} actions at the most, seed {chosen.seed}",
            "Intervals": "Wilson, 95 %; one text for each prompt and model",
        }
        head = provenance(f"python -m benchmarks preference {' '.join(chosen.words)}", **facts)
        page = (f"# A tuned model beside its supervised one\n\n{head}", tables(made), tuning)
        write_atomically(chosen.write, "\n".join(filter(None, page)).encode())


def _measured(chosen: PreferenceOptions) -> tuple[Comparison, int]:
    setup = Setup(
        prompts=chosen.prompts,
        seeds=(chosen.seed,),
        temperature=chosen.temperature,
        top_k=chosen.top_k,
        max_actions=chosen.max_actions,
    )
    names = _names(chosen.supervised, chosen.tuned)
    supervised, tuned = (
        _contestant(source, name, setup, chosen.rows)
        for source, name in zip((chosen.supervised, chosen.tuned), names, strict=True)
    )
    prompts = held_out_prompts(chosen.data, supervised.tokenizer, setup)
    made = compare(
        supervised, tuned, prompts, chosen.judge, seed=chosen.seed, both_ways=chosen.both_ways
    )
    return made, len(prompts)


def _contestant(source: str, name: str, setup: Setup, rows: int) -> OwnModel:
    if not is_own(source):
        raise ReviserError(f"there is no model {source}")
    found = load_contestant(source, setup, name=name, decoding=DecodingOptions(rows=rows))
    assert isinstance(found, OwnModel)
    return found
