"""How quick the language server is: a typing session, replayed over the streams that an editor uses.

reviser bench lsp [--model M] [--json] [--write docs/results/lsp-latency.md]

The server is the real one, in a process of its own, with the settings that everybody starts with. The
editor asks for a suggestion after every key and cancels the request before it, as editors do.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from lsp_server.messages import STATUS
from reviser.checkpoints.library import find_model, name_of
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.decoding.rollout import Sampler
from reviser.session.engine import load_engine

URI = "file:///draft.txt"
STEPS = 96
REST = 3.0  # seconds over which rest is measured
_PATIENCE = 60.0

DRAFT = """\
The library on Mill Street opens at nine, but the caretaker is there at seven. He sweeps the steps, puts
the returned books on a trolley, and makes tea for whoever comes first. In winter that is usually Mrs. Farrow,
who reads the newspapers from the back to the front and writes down the weather of every town she has lived in.

The building was a bank once. The counter is still there, and children like to hand their books through the brass
window as if they were paying something in. Where the safe stood there is now a reading corner with three low
chairs and a lamp. The door of the safe was too heavy to carry away, so it leans against the wall, and somebody
has painted a garden on it.

Last spring the council asked whether the town still needed a library. There was a meeting, and more people came
than the hall had chairs. Some spoke about the cost of the roof. Others spoke about the winter when the power
failed, and the library was the only warm room for streets around, because the old stove in the cellar burns
anything. In the end the vote was not close. The roof was mended in August, and the stove was cleaned.
"""


@dataclass(frozen=True)
class Key:
    """What the user does `wait` seconds after the key before.

    `text` is the letter typed, or the words behind which to go.
    """

    wait: float
    act: Literal["type", "erase", "accept", "go"]
    text: str = ""


# Seconds between the keys of somebody who types about sixty words a minute, over and over.
_RHYTHM = (0.17, 0.13, 0.21, 0.15, 0.18, 0.12, 0.24, 0.16, 0.14, 0.20, 0.11, 0.19, 0.28, 0.15, 0.17)


def recorded() -> list[Key]:
    """The session: prose with pauses, a correction, suggestions taken over, a new sentence in the middle."""
    gaps = itertools.cycle(_RHYTHM)

    def typed(text: str, first: float = 0.0) -> Iterator[Key]:
        for place, letter in enumerate(text):
            # A word takes a moment of thought, a sentence a longer one.
            thought = (
                {" ": 0.06, ".": 0.30, ",": 0.12}.get(text[place - 1], 0.0) if place else first
            )
            yield Key(next(gaps) + thought, "type", letter)

    def erased(count: int) -> Iterator[Key]:
        return (Key(0.5 if not done else 0.11, "erase") for done in range(count))

    return [
        *typed("\nThis year there is a new plan. The caretaker wants to open the cellar as a "),
        *typed("workshop, ", 0.8),
        *typed("where people can mend what they would otherwise throw away.", 0.4),
        *typed(" He has asked for a long table, good ligt", 1.6),
        *erased(2),
        *typed("ht and a few tools.", 0.3),
        Key(1.8, "accept"),
        *typed(" Mrs. Farrow has promised", 0.9),
        Key(1.5, "accept"),
        Key(2.5, "go", "has painted a garden on it."),
        *typed(" In summer the children draw chalk flowers in", 0.9),
        Key(1.5, "accept"),
        *typed(" and the caretaker", 0.8),
        *erased(9),
        *typed("librarian pretends not to see it.", 0.4),
    ]


@dataclass(eq=False)
class Request:
    """A request for a suggestion; `begun` is when the server turned to the model, if it did."""

    id: str
    sent: float
    at_end: bool
    answered: float | None = None
    begun: float | None = None
    suggestion: str = ""
    cancelled: bool = False

    @property
    def took(self) -> float:
        assert self.answered is not None
        return self.answered - self.sent

    @property
    def took_unwaited(self) -> float:
        """Without the time that the server chose to wait for the next key."""
        assert self.answered is not None
        assert self.begun is not None
        return self.answered - self.begun


class Editor:
    """A document, a cursor, and a server that is asked for a suggestion after every change."""

    def __init__(self, client: LanguageClient) -> None:
        self.text = ""
        self.cursor = 0
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self._client = client
        self._version = 0
        self._thinking = 0.0
        self._ids = itertools.count(1)
        self._listen()

    def open(self, text: str) -> None:
        self.text, self.cursor = text, len(text)
        item = types.TextDocumentItem(URI, "plaintext", self._version, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def replay(self, keys: Iterable[Key]) -> None:
        """Strike keys at their times."""
        due = time.perf_counter()
        for key in keys:
            due += key.wait
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            self.strike(key)

    def strike(self, key: Key) -> None:
        if key.act == "go":
            found = self.text.find(key.text)
            self.cursor = found + len(key.text) if found >= 0 else self.cursor
            return
        if key.act == "accept":
            last = self.requests[-1] if self.requests else None
            if last is None or not last.suggestion:
                return  # nothing is shown
            self._replace(self.cursor, self.cursor, last.suggestion)
        elif key.act == "erase":
            self._replace(max(self.cursor - 1, 0), self.cursor, "")
        else:
            self._replace(self.cursor, self.cursor, key.text)
        self.ask()

    def ask(self) -> Request:
        """Ask for a suggestion at the cursor; the request before it is of no more use."""
        if self.requests and (last := self.requests[-1]).answered is None:
            last.cancelled = True
            self._client.cancel_request(types.CancelParams(last.id))
        at_end = not self.text[self.cursor :].strip()
        request = Request(f"suggestion {next(self._ids)}", time.perf_counter(), at_end)
        self.requests.append(request)
        params = types.InlineCompletionParams(
            context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
            text_document=types.TextDocumentIdentifier(URI),
            position=self._position(self.cursor),
        )
        future = self._client.protocol.send_request(
            types.TEXT_DOCUMENT_INLINE_COMPLETION, params, msg_id=request.id
        )
        future.add_done_callback(lambda future: self._answered(request, future))
        return request

    def _answered(self, request: Request, future: Future[Any]) -> None:
        request.answered = time.perf_counter()
        if self._thinking >= request.sent:
            request.begun = self._thinking
        if not future.cancelled() and future.exception() is None and future.result().items:
            request.suggestion = future.result().items[0].insert_text

    def _listen(self) -> None:
        def status_changed(status: Any) -> None:
            if status.state == "thinking":
                self._thinking = time.perf_counter()

        def logged(message: types.LogMessageParams) -> None:
            if message.type == types.MessageType.Error:
                self.problems.append(message.message)

        self._client.feature(STATUS)(status_changed)
        self._client.feature(types.WINDOW_LOG_MESSAGE)(logged)

    def _replace(self, start: int, end: int, inserted: str) -> None:
        range = types.Range(self._position(start), self._position(end))
        self.text = self.text[:start] + inserted + self.text[end:]
        self.cursor = start + len(inserted)
        self._version += 1
        change = types.TextDocumentContentChangePartial(range=range, text=inserted)
        document = types.VersionedTextDocumentIdentifier(self._version, URI)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def _position(self, offset: int) -> types.Position:
        before = self.text[:offset].split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


@asynccontextmanager
async def editing(model: Path) -> AsyncIterator[tuple[Editor, LanguageClient, int]]:
    """An editor, its language server, and the server's process."""
    client = LanguageClient("reviser-bench", "1")
    editor = Editor(client)
    await client.start_io(sys.executable, "-m", "reviser", "lsp")
    assert client._server is not None
    try:
        await client.initialize_async(
            types.InitializeParams(
                process_id=os.getpid(),
                capabilities=types.ClientCapabilities(
                    text_document=types.TextDocumentClientCapabilities(
                        inline_completion=types.InlineCompletionClientCapabilities()
                    ),
                    experimental={"reviser": True},
                ),
                initialization_options={"model": str(model)},
            )
        )
        client.initialized(types.InitializedParams())
        yield editor, client, client._server.pid
        await client.shutdown_async(None)
        client.exit(None)
        await asyncio.wait_for(client._server.wait(), _PATIENCE)
    finally:
        if client._server.returncode is None:
            client._server.kill()


async def replayed(model: Path, keys: Sequence[Key], text: str, rest: float) -> dict[str, Any]:
    """What a session of typing costs, and what is left of the cost when it is over."""
    async with editing(model) as (editor, client, process):
        editor.open(text)
        first = editor.ask()
        await _until(lambda: first.answered is not None, "the first suggestion")
        began, others = time.perf_counter(), _cpu_seconds_of_others(process)
        typing_cpu = await _cpu_while(editor.replay(keys), process)
        took, others = time.perf_counter() - began, _cpu_seconds_of_others(process) - others
        first_second = await _cpu_while(asyncio.sleep(1.0), process)
        after = await _cpu_while(asyncio.sleep(rest), process)
        memory = [_resident_mb(one) for one in _family(process)]
        asked = editor.requests[1:]
        status: Any = await client.workspace_execute_command_async(
            types.ExecuteCommandParams("reviser.status", [])
        )
        off = {"reviser": {"enabled": False}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(off))
        await _until(lambda: len(_family(process)) == 1, "the engine's end")
        disabled = await _cpu_while(asyncio.sleep(rest), process)
        disabled_typing = await _cpu_while(editor.replay(keys[:40]), process)
    if not any(request.begun for request in asked):
        reason = "; ".join(editor.problems) or "the model suggested nothing"
        raise ReviserError(f"there is nothing to measure: {reason}")
    return {
        **_times(asked),
        "first_ms": 1e3 * first.took,
        "requests": len(asked),
        "cancelled": sum(request.cancelled for request in asked),
        "reuse_share": status["reused"] / status["before"] if status["before"] else 0.0,
        "tasks": status["requests"],
        "evaluated_per_task": status["evaluated"] / status["requests"],
        "typing_s": took,
        "cpu_s_per_minute": 60 * typing_cpu / took,
        "cpu_s_others_per_minute": 60 * max(others, 0.0) / took,
        "cpu_s_first_second": first_second,
        "cpu_s_after_typing": after,
        "cpu_s_disabled": disabled,
        "cpu_s_disabled_typing": disabled_typing,
        "rest_s": rest,
        "rss_mb": sum(memory),
        "rss_server_mb": memory[0],
        "text": editor.text,
    }


def _times(asked: Sequence[Request]) -> dict[str, Any]:
    answered = [request for request in asked if not request.cancelled]
    # What the model is not sure enough of is not shown, but takes its time all the same.
    made = [request for request in answered if request.begun is not None]
    known = [request for request in answered if request.suggestion and request.begun is None]
    whole = [1e3 * request.took for request in made]
    unwaited = [1e3 * request.took_unwaited for request in made]
    return {
        "p50_ms": _quantile(whole, 0.50),
        "p95_ms": _quantile(whole, 0.95),
        "p50_unwaited_ms": _quantile(unwaited, 0.50),
        "p95_unwaited_ms": _quantile(unwaited, 0.95),
        "p50_end_ms": _quantile((1e3 * request.took for request in made if request.at_end), 0.50),
        "p50_middle_ms": _quantile(
            (1e3 * request.took for request in made if not request.at_end), 0.50
        ),
        "p50_known_ms": _quantile([1e3 * request.took for request in known], 0.50),
        "made": len(made),
        "known": len(known),
        "empty": len(answered) - len(made) - len(known),
    }


def _quantile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(-int(-share * len(ordered) // 1), 1) - 1] if ordered else None


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


async def _cpu_while(doing: Any, process: int) -> float:
    used = _cpu_seconds(process)
    await doing
    return _cpu_seconds(process) - used


async def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.perf_counter() + _PATIENCE
    while not condition():
        if time.perf_counter() > deadline:
            raise ReviserError(f"{what} did not come within {_PATIENCE:.0f} seconds")
        await asyncio.sleep(0.01)


def _family(process: int) -> list[int]:
    """A process and those it started."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += _family(int(child))
    return found


def _cpu_seconds(process: int) -> float:
    """The processor time of a server and its engine, in ticks of usually a hundredth of a second."""
    ticks = 0
    for one in _family(process):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _cpu_seconds_of_others(process: int) -> float:
    """The processor time of all that is neither the server, its engine, nor this editor."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq")
    counted = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = dict(zip(names, map(int, counted), strict=False))
    busy = sum(ticks.values()) - ticks["idle"] - ticks["iowait"]
    return busy / os.sysconf("SC_CLK_TCK") - _cpu_seconds(process) - time.process_time()


def _resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(model: str | None) -> dict[str, Any]:
    """All figures of the session, the model's step among them."""
    if not Path("/proc/self/task").is_dir():
        raise ReviserError("this measurement reads /proc, so it needs Linux")
    folder = find_model(model)
    figures = asyncio.run(replayed(folder, recorded(), DRAFT, REST))
    step = step_ms(folder, figures.pop("text"))
    return {
        "model": name_of(folder),
        "step_ms": step,
        "p50_steps": figures["p50_ms"] / step,
        "p95_steps": figures["p95_ms"] / step,
        "p50_unwaited_steps": figures["p50_unwaited_ms"] / step,
        **figures,
    }


def report(result: dict[str, Any]) -> str:
    tick = 0.02  # two ticks of the clock are no work
    rows = [
        _row(
            "request to suggestion, median",
            f"{result['p50_ms']:.0f} ms = {result['p50_steps']:.1f} steps",
            "below 10 steps",
            result["p50_steps"] < 10,
        ),
        _row("the same, 95 %", f"{result['p95_ms']:.0f} ms = {result['p95_steps']:.1f} steps"),
        _row(
            "without the server's wait for a pause, median",
            f"{result['p50_unwaited_ms']:.0f} ms = {result['p50_unwaited_steps']:.1f} steps",
        ),
        _row("the same, 95 %", f"{result['p95_unwaited_ms']:.0f} ms"),
        _row("at the end of the text, median", _ms(result["p50_end_ms"])),
        _row("in the middle of the text, median", _ms(result["p50_middle_ms"])),
        _row("suggestions known already, median", _ms(result["p50_known_ms"])),
        _row("one step of the model, median", f"{result['step_ms']:.1f} ms"),
        _row(
            "text before the cursor reused from the cache",
            f"{result['reuse_share']:.1%}",
            "above 95 %",
            result["reuse_share"] > 0.95,
        ),
        _row("tokens through the model for a task", f"{result['evaluated_per_task']:.1f}"),
        _row("requests", str(result["requests"])),
        _row("… cancelled by the next key", str(result["cancelled"])),
        _row("… answered by the model", str(result["made"])),
        _row("… answered with what was known", str(result["known"])),
        _row("… answered with nothing", str(result["empty"])),
        _row("tasks for the model, repeated and left ones included", str(result["tasks"])),
        _row("CPU seconds a minute of typing", f"{result['cpu_s_per_minute']:.1f}"),
        _row("… of everything else on the machine", f"{result['cpu_s_others_per_minute']:.1f}"),
        _row(
            "CPU seconds in the first second after the last key", _s(result["cpu_s_first_second"])
        ),
        _row(
            f"… and in the {result['rest_s']:g} seconds after it",
            _s(result["cpu_s_after_typing"]),
            "none",
            result["cpu_s_after_typing"] < tick,
        ),
        _row(
            f"CPU seconds in {result['rest_s']:g} seconds when disabled",
            _s(result["cpu_s_disabled"]),
            "none",
            result["cpu_s_disabled"] < tick,
        ),
        _row("… and for 40 keys when disabled", _s(result["cpu_s_disabled_typing"])),
        _row(
            "resident memory, server and engine",
            f"{result['rss_mb']:.0f} MB (the server {result['rss_server_mb']:.0f} MB)",
        ),
        _row("first suggestion, with the start of the engine", f"{result['first_ms']:.0f} ms"),
    ]
    table = Table(("", "measured", "target", ""), tuple(rows), names=1)
    return f"Model {result['model']}, {result['typing_s']:.0f} seconds of typing.\n\n{table.markdown()}"


def _row(
    name: str, figure: str, target: str = "", met: bool | None = None
) -> tuple[str, str, str, str]:
    return name, figure, target, "" if met is None else "met" if met else "missed"


def _ms(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds:.0f} ms"


def _s(seconds: float) -> str:
    return f"{seconds:.2f}"


@dataclass(frozen=True, kw_only=True)
class SuggestionOptions:
    """Whose suggestions are measured."""

    model: Annotated[
        str | None, Option("the model, by name or path", default="the default one")
    ] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[
        Path | None, Option("also write the result to this Markdown file", metavar="OUT")
    ] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        SuggestionOptions,
        run,
        arguments,
        prog="reviser bench lsp",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: SuggestionOptions) -> None:
    result = measure(chosen.model)
    print(json.dumps(result) if chosen.json else report(result))
    if chosen.write:
        asked = f" --model {result['model']}" if chosen.model else ""
        facts = provenance(
            f"reviser bench lsp{asked} --write {chosen.write}",
            Model=result["model"],
            Data="a typing session of the benchmark's own, over standard input and output",
        )
        chosen.write.write_text(
            f"# Speed of suggestions in an editor\n\n{facts}\n{_INTRODUCTION}\n{report(result)}"
        )


_INTRODUCTION = """\
Somebody writes at the end of a draft of three paragraphs, at about sixty words a minute with pauses, corrects a word,
takes over suggestions, and adds a sentence in the middle. The editor asks for a suggestion after every key. Times run
from the editor's request to its answer, for the answers that the model made; those already known from an
earlier answer are counted apart, and a request that the next key cancels has no time. A step is one action of the model at the end of the same text, measured in
the same run. Processor time is read in ticks of a hundredth of a second.
"""
