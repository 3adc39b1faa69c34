"""`reviser bench proofreading`, run as a user runs it, on sets made up in the public ones' formats."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.proofreading import sets
from tests.benchmarks.proofreading.made_up import M2
from tests.conftest import ROOT

ESSAYS = "The cat sit on the the mat. She is fine. A title"
CORRECTED = {
    "jfleg-dev": "The cat sits on the mat.\nShe doesn't know him.\n",
    "conll-2014": "The cat sits on the mat.\nShe is fine.\nA title\n",
    "own": "She goes home.\nAll is good.\n",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's cache that has all sets, and a folder with lines that were made elsewhere."""
    root = tmp_path / "cache" / "reviser" / "proofreading" / sets._ROOT
    for member in sets._MEMBERS:
        path = root / member
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".m2":
            path.write_text(M2, "utf-8")
        elif path.suffix == ".json":
            path.write_text(json.dumps({"text": ESSAYS}) + "\n", "utf-8")
        elif path.suffix == ".sgml":
            path.write_text(f"<DOC><P>{ESSAYS}</P></DOC>", "utf-8")
        elif path.stem == "src":
            path.write_text("The cat sit on the mat .\nShe do n't know him .\n", "utf-8")
        else:
            path.write_text("The cat sits on the mat .\nShe does n't know him .\n", "utf-8")
    (tmp_path / "made").mkdir()
    for name, text in CORRECTED.items():
        (tmp_path / "made" / f"{name}.txt").write_text(text, "utf-8")
    return tmp_path


def proofreading(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reviser", "bench", "proofreading", *arguments]
    env = os.environ | {"XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, cwd=home, stdin=subprocess.DEVNULL
    )


def test_scores_are_printed_and_written(home: Path) -> None:
    result = proofreading(home, "--sets=jfleg-dev,conll-2014", "--correctors=unchanged,file:mine=made", "--out=out")
    assert result.returncode == 0, result.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines()]
    scores = {(row[0], row[1]): row[2:] for row in rows if len(row) == 7}
    assert scores["jfleg-dev", "mine"][0].startswith("100.0 (")
    assert scores["conll-2014", "mine"][1].startswith("100.0 (")
    assert scores["conll-2014", "unchanged"][1].startswith("0.0 (")
    assert scores["conll-2014", "unchanged"][2] == "–"
    page = (home / "out" / "proofreading.html").read_text("utf-8")
    assert "She doesn&#x27;t know him." in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    # Only the page has sentences: the other files may be passed on.
    for ending in ("md", "json"):
        text = (home / "out" / f"proofreading.{ending}").read_text("utf-8")
        assert "reviser bench proofreading" in text
        assert "know him" not in text


def test_json_has_the_figures(home: Path) -> None:
    result = proofreading(home, "--sets=conll-2014", "--correctors=file:mine=made", "--json")
    (entry,) = json.loads(result.stdout)["results"]
    assert entry["f"]["recall"]["value"] == 1
    assert entry["kinds"]["kinds"][0]["wanted"] == 1


def test_a_set_of_ones_own_needs_no_public_one(home: Path) -> None:
    lines = [
        {"before": "She go home.", "after": "She goes home.", "kind": "agreement"},
        {"before": "All is well.", "after": "All is well."},
    ]
    (home / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    result = proofreading(home, "--kinds=own.jsonl", "--correctors=file:mine=made", "--json")
    assert result.returncode == 0, result.stderr
    (entry,) = json.loads(result.stdout)["results"]
    assert entry["kinds"]["kinds"] == [{"kind": "agreement", "wanted": 1, "right": 1}]
    assert entry["f"]["precision"]["value"] == 0.5
    assert entry["left_alone"]["value"] == 0


def test_plain_sentences_for_another_machine(home: Path) -> None:
    result = proofreading(home, "--plain-sources=plain")
    assert result.returncode == 0, result.stderr
    found = {path.name: path.read_text("utf-8") for path in (home / "plain").iterdir()}
    assert set(found) == {*(f"{name}.txt" for name in sets.SETS), "bea-dev-refs.txt"}
    assert found["jfleg-dev.txt"] == "The cat sit on the mat.\nShe don't know him.\n"
    assert found["bea-dev-refs.txt"] == "The cat sits on the mat.\nShe is fine.\nA title\n"


def test_what_was_asked_for_and_is_missing_is_named(home: Path) -> None:
    result = proofreading(home, "--sets=jfleg-test", "--correctors=unchanged,file:mine=made")
    assert result.returncode == 1
    assert "jfleg-test, mine: made has no jfleg-test.txt" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets=nothing"], "there is no set nothing"),
        (["--correctors=nobody"], "there is no corrector nobody"),
        (["--kinds=missing.jsonl"], "there is no file missing.jsonl"),
        (["--limit=0"], "--limit must be at least 1"),
    ],
)
def test_mistakes_of_the_user_are_one_sentence(home: Path, arguments: list[str], message: str) -> None:
    result = proofreading(home, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_nothing_is_fetched_without_consent(home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = proofreading(empty, "--sets=jfleg-dev")
    assert result.returncode == 2
    assert "research and evaluation only" in " ".join(result.stderr.split())
    assert "--yes accepts their licences" in result.stderr
    assert not list(empty.iterdir())


def test_whoever_declines_the_licences_gets_nothing(tmp_path: Path) -> None:
    """In a terminal it asks; here the answer is no."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"n\n")
        result = subprocess.run(
            [sys.executable, "-m", "reviser", "bench", "proofreading", "--sets=jfleg-dev"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            stdin=theirs,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert result.returncode == 2
    assert "Fetch them (30 MB) for that? [y/N]" in result.stdout + result.stderr
    assert "nothing was fetched" in result.stderr
    assert not (tmp_path / "cache").exists()
