"""Processor time and memory of a server and the processes it started, read from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable
from pathlib import Path


async def cpu_while(doing: Awaitable[object], process: int) -> float:
    """The processor time that a server and its engine use meanwhile."""
    used = cpu_seconds(process)
    await doing
    return cpu_seconds(process) - used


def family(process: int) -> list[int]:
    """A process and those it started."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += family(int(child))
    return found


def cpu_seconds(process: int) -> float:
    """The processor time of a server and its engine, in ticks of usually a hundredth of a second."""
    ticks = 0
    for one in family(process):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def cpu_seconds_of_others(process: int) -> float:
    """The processor time of all that is neither the server, its engine, nor this editor."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq")
    counted = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = dict(zip(names, map(int, counted), strict=False))
    busy = sum(ticks.values()) - ticks["idle"] - ticks["iowait"]
    return busy / os.sysconf("SC_CLK_TCK") - cpu_seconds(process) - time.process_time()


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
