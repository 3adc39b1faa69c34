"""Short runs whose steps back write other pieces: trained once, let write, and looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.training.drafts import main, variants, wanted
from tests.benchmarks.tiny_reviser import base_and_shards, tiny_reviser
from training.data.optional_pieces import main as find_pieces
from training.data.worse_words import main as find_words

TEXT = "the tin in the hall, a thin tin, is ill. the thing is in a tin. all is in the hall. " * 12


def cells(page: Path) -> list[list[str]]:
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def test_runs_are_trained_once_and_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base_and_shards(tmp_path, TEXT, 12)
    base = tiny_reviser(tmp_path / "left-to-right", kinds=frozenset({"insert"}))
    assert find_pieces([str(tmp_path / "data"), "--base", str(base), "--most", "1000"]) == 0
    out, page = tmp_path / "runs", tmp_path / "drafts.md"
    options = ["--preset", "tiny", "--init", str(base), "--data", str(tmp_path / "data")]
    options += ["--out", str(out), "--history", "128", "--steps", "2", "--workers", "1"]
    options += ["--each", "1", "--seeds", "1", "--texts", str(tmp_path / "texts.jsonl")]
    taking_back = "optional pieces and corrected words"
    assert main([*options, "--only", taking_back]) == 2
    assert "worse words were not looked for" in capsys.readouterr().err
    found = [str(tmp_path / "data"), "--base", str(base), "--likely", "1e-6", "--least", "-1000"]
    found += ["--most", "1000", "--at-once", "1000", "--per-hundred", "3"]
    assert find_words(found) == 0
    names = ["optional pieces, held to the base", "former pieces", taking_back]
    options += ["--only", *names]
    assert main([*options, "--write", str(page)]) == 0
    rows = cells(page)
    assert rows[0][0] == "run"
    assert rows[0][-1] == "texts"
    assert [row[0] for row in rows[2:]] == names
    # A random model takes back what it wrote as soon as it may; the others have no Delete.
    share = rows[0].index("takes back")
    assert [row[share] for row in rows[2:4]] == ["0%", "0%"]
    assert rows[4][share] != "0%"
    # Two steps change a random model little, so it has about the base's perplexity.
    assert all(0.5 < float(row[-1].split()[0]) < 2.0 for row in rows[2:])
    kept = json.loads((out / "drafts.json").read_text())
    assert len(kept["runs"]) == 3 * 10
    assert any(run["deletes"] for run in kept["runs"] if run["contestant"] == taking_back)
    mixture = json.loads((out / "optional-pieces-and-corrected-words/mixture.json").read_text())
    assert (mixture["elaborated"], mixture["corrected"]) == (0.35, 0.15)
    model = out / "former-pieces" / "model" / "model.safetensors"
    made = model.stat().st_mtime_ns
    assert main([*options, "--train-only"]) == 0
    assert model.stat().st_mtime_ns == made
    capsys.readouterr()
    assert main([*options, "--only", "magic"]) == 2
    assert "no run magic" in capsys.readouterr().err


def test_runs_differ_in_pieces_and_in_what_holds_them() -> None:
    held, free, former_held, former, taking_back = variants()
    assert held.mixture == free.mixture
    assert former_held.mixture == former.mixture
    assert (held.mixture.elaborated, held.mixture.local) == (
        former.mixture.local,
        former.mixture.elaborated,
    )
    assert held.changes == former_held.changes != free.changes == former.changes
    assert sum(taking_back.mixture.shares) == pytest.approx(sum(free.mixture.shares))
    assert taking_back.mixture.corrected > 0
    assert free.mixture.corrected == former.mixture.corrected == 0
    # It is trained only if it is named: the data of the others need no worse words.
    assert wanted(()) == [held, free, former_held, former]
    assert wanted((taking_back.name,)) == [taking_back]
