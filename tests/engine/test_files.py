"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reviser.errors import ReviserError
from reviser.files import read_utf8, write_atomically


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    path, usual = tmp_path / "new.txt", tmp_path / "usual.txt"
    write_atomically(path, b"x")
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReviserError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_reading_says_plainly_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    for name, complaint in {"missing": "no file", ".": "directory", "binary": "UTF-8"}.items():
        with pytest.raises(ReviserError, match=complaint):
            read_utf8(tmp_path / name)


def test_killed_while_writing_it_leaves_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    sizes = (3_000_000, 2_000_000)
    script = f"""
from pathlib import Path
from reviser.files import write_atomically
while True:
    for letter, size in zip((b"a", b"b"), {sizes}):
        write_atomically(Path({str(path)!r}), letter * size)
"""
    chooser = random.Random(0)
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", script])
        while not path.exists():
            time.sleep(0.01)
        time.sleep(chooser.uniform(0.1, 0.4))
        process.kill()
        process.wait()
        assert path.read_bytes() in (b"a" * sizes[0], b"b" * sizes[1])
