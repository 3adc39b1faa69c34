"""What the system says about processes: their children, their life, the time they used."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def children(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end in between.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(child) for child in (thread / "children").read_text().split()]
    return [child for child in found if lives(child)]


def lives(pid: int) -> bool:
    """Whether a process runs; one that only waits to be counted does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def cpu_seconds(pid: int, wait: float = 0.0) -> float:
    time.sleep(wait)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
