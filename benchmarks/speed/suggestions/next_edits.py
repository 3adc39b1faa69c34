"""The latency of next edits: a term is changed in a document of five thousand words, then in another."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, Final

from benchmarks.speed.suggestions.editor import PATIENCE, SimulatedEditor
from benchmarks.speed.suggestions.keys import DRAFT
from lsp_server.settings import NextEditsSettings
from reviser.core.errors import ReviserError

ROUNDS: Final = 9
_PARTS: Final = 23
_OLD, _NEW = "library", "bookshop"
_QUIET: Final = 1.0


async def next_edit_times(editor: SimulatedEditor) -> dict[str, Any]:
    """The median times from an edit to the first and to all places that repeat it, without the wait for a pause."""
    first, last = [], []
    for round in range(ROUNDS):
        # What was judged before would be known.
        editor.open("".join(f"## Part {round}.{number}\n\n{DRAFT}\n" for number in range(_PARTS)))
        await asyncio.sleep(_QUIET)
        start = editor.text.index(_OLD)
        editor.offered.clear()
        began = time.perf_counter()
        editor.replace(start, start + len(_OLD), _NEW)
        await _until_quiet(editor)
        waited = NextEditsSettings().delay_ms / 1000
        first.append(editor.offered[0] - began - waited)
        last.append(editor.offered[-1] - began - waited)
    return {
        "next_edit_first_ms": 1e3 * statistics.median(first),
        "next_edit_all_ms": 1e3 * statistics.median(last),
        "next_edit_words": len(editor.text.split()),
    }


async def _until_quiet(editor: SimulatedEditor) -> None:
    """Wait for offers, and until none have come for a while."""
    deadline = time.perf_counter() + PATIENCE
    while not editor.offered or time.perf_counter() - editor.offered[-1] < _QUIET:
        if time.perf_counter() > deadline:
            raise ReviserError(f"no next edit was offered within {PATIENCE:.0f} seconds")
        await asyncio.sleep(0.01)
