"""The correction of files of plain sentences, one per line, by several processes.

python -m benchmarks lines bea-dev.txt jfleg-test.txt --correctors reviser,reviser@0.25 --out lines

`--plain-sources` of the benchmark writes such files. The correction of SET.txt is OUT/CORRECTOR/SET.txt, which the
benchmark scores as `file:CORRECTOR=OUT/CORRECTOR`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

from benchmarks.proofreading.correctors import check_name, corrector, shown_name
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically

_AT_ONCE = 64
"""Sentences that a process is given at a time."""


@dataclass(frozen=True, kw_only=True)
class LinesOptions:
    """Options of the command: files, programs and output folder."""

    files: Annotated[tuple[Path, ...], Argument("sentences, one on each line", metavar="FILE")] = ()
    correctors: Annotated[str, Option("with commas between", metavar="NAMES")] = "reviser"
    out: Annotated[Path, Option("folder for the lines", metavar="DIR")] = Path("lines")
    processes: Annotated[int, Option("at once, each with one thread")] = os.cpu_count() or 1


def run(options: LinesOptions) -> None:
    """Corrects the files according to the options."""
    if not options.files:
        raise ReviserError("name at least one file of sentences")
    if options.processes < 1:
        raise ReviserError("--processes must be at least 1")
    names = options.correctors.split(",")
    for name in names:
        check_name(name)
    # Read by every process before its model is loaded.
    os.environ["REVISER_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for name in names:
            for file in options.files:
                began = time.monotonic()
                given = read_utf8(file).splitlines()
                parts = [given[at : at + _AT_ONCE] for at in range(0, len(given), _AT_ONCE)]
                made = pool.map(_corrected, [name] * len(parts), [file.stem] * len(parts), parts)
                lines = list(chain.from_iterable(made))
                target = options.out / shown_name(name) / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(target, "".join(f"{line}\n" for line in lines).encode())
                seconds = time.monotonic() - began
                print(f"{target}: {counted(len(lines), 'line')} in {seconds:.0f} s", file=sys.stderr)


def _corrected(name: str, set_name: str, lines: Sequence[str]) -> list[str]:
    return corrector(name, set_name).correct(list(lines))
