"""How fast a server writes in many documents at once, beside the engine in this process.

    python -m benchmarks serving [--documents 1 8 64] [--actions 40] [--rounds 2] [--vllm .venv-vllm/bin/python]
    [--url URL]
        [--write docs/results/serving.md]

Every document is continued with the same number of actions, over HTTP from a thread of its own, one request for
each action. The server is `reviser serve --http` in a process of its own, or the one at URL. With --vllm, vLLM
serves the same model in turn with it: the program is a Python that has vLLM and Reviser. In turn with them, the
engine of this process continues one document after the other. Processor time is that of the client and of all
processes of the server.
"""

from __future__ import annotations

import copy
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.builtin import builtin_texts
from benchmarks.report.provenance import cores, provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.policy import SessionPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.remote.client import TIMEOUT_VARIABLE, Client
from reviser.session.engine import Engine, load_engine

_PROMPT = 48
# As docs/serving.md has it. Blocks of 32 ids: with the 128 of vLLM on a processor, histories as short as these are
# never found again.
VLLM: tuple[str, ...] = (
    *("-m", "vllm.entrypoints.openai.api_server", "--served-model-name", "reviser"),
    *("--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "512", "--block-size", "32"),
    *("--logits-processors", "reviser.integrations.masks:VllmMask", "--enable-prefix-caching"),
    *("--logprobs-mode", "processed_logprobs", "--max-logprobs", "50", "--enforce-eager"),
)


@dataclass(frozen=True)
class Server:
    """A server of the default model; `pid` is its first process, None if it is not ours."""

    name: str
    url: str
    pid: int | None


@dataclass
class Tally:
    """The runs of one way, added up over rounds."""

    name: str
    documents: int
    seconds: float = 0.0
    processor: float | None = 0.0
    actions: int = 0
    server: Server | None = None


def write(policy: SessionPolicy, prompt: list[int], actions: int, number: int) -> int:
    """Continue a prompt; returns the number of actions."""
    canvas, history = seed(policy.vocabulary, prompt, max_length=policy.max_length)
    run = Rollout(policy, canvas, history, Sampler(seed=number), max_actions=actions)
    return sum(1 for _ in run)


@contextmanager
def served(rows: int) -> Iterator[Server]:
    """`reviser serve --http` with the default model."""
    command = [sys.executable, "-m", "reviser", "serve", "--http", "0", "--rows", str(rows)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+(?=/v1)", process.stderr.readline())
        if found is None:
            raise ReviserError("the server did not start")
        yield Server("`reviser serve --http`", found[0], process.pid)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def served_by_vllm(python: Path, rows: int) -> Iterator[Server]:
    """vLLM's own server with the default model, exported, and the mask; waits until it answers."""
    version = _version(python)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "my-reviser-hf")
        export = [str(python), "-m", "reviser", "models", "export", "default", model]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        command = [str(python), *VLLM, "--model", model, "--port", str(port)]
        command += ["--max-num-seqs", str(rows)]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": str(cores())} | os.environ,
            )
        url = f"http://127.0.0.1:{port}"
        try:
            while True:
                if process.poll() is not None:
                    said = (Path(folder) / "log").read_text(errors="replace").splitlines()
                    raise ReviserError(f"vLLM did not start: {said[-1] if said else 'no words'}")
                with suppress(ReviserError):
                    Client(url, timeout=5).get("/v1/models")
                    break
                time.sleep(1)
            yield Server(f"vLLM {version}", url, process.pid)
        finally:
            process.terminate()
            process.wait()


def _version(python: Path) -> str:
    asked = [str(python), "-c", "import vllm; print(vllm.__version__)"]
    told = subprocess.run(asked, check=False, capture_output=True, text=True)
    if told.returncode:
        said = told.stderr.splitlines()
        raise ReviserError(f"vLLM did not start: {said[-1] if said else 'no words'}")
    return told.stdout.split()[-1]


def processor_time(server: Server | None) -> float | None:
    """Seconds of processor time of this process and of all processes of a server; None where that cannot be known."""
    if server is None:
        return time.process_time()
    if server.pid is None:
        return None
    ticks, parents = {}, {}
    try:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                number = int(stat.parent.name)
                parents[number], ticks[number] = int(fields[1]), int(fields[11]) + int(fields[12])
        family = {server.pid}
        # A process may be listed before its parent.
        while more := {one for one, parent in parents.items() if parent in family} - family:
            family |= more
        used = sum(ticks[one] for one in family)
    except (OSError, KeyError):
        return None
    return used / os.sysconf("SC_CLK_TCK") + time.process_time()


def measure(servers: Sequence[Server], documents: Sequence[int], actions: int, rounds: int, base: int) -> list[Tally]:
    """Rounds of all ways in turn."""
    local = load_engine("default")
    remote = {server: load_engine(f"openai:{server.url}") for server in servers}
    prompts = _prompts(local, max(documents))
    tallies = [Tally("engine in this process", 1)]
    tallies += [Tally(server.name, count, server=server) for count in documents for server in servers]
    # The first requests find nothing kept, and threads that are still to start.
    for engine in (*remote.values(), local):
        write(engine.policy, prompts[0], 4, 0)
    for turn in range(rounds):
        for tally in tallies:
            first = base + 1000 * turn
            used, began = processor_time(tally.server), time.perf_counter()
            if tally.server is not None:
                policy = remote[tally.server].policy
                jobs = zip(prompts, range(first, first + tally.documents), strict=False)
                with ThreadPoolExecutor(tally.documents) as pool:
                    made = [pool.submit(write, copy.copy(policy), prompt, actions, number) for prompt, number in jobs]
                    tally.actions += sum(run.result() for run in made)
            else:
                for at in range(min(4, len(prompts))):
                    tally.actions += write(local.policy, prompts[at], actions, first + at)
            tally.seconds += time.perf_counter() - began
            now = processor_time(tally.server)
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
    url: Annotated[str | None, Option("a server that runs already, in place of our own")] = None
    vllm: Annotated[Path | None, Option("a Python with vLLM, which serves the model, too")] = None
    write: Annotated[Path | None, Option("also write a Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ServingOptions, run, arguments, prog="python -m benchmarks serving", about=(__doc__ or "").splitlines()[0]
    )


def run(chosen: ServingOptions) -> None:
    # Many documents that are opened at once wait for one another.
    os.environ.setdefault(TIMEOUT_VARIABLE, "600")
    load = os.getloadavg()[0]
    with ExitStack() as running:
        servers = [
            Server(f"server at {chosen.url}", chosen.url, None)
            if chosen.url
            else running.enter_context(served(chosen.rows))
        ]
        if chosen.vllm:
            servers.append(running.enter_context(served_by_vllm(chosen.vllm, chosen.rows)))
        found = table(measure(servers, chosen.documents, chosen.actions, chosen.rounds, chosen.seed))
    print(found.markdown())
    if chosen.write:
        head = provenance(
            f"python -m benchmarks serving {shlex.join(chosen.words)}".strip(),
            Seed=chosen.seed,
            Data="the built-in speeches: the first 48 tokens of each are the prompt",
            Load=f"{load:.1f} to {os.getloadavg()[0]:.1f} (other work on the same cores)",
        )
        about = f"{_ABOUT}\n\n{_ABOUT_VLLM}" if chosen.vllm else _ABOUT
        text = f"# Writing over HTTP\n\n{head}\n{about}\n\n{found.markdown()}"
        write_atomically(chosen.write, text.encode())


_ABOUT = (
    "The embedded model behind `reviser serve --http`, on the same machine as its clients. Each document has a client of its own, which "
    "asks once for each action and keeps canvas, mask and sampler to itself. Documents that wait at the same moment are read "
    "together. Actions per second are of all documents, by the clock, so other work on the machine counts; processor time "
    "(client and server) does not."
)
_ABOUT_VLLM = (
    f"vLLM serves the same model, exported, with the mask: `python {' '.join(VLLM)}`; nothing is compiled. It computes with the export's weights, numbers "
    "of 32 bits, and our server with the embedded ones of 4 bits. vLLM reads again what a "
    "history has since its last full block of 32 ids; our server keeps all that it has read."
)
