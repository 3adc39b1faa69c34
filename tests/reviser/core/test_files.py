"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import pty
import random
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reviser.core import files
from reviser.core.errors import FileChanged, ReviserError
from reviser.core.files import read_utf8, write_atomically, write_beside


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


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_device_without_an_end_is_not_read(tmp_path: Path) -> None:
    """A device is refused before anything is read; the null device, terminals and pipes have an end."""
    for endless in (Path("/dev/zero"), tmp_path / "link"):
        if endless.name == "link":
            endless.symlink_to("/dev/urandom")
        with pytest.raises(ReviserError, match=f"{endless} is a device, not a file"):
            read_utf8(endless)
    assert read_utf8(Path(os.devnull)) == ""
    terminal, device = pty.openpty()
    os.write(terminal, b"typed\n\x04")
    assert read_utf8(Path(os.ttyname(device))) == "typed\n"
    os.close(terminal)
    os.close(device)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"echo through > {pipe}"])
    assert read_utf8(pipe) == "through\n"
    writer.wait()


@pytest.mark.parametrize(("command", "given"), [("check", "/dev/zero"), ("continue", "-"), ("replay", "/dev/zero")])
def test_no_command_reads_a_device_without_an_end(command: str, given: str) -> None:
    with Path("/dev/zero").open("rb") as zero:
        done = subprocess.run(
            [sys.executable, "-m", "reviser", command, given],
            check=False,
            stdin=zero if given == "-" else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
        )
    name = "standard input" if given == "-" else given
    assert done.returncode == 2
    assert done.stderr.startswith(f"reviser: {name} is a device, not a file\n")


def test_killed_while_writing_it_leaves_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    sizes = (3_000_000, 2_000_000)
    script = f"""
from pathlib import Path
from reviser.core.files import write_atomically
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


def test_a_file_that_someone_else_wrote_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    write_atomically(path, b"new", replacing=b"old")
    assert path.read_bytes() == b"new"
    with pytest.raises(FileChanged, match="changed by someone else"):
        write_atomically(path, b"newer", replacing=b"old")
    assert path.read_bytes() == b"new"
    path.unlink()
    with pytest.raises(FileChanged, match="removed"):
        write_atomically(path, b"newer", replacing=b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="files cannot be exchanged in one step here")
def test_what_is_written_in_the_last_moment_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    exchange = files._exchange
    theirs = [b"theirs, before", b"theirs, between"]

    def after_theirs(one: Path, other: Path) -> bool:
        """Somebody replaces the file right before the exchange, and again before it is undone."""
        if theirs:
            (tmp_path / "their file").write_bytes(theirs.pop(0))
            (tmp_path / "their file").replace(path)
        return exchange(one, other)

    monkeypatch.setattr(files, "_exchange", after_theirs)
    with pytest.raises(FileChanged):
        write_atomically(path, b"new", replacing=b"old")
    assert path.read_bytes() == b"theirs, between"
    theirs[:] = [b"theirs alone"]
    with pytest.raises(FileChanged):
        write_atomically(path, b"new", replacing=b"theirs, between")
    assert path.read_bytes() == b"theirs alone"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.txt", 40
    path.write_bytes(b"")
    script = f"""
import sys
from pathlib import Path
from reviser.core.errors import FileChanged
from reviser.core.files import write_atomically
path = Path({str(path)!r})
for number in range({lines}):
    while True:
        known = path.read_bytes()
        try:
            write_atomically(path, known + f"{{sys.argv[1]}} {{number}}\\n".encode(), replacing=known)
            break
        except FileChanged:
            pass
"""
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    written = path.read_text().splitlines()
    for name in "ab":
        mine = [line for line in written if line.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(lines)]
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    other = tmp_path / ".reviser-notes.tmp"
    other.write_bytes(b"of someone else")
    script = f"""
import os, signal
from pathlib import Path
from reviser.core.files import write_atomically
def wait(handle):
    print("writing", flush=True)
    signal.pause()
os.fsync = wait
write_atomically(Path({str(path)!r}), b"never")
"""
    writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    (left,) = set(tmp_path.iterdir()) - {other}
    write_atomically(path, b"one")
    assert left.exists()  # its writer lives
    writer.kill()
    writer.communicate()
    assert left.exists()
    write_atomically(path, b"two")
    assert set(tmp_path.iterdir()) == {path, other}


def test_what_is_put_beside_a_file_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    path.chmod(0o600)
    (tmp_path / "a.reviser.txt").write_bytes(b"from before")
    beside = write_beside(path, b"new")
    assert beside == tmp_path / "a.reviser-2.txt"
    assert beside.read_bytes() == b"new"
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_a_device_or_a_pipe_is_written_to(tmp_path: Path) -> None:
    # A terminal is a device that no mistake here could replace, unlike /dev/null.
    terminal, device = pty.openpty()
    write_atomically(Path(os.ttyname(device)), b"to the device")
    assert os.read(terminal, 100) == b"to the device"
    os.close(terminal)
    os.close(device)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    write_atomically(pipe, b"through")
    assert reader.communicate()[0] == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
