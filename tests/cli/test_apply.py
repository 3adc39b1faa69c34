"""`reviser apply`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_replay import complains, reviser

TEXT = "Dear reader,\r\nthe cat sat on the mat.\r\n"
STEPS = [
    {"action": "move", "after": "cat"},
    {"action": "span_delete", "k": 3},
    {"action": "insert", "text": "dog"},
]


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_bytes(TEXT.encode())
    return path


def steps(folder: Path, actions: Any) -> Path:
    path = folder / "actions.json"
    path.write_text(json.dumps(actions))
    return path


def test_the_file_is_changed_and_nothing_else_in_it(letter: Path, tmp_path: Path) -> None:
    letter.chmod(0o640)
    result = reviser("apply", letter, steps(tmp_path, STEPS))
    assert (result.returncode, result.stdout) == (0, "")
    assert "3 actions" in result.stderr
    assert letter.read_bytes() == TEXT.replace("cat", "dog").encode()
    assert letter.stat().st_mode & 0o777 == 0o640


def test_a_dry_run_prints_a_diff_and_changes_nothing(letter: Path, tmp_path: Path) -> None:
    result = reviser("apply", letter, steps(tmp_path, STEPS), "--dry-run")
    assert result.returncode == 0
    assert "-the cat sat on the mat.\n+the dog sat on the mat.\n" in result.stdout
    assert letter.read_bytes() == TEXT.encode()


def test_json_output_and_pipes(letter: Path, tmp_path: Path) -> None:
    actions = steps(tmp_path, STEPS)
    summary = json.loads(reviser("apply", letter, actions, "--dry-run", "--json").stdout)
    assert (summary["actions"], summary["cursor"]) == (3, {"line": 2, "column": 8})
    assert letter.read_bytes() == TEXT.encode()
    piped = reviser("apply", "-", actions, stdin="one cat\n")
    assert piped.stdout == "one dog\n"
    result = reviser("apply", letter, "-", "-o", tmp_path / "new.txt", stdin=json.dumps(STEPS))
    assert result.returncode == 0
    assert (tmp_path / "new.txt").read_bytes() == TEXT.replace("cat", "dog").encode()
    assert letter.read_bytes() == TEXT.encode()


def test_one_bad_action_refuses_them_all(letter: Path, tmp_path: Path) -> None:
    bad = steps(tmp_path, [*STEPS, {"action": "move", "by": 1000}])
    complains(reviser("apply", letter, bad), "action 3")
    complains(reviser("apply", letter, steps(tmp_path, STEPS), "--protect", "2:1-2:9"), "protected")
    assert letter.read_bytes() == TEXT.encode()


def test_other_mistakes_give_one_sentence(letter: Path, tmp_path: Path) -> None:
    actions = steps(tmp_path, STEPS)
    complains(reviser("apply", tmp_path / "none", actions), "no file")
    complains(reviser("apply", letter, steps(tmp_path, {"action": "stop"})), "list")
    actions.write_text("nonsense")
    complains(reviser("apply", letter, actions), "not JSON")
    complains(reviser("apply", letter, steps(tmp_path, []), "--protect", "3"), "not a range")
    complains(reviser("apply", "-", "-"), "standard input")
    letter.chmod(0o444)
    complains(reviser("apply", letter, steps(tmp_path, STEPS)), "read-only")


def test_ids_of_a_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "hello.txt"
    path.write_text("Hello world")
    actions = steps(tmp_path, [50262, 11, 50260])
    assert reviser("apply", path, actions, "--tokenizer", "gpt2").returncode == 0
    assert path.read_text() == "Hello, world"
