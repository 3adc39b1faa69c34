"""The figures of a training run come from the files that a real one leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies.training.training_runs import TrainingRun, main


def _run(folder: Path, **settings: object) -> Path:
    folder.mkdir()
    described = {"settings": settings, "command": "python -m training run tiny"}
    (folder / "settings.json").write_text(json.dumps(described))
    entries = [
        {
            "step": step,
            "seconds": float(step),
            "actions": 1000 * step,
            "loss": 5 - step / 100,
            "rate": 1e-4,
            "actions_per_s": 1000 if step <= 60 else 800,
            "waited_share": 0.5 if step == 1 else 0.02,
            "mfu": 0.4,
        }
        for step in range(1, 101)
    ]
    lines = [json.dumps(entry) for entry in [*entries, {"step": 100, "held_out_loss": 4.25}]]
    (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_speed_is_told_apart_where_weights_are_rounded(tmp_path: Path) -> None:
    figures = TrainingRun.read(_run(tmp_path / "long", round_bits=4, round_from=0.6)).figures()
    assert figures == ("long", "1.7", "100", "0.1", "1.0", "0.8", "0.400", "2.0%", "4.250")


def test_a_run_without_rounding_has_one_speed(tmp_path: Path) -> None:
    figures = TrainingRun.read(_run(tmp_path / "ar", round_bits=None, round_from=0.6)).figures()
    assert figures[4:6] == ("1.0", "")


def test_the_page_has_every_run_and_where_it_took_place(tmp_path: Path) -> None:
    runs = [_run(tmp_path / name, round_bits=None) for name in ("one", "other")]
    page = tmp_path / "page.md"
    assert main([*map(str, runs), "--where", "a machine", "--write", str(page)]) == 0
    text = page.read_text()
    assert "- Trained on: a machine\n" in text
    assert text.count("| 90% to 100%") == 2
    assert "| 0% to 10%       | 4.945 |" in text


def test_a_folder_without_a_run_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--where", "here"]) == 2
    assert capsys.readouterr().err == f"reviser: there is no file {tmp_path}/settings.json\n"
    (tmp_path / "settings.json").write_text("{}")
    assert main([str(tmp_path), "--where", "here"]) == 2
    assert "is not the folder of a training run\n" in capsys.readouterr().err
