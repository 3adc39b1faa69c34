"""The provenance at the head of every results file: command, commit, date and hardware."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

from reviser.core.files import write_atomically


def provenance(command: str, **facts: object) -> str:
    """A Markdown list of how a result was obtained."""
    rows = {"Command": f"`{command}`", **surroundings(), **facts}
    return "".join(f"- {name}: {value}\n" for name, value in rows.items())


def write_page(path: Path, title: str, command: str, text: str, **facts: object) -> None:
    """Writes a results file atomically: title, provenance and text."""
    write_atomically(path, f"# {title}\n\n{provenance(command, **facts)}\n{text}".encode())


def surroundings() -> dict[str, str]:
    """The date, commit, hardware and versions of a measurement."""
    return {
        "Date": datetime.date.today().isoformat(),
        "Commit": _commit(),
        "Hardware": hardware(),
        "Python": platform.python_version(),
    }


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> str:
    """The machine's load in the last minute, for figures that depend on it."""
    return f"{os.getloadavg()[0]:.1f} processes on average in the last minute, this one included"


def hardware() -> str:
    """The processor, the number of cores and, where torch sees one, the GPU."""
    described = f"{_processor()}, {cores()} cores"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        described += f", {torch.cuda.get_device_name()}"
    return described


def _processor() -> str:
    for line in _output("lscpu").splitlines():
        if line.startswith("Model name"):
            return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.processor() or platform.machine()


def _commit() -> str:
    """The commit of the checkout, or the one that `git archive` wrote into its copy of this folder."""
    here = Path(__file__).parent
    described = _output("git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12")
    archived = (here / "COMMIT").read_text("utf-8")
    return described.strip() or ("unknown" if archived.startswith("$") else archived[:12])


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
