"""Short runs of proofreaders that differ in one setting: trained, let loose on sentences, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.training.proofreading_recipes import main, variants
from reviser.core.tokenizer import Gpt2Tokenizer
from tests.training.edits.mistakes.test_mistakes import PROSE
from training.data.corpus import Corpus
from training.data.shards import main as make_data
from training.edits.mistakes.table import make_table, save_table

PAIRS = [("She go home.", "She goes home."), ("We arrived late.", "We arrived late.")]


def made_parts(folder: Path) -> list[str]:
    """Shards, a table of mistakes and pairs of texts; returns the options that name them."""
    texts, shards, table = folder / "texts.jsonl", folder / "shards", folder / "table.npz"
    texts.write_text("".join(json.dumps({"text": PROSE * 3}) + "\n" for _ in range(40)))
    assert make_data([str(shards), str(texts), "--tokenizer", "gpt2", "--workers", "1"]) == 0
    save_table(table, make_table(Corpus.open(shards), Gpt2Tokenizer()))
    rows = [json.dumps({"before": before, "after": after}) for before, after in PAIRS]
    (folder / "several.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "several.txt").write_text("".join(f"{before}\n" for before, _ in PAIRS))
    options = ["--preset", "tiny", "--data", str(shards), "--mistakes", str(table)]
    return [*options, "--history", "128", "--steps", "2", "--workers", "1"]


def test_runs_are_trained_let_correct_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = made_parts(tmp_path)
    out, page = tmp_path / "runs", tmp_path / "page.md"
    only = ["--out", str(out), "--only", "as it is", "from the end backward"]
    assert main(["train", *given, *only]) == 0
    mixtures = [
        json.loads((out / name / "mixture.json").read_text())
        for name in ("as-it-is", "from-the-end-backward")
    ]
    assert [mixture["overtype"] for mixture in mixtures] == [1.0, 0.0]
    model = out / "as-it-is" / "model" / "model.safetensors"
    made = model.stat().st_mtime_ns
    assert main(["train", *given, *only]) == 0
    assert model.stat().st_mtime_ns == made
    # One run's lines are its own; those of the other are known to be half right.
    files = ["--files", str(tmp_path / "several.txt"), "--processes", "1"]
    assert main(["correct", *files, "--out", str(out), "--only", "from the end backward"]) == 0
    made_lines, known = (
        out / "lines" / name / "several.txt" for name in ("from-the-end-backward", "as-it-is")
    )
    assert len(made_lines.read_text().splitlines()) == len(PAIRS)
    capsys.readouterr()
    known.parent.mkdir()
    known.write_text("She goes home.\nWe arrive late.\n")
    pairs = ["--pairs", str(tmp_path / "several.jsonl"), "--write", str(page)]
    assert main(["score", *pairs, *only]) == 0
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.read_text().splitlines()
        if line.startswith("| ")
    ]
    assert [row[0] for row in rows[2:]] == ["as it is", "from the end backward"]
    assert rows[2][4:6] == ["50.0", "100.0"]
    assert rows[2][7] == "0.0"


def test_each_run_differs_from_the_first_in_one_place() -> None:
    first, *others = variants()
    for one in others:
        differing = (
            one.mixture != first.mixture,
            one.recipe != first.recipe,
            bool(one.changes),
            one.longer != 1,
        )
        assert sum(differing) == 1, one.name
    assert len({one.folder for one in variants()}) == len(variants())


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, about in (
        (["train"], "name --data"),
        (["correct"], "--files"),
        (["score"], "--pairs"),
        (["train", "--only", "magic"], "no run magic"),
    ):
        assert main([*words, "--out", str(tmp_path)]) == 2
        assert about in capsys.readouterr().err
