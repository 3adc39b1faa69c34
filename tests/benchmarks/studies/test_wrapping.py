"""Where passages are cut, and how what follows is told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.wrapping import FATES, fate_of, main, passages_of
from reviser.decoding.rollout import ScriptedPolicy
from reviser.session.engine import Engine
from tests.benchmarks.tiny_reviser import tiny_reviser
from tests.toys import VOCABULARY, ToyTokenizer

PROSE = (
    "The keeper of the light went down to the harbour in the evening and bought some bread. " * 6
)


class Scripted(ScriptedPolicy):
    """A policy that writes what it is told to."""

    context = 64
    max_length = None


def test_a_passage_ends_with_a_line_in_the_middle_of_a_sentence() -> None:
    (lines,) = passages_of([f"A title\n\n{PROSE}\n{PROSE}"], 40)
    assert len(lines) >= 3
    assert all(len(line) <= 40 for line in lines)
    shown = " ".join(lines)
    assert PROSE.startswith(shown)
    assert shown[-1].isalpha()
    assert PROSE[len(shown) + 1].islower()


def test_documents_without_such_a_place_are_left_out() -> None:
    capitals = "One Two Three. " * 40
    assert list(passages_of(["short", "", capitals], 40)) == []
    assert len(list(passages_of([PROSE, "short", PROSE], 40))) == 2


@pytest.mark.parametrize(
    ("written", "fate"),
    [
        (" and", "goes on"),
        ("\nand", "goes on"),
        (", that", "goes on"),
        (" The", "new sentence"),
        ("\nThe", "new sentence"),
        ("\n\nand", "new paragraph"),
        ("\n\nThe", "new paragraph"),
        ("\n \nThe", "new paragraph"),
        ("\r\n\r\nThe", "new paragraph"),
        ("", "ends"),
        ("\n", "ends"),
    ],
)
def test_fates_are_told_by_what_stands_first(written: str, fate: str) -> None:
    tokenizer = ToyTokenizer()
    script = [*tokenizer.encode(written), VOCABULARY.stop_id]
    engine = Engine("scripted", Scripted(VOCABULARY, script), tokenizer)
    assert fate_of(engine, "the") == fate


def test_both_ways_have_a_row_that_adds_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": PROSE}) + "\n" for _ in range(3)))
    page = tmp_path / "page.md"
    model = tiny_reviser(tmp_path / "model")
    options = ["--model", str(model), "--passages", "2", "--columns", "40", "--write", str(page)]
    assert main([str(texts), *options]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line]
    assert [row[0].strip() for row in rows[2:]] == ["wrapped at 40 columns", "in one line"]
    for row in rows[2:]:
        assert len(row) == 1 + len(FATES)
        assert sum(float(cell.strip().rstrip("%")) for cell in row[1:]) == pytest.approx(100)
    told = page.read_text()
    assert "2 passages" in told
    assert "texts.jsonl --passages 2 --columns 40`" in told
    assert str(tmp_path) not in told


@pytest.mark.parametrize("options", [["--passages", "0"], ["--columns", "3"], []])
def test_what_cannot_be_measured_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "short"}\n')
    assert main([str(texts), *options]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
