"""The types of the figures in a run's `results.json`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

REAL = "real text"


class Rate(TypedDict):
    """A share with its 95 % interval; the share is None if there were no cases."""

    share: float | None
    low: float
    high: float


class ArenaRow(TypedDict):
    """The result of two contestants before one judge (see `benchmarks.measures.arena.ArenaScore`)."""

    first: str
    second: str
    judge: str
    examples: int
    asked: int
    wins: int
    losses: int
    ties: int
    invalid: int
    win_rate: Rate
    shown_first: Rate
    agreement: Rate | None


class Spread(TypedDict):
    """The uncertainty of a mean perplexity: resampled intervals, and the means of the single seeds."""

    interval: tuple[float, float]
    median_interval: NotRequired[tuple[float, float]]
    """Older runs have none."""
    by_seed: dict[str, float]
    seed_spread: float | None


class PerplexityRow(Spread):
    """A contestant's perplexity under one evaluator (see `reviser.scoring.perplexity.Perplexity`)."""

    contestant: str
    evaluator: str
    kind: str
    examples: int
    empty: int
    tokens: int
    mean: float
    median: float
    over_tokens: float
    median_token: float
    bits_per_byte: float


class MauveRow(TypedDict):
    """The MAUVE of a contestant's texts (see `benchmarks.measures.mauve_score.Mauve`)."""

    contestant: str
    features: str
    score: float
    spread: float
    smoothed: float
    texts: int
    clusters: int


class CostFacts(TypedDict):
    """The cost of runs (see `benchmarks.measures.flops.MeasuredCost`)."""

    runs: int
    tokens: float
    actions: float
    move_fraction: float
    predicted: float
    counted: float
    with_prompt: float


class ContestantFacts(TypedDict):
    """The statistics of a contestant's texts and runs that need no other model."""

    name: str
    source: str
    file: str
    viewer: str | None
    texts: int
    tokens: float
    endings: dict[str, int]
    seconds: float
    variety: dict[str, float]
    statistics: dict[str, object] | None
    """What `benchmarks.measures.statistics.RunSummary.to_dict` gives."""
    flops: CostFacts | None


class MissingEntry(TypedDict):
    """A measurement that could not be made, and the reason."""

    what: str
    why: str


class SetupFacts(TypedDict):
    """The protocol of a run (see `benchmarks.protocol.setup.Setup`)."""

    data: str
    prompts: int
    seeds: tuple[int, ...]
    """A list, once it was read from a file."""
    shortest: int
    longest: int
    prompt_tokens: int
    total_tokens: int
    max_actions: int
    temperature: float
    top_k: int
    diffusion_steps: int


class PlanFacts(TypedDict):
    """The plan of a run (see `benchmarks.suite.SuitePlan`)."""

    setup: SetupFacts
    models: list[str]
    evaluators: list[str]
    judges: list[str]
    both_ways: bool
    features: list[str]


class SettingsFacts(TypedDict):
    """The settings of a training run that a report shows."""

    model: str
    rows: int
    accumulate: int
    row_length: int
    peak_rate: float
    final_rate: float
    seed: int


class TrainingRecord(TypedDict):
    """The record of the training of one model of a reproduction."""

    steps: int
    ids: int
    ids_per_s: float
    loss: float
    weights_mb: float
    training_seconds: float
    seconds: float
    settings: SettingsFacts


class Results(TypedDict):
    """All results of a run."""

    settings: PlanFacts
    provenance: dict[str, str]
    prompts: dict[str, int]
    contestants: list[ContestantFacts]
    perplexity: list[PerplexityRow]
    arena: list[ArenaRow]
    mauve: list[MauveRow]
    missing: list[MissingEntry]
