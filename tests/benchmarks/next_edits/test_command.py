"""Next edits are measured, and a judgement is fitted, from files of sessions."""

import json
from pathlib import Path

import pytest

from benchmarks.next_edits.command import run
from benchmarks.next_edits.fitting import MeasuredCase, fitted_to
from benchmarks.next_edits.fitting import run as fit
from reviser.cli.options import run_with
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.next_edits.judgement import read_judgements
from tests.commands import reviser
from training.edits.sessions.session import EditSession


def session(number: int, word: str, count: int) -> EditSession:
    """A text in which a word stands six times, of which the first ones are replaced."""
    text = "\n\n".join(f"Paragraph {number} says the {word} of a thing, part {part}." for part in range(6))
    places = [at for at in range(len(text)) if text.startswith(word, at)]
    return EditSession(text, tuple(Edit(at, word, f"new{word}") for at in places[:count]), path=f"{number}.md")


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    file = tmp_path / "sessions.jsonl"
    found = [session(number, f"term{number}", (6, 6, 1, 2)[number % 4]) for number in range(24)]
    file.write_text("".join(json.dumps(one.to_row()) + "\n" for one in found))
    return file


def test_sessions_are_measured_after_one_two_and_three_edits(sessions: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    done = reviser("bench", "next-edit", sessions, "--json", "--write", page, "--confidence", "0.05")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    replaced = next(
        way for way in told["ways"] if way["edits"] == 1 and way["way"].startswith("find and replace, last")
    )
    assert (replaced["cases"], replaced["suggestions"], replaced["right"]) == (18, 90, 66)
    assert {way["edits"] for way in told["ways"]} == {1, 2, 3}
    assert told["single"]["cases"] == 6
    assert all(0 <= number <= 1 for way in told["ways"] for number in way["precision"])
    assert "# Next edits" in page.read_text()


def test_files_without_sessions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert run_with(run, [str(empty)]) == 2
    assert "no session" in capsys.readouterr().err
    assert run_with(run, [str(empty), "--model", "default"]) == 2


def test_a_judgement_is_fitted_and_takes_its_place_in_the_file(sessions: Path, tmp_path: Path) -> None:
    out = tmp_path / "judgement.json"
    for _ in range(2):
        assert run_with(fit, [str(sessions), "--workers", "1", "--out", str(out)]) == 0
    (found,) = read_judgements(out)
    assert found.model == ""
    assert found.weights


def test_what_is_often_right_gets_a_high_confidence() -> None:
    cases = [
        MeasuredCase([{"good": 1.0}, {"bad": 1.0}], [number % 10 > 0, number % 10 == 0], number)
        for number in range(500)
    ]
    found = fitted_to(cases, 0.85)
    assert found.confidence_of({"good": 1.0}) == pytest.approx(0.9, abs=0.03)
    assert found.confidence_of({"bad": 1.0}) == pytest.approx(0.1, abs=0.03)
    assert 0.1 < found.confidence < 0.9
    with pytest.raises(ReviserError, match="nothing to fit"):
        fitted_to([MeasuredCase([{"good": 1.0}], [False], 0)], 0.85)
