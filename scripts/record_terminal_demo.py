"""Records the terminal editor at work with the embedded model, as an asciinema cast.

    python scripts/record_terminal_demo.py docs/terminal-editor.cast
    asciinema play docs/terminal-editor.cast

It runs the real editor in a terminal of its own, on a copy of `examples/draft.txt`, and presses the keys below.
The model chooses with the seed below, and is slowed down so that one can watch it.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import select
import shutil
import struct
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DRAFT = ROOT / "examples" / "draft.txt"
WIDTH, HEIGHT = 78, 18
SETTINGS = "seed = 7\nspeed = 12\n"

LEFT, RIGHT, END, ENTER, ESCAPE = "\x1b[D", "\x1b[C", "\x1b[1;5F", "\r", "\x1b"
F4, F5, F7, F9 = "\x1bOS", "\x1b[15~", "\x1b[18~", "\x1b[20~"
CTRL_K, CTRL_Q, CTRL_T, CTRL_Z = "\x0b", "\x11", "\x14", "\x1a"


@dataclass(frozen=True)
class Press:
    """Keys to press, a number of seconds after the last ones, but not before a text has appeared on the screen."""

    after: float
    keys: str
    seen: str = ""


SCRIPT = [
    Press(1.5, END, seen="1:1"),
    Press(1.0, F5),
    Press(9.0, F7, seen="writing"),
    Press(1.0, F4),
    Press(2.0, ESCAPE),
    Press(0.5, F4),
    Press(0.5, CTRL_T),
    *[Press(0.15, LEFT)] * 12,
    *[Press(0.15, RIGHT)] * 4,
    Press(0.8, ENTER),
    Press(0.8, F9),
    Press(5.0, F7, seen="writing"),
    Press(1.0, CTRL_K),
    *[Press(0.08, letter) for letter in "My own words. "],
    Press(1.5, CTRL_Z * 3),
    Press(1.0, CTRL_Z),
    Press(1.5, CTRL_Q),
]


def record(target: Path) -> int:
    """Run the editor and write what it drew; returns its exit status."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "tui.toml").write_text(SETTINGS, "utf-8")
        shutil.copy(DRAFT, home)
        child, terminal = pty.fork()
        if child == 0:
            _edit(Path(home))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        events = _watch(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    header = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": "reviser tui"}
    lines = [json.dumps(header), *(json.dumps(event, ensure_ascii=False) for event in events)]
    target.write_text("\n".join(lines) + "\n", "utf-8")
    return status


def _edit(home: Path) -> None:
    """Replace this process by the editor."""
    os.chdir(home)
    os.environ |= {
        "REVISER_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        os.environ.pop(name, None)
    os.execv(sys.executable, [sys.executable, "-m", "reviser", "tui", DRAFT.name])


def _watch(terminal: int) -> list[tuple[float, str, str]]:
    """Press the scripted keys in time and return the output, until the editor ends."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    events: list[tuple[float, str, str]] = []
    started = due = time.monotonic()
    pending, drawn = list(SCRIPT), ""
    while True:
        if pending and pending[0].seen not in drawn:
            due = time.monotonic()
        while pending and pending[0].seen in drawn and time.monotonic() >= due + pending[0].after:
            press = pending.pop(0)
            due, drawn = due + press.after, ""
            os.write(terminal, press.keys.encode())
        if not select.select([terminal], [], [], 0.02)[0]:
            continue
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:
            return events
        if not data:
            return events
        text = decoder.decode(data)
        drawn += text
        if not events:
            started = time.monotonic()
        at = round(time.monotonic() - started, 3)
        if events and at - events[-1][0] < 0.02:
            events[-1] = (events[-1][0], "o", events[-1][2] + text)
        else:
            events.append((at, "o", text))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: record_terminal_demo.py OUT.cast")
    sys.exit(record(Path(sys.argv[1])))
