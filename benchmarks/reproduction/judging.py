"""The judging of a budget's texts: perplexities (with medians, and short texts apart), MAUVE, and arenas by two
judges."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

from benchmarks.everyday.critic import Critic, Opinion, Preference
from benchmarks.measures.arena import judge_matches, matches, score, wilson
from benchmarks.protocol.records import Continuation, Judgement, Prompt, Scored, read_records, write_records
from benchmarks.protocol.results import REAL, Row
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, file_name, key_of
from benchmarks.reproduction.scales import StagedScale, label
from benchmarks.reproduction.texts import run_folder, written_names
from benchmarks.reproduction.training import ModelPlaces
from benchmarks.suite import Suite, SuitePlan, WrittenRuns, finite
from reviser.core.errors import ReviserError
from reviser.scoring.judges import Answer, Case


class KeptSuite(Suite):
    """A suite that reads the texts of a run from its folder; models and data are not needed."""

    def __init__(self, plan: SuitePlan, folder: RunFolder, cache: RunCache, bars: ProgressBars) -> None:
        self.plan = plan
        self.folder = folder
        self.cache = cache
        self.bars = bars
        self.missing = []
        self._loaded = None
        self.prompts = {
            int(path.stem): read_records(path, Prompt) for path in sorted((folder.path / "prompts").glob("*.jsonl"))
        }
        self._by_id = {prompt.id: prompt for part in self.prompts.values() for prompt in part}

    def written(self) -> list[WrittenRuns]:
        """Reads the texts of every contestant of the run."""
        found = []
        for name, source in [(REAL, REAL), *self.plan.named_models()]:
            path = self.folder.path / "generations" / f"{file_name(name)}.jsonl"
            if path.exists():
                by_seed: dict[int, list[Continuation]] = {}
                for entry in read_records(path, Continuation):
                    by_seed.setdefault(entry.seed, []).append(entry)
                found.append(WrittenRuns(name, source, by_seed, [], None, None))
        return found


SHORT = 10
"""Characters under which a continuation says nothing."""
_BY_CRITIC = "judgements-critic.jsonl"


class CriticJudge:
    """The critic as a judge of an arena. It reads one continuation at a time, so the order has no effect.

    Its opinions are cached, so a text in several arenas is read once.
    """

    def __init__(self, critic: Critic, cache: RunCache) -> None:
        self.name = f"critic:{critic.name}"
        self.fingerprint = f"critic:{critic.fingerprint}"
        self._critic = critic
        self._cache = cache

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        asked = {(case.prompt, text) for case in cases for text in (case.a, case.b) if text.strip()}
        opinions = self._opinions(sorted(asked))
        return [_answer(case, opinions) for case in cases]

    def _opinions(self, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Opinion]:
        found: dict[tuple[str, str], Opinion] = {}
        for one in asked:
            if (kept := self._cache.get(self._key(one))) is not None:
                found[one] = Opinion(tuple(kept["praise"]), kept["cost"], kept["help"])
        missing = [one for one in asked if one not in found]
        for one, opinion in zip(missing, self._critic.opinions(missing), strict=True):
            self._cache.put(self._key(one), asdict(opinion))
            found[one] = opinion
        return found

    def _key(self, one: tuple[str, str]) -> str:
        opening, text = one
        return key_of(kind="opinion", critic=self.fingerprint, opening=opening, text=text)


def _answer(case: Case, opinions: Mapping[tuple[str, str], Opinion]) -> Answer:
    blank = [not text.strip() for text in (case.a, case.b)]
    if any(blank):
        return "tie" if all(blank) else ("B" if blank[0] else "A")
    first, second = (opinions[case.prompt, text] for text in (case.a, case.b))
    points = Preference.between(first, second).points
    return "tie" if points == 0.5 else ("A" if points else "B")


@dataclass(frozen=True)
class ReproductionJudges:
    """The judges and evaluators that a call adds to those of a scale."""

    critic: Path | None = None
    evaluators: Sequence[str] = ()
    features: Sequence[str] = ()


def judge(scale: StagedScale, out: Path, budget: int, chosen: ReproductionJudges, bars: ProgressBars) -> Row:
    """Measures the texts of a budget, except what was measured before; returns the results, also stored in the
    folder."""
    folder = run_folder(out, budget)
    names = written_names(folder)
    if not names:
        raise ReviserError(f"there are no texts at {label(budget)} yet: {folder.path} has none")
    plan = SuitePlan(
        scale.setup,
        tuple(f"{name}={ModelPlaces(out, name).model(budget)}" for name in names),
        tuple(_resolved(out, scale, one) for one in (*scale.evaluators, *chosen.evaluators)),
        tuple(_resolved(out, scale, one) for one in scale.judges) if len(names) > 1 else (),
        both_ways=True,
        features=(*scale.features, *chosen.features),
    )
    with RunCache(out / "cache.sqlite") as cache:
        suite = KeptSuite(plan, folder, cache, bars)
        kept = suite.written()
        perplexities = suite.perplexities(kept)
        arenas = list(suite.arenas(kept)) if plan.judges else []
        mauve = suite.mauve(kept)
        missing: list[Row] = list(suite.missing)
        arenas += _critics_arenas(scale, suite, kept, chosen.critic, missing)
    results: Row = {
        "budget": budget,
        "names": names,
        "texts": {entry.name: len(entry.all) for entry in kept},
        "perplexity": [{**row, **_beside(folder, row, kept)} for row in perplexities],
        "arena": arenas,
        "agreement": _agreement(folder),
        "mauve": mauve,
        "facts": [_facts(folder, entry.name) for entry in kept],
        "missing": missing,
    }
    folder.write_json("judged.json", finite(results))
    judged: Row = json.loads((folder.path / "judged.json").read_text("utf-8"))
    return judged


def _resolved(out: Path, scale: StagedScale, source: str) -> str:
    """Replaces the name of one of the models by the folder of its largest budget; other sources are unchanged."""
    head, mark, name = source.rpartition(":")
    if name in ("AR", "MDLM"):
        return f"{head}{mark}{ModelPlaces(out, name).model(scale.budgets[-1])}"  # type: ignore[arg-type]
    return source


def _facts(folder: RunFolder, name: str) -> Row:
    path = folder.path / "facts" / f"{file_name(name)}.json"
    told: Row = json.loads(path.read_text("utf-8")) if path.exists() else {"name": name}
    return told


def _beside(folder: RunFolder, row: Row, kept: Sequence[WrittenRuns]) -> Row:
    """The number of texts that are too short to measure, and the mean without them.

    The paper does not filter models' texts, so its mean is over all texts with at least one token. A single outlier
    can dominate it, so the median and this are reported beside it.
    """
    (entry,) = (one for one in kept if one.name == row["contestant"])
    lengths = {(one.prompt_id, one.seed): _length(one) for one in entry.all}
    path = folder.path / "perplexities" / f"{file_name(row['evaluator'])}.jsonl"
    scored = [one for one in read_records(path, Scored) if one.contestant == row["contestant"] and one.tokens]
    each = [(math.exp(one.nats / one.tokens), lengths[one.prompt_id, one.seed]) for one in scored]
    long = [value for value, length in each if length >= SHORT]
    return {
        "short": sum(length < SHORT for length in lengths.values()),
        "without_short": fmean(long) if long else None,
        "median_without_short": median(long) if long else None,
    }


def _length(one: Continuation) -> int:
    return len(one.continuation.strip())


def _critics_arenas(
    scale: StagedScale, suite: KeptSuite, kept: Sequence[WrittenRuns], path: Path | None, missing: list[Row]
) -> list[Row]:
    """The critic's arenas of all pairs of models, in both orders, on some prompts of the first seed."""
    what = "an arena judged by the critic"
    models = [entry for entry in kept if entry.name != REAL]
    if path is None or not models or len(kept) < 2:
        why = "name its file with --critic" if path is None else "too few models have written"
        missing.append({"what": what, "why": why})
        return []
    try:
        critic = CriticJudge(Critic.load(path), suite.cache)
    except (ReviserError, ImportError, OSError) as error:
        missing.append({"what": what, "why": str(error)})
        return []
    seed = min(suite.prompts)
    shown = {prompt.id for prompt in suite.prompts[seed][: scale.critic_prompts]}

    def some(entry: WrittenRuns) -> list[Continuation]:
        return [one for one in entry.all if one.seed == seed and one.prompt_id in shown]

    pairs = [(one, real) for real in kept if real.name == REAL for one in models]
    pairs += combinations(models, 2)
    rows: list[Row] = []
    judgements: list[Judgement] = []
    for first, other in pairs:
        met = matches(suite.prompts[seed], some(first), some(other))
        with suite.bars.task(f"the critic: {first.name}, {other.name}", 2 * len(met)) as progress:
            found = list(judge_matches(critic, met, both_ways=True, progress=progress))
        judgements += found
        rows.append(asdict(score(found)))
    write_records(suite.folder.file(_BY_CRITIC), judgements)
    return rows


def _agreement(folder: RunFolder) -> list[Row]:
    """How often the critic and a likelihood judge prefer the same text, where both have a preference."""
    paths = [folder.path / name for name in (_BY_CRITIC, "judgements.jsonl")]
    if not all(path.exists() for path in paths):
        return []
    by_critic, others = (_verdicts(read_records(path, Judgement)) for path in paths)
    rows: list[Row] = []
    for other in dict.fromkeys(key[4] for key in others):
        for first, second in dict.fromkeys(key[2:4] for key in by_critic):
            same = asked = 0
            for (prompt, seed, one, met, _), verdict in by_critic.items():
                said = others.get((prompt, seed, first, second, other))
                known = verdict in ("first", "second") and said in ("first", "second")
                if (one, met) == (first, second) and known:
                    asked += 1
                    same += verdict == said
            if asked:
                found = wilson(same, asked)
                rows.append({"first": first, "second": second, "judge": other} | asdict(found))
    return rows


def _verdicts(judgements: Sequence[Judgement]) -> dict[tuple[str, int, str, str, str], str]:
    """One verdict for each example: the one on which both orders agree."""
    found: dict[tuple[str, int, str, str, str], str] = {}
    for one in judgements:
        key = (one.prompt_id, one.seed, one.first, one.second, one.judge)
        found[key] = one.verdict if found.get(key, one.verdict) == one.verdict else "tie"
    return found


def all_judged(out: Path, scale: StagedScale) -> list[Row]:
    """The results of all budgets that were judged."""
    paths = [run_folder(out, budget).path / "judged.json" for budget in scale.budgets]
    return [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]


def say_missing(results: Row, bars: ProgressBars) -> None:
    for entry in results["missing"]:
        bars.say(f"without {entry['what']}: {entry['why']}")
