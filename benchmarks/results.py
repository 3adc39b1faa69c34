"""The head of every results file: the command, commit, date and hardware that a figure came from."""

from __future__ import annotations

import datetime
import platform
import subprocess
import sys
from pathlib import Path


def provenance(command: str, **facts: object) -> str:
    """A Markdown list of how a result was obtained."""
    rows = {
        "Command": f"`{command}`",
        "Date": datetime.date.today().isoformat(),
        "Commit": _commit(),
        "Hardware": hardware(),
        "Python": platform.python_version(),
        **facts,
    }
    return "".join(f"- {name}: {value}\n" for name, value in rows.items())


def hardware() -> str:
    """The processor, the number of cores and, where torch sees one, the GPU."""
    import os

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    described = f"{_processor()}, {cores} cores"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        described += f", {torch.cuda.get_device_name()}"
    return described


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
