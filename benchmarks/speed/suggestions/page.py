"""The figures of a replayed session as a table, beside the targets that some of them have."""

from __future__ import annotations

from benchmarks.report.tables import Table
from benchmarks.speed.suggestions.measuring import SuggestionResult

INTRODUCTION = """\
Somebody writes at the end of a draft of three paragraphs, at about sixty words a minute with pauses, corrects a word,
takes over suggestions, and adds a sentence in the middle. The editor asks for a suggestion after every key. Times run
from the editor's request to its answer, for the answers that the model made; those already known from an
earlier answer are counted apart, and a request that the next key cancels has no time. A step is one action of the model at the end of the same text, measured in
the same run. Processor time is read in ticks of a hundredth of a second.
"""


def report(result: SuggestionResult) -> str:
    latency, load = result.latency, result.load
    tick = 0.02  # two ticks of the clock are no work
    rows = [
        _row(
            "request to suggestion, median",
            f"{latency.p50_ms:.0f} ms = {result.p50_steps:.1f} steps",
            "below 10 steps",
            result.p50_steps < 10,
        ),
        _row("the same, 95 %", f"{latency.p95_ms:.0f} ms = {result.p95_steps:.1f} steps"),
        _row(
            "without the server's wait for a pause, median",
            f"{latency.p50_unwaited_ms:.0f} ms = {result.p50_unwaited_steps:.1f} steps",
        ),
        _row("the same, 95 %", f"{latency.p95_unwaited_ms:.0f} ms"),
        _row("at the end of the text, median", _ms(latency.p50_end_ms)),
        _row("in the middle of the text, median", _ms(latency.p50_middle_ms)),
        _row("suggestions known already, median", _ms(latency.p50_known_ms)),
        _row("one step of the model, median", f"{result.step_ms:.1f} ms"),
        _row(
            "text before the cursor reused from the cache",
            f"{load.reuse_share:.1%}",
            "above 95 %",
            load.reuse_share > 0.95,
        ),
        _row("tokens through the model for a task", f"{load.evaluated_per_task:.1f}"),
        _row("requests", str(load.requests)),
        _row("… cancelled by the next key", str(load.cancelled)),
        _row("… answered by the model", str(latency.made)),
        _row("… answered with what was known", str(latency.known)),
        _row("… answered with nothing", str(latency.empty)),
        _row("tasks for the model, repeated and left ones included", str(load.tasks)),
        _row("CPU seconds a minute of typing", f"{load.cpu_s_per_minute:.1f}"),
        _row("… of everything else on the machine", f"{load.cpu_s_others_per_minute:.1f}"),
        _row("CPU seconds in the first second after the last key", _s(load.cpu_s_first_second)),
        _row(
            f"… and in the {load.rest_s:g} seconds after it",
            _s(load.cpu_s_after_typing),
            "none",
            load.cpu_s_after_typing < tick,
        ),
        _row(
            f"CPU seconds in {load.rest_s:g} seconds when disabled",
            _s(load.cpu_s_disabled),
            "none",
            load.cpu_s_disabled < tick,
        ),
        _row("… and for 40 keys when disabled", _s(load.cpu_s_disabled_typing)),
        _row("resident memory, server and engine", f"{load.rss_mb:.0f} MB (the server {load.rss_server_mb:.0f} MB)"),
        _row("first suggestion, with the start of the engine", f"{load.first_ms:.0f} ms"),
    ]
    table = Table(("", "measured", "target", ""), tuple(rows), names=1)
    return f"Model {result.model}, {load.typing_s:.0f} seconds of typing.\n\n{table.markdown()}"


def _row(name: str, figure: str, target: str = "", met: bool | None = None) -> tuple[str, str, str, str]:
    return name, figure, target, "" if met is None else "met" if met else "missed"


def _ms(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds:.0f} ms"


def _s(seconds: float) -> str:
    return f"{seconds:.2f}"
