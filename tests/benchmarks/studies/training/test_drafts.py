"""Short runs whose steps back write other pieces: trained once, let write, and looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.training.drafts import main, variants
from tests.benchmarks.tiny_reviser import base_and_shards, tiny_reviser
from training.data.optional_pieces import main as find_pieces

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
    options += ["--only", "optional pieces, held to the base", "former pieces"]
    assert main([*options, "--write", str(page)]) == 0
    rows = cells(page)
    assert rows[0][0] == "run"
    assert rows[0][-1] == "texts"
    assert [row[0] for row in rows[2:]] == ["optional pieces, held to the base", "former pieces"]
    # Two steps change a random model little, so it has about the base's perplexity.
    assert all(0.5 < float(row[-1].split()[0]) < 2.0 for row in rows[2:])
    kept = json.loads((out / "drafts.json").read_text())
    assert len(kept["runs"]) == 2 * 10
    model = out / "former-pieces" / "model" / "model.safetensors"
    made = model.stat().st_mtime_ns
    assert main([*options, "--train-only"]) == 0
    assert model.stat().st_mtime_ns == made
    capsys.readouterr()
    assert main([*options, "--only", "magic"]) == 2
    assert "no run magic" in capsys.readouterr().err


def test_runs_differ_in_pieces_and_in_what_holds_them() -> None:
    held, free, former_held, former = variants()
    assert held.mixture == free.mixture
    assert former_held.mixture == former.mixture
    assert (held.mixture.elaborated, held.mixture.local) == (
        former.mixture.local,
        former.mixture.elaborated,
    )
    assert held.changes == former_held.changes != free.changes == former.changes
