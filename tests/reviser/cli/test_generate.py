"""`reviser continue` and `reviser infill`, run as a user runs them, on a tiny random model."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import save
from reviser.cli.commands.generate import offset_of
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation
from tests.commands import reviser_bytes
from tests.lsp_server.models import save_tiny_model

TEXT = "The cat sat on the mat.\nIt was a quiet"


def save_tiny(folder: Path, quantisation: Quantisation | None) -> Path:
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    torch.manual_seed(0)
    tiny = Reviser(preset("tiny", vocab_size=vocabulary.size, context=256, canvas_length=256))
    return save(folder / "tiny", tiny, vocabulary, "gpt2", quantisation=quantisation)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantised, as the bundled model is: commands start without torch, in a quarter of the time."""
    return save_tiny(tmp_path_factory.mktemp("models"), Quantisation(8))


@pytest.fixture(scope="session")
def full_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its full weights, which torch reads."""
    return save_tiny(tmp_path_factory.mktemp("models"), None)


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.txt"
    path.write_text(TEXT)
    return path


def command(name: str, model: Path, *arguments: str | Path) -> list[str]:
    options = ["--model", str(model), "--seed", "7", "--max-actions", "20"]
    return [sys.executable, "-m", "reviser", name, *map(str, arguments), *options]


def run(
    name: str, model: Path, *arguments: str | Path, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    return reviser_bytes(*command(name, model, *arguments)[3:], stdin=stdin)


def complains(result: subprocess.CompletedProcess[bytes], about: str) -> None:
    message = result.stderr.decode()
    assert result.returncode == 2, message
    assert message.startswith("reviser: ")
    assert message.count("\n") == 1
    assert about in message


def test_into_a_pipe_goes_the_text_and_the_file_stays(model: Path, draft: Path) -> None:
    result = run("continue", model, draft)
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().startswith(TEXT)
    assert len(result.stdout) > len(TEXT) + 1
    assert draft.read_text() == TEXT
    assert run("continue", model, draft).stdout == result.stdout
    assert run("continue", model, "-", stdin=TEXT.encode()).stdout == result.stdout


@pytest.mark.slow
def test_full_weights_write_as_well(full_model: Path, draft: Path) -> None:
    result = run("continue", full_model, draft)
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().startswith(TEXT)
    assert len(result.stdout) > len(TEXT) + 1
    assert run("continue", full_model, "-", stdin=TEXT.encode()).stdout == result.stdout


def test_json_diff_output_and_trajectory_tell_the_same(model: Path, draft: Path) -> None:
    recorded, out = draft.with_name("run.json"), draft.with_name("out.txt")
    told = json.loads(run("continue", model, draft, "--json").stdout)
    run("continue", model, draft, "--output", out, "--trajectory", recorded)
    diff = run("continue", model, draft, "--diff").stdout.decode()
    assert told["text"] == TEXT + told["written"] == out.read_text()
    assert told["seed"] == 7
    assert told["ending"] in ("stop", "limit")
    assert 0 <= told["moves"] <= told["actions"] <= 20
    (trajectory,) = json.loads(recorded.read_text())
    assert trajectory["final_text"] == told["text"]
    assert (trajectory["model"], trajectory["seed"]) == ("tiny", 7)
    assert reviser_bytes("replay", recorded).stdout.decode() == told["text"] + "\n"
    assert diff.startswith("--- a/draft.txt\n+++ b/draft.txt\n")


def test_several_runs_differ_and_repeat(model: Path, draft: Path) -> None:
    several = json.loads(run("continue", model, draft, "--json", "-n", "3").stdout)
    assert [entry["seed"] for entry in several] == [7, 8, 9]
    assert len({entry["text"] for entry in several}) == 3
    assert several[0]["text"] == json.loads(run("continue", model, draft, "--json").stdout)["text"]


def test_how_freely_to_choose_where_to_go_is_an_option(model: Path, draft: Path) -> None:
    usual, same = (
        json.loads(run("continue", model, draft, "--json", *given).stdout)["text"]
        for given in ((), ("--move-temperature", "0.35"))
    )
    assert usual == same
    complains(run("continue", model, draft, "--move-temperature", "0"), "above 0")


def test_steps_back_can_be_checked(tmp_path: Path, draft: Path) -> None:
    moving = save_tiny_model(tmp_path / "moving", quantisation=Quantisation(8))
    given = ("--json", "-n", "8", "--temperature", "2", "--move-temperature", "2")
    checked, again, unchecked = (
        json.loads(run("continue", moving, draft, *given, *option).stdout)
        for option in ([], ["--check-steps-back"], ["--no-check-steps-back"])
    )
    assert [one["text"] for one in checked] == [one["text"] for one in again]
    assert all(one["text"].startswith(TEXT) for one in checked)
    assert [one["text"] for one in checked] != [one["text"] for one in unchecked]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_in_place_keeps_mode_encoding_line_endings_and_final_newline(encoding: str, model: Path, draft: Path) -> None:
    draft.write_bytes("Grüße\r\naus 漢字\r\n".encode(encoding))
    draft.chmod(0o600)
    result = run("continue", model, draft, "--in-place")
    assert (result.returncode, result.stdout) == (0, b"")
    text = draft.read_bytes().decode(encoding)
    assert text.startswith("Grüße\r\naus 漢字")
    assert text.endswith("\r\n")
    assert len(text) > len("Grüße\r\naus 漢字\r\n")
    assert text.count("\n") == text.count("\r\n")
    assert draft.stat().st_mode & 0o777 == 0o600
    assert list(draft.parent.iterdir()) == [draft]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_is_printed_is_what_the_file_would_hold(encoding: str, model: Path, draft: Path) -> None:
    content = "Grüße\r\naus 漢字\r\n".encode(encoding)
    draft.write_bytes(content)
    out = draft.with_name("out.txt")
    run("continue", model, draft, "-o", out)
    printed = run("continue", model, draft, "-o", "-").stdout
    assert printed == out.read_bytes() != content
    assert run("continue", model, draft).stdout == printed
    assert run("continue", model, "-", stdin=content).stdout == printed
    several = run("continue", model, draft, "-n", "2").stdout.decode(encoding)
    assert several.startswith("== 1\r\nGrüße\r\n")
    assert several.count("\n") == several.count("\r\n")


def test_a_device_takes_the_result(model: Path, draft: Path) -> None:
    # A terminal is a device that no mistake here could replace, unlike /dev/null.
    terminal, device = pty.openpty()
    result = run("continue", model, draft, "-o", os.ttyname(device))
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    assert os.read(terminal, 65536).startswith(b"The cat sat on the mat.")
    os.close(terminal)
    os.close(device)


@pytest.mark.skipif(not shutil.which("patch"), reason="the patch command is not installed")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_diff_fits_the_line_endings_of_the_file(encoding: str, model: Path, draft: Path) -> None:
    draft.write_bytes("Grüße\r\naus 漢字\r\n".encode(encoding))
    diff = run("continue", model, draft, "--diff").stdout
    out = draft.with_name("out.txt")
    run("continue", model, draft, "-o", out)
    command = ["patch", "-sp1", "--binary"]
    subprocess.run(command, input=diff, cwd=draft.parent, check=True)
    assert draft.read_bytes() == out.read_bytes()


# A file that changes during the run ---------------------------------------------------------------


class Gate:
    """A full pipe for --trajectory, where a run has to wait: it has read its file, and not yet written it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gate"
        os.mkfifo(self.path)
        self._handle = os.open(self.path, os.O_RDWR)
        os.write(self._handle, b"x" * fcntl.fcntl(self._handle, fcntl.F_GETPIPE_SZ))

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        opened = Path(f"/proc/{process.pid}/fd")
        while not any(map(self._is_it, opened.iterdir())):
            assert process.poll() is None
            time.sleep(0.01)

    def _is_it(self, file: Path) -> bool:
        try:
            return file.samefile(self.path)
        except FileNotFoundError:
            # Closed since it was listed, or no file with a name.
            return False

    def open(self) -> None:
        """Let the run go on."""
        with subprocess.Popen(["cat", self.path], stdout=subprocess.PIPE) as reader:
            assert reader.stdout is not None
            reader.stdout.read(1)
            os.close(self._handle)
            reader.stdout.read()


CHANGED_DURING = {
    "continue": ("continue", "--in-place"),
    "infill": ("infill", "--at", "1:8", "--in-place"),
    "output": ("continue", "--output"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("way", CHANGED_DURING.values(), ids=CHANGED_DURING.keys())
def test_what_was_written_during_the_run_is_not_overwritten(way: tuple[str, ...], model: Path, draft: Path) -> None:
    name, *options = way
    if name == "continue" and options == ["--output"]:
        options = ["--output", str(draft)]
    gate = Gate(draft.parent)
    words = command(name, model, draft, *options, "--trajectory", gate.path)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gate.wait_for(process)
    draft.write_text("Someone else was here.")
    gate.open()
    out, said = process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert draft.read_text() == "Someone else was here."
    kept = draft.with_name("draft.reviser.txt")
    assert said.decode() == (
        f"reviser: {draft} was changed by someone else meanwhile; it stays as it is, and the result is in {kept}\n"
    )
    plain = command(name, model, "-", *(() if name == "continue" else ("--at", "1:8")))
    printed = reviser_bytes(*plain[3:], stdin=TEXT.encode()).stdout
    assert kept.read_bytes() == printed
    assert set(draft.parent.iterdir()) == {draft, kept, gate.path}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_watched_file_that_changes_during_the_run_is_read_again(model: Path, draft: Path) -> None:
    gate = Gate(draft.parent)
    words = command("continue", model, draft, "--in-place", "--trajectory", gate.path)
    process = subprocess.Popen([*words, "--watch"], stderr=subprocess.PIPE)
    gate.wait_for(process)
    draft.write_text("Someone else was here")
    gate.open()
    assert process.stderr is not None
    assert b"it is read again" in process.stderr.readline()
    subprocess.run(["cat", gate.path], check=True, stdout=subprocess.DEVNULL)
    while draft.read_text() == "Someone else was here":
        assert process.poll() is None
        time.sleep(0.01)
    assert draft.read_text().startswith("Someone else was here")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert set(draft.parent.iterdir()) == {draft, gate.path}


def test_other_names_of_a_file_are_mentioned(model: Path, draft: Path) -> None:
    other = draft.with_name("other.txt")
    other.hardlink_to(draft)
    result = run("continue", model, draft, "--in-place")
    assert result.returncode == 0
    assert result.stderr.decode() == (
        f"reviser: {draft} was replaced; its other names (hard links) keep the old text\n"
    )
    assert other.read_text() == TEXT != draft.read_text()


def test_infill_writes_at_a_place_and_nowhere_else(model: Path, draft: Path) -> None:
    told = json.loads(run("infill", model, draft, "--at", "1:8", "--json").stdout)
    assert told["text"] == TEXT[:7] + told["written"] + TEXT[7:]
    assert told["written"]
    replaced = json.loads(run("infill", model, draft, "--at", "1:5", "--to", "1:8", "--json").stdout)
    assert replaced["text"].startswith("The ")
    assert replaced["text"].endswith(TEXT[7:])
    assert "cat sat" not in replaced["text"]


@pytest.mark.parametrize(("place", "offset"), [("1:1", 0), ("1:4", 3), ("2:1", 4), ("2:3", 6), ("3:1", 7)])
def test_places_count_lines_and_columns_from_one(place: str, offset: int) -> None:
    assert offset_of("abc\nde\n", place) == offset


@pytest.mark.parametrize("place", ["", "3", "0:1", "1:0", "1:5", "4:1", "a:b"])
def test_places_that_are_not_there_are_refused(place: str) -> None:
    with pytest.raises(ReviserError):
        offset_of("abc\nde\n", place)


def test_a_file_keeps_its_encoding(model: Path, draft: Path) -> None:
    text = "Zoë’s café:\r\n" + TEXT.replace("\n", "\r\n")
    draft.write_bytes(text.encode("cp1252"))
    for name, options in (("continue", ()), ("infill", ("--at", "2:1"))):
        assert run(name, model, draft, "--in-place", *options).returncode == 0
        assert draft.read_bytes().startswith("Zoë’s café:\r\n".encode("cp1252"))
        assert len(draft.read_bytes()) > len(text)
    draft.write_bytes("Привет".encode("cp1251"))
    written = run("continue", model, draft, "--encoding", "cp1251")
    assert written.stdout.startswith("Привет".encode("cp1251")), written.stderr


def test_bad_input_gets_a_plain_sentence_and_loses_nothing(model: Path, tmp_path: Path) -> None:
    contents = {
        "empty.txt": (b"", "empty"),
        "blank.txt": (b" \n\n", "empty"),
        "binary.bin": (bytes(range(256)), "binary"),
        "latin.txt": ("Добрый день".encode("cp1251"), "UTF-8"),
    }
    for name, (content, complaint) in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        complains(run("continue", model, path, "--in-place"), complaint)
        assert path.read_bytes() == content
    complains(run("continue", model, tmp_path / "missing.txt"), "no file")
    complains(run("continue", model, tmp_path), "directory")
    fixed = tmp_path / "fixed.txt"
    fixed.write_text(TEXT)
    fixed.chmod(0o444)
    complains(run("continue", model, fixed, "--in-place"), "read-only")
    complains(run("continue", model, fixed, "--output", fixed), "read-only")
    complains(run("continue", model, fixed, "--json", "--diff"), "choose one")
    complains(run("continue", model, "-", "--in-place", stdin=b"x"), "standard input")
    complains(run("continue", tmp_path / "no-such-model", fixed), "no-such-model")
    complains(run("infill", model, fixed, "--at", "9:9"), "no line 9")
    complains(run("infill", model, fixed, "--at", "2:3", "--to", "1:2"), "--to 1:2 lies before")
    complains(run("continue", model, "-", stdin=b" "), "standard input is empty")
    complains(run("continue", model, "-", stdin=b"\xff"), "standard input is not valid UTF-8")
    complains(run("continue", model, fixed, "-o", tmp_path / "none" / "out"), "no folder")
    for option in ("--temperature", "--move-temperature"):
        for number in ("inf", "nan"):
            complains(run("continue", model, fixed, option, number), "")
    assert fixed.read_text() == TEXT


def test_a_large_file_is_continued_at_its_end(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    line = "The cat sat on the mat, and nobody knew why it did.\n"
    last = "In the evening it slept.\n"
    path.write_text(line * (100_000_000 // len(line)) + last)
    size = path.stat().st_size
    result = run("continue", model, path, "--in-place")
    assert result.returncode == 0, result.stderr
    with path.open("rb") as file:
        assert file.read(len(line)) == line.encode()
        file.seek(size - len(last))
        assert file.read().startswith(last.encode().removesuffix(b"\n"))
    assert size < path.stat().st_size < size + 1000


def test_a_full_disk_leaves_the_file_as_it_was(model: Path, draft: Path) -> None:
    """A file-size limit stands in for a full disk: the write fails half-way."""
    draft.write_text(TEXT * 200)
    shell = "ulimit -f 4; trap '' XFSZ; exec \"$@\""
    result = subprocess.run(
        ["bash", "-c", shell, "bash", *command("continue", model, draft, "--in-place")],
        capture_output=True,
        check=False,
    )
    complains(result, "cannot be written")
    assert draft.read_text() == TEXT * 200
    assert list(draft.parent.iterdir()) == [draft]


def test_killed_at_any_moment_it_leaves_the_old_file_or_the_new_one(model: Path, draft: Path) -> None:
    started = time.monotonic()
    # A fresh interpreter, as below: what is timed is what is killed.
    subprocess.run(command("continue", model, draft, "--in-place"), check=True)
    whole = time.monotonic() - started
    new = draft.read_text()
    assert new != TEXT
    chooser = random.Random(0)
    for _ in range(6):
        draft.write_text(TEXT)
        process = subprocess.Popen(command("continue", model, draft, "--in-place"))
        time.sleep(chooser.uniform(0.5, 1.1) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert draft.read_text() in (TEXT, new)


def test_in_a_terminal_the_cursor_writes(model: Path, draft: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "70", "LINES": "20"}
        os.execv(sys.executable, command("continue", model, draft))
    screen = b""
    while True:
        try:
            screen += os.read(terminal, 65536)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    shown = screen.decode(errors="replace")
    assert "\x1b[7m" in shown  # a reversed cell: the cursor
    assert "Insert" in shown
    assert shown.rstrip().rpartition("It was a quiet")[2]


def test_watching_runs_again_when_the_file_changes(model: Path, draft: Path) -> None:
    process = subprocess.Popen([*command("continue", model, draft), "--watch"], stdout=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    assert read_until(process.stdout.fileno(), b"quiet")
    draft.write_text("Another day")
    assert read_until(process.stdout.fileno(), b"Another day")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130


def read_until(descriptor: int, wanted: bytes) -> bool:
    seen = b""
    while wanted not in seen:
        data = os.read(descriptor, 65536)
        if not data:
            return False
        seen += data
    return True


def test_a_finished_text_gets_nothing_more_and_the_user_is_told(model: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Hi Anna,\n\nthe photos are lovely. See you on Sunday!\n\nBest,\nTom\n")
    said = f"{letter}: nothing to add\n"
    for text in (letter.read_text(), "Buy milk.\nBuy milk.\nBuy milk.\n"):
        letter.write_text(text)
        printed = run("continue", model, letter)
        assert (printed.returncode, printed.stdout.decode(), printed.stderr.decode()) == (0, text, said)
    summary = run("continue", model, letter, "--json")
    assert (json.loads(summary.stdout)["written"], summary.stderr.decode()) == ("", said)
    piped = run("continue", model, "-", stdin=letter.read_bytes())
    assert piped.stderr.decode() == "standard input: nothing to add\n"
    assert run("continue", model, letter, "-i").stderr.decode() == said
    assert letter.read_text() == text
    letter.write_text(TEXT)
    assert b"nothing to add" not in run("continue", model, letter).stderr
