"""`reviser revise`, run as a user runs it, on a tiny model that was taught what to correct in these documents."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import save
from reviser.cli.commands.revise import ChangeReview, range_in
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation
from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.project.ignoring import IgnoredPlace, ignore
from reviser.proofreading.request import kinds_in
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format
from tests.commands import reviser
from tests.reviser.cli.test_replay import complains
from tests.reviser.proofreading.scripted import Known
from tests.reviser.proofreading.taught import taught_model

TEXT = "The cat sat on teh mat.\n\nIt were happy.\nThe end.\n"
GUIDE = """\
---
title: teh guide
---

# Getting started

I recieve `teh` mail
every day.

It is a
old house.

- teh cat
"""
KNOWN: Known = {
    "teh mat": ("the mat", 0.9),
    "teh cat": ("the cat", 0.9),
    "were": ("was", 0.9),
    "recieve": ("receive", 0.9),
    "is a old": ("is an old", 0.9),
}
RIGHT = "The cat sat on the mat.\n\nIt was happy.\nThe end.\n"
RIGHT_GUIDE = GUIDE.replace("recieve", "receive").replace("is a\n", "is an\n")
RIGHT_GUIDE = RIGHT_GUIDE.replace("- teh cat", "- the cat")


def model_of_these(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model that was taught these documents, made once in a process."""
    folder = tmp_path_factory.getbasetemp() / "taught"
    return folder if folder.is_dir() else taught_model(folder, KNOWN, {"note.txt": TEXT, "guide.md": GUIDE})


def tiny_model(folder: Path, kinds: frozenset[str], seed: int = 0, quantisation: Quantisation | None = None) -> Path:
    vocabulary = Vocabulary.gpt2(kinds=kinds)
    torch.manual_seed(seed)
    tiny = Reviser(preset("tiny", vocab_size=vocabulary.size, context=256, canvas_length=256))
    return save(folder, tiny, vocabulary, "gpt2", quantisation=quantisation)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_of_these(tmp_path_factory)


@pytest.fixture(autouse=True)
def _no_words_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "reviser-home"))


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_text(GUIDE)
    return path


def revise(model: Path, *words: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return reviser("revise", *words, "--model", model, stdin=stdin)


def changes(result: subprocess.CompletedProcess[str]) -> list[tuple[int, int, str, str, str]]:
    assert result.returncode == 0, result.stderr
    keys = ("line", "column", "old", "new", "kind")
    return [tuple(one[key] for key in keys) for one in json.loads(result.stdout)["changes"]]


def test_the_diff_makes_what_in_place_makes(model: Path, guide: Path, tmp_path: Path) -> None:
    diff = revise(model, guide)
    assert diff.returncode == 0, diff.stderr
    assert diff.stdout.startswith("--- a/guide.md\n+++ b/guide.md\n@@")
    assert guide.read_text() == GUIDE
    done = revise(model, guide, "--in-place")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{guide}: 3 changes made\n")
    assert guide.read_text() == RIGHT_GUIDE
    if patch := shutil.which("patch"):
        guide.write_text(GUIDE)
        subprocess.run([patch, "-sp1"], input=diff.stdout, text=True, cwd=tmp_path, check=True)
        assert guide.read_text() == RIGHT_GUIDE


def test_each_change_in_json(model: Path, guide: Path) -> None:
    result = revise(model, guide, "--json")
    assert changes(result) == [
        (7, 3, "recieve", "receive", "spelling"),
        (10, 7, "a", "an", "article"),
        (13, 3, "teh", "the", "spelling"),
    ]
    told = json.loads(result.stdout)
    assert (told["file"], told["format"], told["text"]) == (str(guide), "markdown", RIGHT_GUIDE)
    text = GUIDE
    for one in reversed(told["changes"]):
        assert text[one["offset"] :].startswith(one["old"])
        text = text[: one["offset"]] + one["new"] + text[one["offset"] + len(one["old"]) :]
        assert 0.5 <= one["confidence"] <= 1
    assert text == RIGHT_GUIDE
    assert guide.read_text() == GUIDE


def test_the_same_through_a_pipe(model: Path, note: Path, guide: Path) -> None:
    for path, options in ((note, []), (guide, ["--format", "md"])):
        file = revise(model, path, "-o", "-")
        pipe = revise(model, "-", *options, "-o", "-", stdin=path.read_text())
        assert file.stdout == pipe.stdout != path.read_text()
    assert revise(model, "-", stdin=TEXT).stdout.startswith("--- a/stdin\n")


def test_kinds_can_be_chosen(model: Path, guide: Path) -> None:
    spelling = changes(revise(model, guide, "--json", "--only", "spelling"))
    assert [one[2] for one in spelling] == ["recieve", "teh"]
    others = changes(revise(model, guide, "--json", "--except", "spelling,verb-form"))
    assert [one[2] for one in others] == ["a"]
    assert kinds_in("verb form, joined-or_split words") == {Kind.VERB_FORM, Kind.JOINED_OR_SPLIT}
    complains(revise(model, guide, "--only", "grammar"), "no kind of change grammar; there are spelling")


def test_words_that_stay(model: Path, guide: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("recieve\n")
    assert [one[2] for one in changes(revise(model, guide, "--json", "--ignore", own))] == ["a", "teh"]
    (tmp_path / ".reviser").mkdir()
    (tmp_path / ".reviser" / "words.txt").write_text("# of this project\nTeh\nteh\n")
    assert [one[2] for one in changes(revise(model, guide, "--json", "--ignore", own))] == ["a"]
    assert [one[2] for one in changes(revise(model, guide, "--json"))] == ["recieve", "a"]
    (tmp_path / "reviser-home").mkdir()
    (tmp_path / "reviser-home" / "words.txt").write_text("a old\n")
    assert [one[2] for one in changes(revise(model, guide, "--json"))] == ["recieve"]
    complains(revise(model, guide, "--ignore", tmp_path / "none"), "no file")


def test_a_range(model: Path, note: Path) -> None:
    assert [one[0] for one in changes(revise(model, note, "--json", "--range", "3-4"))] == [3]
    assert [one[0] for one in changes(revise(model, note, "--json", "--range", "1:16-1:19"))] == [1]
    assert changes(revise(model, note, "--json", "--range", "1:1-1:10")) == []


def test_the_dial(model: Path, note: Path) -> None:
    assert changes(revise(model, note, "--json", "--confidence", "1")) == []
    assert len(changes(revise(model, note, "--json", "--confidence", "0.6"))) == 2
    complains(revise(model, note, "--confidence", "1.5"), "1.5 is not at most 1")


def test_a_trajectory_of_what_was_changed(
    model: Path, note: Path, guide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = note.with_name("runs.json")
    result = revise(model, note, guide, "--in-place", "--trajectory", recorded)
    assert result.returncode == 0, result.stderr
    monkeypatch.setenv("REVISER_MODEL", str(model))
    runs = json.loads(reviser("replay", recorded, "--format", "json").stdout)
    assert [run["matches"] for run in runs] == [True, True]
    assert [run["final_text"] for run in runs] == [RIGHT, RIGHT_GUIDE]


def test_folders(model: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("a/note.txt", "b/note.txt", ".hidden/note.txt", "built/note.txt", "a/.note.txt"):
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT)
    (site / "guide.md").write_text(GUIDE)
    (site / "code.py").write_text("# It were happy.\n")
    (site / "picture.txt").write_bytes(b"\0\1")
    (site / ".gitignore").write_text("built/\n")
    subprocess.run(["git", "init", "-q", site], check=True)
    result = revise(model, site, "--in-place")
    # What cannot be read is told, and keeps nothing else from being read.
    assert result.returncode == 0
    assert "2 files skipped: source code 1, no text 1\n" in result.stderr
    assert f"{site / 'guide.md'}: 3 changes made" in result.stderr
    assert (site / "a" / "note.txt").read_text() == RIGHT
    assert (site / "b" / "note.txt").read_text() == RIGHT
    assert (site / "guide.md").read_text() == RIGHT_GUIDE
    for left in (".hidden/note.txt", "built/note.txt", "a/.note.txt"):
        assert (site / left).read_text() == TEXT
    assert (site / "code.py").read_text() == "# It were happy.\n"
    # Who names it wants it read.
    named = revise(model, site, site / "picture.txt")
    assert named.returncode == 2
    assert "picture.txt is a binary file" in named.stderr
    assert named.stderr.endswith("\n3 files: nothing to change; 1 file skipped: source code 1\n")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16", "utf-8-sig"])
def test_a_file_keeps_its_encoding(model: Path, note: Path, encoding: str) -> None:
    around = "Zoë said: “Grüße”.\n\n{}\n“Zoë”\n"
    note.write_bytes(around.format(TEXT).encode(encoding))
    assert revise(model, note, "--in-place").returncode == 0
    assert note.read_bytes() == around.format(RIGHT).encode(encoding)
    note.write_bytes(around.format(TEXT).encode(encoding))
    named = revise(model, note, "--in-place", "--encoding", encoding)
    assert named.returncode == 0
    assert note.read_bytes() == around.format(RIGHT).encode(encoding)


def test_several_files(model: Path, note: Path, guide: Path, tmp_path: Path) -> None:
    names = ("note.txt", "guide.md", "note.txt")
    run = reviser("revise", *names, "--model", model, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.findall(r"^--- (.*)", run.stdout, re.MULTILINE) == ["a/note.txt", "a/guide.md"]
    told = json.loads(revise(model, note, guide, "--json").stdout)
    assert [one["text"] for one in told] == [RIGHT, RIGHT_GUIDE]
    complains(revise(model, note, guide, "-o", tmp_path / "out"), "one file")
    complains(revise(model, note, guide, "--range", "1-1"), "one file")
    note.write_text(RIGHT)
    guide.write_text(RIGHT_GUIDE)
    clean = revise(model, note, guide, "--confidence", "1")
    assert (clean.stdout, clean.stderr) == ("", "2 files: nothing to change\n")
    (tmp_path / "empty").mkdir()
    complains(revise(model, tmp_path / "empty"), "no documents")


def test_files_keep_their_encoding_and_line_endings(model: Path, note: Path) -> None:
    for encoding, newline in (("utf-16", "\r\n"), ("utf-8-sig", "\r\n"), ("utf-8", "\r")):
        note.write_bytes(TEXT.replace("\n", newline).encode(encoding))
        assert revise(model, note, "--in-place").returncode == 0
        assert note.read_bytes() == RIGHT.replace("\n", newline).encode(encoding)


def test_each_change_can_be_taken_or_left(model: Path, note: Path) -> None:
    left = revise(model, note, "--interactive", stdin="")
    assert (left.returncode, left.stderr) == (0, f"{note}: 0 changes made\n")
    assert note.read_text() == TEXT
    result = revise(model, note, "--interactive", stdin="?\nn\na\n")
    assert result.stderr == f"{note}: 1 change made\n"
    assert "take this change and all that follow" in result.stdout
    assert "@@ line 3 @@ agreement, " in result.stdout
    assert "-It were happy.\n+It was happy.\n" in result.stdout
    assert note.read_text() == TEXT.replace("were", "was")


def test_answers_in_several_files(model: Path, note: Path, guide: Path) -> None:
    result = revise(model, note, guide, "--interactive", stdin="d\ny\ny\nq\n")
    assert result.returncode == 0, result.stderr
    assert f"@@ {guide}, line 7 @@" in result.stdout
    assert note.read_text() == TEXT
    assert guide.read_text() == RIGHT_GUIDE.replace("- the cat", "- teh cat")
    guide.write_text(GUIDE)
    assert revise(model, note, guide, "--interactive", stdin="q\n").returncode == 0
    assert (note.read_text(), guide.read_text()) == (TEXT, GUIDE)


def test_it_says_that_there_is_nothing_to_change(model: Path, note: Path) -> None:
    for option in ("--diff", "--in-place", "--interactive"):
        result = revise(model, note, option, "--confidence", "1")
        assert (result.returncode, result.stdout) == (0, "")
        assert result.stderr == f"{note}: nothing to change\n"
    piped = revise(model, "-", "--confidence", "1", stdin=TEXT)
    assert piped.stderr == "standard input: nothing to change\n"
    printed = revise(model, note, "-o", "-", "--confidence", "1")
    assert printed.stdout == note.read_text() == TEXT


def test_what_was_written_while_it_asked_is_not_overwritten(model: Path, note: Path) -> None:
    command = [sys.executable, "-m", "reviser", "revise", note, "--interactive", "--model", model]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    shown = b""
    while b"Take this change" not in shown:
        shown += process.stdout.read(1)
    note.write_text("Someone else was here.")
    _, said = process.communicate(b"a\n")
    assert process.returncode == 1
    kept = note.with_name("note.reviser.txt")
    assert said.decode().endswith(f"it stays as it is, and the result is in {kept}\n")
    assert note.read_text() == "Someone else was here."
    assert kept.read_text() == RIGHT


def in_terminal(command: list[str], status: int = 0, **variables: str) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "30"} | variables
        os.execv(shutil.which(command[0]) or command[0], command)
    screen = b""
    while True:
        try:
            screen += os.read(terminal, 65536)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status
    return screen.decode()


def test_in_a_terminal_the_diff_has_colours_and_progress_is_shown(model: Path, note: Path) -> None:
    command = [sys.executable, "-m", "reviser", "revise", str(note), "--model", str(model)]
    shown = in_terminal(command, NO_COLOR="")
    assert "proofreading, sentence" in re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "\x1b[31m-The cat" in shown
    assert "\x1b[32m+" in shown
    plain = in_terminal(command, NO_COLOR="1")
    assert "\x1b[31m" not in plain
    assert "\n-The cat" in plain


def test_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "We aa bb here.\nYou cc dd.\n"
    found = [Suggestion(Edit(text.index(old), old, old.upper()), Kind.CASE, 0.9) for old in ("aa", "bb", "cc")]
    done = Proofread(Draft(text), text, tuple(found), 2)
    for answers, taken in {
        "yyy": "AA BB CC",
        "nnn": "",
        "yny": "AA CC",
        "na": "BB CC",
        "a": "AA BB CC",
        "nq": "",
        "yd": "AA",
        "y": "AA",
    }.items():
        reading, writing = os.pipe()
        os.write(writing, "".join(f"{answer}\n" for answer in answers).encode())
        os.close(writing)
        with os.fdopen(reading) as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            asking = ChangeReview()
            assert " ".join(change.new for change in asking.ask(done)) == taken
            assert asking.is_over == (answers in ("nq", "y"))


def test_changes_that_hold_each_other_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Use *this* one.\n"
    found = [Suggestion(Edit(4, "*", ""), Kind.PUNCTUATION, 0.9), Suggestion(Edit(10, "", " *now*"), Kind.OTHER, 0.9)]
    done = Proofread(Draft(text, Format.MARKDOWN), text, tuple(found), 1)
    reading, writing = os.pipe()
    os.write(writing, b"y\nn\n")
    os.close(writing)
    with os.fdopen(reading) as lines:
        monkeypatch.setattr(sys, "stdin", lines)
        assert ChangeReview().ask(done) == []


def test_ranges() -> None:
    text = "one\ntwo\nthree"
    assert range_in(text, None) == (0, 13)
    assert text[slice(*range_in(text, "2-3"))] == "two\nthree"
    assert text[slice(*range_in(text, "1:2-2:3"))] == "ne\ntw"
    for wrong in ("2", "3-2", "a-b", "9-9"):
        with pytest.raises(ReviserError):
            range_in(text, wrong)


def test_mistakes_give_one_sentence(model: Path, note: Path, tmp_path: Path) -> None:
    complains(revise(tiny_model(tmp_path / "plain", PAPER_KINDS), note), "not trained to revise")
    complains(revise(model, note, "--in-place", "--json"), "choose one")
    complains(revise(model, "-", "--interactive"), "standard input")
    complains(revise(model, note, "--range", "7-9"), "no line 7")
    complains(revise(model, note, "--format", "word"), "word is no format")
    table = tmp_path / "table.csv"
    table.write_text("a,b\n")
    complains(revise(model, table), "no format that is known to hold prose; name one with --format")
    note.chmod(0o444)
    complains(revise(model, note, "--in-place"), "read-only")


def test_what_an_editor_ignores_stays(model: Path, note: Path) -> None:
    (note.parent / ".reviser").mkdir()
    before = note.read_text()
    place = IgnoredPlace.of(note.name, before, before.index("teh"), "teh", "the")
    ignore(note.parent / ".reviser" / "ignore.txt", place)
    assert [one[2] for one in changes(revise(model, "--json", note))] == ["were"]
    revise(model, "--in-place", note)
    assert note.read_text() == RIGHT.replace("the mat", "teh mat")
