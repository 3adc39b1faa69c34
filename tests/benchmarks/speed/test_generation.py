"""Benchmarks on batched generation: they run whole, and count what the runs did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.measures import continuation, infill
from benchmarks.speed import generation
from reviser.checkpoints.home import save_checkpoint
from tests.reviser.checkpoints.parts import toy_checkpoint
from training.data.shards import main as make_data


def test_speed_counts_all_actions_and_writes_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "speed.md"
    options = ["--preset", "tiny", "--rows", "2", "3", "--batches", "2", "--write", str(out)]
    assert generation.main(options) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    assert [(line["rows"], line["runs"]) for line in lines] == [(2, 4), (3, 6)]
    for line in lines:
        assert 0 < line["actions"] <= line["runs"] * (128 - 1 - generation.PROMPT_TOKENS)
        assert line["slowest"] <= line["actions_per_s"] <= line["fastest"]
    assert "| 3 | 6 |" in out.read_text()
    assert "- Weights: random, tiny, float32\n" in out.read_text()


def test_continuations_of_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data, texts = tmp_path / "made", tmp_path / "data", tmp_path / "texts.jsonl"
    checkpoint = toy_checkpoint(context=2048)
    save_checkpoint(model, checkpoint)
    text = "the thing in all the tins is a thin ill the "
    texts.write_text("".join(json.dumps({"text": f"{n} {text * 20}"}) + "\n" for n in range(4)))
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_bytes(checkpoint.tokenizer_json or b"")
    assert make_data([str(data), "--tokenizer", str(tokenizer), str(texts)]) == 0
    capsys.readouterr()
    options = [
        "--evaluator",
        str(model),
        "--data",
        str(data),
        "--prompts",
        "3",
        "--seeds",
        "1",
        "2",
    ]
    saved = tmp_path / "saved.jsonl"
    assert continuation.main([str(model), *options, "--batch", "4", "--save", str(saved)]) == 0
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [line["seed"] for line in lines] == [1, 1, 1, 2, 2, 2]
    assert all(text.startswith(line["prompt"][2:9]) for line in lines)
    made, real = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (made["name"], made["prompts"]) == ("made", 6)
    assert (real["name"], real["prompts"]) == ("real text", 3)
    assert made["tokens"] > 0
    assert made["actions_per_s"] > 0
    assert made["ppl"] > 1
    assert infill.main([str(model), *options[:4], "--passages", "2", "--batch", "2"]) == 0
    real, nothing, made = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (real["name"], real["tokens"], real["beaten"]) == ("real text", infill.GAP_TOKENS, 1.0)
    assert (nothing["name"], nothing["tokens"]) == ("nothing", 0.0)
    assert made["passages"] == 2
    assert made["tokens"] > 0
