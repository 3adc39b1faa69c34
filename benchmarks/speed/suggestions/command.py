"""The latency of the language server: a typing session, replayed over the streams that an editor uses.

    reviser bench lsp [--model M] [--json] [--write docs/results/lsp-latency.md]

The server is the real one, in a process of its own, with its default settings. Somebody writes at the end of a draft
of three paragraphs, at about sixty words a minute with pauses, corrects a word, takes over suggestions, and adds a
sentence in the middle. The editor asks for a suggestion after every key and cancels the request before it, as editors
do. Times run from the editor's request to its answer, for the answers that the model made; those already known from an
earlier answer are counted apart, and a request that the next key cancels has no time. A step is one action of the
model at the end of the same text, measured in the same run. Then a word is changed that occurs again and again in a
document of five thousand words: next edits are timed from the end of the pause after that. Processor time is read in
ticks of a hundredth of a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from lsprotocol import types

from benchmarks.report.provenance import write_page
from benchmarks.report.tables import Table
from benchmarks.speed.suggestions.editor import PATIENCE, TimedRequest, editing
from benchmarks.speed.suggestions.keys import DRAFT, Key, recorded
from benchmarks.speed.suggestions.next_edits import next_edit_times
from reviser.checkpoints.library import find_model, name_of
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.decoding.sampler import Sampler
from reviser.session.engine import load_engine

STEPS = 96
REST = 3.0  # seconds over which rest is measured


@dataclass(frozen=True, kw_only=True)
class SessionCosts:
    """The costs of a session: milliseconds from requests to answers, CPU time in seconds, and memory."""

    p50_ms: float
    p95_ms: float
    p50_unwaited_ms: float
    p95_unwaited_ms: float
    p50_end_ms: float | None
    p50_middle_ms: float | None
    p50_known_ms: float | None
    step_ms: float
    p50_steps: float
    reuse_share: float
    evaluated_per_task: float
    requests: int
    cancelled: int
    made: int
    known: int
    empty: int
    tasks: int
    cpu_s_per_minute: float
    cpu_s_first_second: float
    cpu_s_after_typing: float
    cpu_s_disabled: float
    rss_mb: float
    rss_server_mb: float
    first_ms: float
    typing_s: float
    next_edit_words: int
    next_edit_first_ms: float
    next_edit_all_ms: float


_ROWS = {
    "p50_ms": "request to suggestion, median (ms)",
    "p95_ms": "the same, 95 % (ms)",
    "p50_unwaited_ms": "without the server's wait for a pause, median (ms)",
    "p95_unwaited_ms": "the same, 95 % (ms)",
    "p50_end_ms": "at the end of the text, median (ms)",
    "p50_middle_ms": "in the middle of the text, median (ms)",
    "p50_known_ms": "suggestions known already, median (ms)",
    "step_ms": "one step of the model, median (ms)",
    "p50_steps": "request to suggestion, median, in steps",
    "reuse_share": "share of the text before the cursor that is reused from the cache",
    "evaluated_per_task": "tokens through the model for a task",
    "requests": "requests",
    "cancelled": "… cancelled by the next key",
    "made": "… answered by the model",
    "known": "… answered with what was known",
    "empty": "… answered with nothing",
    "tasks": "tasks for the model, repeated and left ones included",
    "cpu_s_per_minute": "CPU seconds a minute of typing",
    "cpu_s_first_second": "CPU seconds in the first second after the last key",
    "cpu_s_after_typing": f"… and in the {REST:g} seconds after it",
    "cpu_s_disabled": f"CPU seconds in {REST:g} seconds when disabled",
    "rss_mb": "resident memory, server and engine (MB)",
    "rss_server_mb": "… of the server (MB)",
    "first_ms": "first suggestion, with the start of the engine (ms)",
    "typing_s": "seconds of typing",
    "next_edit_words": "words of the document whose edits are followed",
    "next_edit_first_ms": "edit to the first next edit, without the wait for a pause, median (ms)",
    "next_edit_all_ms": "… to all places that repeat it (ms)",
}


@dataclass(frozen=True, kw_only=True)
class SuggestionSpeedOptions:
    """Options of the measurement: the model."""

    model: Annotated[str | None, Option("the model, by name or path", default="the default one")] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file", metavar="OUT")] = None


def run(chosen: SuggestionSpeedOptions) -> None:
    """Replays the session and prints the figures."""
    folder = find_model(chosen.model)
    found = measure(folder)
    name = name_of(folder)
    table = Table(
        ("", "measured"), tuple((label, _shown(getattr(found, key))) for key, label in _ROWS.items())
    ).markdown()
    print(json.dumps({"model": name, **asdict(found)}) if chosen.json else f"Model {name}\n\n{table}")
    if chosen.write:
        asked = f" --model {name}" if chosen.model else ""
        note = (__doc__ or "").split("\n\n", 2)[2]
        command = f"reviser bench lsp{asked} --write {chosen.write}"
        write_page(chosen.write, "Speed of suggestions in an editor", command, f"{note}\n{table}", Model=name)


def _shown(value: float | None) -> str:
    return "–" if value is None else str(value) if isinstance(value, int) else f"{value:.{2 if value < 10 else 0}f}"


def measure(model: Path) -> SessionCosts:
    """Measures all figures of the session and of the model's step."""
    if not Path("/proc/self/task").is_dir():
        raise ReviserError("this measurement reads /proc, so it needs Linux")
    found, text = asyncio.run(_replayed(model, recorded(), DRAFT))
    step = step_ms(model, text)
    return SessionCosts(**found, step_ms=step, p50_steps=found["p50_ms"] / step)


async def _replayed(model: Path, keys: Sequence[Key], text: str) -> tuple[dict[str, Any], str]:
    """Replays a typing session; returns its costs and the final text."""
    async with editing(model) as (editor, client, process):
        editor.open(text)
        first = editor.ask()
        await _until(lambda: first.answered is not None, "the first suggestion")
        began = time.perf_counter()
        typing = await _cpu_while(editor.replay(keys), process)
        took = time.perf_counter() - began
        first_second = await _cpu_while(asyncio.sleep(1.0), process)
        after = await _cpu_while(asyncio.sleep(REST), process)
        memory = [_resident_mb(one) for one in _family(process)]
        asked = editor.requests[1:]
        status: Any = await client.workspace_execute_command_async(types.ExecuteCommandParams("reviser.status", []))
        text = editor.text
        following = await next_edit_times(editor)
        off = {"reviser": {"enabled": False}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(off))
        await _until(lambda: len(_family(process)) == 1, "the engine's end")
        disabled = await _cpu_while(asyncio.sleep(REST), process)
    found = latencies(asked)
    if not found["made"]:
        reason = "; ".join(editor.problems) or "the model suggested nothing"
        raise ReviserError(f"there is nothing to measure: {reason}")
    found |= following
    found |= {
        "first_ms": 1e3 * first.took,
        "requests": len(asked),
        "cancelled": sum(request.cancelled for request in asked),
        "reuse_share": status["reused"] / status["before"] if status["before"] else 0.0,
        "tasks": status["requests"],
        "evaluated_per_task": status["evaluated"] / status["requests"],
        "typing_s": took,
        "cpu_s_per_minute": 60 * typing / took,
        "cpu_s_first_second": first_second,
        "cpu_s_after_typing": after,
        "cpu_s_disabled": disabled,
        "rss_mb": sum(memory),
        "rss_server_mb": memory[0],
    }
    return found, text


def latencies(asked: Sequence[TimedRequest]) -> dict[str, Any]:
    """The latencies of the answered requests, and the number of answers of each kind."""
    answered = [request for request in asked if not request.cancelled]
    # What the model is not confident enough of is not shown, but takes its time all the same.
    made = [request for request in answered if request.begun is not None]
    known = [request for request in answered if request.suggestion and request.begun is None]
    whole = [1e3 * request.took for request in made]
    unwaited = [1e3 * request.took_unwaited for request in made]
    return {
        "p50_ms": quantile(whole, 0.50),
        "p95_ms": quantile(whole, 0.95),
        "p50_unwaited_ms": quantile(unwaited, 0.50),
        "p95_unwaited_ms": quantile(unwaited, 0.95),
        "p50_end_ms": quantile([1e3 * request.took for request in made if request.at_end], 0.50),
        "p50_middle_ms": quantile([1e3 * request.took for request in made if not request.at_end], 0.50),
        "p50_known_ms": quantile([1e3 * request.took for request in known], 0.50),
        "made": len(made),
        "known": len(known),
        "empty": len(answered) - len(made) - len(known),
    }


def quantile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that the `share` of all values does not exceed; None if there are no values."""
    ordered = sorted(values)
    return ordered[max(-int(-share * len(ordered) // 1), 1) - 1] if ordered else None


def step_ms(model: Path, text: str) -> float:
    """The median time in milliseconds of one action of the model at the end of `text`."""
    engine = load_engine(model)
    times: list[float] = []
    for seed in range(STEPS):
        run = engine.session(text).continue_(Sampler(seed=seed), max_actions=32)
        next(run, None)  # reads the text
        while len(times) < STEPS:
            started = time.perf_counter()
            if next(run, None) is None:
                break
            times.append(1e3 * (time.perf_counter() - started))
    if not times:
        raise ReviserError("the model writes nothing, so its step cannot be measured")
    return statistics.median(times)


async def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.perf_counter() + PATIENCE
    while not condition():
        if time.perf_counter() > deadline:
            raise ReviserError(f"{what} did not come within {PATIENCE:.0f} seconds")
        await asyncio.sleep(0.01)


# Processes -----------------------------------------------------------------------------------------


async def _cpu_while(doing: Awaitable[object], process: int) -> float:
    """The CPU time in seconds that a server and its engine use while `doing` runs."""
    used = _cpu_seconds(process)
    await doing
    return _cpu_seconds(process) - used


def _family(process: int) -> list[int]:
    """The ids of a process and its descendants."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += _family(int(child))
    return found


def _cpu_seconds(process: int) -> float:
    """The CPU time in seconds of a server and its engine; the resolution is usually 0.01 s."""
    ticks = 0
    for one in _family(process):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
