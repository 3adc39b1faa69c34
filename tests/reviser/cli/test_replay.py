"""`reviser replay`, run as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import reviser
from tests.conftest import PAPER_TRAJECTORIES


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A tiny trajectory: Hello, then a comma and a word."""
    path = tmp_path / "one.json"
    data = {"action_ids": [15496, 995, 50262, 11, 50260], "prefix_tokens": 1}
    path.write_text(json.dumps(data | {"final_text": "Hello, world"}))
    return path


def test_json_tells_what_came_out() -> None:
    result = reviser("replay", PAPER_TRAJECTORIES, "--format", "json")
    assert result.returncode == 0, result.stderr
    stated = json.loads(PAPER_TRAJECTORIES.read_text())
    replayed = json.loads(result.stdout)
    assert [run["final_text"] for run in replayed] == [run["final_text"] for run in stated]
    assert [run["actions"] for run in replayed] == [len(run["action_ids"]) for run in stated]
    for run in replayed:
        assert run["matches"] is True
        assert run["cursor"] >= 35
        assert run["actions"] == run["inserts"] + run["moves"] + 1


def test_text_actions_and_index(one: Path) -> None:
    assert reviser("replay", one).stdout == "Hello, world\n"
    labels = ['Insert " world"', "Move -1", 'Insert ","', "Stop"]
    assert reviser("replay", one, "--format", "actions").stdout.splitlines() == labels
    second = reviser("replay", PAPER_TRAJECTORIES, "--index", "1").stdout
    assert second.startswith("Do you want to hire")
    everything = reviser("replay", PAPER_TRAJECTORIES).stdout
    assert everything.count("\n== ") == 9


def test_standard_input(one: Path) -> None:
    assert reviser("replay", "-", stdin=one.read_text()).stdout == "Hello, world\n"
    complains(reviser("replay", "-", stdin="nonsense"), "standard input is not JSON")
    complains(reviser("replay", "-", "--index", "7", stdin=one.read_text()), "standard input has no")
    complains(reviser("replay", one, "--html", one.parent / "none" / "x.html"), "no folder")
    assert reviser("replay", one, "--html", "-").stdout.startswith("<!")


def test_a_text_that_does_not_match_gives_exit_status_1(one: Path) -> None:
    data = json.loads(one.read_text()) | {"final_text": "Goodbye"}
    one.write_text(json.dumps(data))
    result = reviser("replay", one, "--format", "json")
    assert result.returncode == 1
    assert json.loads(result.stdout)[0]["matches"] is False
    del data["final_text"]
    one.write_text(json.dumps(data))
    result = reviser("replay", one, "--format", "json")
    assert result.returncode == 0
    assert json.loads(result.stdout)[0]["matches"] is None


def test_diff_patches_the_prompt_into_the_result(tmp_path: Path) -> None:
    result = reviser("replay", PAPER_TRAJECTORIES, "--format", "diff")
    if (patch := shutil.which("patch")) is None:
        pytest.skip("the patch command is not installed")
    stated = json.loads(PAPER_TRAJECTORIES.read_text())
    for number, run in enumerate(stated):
        (tmp_path / f"trajectory-{number}.txt").write_text(run["prompt"])
    subprocess.run([patch, "-p1", "--quiet"], input=result.stdout, text=True, cwd=tmp_path, check=True)
    for number, run in enumerate(stated):
        assert (tmp_path / f"trajectory-{number}.txt").read_text() == run["final_text"]


def test_html_writes_a_page(one: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = reviser("replay", one, "--html", page)
    assert result.returncode == 0
    assert result.stdout == ""
    assert "Hello" in page.read_text("utf-8")
    result = reviser("replay", one, "--html", tmp_path / "missing" / "page.html")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1


def test_play_without_a_terminal_prints_the_text(one: Path) -> None:
    result = reviser("replay", one, "--play", "--speed", "100")
    assert (result.returncode, result.stdout) == (0, "Hello, world\n")


def test_play_in_a_terminal_shows_the_cursor_at_work(one: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "60", "LINES": "20"}
        os.execv(sys.executable, [sys.executable, "-m", "reviser", "replay", str(one), "--play"])
    screen = b""
    while True:
        try:
            screen += os.read(terminal, 4096)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    shown = screen.decode()
    assert "\x1b[7m" in shown  # a reversed cell: the cursor
    for label in ('Insert " world"', "Move -1", "Stop"):
        assert label in shown


BAD_FILES = {
    "not JSON": b"Hello, I am prose.",
    "unknown id": json.dumps([{"action_ids": [123456]}]).encode(),
    "reserved id": json.dumps([{"action_ids": [50285]}]).encode(),
    "invalid move": json.dumps([{"action_ids": [15496, 50274, 50260], "prefix_tokens": 1}]).encode(),
    "binary": bytes(range(256)),
    "empty list": b"[]",
    "empty file": b"",
    "wrong shape": b'{"a": 1}',
    "numbers": b"[1, 2]",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_files_give_one_sentence_and_exit_status_2(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    complains(reviser("replay", path), "bad.json")


def test_other_mistakes_give_one_sentence_and_exit_status_2(one: Path, tmp_path: Path) -> None:
    complains(reviser("replay", tmp_path / "missing.json"), "no file")
    complains(reviser("replay", tmp_path), "directory")
    complains(reviser("replay", one, "--index", "7"), "no trajectory 7")
    complains(reviser("replay", one, "--tokenizer", tmp_path / "nothing"), "no tokenizer")


def complains(result: subprocess.CompletedProcess[str], about: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    # On a busy machine lines of progress come before the complaint.
    said = [line for line in result.stderr.splitlines() if not line.startswith("reviser: checking")]
    assert len(said) == 1
    assert said[0].startswith("reviser: ")
    assert about in said[0]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m reviser replay {PAPER_TRAJECTORIES} --format actions | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_what_the_model_that_comes_along_wrote_is_read_by_its_own_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    draft, recorded, page = (tmp_path / name for name in ("draft.txt", "run.json", "run.html"))
    draft.write_text("The lighthouse had been dark for eleven years.")
    words = ["--trajectory", recorded, "--max-actions", "12", "--seed", "1"]
    assert reviser("continue", draft, *words).returncode == 0
    result = reviser("replay", recorded, "--format", "json")
    assert result.returncode == 0, result.stderr
    (told,) = json.loads(result.stdout)
    assert told["matches"] is True
    assert told["final_text"].startswith(draft.read_text())
    assert reviser("replay", recorded, "--html", page).returncode == 0
    assert "lighthouse" in page.read_text()
    # The model may be called otherwise, or be gone; one with its vocabulary is enough.
    recorded.write_text(recorded.read_text().replace('"default"', '"another"'))
    assert reviser("replay", recorded).returncode == 0
    recorded.write_text(recorded.read_text().replace('"smollm2"', '"unknown"'))
    complains(reviser("replay", recorded), "another tokenizer")
