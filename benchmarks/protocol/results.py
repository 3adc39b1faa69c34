"""The figures of a run, as its `results.json` has them: each row is the dictionary of a measure's dataclass."""

from __future__ import annotations

from typing import Any

REAL = "real text"

Row = dict[str, Any]
Results = dict[str, Any]
"""`settings`, `provenance`, `prompts`, `missing`, and the rows of `contestants`, `perplexity`, `arena` and `mauve`."""
