"""The everyday benchmark: contestants continue the openings, and the texts are measured and compared.

All slow results are cached under their inputs, so an interrupted run resumes where it was, and another contestant
costs only its own writing and judging.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any

from benchmarks.everyday.critic import Critic, Preference
from benchmarks.everyday.joins import QUANTILE, Join, JudgedJoin, Reader, joins_of, judged
from benchmarks.everyday.prompts import Opening, as_prompts
from benchmarks.measures.arena import ShareInterval, wilson
from benchmarks.measures.variety import distinct, ends_in_loop
from benchmarks.protocol.records import Contestant, Continuation, Editing
from benchmarks.protocol.runs import ProgressBars, RunCache, generations_of, key_of, measured_each
from benchmarks.protocol.setup import Setup
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary

# What a critic is shown of a continuation, in words: enough to see how it goes on.
SHOWN = 60


@dataclass(frozen=True)
class ContestRun:
    """One continuation with its measures."""

    opening: str
    kind: str
    contestant: str
    seed: int
    text: str
    ending: str
    tokens: int
    actions: int
    moves: int
    steps_back: bool
    repeated_4: float
    looping: bool
    nats: float
    read_tokens: int
    joins: tuple[JudgedJoin, ...]
    deletes: int

    @property
    def broken(self) -> bool:
        return any(join.broken for join in self.joins)


@dataclass(frozen=True)
class ContestFigures:
    """The figures of one contestant over all openings and seeds.

    `moves` is the share of moves among its actions, `steps_back` the share of runs that insert before text they wrote,
    `takes_back` the share of runs that delete text they wrote; these are None for a contestant that does not write by
    actions. `perplexity` is of its tokens under the reader. `broken_by_chance` is the share of runs that would count
    as broken if their joins were random places of real text.
    """

    contestant: str
    runs: int
    tokens: float
    perplexity: float
    repeated_4: float
    looping: float
    stopped: float
    moves: float | None
    steps_back: float | None
    joins: int
    broken_joins: int
    broken_runs: ShareInterval | None
    broken_by_chance: float | None
    takes_back: float | None


@dataclass(frozen=True)
class CriticVerdict:
    """The critic's verdict on two continuations of one opening."""

    opening: str
    kind: str
    seed: int
    first: str
    second: str
    preference: Preference


@dataclass(frozen=True)
class Standing:
    """The share of wins of one contestant against another before the critic; a tie is half a win."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    win_rate: ShareInterval
    agreement: ShareInterval
    by_kind: dict[str, ShareInterval]


@dataclass
class ContestResult:
    """The results of a run of the benchmark."""

    runs: list[ContestRun]
    figures: list[ContestFigures]
    verdicts: list[CriticVerdict] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)


def written(
    contestants: Sequence[Contestant],
    openings: Sequence[Opening],
    setup: Setup,
    reader: Reader,
    threshold: float,
    cache: RunCache,
    bars: ProgressBars,
) -> ContestResult:
    """Lets the contestants continue the openings; the reader judges the joins of each text."""
    prompts = as_prompts(openings)
    known = {opening.id: opening for opening in openings}
    runs: list[ContestRun] = []
    for contestant in contestants:
        made: list[Continuation] = []
        with bars.task(f"{contestant.name} writes", len(prompts) * len(setup.seeds)) as progress:
            for seed in setup.seeds:
                made += generations_of(contestant, prompts, seed, setup, cache, progress)
        with bars.task(f"{reader.name} reads {contestant.name}", len(made)) as progress:
            measurer = _RunMeasurer(contestant, known, reader, threshold)
            found = measured_each(made, measurer.key, measurer.measured, cache, progress, chunk=1)
        runs += [replace(_run_of(entry), contestant=contestant.name) for entry in found]
    figures = [
        figures_of(contestant.name, [run for run in runs if run.contestant == contestant.name])
        for contestant in contestants
    ]
    return ContestResult(runs, figures)


@dataclass(frozen=True)
class _RunMeasurer:
    """The measures of single continuations of one contestant."""

    contestant: Contestant
    openings: Mapping[str, Opening]
    reader: Reader
    threshold: float

    def key(self, entry: Continuation) -> str:
        contestant = self.contestant
        return key_of(
            kind="everyday run with deletions",
            reader=self.reader.fingerprint,
            threshold=self.threshold,
            opening=self.openings[entry.prompt_id].text,
            vocabulary=contestant.vocabulary.to_dict() if isinstance(contestant, Editing) else None,
            generation=asdict(replace(entry, contestant="", seconds=0.0)),
        )

    def measured(self, part: Sequence[Continuation]) -> list[Any]:
        return [asdict(self._run(entry)) for entry in part]

    def _run(self, entry: Continuation) -> ContestRun:
        opening, contestant = self.openings[entry.prompt_id], self.contestant
        reading = self.reader.read(opening.text + entry.continuation)
        joins: list[Join] = []
        moves = actions = deletes = 0
        if entry.actions is not None and isinstance(contestant, Editing):
            given = contestant.prompt_ids(*as_prompts([opening]))
            joins = joins_of(contestant.vocabulary, contestant.tokenizer, given, entry.actions)
            moves, actions = _moves(contestant.vocabulary, entry.actions)
            deletes = entry.actions.count(contestant.vocabulary.delete_id)
        tokens = Gpt2Tokenizer().encode(entry.continuation)
        costs = reading.costs(len(opening.text))
        return ContestRun(
            opening=opening.id,
            kind=opening.kind,
            contestant=contestant.name,
            seed=entry.seed,
            text=entry.continuation,
            ending=entry.ending,
            tokens=len(tokens),
            actions=actions,
            moves=moves,
            steps_back=any(join.kind != "cut" for join in joins),
            repeated_4=1 - distinct(tokens, 4),
            looping=ends_in_loop(tokens),
            nats=math.fsum(costs),
            read_tokens=len(costs),
            joins=tuple(judged(self.reader, reading, joins, self.threshold)),
            deletes=deletes,
        )


def _run_of(data: Any) -> ContestRun:
    """Restores a run from the cache's JSON object."""
    joins = tuple(JudgedJoin(**join) for join in data["joins"])
    return ContestRun(**data | {"joins": joins})


def _moves(vocabulary: Vocabulary, ids: Sequence[int]) -> tuple[int, int]:
    """The number of moves and the number of actions other than Stop."""
    acting = [id for id in ids if id != vocabulary.stop_id]
    return sum(id in vocabulary.move_ids for id in acting), len(acting)


def figures_of(name: str, runs: Sequence[ContestRun]) -> ContestFigures:
    """Computes a contestant's figures from its runs."""
    acts = any(run.actions for run in runs)
    joins = [join for run in runs for join in run.joins]
    read = sum(run.read_tokens for run in runs)
    return ContestFigures(
        contestant=name,
        runs=len(runs),
        tokens=fmean(run.tokens for run in runs),
        perplexity=math.exp(math.fsum(run.nats for run in runs) / read) if read else math.nan,
        repeated_4=fmean(run.repeated_4 for run in runs),
        looping=fmean(run.looping for run in runs),
        stopped=fmean(run.ending == "stop" for run in runs),
        moves=sum(run.moves for run in runs) / sum(run.actions for run in runs) if acts else None,
        steps_back=fmean(run.steps_back for run in runs) if acts else None,
        joins=len(joins),
        broken_joins=sum(join.broken for join in joins),
        broken_runs=wilson(sum(run.broken for run in runs), len(runs)) if acts else None,
        broken_by_chance=fmean(1 - QUANTILE ** len(run.joins) for run in runs) if acts else None,
        takes_back=fmean(run.deletes > 0 for run in runs) if acts else None,
    )


def same_length(first: str, second: str, most: int = SHOWN) -> tuple[str, str]:
    """Cuts both texts to the same number of words: that of the shorter one, at most `most`."""
    words = min(_words(first), _words(second), most)
    return _cut(first, words), _cut(second, words)


def _words(text: str) -> int:
    return len(text.split())


def _cut(text: str, words: int) -> str:
    """The text up to the end of its first `words` words, with white space unchanged."""
    at = 0
    for _ in range(words):
        while at < len(text) and text[at].isspace():
            at += 1
        while at < len(text) and not text[at].isspace():
            at += 1
    return text[:at]


def judge(
    outcome: ContestResult, openings: Sequence[Opening], critic: Critic, cache: RunCache, bars: ProgressBars
) -> None:
    """Lets the critic compare the first contestant with each of the others; stores verdicts and standings."""
    texts = {opening.id: opening.text for opening in openings}
    names = [figures.contestant for figures in outcome.figures]
    runs = {(run.contestant, run.opening, run.seed): run for run in outcome.runs}
    for other in names[1:]:
        pairs = [(run, runs[other, run.opening, run.seed]) for run in outcome.runs if run.contestant == names[0]]
        shown = [(texts[one.opening], *same_length(one.text, two.text)) for one, two in pairs]
        with bars.task(f"{critic.name}: {names[0]} or {other}", len(pairs)) as progress:
            found = measured_each(
                shown,
                lambda case: key_of(kind="everyday verdict", critic=critic.fingerprint, case=case),
                lambda part: [asdict(found) for found in critic.preferences(part)],
                cache,
                progress,
                chunk=1,
            )
        outcome.verdicts += [
            CriticVerdict(one.opening, one.kind, one.seed, names[0], other, Preference(**value))
            for (one, _), value in zip(pairs, found, strict=True)
        ]
    outcome.standings = standings_of(outcome.verdicts)


def standings_of(verdicts: Sequence[CriticVerdict]) -> list[Standing]:
    """The standing of the first of each pair against the second, over all openings and by kind."""
    pairs: dict[tuple[str, str], list[CriticVerdict]] = defaultdict(list)
    for verdict in verdicts:
        pairs[verdict.first, verdict.second].append(verdict)
    return [_standing(*pair, given) for pair, given in pairs.items()]


def _standing(first: str, second: str, verdicts: Sequence[CriticVerdict]) -> Standing:
    kinds: dict[str, list[float]] = defaultdict(list)
    for verdict in verdicts:
        kinds[verdict.kind].append(verdict.preference.points)
    points = [verdict.preference.points for verdict in verdicts]
    return Standing(
        first=first,
        second=second,
        wins=points.count(1.0),
        ties=points.count(0.5),
        losses=points.count(0.0),
        win_rate=wilson(sum(points), len(points)),
        agreement=wilson(sum(v.preference.agrees for v in verdicts), len(verdicts)),
        by_kind={kind: wilson(sum(part), len(part)) for kind, part in kinds.items()},
    )
