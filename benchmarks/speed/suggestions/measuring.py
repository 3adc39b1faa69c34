"""The measurement: a replayed typing session, then the model's step at the end of the text it left."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from benchmarks.speed.suggestions.editor import PATIENCE, Request, editing
from benchmarks.speed.suggestions.keys import DRAFT, Key, recorded
from benchmarks.speed.suggestions.processes import cpu_seconds_of_others, cpu_while, family, resident_mb
from reviser.checkpoints.library import find_model, name_of
from reviser.core.errors import ReviserError
from reviser.decoding.sampler import Sampler
from reviser.session.engine import load_engine

STEPS = 96
REST = 3.0  # seconds over which rest is measured


@dataclass(frozen=True)
class Latency:
    """Milliseconds from a request to its answer, and how many answers of each kind there were."""

    p50_ms: float
    p95_ms: float
    p50_unwaited_ms: float
    p95_unwaited_ms: float
    p50_end_ms: float | None
    p50_middle_ms: float | None
    p50_known_ms: float | None
    made: int
    known: int
    empty: int


@dataclass(frozen=True)
class Load:
    """What a session costs: requests, tasks of the model, processor time and memory."""

    first_ms: float
    requests: int
    cancelled: int
    reuse_share: float
    tasks: int
    evaluated_per_task: float
    typing_s: float
    cpu_s_per_minute: float
    cpu_s_others_per_minute: float
    cpu_s_first_second: float
    cpu_s_after_typing: float
    cpu_s_disabled: float
    cpu_s_disabled_typing: float
    rest_s: float
    rss_mb: float
    rss_server_mb: float


@dataclass(frozen=True)
class Replay:
    """A replayed session, and the text that it left."""

    latency: Latency
    load: Load
    text: str


@dataclass(frozen=True)
class SuggestionResult:
    """All figures of a session; a step is one action of the model at the end of its text."""

    model: str
    step_ms: float
    latency: Latency
    load: Load

    @property
    def p50_steps(self) -> float:
        return self.latency.p50_ms / self.step_ms

    @property
    def p95_steps(self) -> float:
        return self.latency.p95_ms / self.step_ms

    @property
    def p50_unwaited_steps(self) -> float:
        return self.latency.p50_unwaited_ms / self.step_ms

    def to_dict(self) -> dict[str, object]:
        """The JSON object that `--json` prints."""
        return {
            "model": self.model,
            "step_ms": self.step_ms,
            "p50_steps": self.p50_steps,
            "p95_steps": self.p95_steps,
            "p50_unwaited_steps": self.p50_unwaited_steps,
            **asdict(self.latency),
            **asdict(self.load),
        }


def measure(model: str | None) -> SuggestionResult:
    """All figures of the session, the model's step among them."""
    if not Path("/proc/self/task").is_dir():
        raise ReviserError("this measurement reads /proc, so it needs Linux")
    folder = find_model(model)
    replay = asyncio.run(replayed(folder, recorded(), DRAFT, REST))
    return SuggestionResult(name_of(folder), step_ms(folder, replay.text), replay.latency, replay.load)


async def replayed(model: Path, keys: Sequence[Key], text: str, rest: float) -> Replay:
    """What a session of typing costs, and what is left of the cost when it is over."""
    async with editing(model) as (editor, client, process):
        editor.open(text)
        first = editor.ask()
        await _until(lambda: first.answered is not None, "the first suggestion")
        began, others = time.perf_counter(), cpu_seconds_of_others(process)
        typing_cpu = await cpu_while(editor.replay(keys), process)
        took, others = time.perf_counter() - began, cpu_seconds_of_others(process) - others
        first_second = await cpu_while(asyncio.sleep(1.0), process)
        after = await cpu_while(asyncio.sleep(rest), process)
        memory = [resident_mb(one) for one in family(process)]
        asked = editor.requests[1:]
        status: Any = await client.workspace_execute_command_async(types.ExecuteCommandParams("reviser.status", []))
        off = {"reviser": {"enabled": False}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(off))
        await _until(lambda: len(family(process)) == 1, "the engine's end")
        disabled = await cpu_while(asyncio.sleep(rest), process)
        disabled_typing = await cpu_while(editor.replay(keys[:40]), process)
    latency = latency_of(asked)
    if latency is None:
        reason = "; ".join(editor.problems) or "the model suggested nothing"
        raise ReviserError(f"there is nothing to measure: {reason}")
    load = Load(
        first_ms=1e3 * first.took,
        requests=len(asked),
        cancelled=sum(request.cancelled for request in asked),
        reuse_share=status["reused"] / status["before"] if status["before"] else 0.0,
        tasks=status["requests"],
        evaluated_per_task=status["evaluated"] / status["requests"],
        typing_s=took,
        cpu_s_per_minute=60 * typing_cpu / took,
        cpu_s_others_per_minute=60 * max(others, 0.0) / took,
        cpu_s_first_second=first_second,
        cpu_s_after_typing=after,
        cpu_s_disabled=disabled,
        cpu_s_disabled_typing=disabled_typing,
        rest_s=rest,
        rss_mb=sum(memory),
        rss_server_mb=memory[0],
    )
    return Replay(latency, load, editor.text)


def latency_of(asked: Sequence[Request]) -> Latency | None:
    """The times of the requests that the model answered; None if it answered none."""
    answered = [request for request in asked if not request.cancelled]
    # What the model is not confident enough of is not shown, but takes its time all the same.
    made = [request for request in answered if request.begun is not None]
    known = [request for request in answered if request.suggestion and request.begun is None]
    if not made:
        return None
    whole = [1e3 * request.took for request in made]
    unwaited = [1e3 * request.took_unwaited for request in made]
    return Latency(
        p50_ms=_quantile(whole, 0.50),
        p95_ms=_quantile(whole, 0.95),
        p50_unwaited_ms=_quantile(unwaited, 0.50),
        p95_unwaited_ms=_quantile(unwaited, 0.95),
        p50_end_ms=_median([1e3 * request.took for request in made if request.at_end]),
        p50_middle_ms=_median([1e3 * request.took for request in made if not request.at_end]),
        p50_known_ms=_median([1e3 * request.took for request in known]),
        made=len(made),
        known=len(known),
        empty=len(answered) - len(made) - len(known),
    )


def _quantile(values: Iterable[float], share: float) -> float:
    """The smallest value that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(-int(-share * len(ordered) // 1), 1) - 1]


def _median(values: Sequence[float]) -> float | None:
    return _quantile(values, 0.50) if values else None


def step_ms(model: Path, text: str) -> float:
    """The usual time of one action of the model at the end of `text`, in milliseconds."""
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
