"""What moves at several temperatures do: every setting on the same prompts, by the product's engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.moving import main
from reviser.checkpoints.home import save_checkpoint
from tests.checkpoints.parts import toy_checkpoint
from training.data import main as make_data


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    checkpoint = toy_checkpoint(context=512)
    save_checkpoint(tmp_path / "model", checkpoint)
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_bytes(checkpoint.tokenizer_json or b"")
    texts = tmp_path / "texts.jsonl"
    text = "the thing in all. the tins, is a thin ill the " * 12
    texts.write_text("".join(json.dumps({"text": f"{n} {text}"}) + "\n" for n in range(3)))
    assert make_data([str(tmp_path / "data"), "--tokenizer", str(tokenizer), str(texts)]) == 0
    return tmp_path


def test_each_temperature_has_its_row(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = parts / "moving.md"
    options = [str(parts / "model"), "--data", str(parts / "data")]
    options += ["--evaluator", str(parts / "model"), "--prompts", "2", "--write", str(page)]
    assert main([*options, "--temperatures", "0.9", "0.2", "0.9"]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line]
    first, second, again = ([cell.strip() for cell in row] for row in rows[2:])
    assert (first[0], second[0]) == ("0.9", "0.2")
    assert first == again
    assert first != second
    shares = [float(cell.rstrip("%")) for cell in first[2:6]]
    assert sum(shares) == pytest.approx(100, abs=0.3)
    assert float(first[1].rstrip("%")) == pytest.approx(shares[0] + shares[1], abs=0.2)
    told = page.read_text()
    assert "--temperatures 0.9 0.2 0.9" in told
    assert told.count("| 0.9 ") == 2
