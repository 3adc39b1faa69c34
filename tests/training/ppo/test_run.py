"""`python -m training ppo`, small but whole: it tunes a model, resumes exactly and stops when asked."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from reviser.checkpoints.home import load, save_checkpoint
from reviser.cli.options import run_with
from reviser.core.vocabulary import PAPER_KINDS
from tests.conftest import ROOT
from tests.reviser.checkpoints.parts import toy_checkpoint, toy_tokenizer_json
from tests.training.interrupting import assert_ctrl_c_saves
from training.data.shards import run as run_make_data
from training.ppo.run import run as run_tune
from training.trainer.metrics import read_metrics

make_data = partial(run_with, run_make_data)
tune = partial(run_with, run_tune)

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "all", "the", "things", "in", "the", "hall"]


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, a tiny model that moves, and a tiny one that can be an evaluator."""
    folder = tmp_path_factory.mktemp("ppo")
    chooser = random.Random(0)
    lines = [" ".join(chooser.choices(WORDS, k=20)) + "." for _ in range(40)]
    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_bytes(toy_tokenizer_json())
    shards = [str(folder / "shards"), str(texts), "--tokenizer", str(tokenizer), "--workers", "1"]
    assert make_data(shards) == 0
    for name, kinds in (("model", PAPER_KINDS), ("judge", frozenset({"insert", "stop"}))):
        made = toy_checkpoint(context=256)
        save_checkpoint(folder / name, replace(made, vocabulary=replace(made.vocabulary, kinds=kinds)))
    return folder


def options(parts: Path, out: Path, *more: str) -> list[str]:
    small = {"prompts": 2, "candidates": 3, "max-actions": 12, "prompt-tokens": 8}
    small |= {"text-tokens": 16, "row-length": 64, "minibatch-rows": 2, "warmup-steps": 1}
    flags = [word for name, value in small.items() for word in (f"--{name}", str(value))]
    rewards = ["--reward", f"rank:likelihood:{parts / 'judge'}", "--reward", "0.5*repetition:2"]
    return [
        str(parts / "model"),
        *("--data", str(parts / "shards")),
        *("--out", str(out)),
        *flags,
        *(rewards if "--reward" not in more else ()),
        *more,
    ]


def figures(out: Path) -> list[dict[str, Any]]:
    """What was measured, without the times."""
    timed = ("seconds", "acting_s", "judging_s", "learning_s")
    return [
        {name: value for name, value in entry.items() if name not in timed}
        for entry in read_metrics(out / "metrics.jsonl")
    ]


def test_a_run_leaves_a_model_its_value_head_and_its_figures(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    terms = ["rank:arena:likelihood:{}", "likelihood:{}", "0.1*length:10", "0.1*repetition", "0.1*stop"]
    rewards = [word for term in terms for word in ("--reward", term.format(parts / "judge"))]
    assert tune(options(parts, out, *rewards, "--iterations", "2", "--peak-rate", "1e-3")) == 0
    first, last = read_metrics(out / "metrics.jsonl")
    known = {"reward", "kl", "entropy", "clip_fraction", "value_loss", "explained_variance"}
    known |= {"tokens", "stopped", "moves", "repeated_4", "distinct_2", "update_kl", "gradient"}
    assert known <= last.keys()
    assert (first["step"], last["step"]) == (1, 2)
    assert first["first_ratio"] == last["first_ratio"] == 1.0
    assert first["kl"] == pytest.approx(0, abs=1e-5)
    assert last["kl"] > 1e-5
    assert len(last["rewards"]) == 5
    assert (first["oracle_share"], last["oracle_share"]) == (0.25, 0.0)
    made, begun = load(out / "model"), load(parts / "model")
    assert made.vocabulary == begun.vocabulary
    assert not torch.equal(made.model.embedding.weight, begun.model.embedding.weight)
    assert made.metadata["rewards"][0].startswith("rank:arena:")
    assert "training ppo" in made.metadata["command"]
    assert not any("value" in name for name in made.model.state_dict())
    assert load_file(out / "latest" / "value.safetensors").keys() >= {"outer.weight"}
    assert (out / "latest" / "model").stat().st_mode & 0o700 == 0o700
    assert str(out / "model") in capsys.readouterr().out


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(parts: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    common = ("--iterations", "5", "--peak-rate", "1e-3", "--kl-target", "0.001")
    assert tune(options(parts, whole, *common)) == 0
    code = f"""
from reviser.cli.options import run_with
from training.ppo import run
from training.ppo import tuner
iterate = tuner.Tuner.iterate
def some(self):
    if self.progress.iteration == 3:
        raise SystemExit(9)
    return iterate(self)
tuner.Tuner.iterate = some
run_with(run.run, {options(parts, broken, *common, "--checkpoint-every", "2")!r})
"""
    stopped = subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT, timeout=200)
    assert stopped.returncode == 9
    assert [entry["step"] for entry in figures(broken)] == [1, 2, 3]
    assert tune(options(parts, broken, *common, "--resume")) == 0
    expected, got = figures(whole), figures(broken)
    assert [entry["step"] for entry in got] == [1, 2, 3, 4, 5]
    for one, other in zip(expected, got, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert other[name] == pytest.approx(value, rel=1e-4, abs=1e-6, nan_ok=True), name
    weights = load(whole / "model").model.state_dict()
    for name, value in load(broken / "model").model.state_dict().items():
        assert torch.allclose(value, weights[name], atol=1e-5), name


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(parts: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["ppo", *options(parts, out, "--iterations", "100000")]
    assert_ctrl_c_saves(words, out, lambda: read_metrics(out / "metrics.jsonl"))


def test_a_run_on_the_clock_ends_and_plays_ever_less(parts: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert tune(options(parts, out, "--minutes", "0.03", "--oracle-until", "1")) == 0
    entries = read_metrics(out / "metrics.jsonl")
    assert entries[0]["oracle_share"] == 0.25
    assert entries[-1]["seconds"] == pytest.approx(1.8, abs=0.05) or entries[-1]["seconds"] > 1.8
    shares = [entry["oracle_share"] for entry in entries]
    assert shares == sorted(shares, reverse=True)
    assert (out / "model").is_dir()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "iterations or a number of minutes"),
        (("--iterations", "1", "--minutes", "1"), "iterations or a number of minutes"),
        (("--iterations", "1", "--reward", "kindness"), "no reward kindness"),
        (("--iterations", "1", "--reward", "likelihood:/nowhere"), "/nowhere cannot be loaded"),
        (("--iterations", "1", "--reward", "arena:/nowhere"), "/nowhere cannot be loaded"),
        (("--iterations", "1", "--candidates", "1"), "two candidates"),
        (("--iterations", "1", "--candidates", "0"), "candidates must be 1 or more"),
        (("--iterations", "1", "--temperature", "0"), "temperature"),
        (("--iterations", "1", "--max-actions", "300"), "rows of 64 ids"),
        (("--iterations", "1", "--max-actions", "300", "--row-length", "512"), "reads 256 ids"),
        (("--iterations", "1", "--prompt-tokens", "20", "--text-tokens", "0"), "1 or more"),
        (("--iterations", "1", "--resume"), "no checkpoint to resume"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], told: str
) -> None:
    assert tune(options(parts, tmp_path / "run", *more)) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_a_run_is_not_resumed_with_another_reward(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert tune(options(parts, out, "--iterations", "1", "--reward", "stop")) == 0
    more = ("--iterations", "2", "--resume", "--reward", "length")
    assert tune(options(parts, out, *more)) == 2
    assert "another reward" in capsys.readouterr().err
    words = options(parts, out, "--iterations", "2", "--resume", "--reward", "stop")
    assert tune(words) == 0
    assert [entry["step"] for entry in read_metrics(out / "metrics.jsonl")] == [1, 2]


def test_texts_of_another_tokenizer_are_refused(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = tmp_path / "shards"
    words = [str(shards), str(parts / "texts.jsonl"), "--tokenizer", "gpt2", "--workers", "1"]
    assert make_data(words) == 0
    chosen = options(parts, tmp_path / "run", "--iterations", "1")
    chosen[chosen.index("--data") + 1] = str(shards)
    assert tune(chosen) == 2
    assert "another tokenizer" in capsys.readouterr().err
