"""How fast a server writes in many documents at once, beside the engine in this process.

    python -m benchmarks serving [--documents 1 8 64] [--actions 40] [--rounds 2] [--url URL] [--write docs/results/serving.md]

Every document is continued with the same number of actions, over HTTP from a thread of its own, one request for each action. The
server is `reviser serve --http` in a process of its own, or the one at URL, such as vLLM. In turn with it, the
engine of this process continues one document after the other. Processor time is that of client and server together.
"""

from __future__ import annotations

import copy
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.builtin import builtin_texts
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.remote.client import TIMEOUT_VARIABLE
from reviser.session.engine import Engine, load_engine
from reviser.session.session import SessionPolicy

_PROMPT = 48


@dataclass
class Tally:
    """The runs of one way, added up over rounds."""

    name: str
    documents: int
    seconds: float = 0.0
    processor: float | None = 0.0
    actions: int = 0


def write(policy: SessionPolicy, prompt: list[int], actions: int, number: int) -> int:
    """Continue a prompt; returns the number of actions."""
    canvas, history = seed(policy.vocabulary, prompt, max_length=policy.max_length)
    run = Rollout(policy, canvas, history, Sampler(seed=number), max_actions=actions)
    return sum(1 for _ in run)


@contextmanager
def served(rows: int) -> Iterator[tuple[str, int]]:
    """The address and the process id of a server with the default model."""
    command = [sys.executable, "-m", "reviser", "serve", "--http", "0", "--rows", str(rows)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+(?=/v1)", process.stderr.readline())
        if found is None:
            raise ReviserError("the server did not start")
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()


def processor_time(pid: int | None) -> float | None:
    """Seconds of processor time of this process and another one; None where that cannot be known."""
    if pid is None:
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()


def measure(
    url: str, pid: int | None, documents: Sequence[int], actions: int, rounds: int, base: int
) -> list[Tally]:
    """Rounds of all ways in turn."""
    remote, local = load_engine(f"openai:{url}"), load_engine("default")
    prompts = _prompts(local, max(documents))
    tallies = [Tally("engine in this process", 1)]
    tallies += [Tally("over HTTP", count) for count in documents]
    # The first requests find nothing kept, and threads that are still to start.
    write(remote.policy, prompts[0], 4, 0)
    write(local.policy, prompts[0], 4, 0)
    for turn in range(rounds):
        for tally in tallies:
            few = max(1, min(4, len(prompts)))
            used, began = processor_time(pid), time.perf_counter()
            if tally.name == "over HTTP":
                numbers = range(base + 1000 * turn, base + 1000 * turn + tally.documents)
                jobs = zip(prompts, numbers, strict=False)
                with ThreadPoolExecutor(tally.documents) as pool:
                    made = [
                        pool.submit(write, copy.copy(remote.policy), prompt, actions, number)
                        for prompt, number in jobs
                    ]
                    tally.actions += sum(run.result() for run in made)
            else:
                for at in range(few):
                    number = base + 1000 * turn + at
                    tally.actions += write(local.policy, prompts[at], actions, number)
            tally.seconds += time.perf_counter() - began
            now = processor_time(pid)
            if tally.processor is not None:
                spent = None if used is None or now is None else now - used
                tally.processor = None if spent is None else tally.processor + spent
    return tallies


def _prompts(engine: Engine, count: int) -> list[list[int]]:
    """Beginnings of as many different texts."""
    found = []
    for text in builtin_texts():
        ids = engine.tokenizer.encode(text[:2000])[:_PROMPT]
        if len(ids) == _PROMPT:
            found.append(ids)
        if len(found) == count:
            return found
    raise ReviserError(f"there are texts for {len(found)} documents, not for {count}")


def table(tallies: Sequence[Tally]) -> Table:
    first = tallies[0]
    rows = []
    for tally in tallies:
        speed = tally.actions / tally.seconds
        each = None if tally.processor is None else 1000 * tally.processor / tally.actions
        rows.append(
            (
                *(tally.name, str(tally.documents), f"{speed:.1f}"),
                f"{speed / (first.actions / first.seconds):.2f}",
                "–" if each is None else f"{each:.1f}",
            )
        )
    columns = ("way", "documents at once", "actions/s", "times the engine's", "processor ms/action")
    return Table(columns, tuple(rows))


@dataclass(frozen=True, kw_only=True)
class ServingOptions:
    """How many documents are written, and by which server."""

    documents: Annotated[tuple[int, ...], Option("written at once", together=True)] = (1, 8, 64)
    actions: Annotated[int, Option("of each run")] = 40
    rounds: Annotated[int, Option("of each measurement")] = 2
    rows: Annotated[int, Option("of the server")] = 64
    seed: Annotated[int, Option("of the runs")] = 1
    url: Annotated[str | None, Option("a server that runs already")] = None
    write: Annotated[Path | None, Option("also write a Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ServingOptions,
        run,
        arguments,
        prog="python -m benchmarks serving",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: ServingOptions) -> None:
    # Many documents that are opened at once wait for one another.
    os.environ.setdefault(TIMEOUT_VARIABLE, "600")
    rest = (chosen.documents, chosen.actions, chosen.rounds, chosen.seed)
    load = os.getloadavg()[0]
    if chosen.url:
        found = table(measure(chosen.url, None, *rest))
    else:
        with served(chosen.rows) as (url, pid):
            found = table(measure(url, pid, *rest))
    print(found.markdown())
    if chosen.write:
        head = provenance(
            f"python -m benchmarks serving {shlex.join(chosen.words)}".strip(),
            Seed=chosen.seed,
            Data="the built-in speeches: the first 48 tokens of each are the prompt",
            Load=f"{load:.1f} to {os.getloadavg()[0]:.1f} (other work on the same cores)",
        )
        text = f"# Writing over HTTP\n\n{head}\n{_ABOUT}\n\n{found.markdown()}"
        write_atomically(chosen.write, text.encode())


_ABOUT = (
    "The embedded model behind `reviser serve --http`, on the same machine as its clients. Each document has a client of its own, which "
    "asks once for each action and keeps canvas, mask and sampler to itself. Documents that wait at the same moment are read "
    "together. Actions per second are of all documents, by the clock, so other work on the machine counts; processor time "
    "(client and server) does not."
)
