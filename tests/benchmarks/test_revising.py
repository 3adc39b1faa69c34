"""Measures of revision: known values, the ends of their scales, and a whole run of a tiny model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.revising import copied, gleu, main, sari
from reviser.vocabulary import PAPER_KINDS
from tests.cli.test_revise import tiny_model
from training.edits import Edit

SOURCE = "About 95 species are currently accepted."
REFERENCES = [
    "About 95 species are currently known.",
    "About 95 species are now accepted.",
    "95 species are now accepted.",
]


def test_sari_has_its_published_value() -> None:
    """The example that goes with the implementations in use, in which nothing out of nothing is right."""
    assert sari(SOURCE, "About 95 you now get in.", REFERENCES) == pytest.approx(0.26953601953)


def test_sari_knows_right_from_unchanged_from_wrong() -> None:
    before, after = "The cat sat on the mat.", "The big cat sat on a mat."
    right, same, wrong = (
        sari(before, output, [after]) for output in (after, before, "Something else entirely here.")
    )
    assert right == pytest.approx(1.0)
    assert wrong < same < right


def test_gleu_punishes_what_should_be_gone() -> None:
    before, after = "a b c d e f", "a b c d e g"
    assert gleu([before], [after], [after]) == pytest.approx(1.0)
    # Of six, five, four and three n-grams the last of each is the old one, and counts against it.
    expected = (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert gleu([before], [before], [after]) == pytest.approx(expected)
    assert gleu([before], ["x"], [after]) == 0.0


def test_copying_is_never_right_and_never_overdone() -> None:
    edits = [Edit("one two three four five", "one two three four six")] * 3
    told = copied(edits)
    assert (told.exact, told.changed, told.left_alone) == (0.0, 0.0, 1.0)


def test_a_model_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_model(tmp_path / "tiny", PAPER_KINDS | {"delete"})
    edits = tmp_path / "edits.jsonl"
    rows = [
        {
            "before": "The cat sat.",
            "after": "The dog sat.",
            "left": "Once.",
            "right": "Then it left.",
        },
        {"before": "It was was happy.", "after": "It was happy."},
    ]
    edits.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "result.md"
    assert main([str(edits), str(model), "--json", "--write", str(out)]) == 0
    copying, tiny = json.loads(capsys.readouterr().out)
    assert (copying["name"], tiny["name"]) == ("copying", "tiny")
    assert tiny["edits"] == 2
    assert tiny["changed"] == 1.0  # random weights change everything
    assert tiny["left_alone"] == 0.0
    assert "SARI" in out.read_text()
    plain = tiny_model(tmp_path / "plain", PAPER_KINDS)
    assert main([str(edits), str(plain)]) == 2
    assert "not trained to revise" in capsys.readouterr().err
