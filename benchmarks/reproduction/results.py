"""The types of the figures in a budget's `judged.json`."""

from __future__ import annotations

from typing import TypedDict

from benchmarks.protocol.results import ArenaRow, ContestantFacts, MauveRow, MissingEntry, PerplexityRow, Rate
from benchmarks.reproduction.scales import Name


class BesideRow(TypedDict):
    """The number of texts that are too short to measure, and the mean and median of the others."""

    short: int
    without_short: float | None
    median_without_short: float | None


class JudgedPerplexity(PerplexityRow, BesideRow):
    """A contestant's perplexity under one evaluator, with short texts apart."""


class AgreementRow(Rate):
    """The agreement of the critic with another judge on the texts of two models."""

    first: str
    second: str
    judge: str


class JudgedBudget(TypedDict):
    """All results for the texts of a budget."""

    budget: int
    names: list[Name]
    texts: dict[str, int]
    perplexity: list[JudgedPerplexity]
    arena: list[ArenaRow]
    agreement: list[AgreementRow]
    mauve: list[MauveRow]
    facts: list[ContestantFacts]
    missing: list[MissingEntry]
