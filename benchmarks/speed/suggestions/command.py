"""How quick the language server is: a typing session, replayed over the streams that an editor uses.

reviser bench lsp [--model M] [--json] [--write docs/results/lsp-latency.md]

The server is the real one, in a process of its own, with its default settings. The
editor asks for a suggestion after every key and cancels the request before it, as editors do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.report.provenance import provenance
from benchmarks.speed.suggestions.measuring import measure
from benchmarks.speed.suggestions.page import INTRODUCTION, report
from reviser.cli.arguments import run_with
from reviser.cli.options import Option


@dataclass(frozen=True, kw_only=True)
class SuggestionOptions:
    """Whose suggestions are measured."""

    model: Annotated[str | None, Option("the model, by name or path", default="the default one")] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file", metavar="OUT")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(SuggestionOptions, run, arguments, prog="reviser bench lsp", about=(__doc__ or "").splitlines()[0])


def run(chosen: SuggestionOptions) -> None:
    result = measure(chosen.model)
    print(json.dumps(result.to_dict()) if chosen.json else report(result))
    if chosen.write:
        asked = f" --model {result.model}" if chosen.model else ""
        facts = provenance(
            f"reviser bench lsp{asked} --write {chosen.write}",
            Model=result.model,
            Data="a typing session of the benchmark's own, over standard input and output",
        )
        chosen.write.write_text(f"# Speed of suggestions in an editor\n\n{facts}\n{INTRODUCTION}\n{report(result)}")
