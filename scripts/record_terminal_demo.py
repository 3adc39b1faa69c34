"""Records the terminal editor playing a published run, as an asciinema cast.

    python scripts/record_terminal_demo.py docs/terminal-editor.cast
    asciinema play docs/terminal-editor.cast

It runs the real editor in a terminal of its own and presses the keys below; no model is needed.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
TRAJECTORIES = ROOT / "examples" / "paper_trajectories.json"
WIDTH, HEIGHT = 78, 18

DOWN, LEFT, RIGHT, ENTER, ESCAPE = "\x1b[B", "\x1b[D", "\x1b[C", "\r", "\x1b"
F4, F7 = "\x1bOS", "\x1b[18~"
SLOWER = "\x1b[1;5B"
CTRL_K, CTRL_Q, CTRL_T, CTRL_Z = "\x0b", "\x11", "\x14", "\x1a"

# How long to wait, and then what to press.
SCRIPT: list[tuple[float, str]] = [
    (2.5, DOWN * 5),
    (1.0, ENTER),
    (0.2, SLOWER * 2),
    (4.5, F7),
    (1.0, F4),
    (1.5, ESCAPE),
    (0.5, F4),
    (0.5, CTRL_T),
    *[(0.15, LEFT)] * 8,
    *[(0.15, RIGHT)] * 4,
    (0.8, ENTER),
    (0.5, F7),
    (4.0, CTRL_K),
    (1.0, "My own words. "),
    (1.5, CTRL_Z * 3),
    (1.0, CTRL_Z),
    (1.5, CTRL_Q),
    (0.8, "d"),
]


def record(target: Path) -> int:
    """Run the editor and write what it drew; returns its exit status."""
    with tempfile.TemporaryDirectory() as home:
        child, terminal = pty.fork()
        if child == 0:
            os.environ |= {
                "REVISER_HOME": home,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
            }
            for name in ("COLUMNS", "LINES", "NO_COLOR"):
                os.environ.pop(name, None)
            command = [sys.executable, "-m", "reviser", "tui", "--play", str(TRAJECTORIES)]
            os.execv(sys.executable, command)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        events = _watch(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    header = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": "reviser tui"}
    lines = [json.dumps(header), *(json.dumps(event, ensure_ascii=False) for event in events)]
    target.write_text("\n".join(lines) + "\n", "utf-8")
    return status


def _watch(terminal: int) -> list[tuple[float, str, str]]:
    """Press the keys of the script in time and keep what comes back, until the editor ends."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    events: list[tuple[float, str, str]] = []
    started = time.monotonic()
    due, pending = started, list(SCRIPT)
    while True:
        while pending and time.monotonic() >= due + pending[0][0]:
            due += pending[0][0]
            os.write(terminal, pending.pop(0)[1].encode())
        if not select.select([terminal], [], [], 0.02)[0]:
            continue
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:
            return events
        if not data:
            return events
        text = decoder.decode(data)
        at = round(time.monotonic() - started, 3)
        if events and at - events[-1][0] < 0.02:
            events[-1] = (events[-1][0], "o", events[-1][2] + text)
        else:
            events.append((at, "o", text))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: record_terminal_demo.py OUT.cast")
    sys.exit(record(Path(sys.argv[1])))
