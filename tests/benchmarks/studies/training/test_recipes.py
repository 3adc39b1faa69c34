"""Short runs that differ in one setting: each is trained once and measured like the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.training.recipes import main, recipes
from tests.benchmarks.tiny_reviser import base_and_shards
from training.trainer.settings import preset_settings


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    base_and_shards(tmp_path, "the thing in all the tins is a thin ill the " * 20, 12)
    return tmp_path


def test_recipes_are_trained_once_and_measured(
    parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, table = parts / "runs", parts / "recipes.md"
    options = ["--preset", "tiny", "--init", str(parts / "base"), "--data", str(parts / "data")]
    options += ["--held-out", str(parts / "data"), "--out", str(out), "--history", "128"]
    options += ["--steps", "2", "--prompts", "2", "--batch", "2", "--workers", "1"]
    options += ["--only", "local", "p(Delete) 0.9", "--write", str(table)]
    assert main(options) == 0
    rows = [line for line in table.read_text().splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[2:]] == [
        "| real text",
        "| p(Delete) 0.9",
        "| local",
    ]
    mixture = json.loads((out / "p(Delete)-0.9" / "mixture.json").read_text())
    assert (mixture["paper"], mixture["local"], mixture["p_delete"]) == (1.0, 0.0, [[1.0, 0.9]])
    model = out / "local" / "model" / "model.safetensors"
    made = model.stat().st_mtime_ns
    first = table.read_text()
    capsys.readouterr()
    assert main(options) == 0
    assert model.stat().st_mtime_ns == made
    assert "actions_per_s" not in capsys.readouterr().out
    assert table.read_text().splitlines()[-3:] == first.splitlines()[-3:]
    model.unlink()
    assert main([*options, "--only", "local"]) == 0
    assert main([*options, "--only", "magic"]) == 2
    assert "no recipe magic" in capsys.readouterr().err


def test_a_batch_can_be_taken_in_smaller_passes(parts: Path) -> None:
    out, table = parts / "runs", parts / "recipes.md"
    options = ["--preset", "tiny", "--init", str(parts / "base"), "--data", str(parts / "data")]
    options += ["--held-out", str(parts / "data"), "--out", str(out), "--history", "128"]
    options += ["--steps", "2", "--prompts", "2", "--batch", "2", "--workers", "1"]
    options += ["--only", "local", "--accumulate", "4", "--write", str(table)]
    assert main(options) == 0
    settings = json.loads((out / "local" / "settings.json").read_text())["settings"]
    assert settings["rows"] * settings["accumulate"] == preset_settings("tiny").rows
    assert settings["accumulate"] == 4
    assert "--accumulate 4" in table.read_text()


def test_each_recipe_differs_from_ours_in_one_thing() -> None:
    all_of_them = recipes()
    ours = next(recipe for recipe in all_of_them if recipe.name == "ours")
    assert len({recipe.name for recipe in all_of_them}) == len(all_of_them)
    for recipe in all_of_them:
        if "rate" in recipe.name:
            assert recipe.mixture == ours.mixture
        elif recipe is not ours and not recipe.changes:
            assert recipe.mixture != ours.mixture
