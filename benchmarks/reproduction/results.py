"""What `judged.json` of a budget holds: the types of its figures."""

from __future__ import annotations

from typing import TypedDict

from benchmarks.protocol.results import ArenaRow, ContestantFacts, MauveRow, MissingEntry, PerplexityRow, Rate
from benchmarks.reproduction.scales import Name


class BesideRow(TypedDict):
    """How many texts are too short to say anything, and the mean and median of the others."""

    short: int
    without_short: float | None
    median_without_short: float | None


class JudgedPerplexity(PerplexityRow, BesideRow):
    """A contestant's perplexity under one evaluator, with short texts apart."""


class AgreementRow(Rate):
    """How often the critic and another judge prefer the same text, of these two models."""

    first: str
    second: str
    judge: str


class JudgedBudget(TypedDict):
    """All that was found of the texts of a budget."""

    budget: int
    names: list[Name]
    texts: dict[str, int]
    perplexity: list[JudgedPerplexity]
    arena: list[ArenaRow]
    agreement: list[AgreementRow]
    mauve: list[MauveRow]
    facts: list[ContestantFacts]
    missing: list[MissingEntry]
