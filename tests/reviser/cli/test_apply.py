"""`reviser apply`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import reviser, reviser_bytes
from tests.reviser.cli.test_replay import complains

TEXT = "Dear reader,\r\nthe cat sat on the mat.\r\n"
STEPS = [{"action": "move", "after": "cat"}, {"action": "span_delete", "k": 3}, {"action": "insert", "text": "dog"}]


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
    result = reviser("apply", letter, steps(tmp_path, STEPS), "--in-place")
    assert (result.returncode, result.stdout) == (0, "")
    assert "3 actions, " in result.stderr
    assert letter.read_bytes() == TEXT.replace("cat", "dog").encode()
    assert letter.stat().st_mode & 0o777 == 0o640


def test_the_result_is_printed_and_the_file_stays(letter: Path, tmp_path: Path) -> None:
    actions = steps(tmp_path, STEPS)
    for options in ((), ("-o", "-")):
        result = reviser_bytes("apply", letter, actions, *options)
        assert result.returncode == 0
        assert result.stdout == TEXT.replace("cat", "dog").encode()
    assert letter.read_bytes() == TEXT.encode()
    complains(reviser("apply", letter, actions, "--in-place", "--json"), "choose one")


def test_a_dry_run_prints_a_diff_and_changes_nothing(letter: Path, tmp_path: Path) -> None:
    for option in ("--diff", "--dry-run"):
        result = reviser_bytes("apply", letter, steps(tmp_path, STEPS), option)
        assert result.returncode == 0
        assert result.stdout.startswith(b"--- a/letter.txt\n+++ b/letter.txt\n")
        assert b"-the cat sat on the mat.\r\n+the dog sat on the mat.\r\n" in result.stdout
        assert letter.read_bytes() == TEXT.encode()


def test_json_output_and_pipes(letter: Path, tmp_path: Path) -> None:
    actions = steps(tmp_path, STEPS)
    summary = json.loads(reviser("apply", letter, actions, "--json").stdout)
    assert (summary["actions"], summary["cursor"]) == (3, {"line": 2, "column": 8})
    assert summary["text"] == TEXT.replace("cat", "dog").replace("\r\n", "\n")
    assert letter.read_bytes() == TEXT.encode()
    piped = reviser("apply", "-", actions, stdin="one cat\n")
    assert piped.stdout == "one dog\n"
    result = reviser("apply", letter, "-", "-o", tmp_path / "new.txt", stdin=json.dumps(STEPS))
    assert result.returncode == 0
    assert (tmp_path / "new.txt").read_bytes() == TEXT.replace("cat", "dog").encode()
    assert letter.read_bytes() == TEXT.encode()


def test_what_could_not_be_read_again_is_not_written(letter: Path, tmp_path: Path) -> None:
    nul = steps(tmp_path, [{"action": "insert", "text": "a\0b"}])
    for options in (("--in-place",), ("-o", tmp_path / "new.txt"), ()):
        complains(reviser("apply", letter, nul, *options), "cannot take a NUL")
    assert letter.read_bytes() == TEXT.encode()
    assert not (tmp_path / "new.txt").exists()


def test_a_file_keeps_its_encoding(letter: Path, tmp_path: Path) -> None:
    legacy = TEXT.replace("reader", "Zoë") + "“yes”\r\n"
    letter.write_bytes(legacy.encode("cp1252"))
    assert reviser("apply", letter, steps(tmp_path, STEPS), "-i").returncode == 0
    assert letter.read_bytes() == legacy.replace("cat", "dog").encode("cp1252")
    foreign = steps(tmp_path, [{"action": "insert", "text": "ж"}])
    complains(reviser("apply", letter, foreign, "-i"), "is in windows-1252, which has no “ж”")
    assert letter.read_bytes() == legacy.replace("cat", "dog").encode("cp1252")
    letter.write_bytes("Добрый день\n".encode("cp1251"))
    complains(reviser("apply", letter, foreign, "-i"), "name it with --encoding")
    assert reviser("apply", letter, foreign, "-i", "--encoding", "cp1251").returncode == 0
    assert letter.read_bytes() == "Добрый день\nж".encode("cp1251")
    complains(reviser("apply", letter, foreign, "--encoding", "klingon"), "no encoding klingon")


def test_one_bad_action_refuses_them_all(letter: Path, tmp_path: Path) -> None:
    bad = steps(tmp_path, [*STEPS, {"action": "move", "by": 1000}])
    complains(reviser("apply", letter, bad, "--in-place"), "action 3")
    overlapping = ("--protect", "2:1-2:4", "--protect", "2:2-2:9", "--protect", "1:1-1:3")
    complains(reviser("apply", letter, steps(tmp_path, STEPS), *overlapping), "protected text")
    assert letter.read_bytes() == TEXT.encode()


def test_other_mistakes_give_one_sentence(letter: Path, tmp_path: Path) -> None:
    actions = steps(tmp_path, STEPS)
    complains(reviser("apply", tmp_path / "none", actions), "no file")
    complains(reviser("apply", letter, steps(tmp_path, {"action": "stop"})), "list")
    actions.write_text("nonsense")
    complains(reviser("apply", letter, actions), "not JSON")
    complains(reviser("apply", letter, steps(tmp_path, []), "--protect", "3"), "not a range")
    complains(reviser("apply", letter, steps(tmp_path, []), "--protect", "2:9-2:1"), "2:9-2:1 ends before it starts")
    complains(reviser("apply", "-", "-"), "standard input")
    complains(reviser("apply", letter, "-", stdin="nonsense"), "standard input is not JSON")
    letter.chmod(0o444)
    complains(reviser("apply", letter, steps(tmp_path, STEPS), "--in-place"), "read-only")


def test_ids_of_a_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "hello.txt"
    path.write_text("Hello world")
    actions = steps(tmp_path, [50262, 11, 50260])
    assert reviser("apply", path, actions, "--tokenizer", "gpt2").stdout == "Hello, world"


def test_one_action_is_told_as_one(letter: Path, tmp_path: Path) -> None:
    one = steps(tmp_path, [{"action": "insert", "text": "!"}])
    result = reviser("apply", letter, one, "--in-place")
    assert result.stderr == f"{letter}: 1 action, 1 change\n"
    none = steps(tmp_path, [{"action": "span_delete", "k": -3}])
    refused = reviser("apply", letter, none, "--in-place")
    complains(refused, "action 0: an action takes 1 token or more, not -3")
