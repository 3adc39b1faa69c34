"""Which of the paper's comparisons between AR, Reviser, SEDD and MDLM hold for models trained alike."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

from benchmarks.protocol.results import MauveRow, PaperComparison, PerplexityRow, Results

Name = Literal["Reviser", "AR", "SEDD", "MDLM"]
# Reviser first: arenas are between the first model and each of the others.
NAMES: tuple[Name, ...] = ("Reviser", "AR", "SEDD", "MDLM")

# A value, and the ends of its 95 % interval.
_Spread = tuple[float, float, float]

# What the paper finds with its smaller models: each pair in the order in which it ranks them.
_RANKINGS: dict[str, tuple[Name, ...]] = {
    "evalPPL": ("AR", "Reviser", "MDLM", "SEDD"),
    "median evalPPL": ("AR", "Reviser", "MDLM", "SEDD"),
    "MAUVE": ("AR", "Reviser", "SEDD", "MDLM"),
}


def findings(results: Results) -> list[PaperComparison]:
    """Every comparison of the paper between the four, with what was measured and whether it holds.

    It holds if the order is the paper's and the 95 % intervals do not overlap (in an arena: if the
    interval does not contain a half), and does not if the order is the other one; otherwise it is open.
    The paper's perplexities are means over texts, which a few odd texts can decide; medians stand beside them.
    """
    found: list[PaperComparison] = []
    for entry in results["arena"]:
        if entry["second"] in NAMES:
            rate = entry["win_rate"]
            found.append(
                {
                    "measure": f"arena, {entry['judge']}",
                    "claim": f"Reviser is preferred to {entry['second']}",
                    "measured": rate,
                    "holds": _decided(rate["low"] > 0.5, rate["high"] < 0.5),
                }
            )
    perplexities = results["perplexity"]
    for measure, measured, rising in (
        ("evalPPL", [(row["evaluator"], row["contestant"], _mean(row)) for row in perplexities], True),
        ("median evalPPL", _medians(perplexities), True),
        ("MAUVE", [(row["features"], row["contestant"], _mauve(row)) for row in results["mauve"]], False),
    ):
        groups: dict[str, dict[str, _Spread]] = {}
        for by, contestant, spread in measured:
            if contestant in NAMES:
                groups.setdefault(by, {})[contestant] = spread
        for judge, values in groups.items():
            ranked = [name for name in _RANKINGS[measure] if name in values]
            for better, worse in combinations(ranked, 2):
                one, other = values[better], values[worse]
                below, above = one[2] < other[1], one[1] > other[2]
                found.append(
                    {
                        "measure": f"{measure}, {judge}",
                        "claim": f"{better} is better than {worse}",
                        "measured": {better: one[0], worse: other[0]},
                        "holds": _decided(below, above) if rising else _decided(above, below),
                    }
                )
    return found


def _decided(holds: bool, fails: bool) -> bool | None:
    return True if holds else False if fails else None


def _mean(row: PerplexityRow) -> _Spread:
    low, high = row["interval"]
    return row["mean"], low, high


def _medians(rows: list[PerplexityRow]) -> list[tuple[str, str, _Spread]]:
    """The medians of the rows that have intervals; older runs have none."""
    return [
        (row["evaluator"], row["contestant"], (row["median"], *row["median_interval"]))
        for row in rows
        if "median_interval" in row
    ]


def _mauve(row: MauveRow) -> _Spread:
    return row["score"], row["score"] - 2 * row["spread"], row["score"] + 2 * row["spread"]
