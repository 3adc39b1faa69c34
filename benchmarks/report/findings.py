"""Which of the paper's comparisons between AR, Reviser, SEDD and MDLM hold for models trained alike."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

Name = Literal["Reviser", "AR", "SEDD", "MDLM"]
# Reviser first: arenas are between the first model and each of the others.
NAMES: tuple[Name, ...] = ("Reviser", "AR", "SEDD", "MDLM")

# What the paper finds with its smaller models: each pair in the order in which it ranks them.
_RANKINGS: dict[str, tuple[Name, ...]] = {
    "evalPPL": ("AR", "Reviser", "MDLM", "SEDD"),
    "median evalPPL": ("AR", "Reviser", "MDLM", "SEDD"),
    "MAUVE": ("AR", "Reviser", "SEDD", "MDLM"),
}


def findings(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Every comparison of the paper between the four, with what was measured and whether it holds.

    It holds if the order is the paper's and the 95 % intervals do not overlap (in an arena: if the
    interval does not contain a half), and does not if the order is the other one; otherwise it is open.
    The paper's perplexities are means over texts, which a few odd texts can decide; medians stand beside them.
    """
    found = []
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
    for measure, rows, by, spread, rising in (
        ("evalPPL", results["perplexity"], "evaluator", _mean_ppl, True),
        ("median evalPPL", _with_medians(results), "evaluator", _median_ppl, True),
        ("MAUVE", results["mauve"], "features", _mauve_interval, False),
    ):
        groups: dict[str, dict[str, tuple[float, float, float]]] = {}
        for row in rows:
            if row["contestant"] in NAMES:
                groups.setdefault(row[by], {})[row["contestant"]] = spread(row)
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


def _mean_ppl(row: dict[str, Any]) -> tuple[float, float, float]:
    low, high = row["interval"]
    return row["mean"], low, high


def _with_medians(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that say how sure their median is; older runs do not."""
    return [row for row in results["perplexity"] if "median_interval" in row]


def _median_ppl(row: dict[str, Any]) -> tuple[float, float, float]:
    low, high = row["median_interval"]
    return row["median"], low, high


def _mauve_interval(row: dict[str, Any]) -> tuple[float, float, float]:
    return row["score"], row["score"] - 2 * row["spread"], row["score"] + 2 * row["spread"]
