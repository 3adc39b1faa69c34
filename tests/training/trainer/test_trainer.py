"""Training runs, small but whole: they learn, resume exactly, stop when asked, and share the work."""

from __future__ import annotations

import json
import math
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import load
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from reviser.model import Reviser
from tests.commands import start
from tests.conftest import ROOT
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from tests.training.interrupting import assert_ctrl_c_saves
from tests.training.trainer import shared_run
from training.data.shards import run as run_make_data
from training.trainer.metrics import MetricsLog, read_metrics
from training.trainer.run import run as run_train
from training.trainer.run import starting_point
from training.trainer.settings import PRESETS, Settings, learning_rate, preset_settings
from training.trainer.trainer import StepMeasures, Trainer, clip

make_data = partial(run_with, run_make_data)
train = partial(run_with, run_train)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    chooser = random.Random(0)
    words = [
        "the",
        "cat",
        "sat",
        "on",
        "a",
        "mat",
        "and",
        "looked",
        "at",
        "his",
        "dog",
        "who",
        "had",
        "gone",
        "away",
        "to",
        "find",
        "bread",
    ]
    # A small vocabulary: with GPT-2's, most of the time would go into scores of ids that do not occur.
    (folder / "tokenizer.json").write_bytes(toy_tokenizer_json())
    lines = [" ".join(chooser.choices(words, k=40)).capitalize() + "." for _ in range(150)]
    for name in ("train", "held-out"):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
        given = ["--tokenizer", str(folder / "tokenizer.json")]
        assert make_data([str(folder / name), str(path), *given]) == 0
        chooser.shuffle(lines)
    return folder


def options(data: Path, out: Path, *more: str) -> list[str]:
    return [
        "tiny",
        *("--data", str(data / "train")),
        *("--held-out", str(data / "held-out")),
        *("--out", str(out), "--tokenizer", str(data / "tokenizer.json")),
        *("--rows", "4", "--evaluate-every", "1000", "--checkpoint-every", "1000"),
        *more,
    ]


def losses(out: Path) -> dict[int, float]:
    return {entry["step"]: entry["loss"] for entry in read_metrics(out / "metrics.jsonl") if "loss" in entry}


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.trainer.run._REPORT_SECONDS", 0.0)


def test_samples_are_written_with_rounded_weights_where_passes_see_those(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(self: object, model: Reviser, reporter: object) -> dict[str, float]:
        # Four bits leave a group of 32 weights no more than 16 values.
        groups = model.blocks[0].mlp.down.weight.detach().reshape(-1, 32)
        seen.append(all(len(group.unique()) <= 16 for group in groups))
        return {}

    monkeypatch.setattr("training.trainer.run.HeldOutEvaluator._write_samples", look)
    words = ("--steps", "4", "--evaluate-every", "2", "--round-bits", "4", "--round-from", "0.7")
    assert train(options(data, tmp_path / "run", *words)) == 0
    assert seen[0] is False
    assert seen[-1] is True


@pytest.mark.usefixtures("every_step")
def test_a_run_learns_and_leaves_a_model(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert (
        train(options(data, out, "--steps", "12", "--evaluate-every", "6", "--ema", "0.9", "--peak-rate", "0.01")) == 0
    )
    curve = losses(out)
    assert curve[12] < curve[1] - 0.5
    examined = [entry for entry in read_metrics(out / "metrics.jsonl") if "held_out_loss" in entry]
    made = load(out / "model")
    assert examined[-1]["held_out_loss"] < math.log(made.vocabulary.size)
    assert {"sampled_moves", "sampled_backward", "sampled_stops"} <= examined[-1].keys()
    assert made.vocabulary.kinds == {"insert", "move", "stop"}
    assert made.metadata["settings"]["steps"] == 12
    assert "training run tiny" in made.metadata["command"]
    averaged, last = (made.model.embedding.weight, load(out / "latest" / "model").model.embedding.weight)
    assert not torch.equal(averaged, last)


@pytest.mark.usefixtures("every_step")
def test_a_run_stopped_and_resumed_follows_the_same_curve(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    settings = ("--steps", "10", "--dropout", "0.1", "--accumulate", "2")
    train(options(data, whole, *settings))
    steps = Trainer.steps

    def some(self: Trainer) -> Iterator[StepMeasures]:
        for measured in steps(self):
            yield measured
            if self.progress.step == 5:
                raise SystemExit(9)

    monkeypatch.setattr(Trainer, "steps", some)
    with pytest.raises(SystemExit):
        train(options(data, broken, *settings, "--checkpoint-every", "4"))
    monkeypatch.setattr(Trainer, "steps", steps)
    # Nothing that this process still knows is to help.
    torch.manual_seed(99)
    assert sorted(losses(broken)) == [1, 2, 3, 4, 5]
    train(options(data, broken, *settings, "--resume"))
    expected, got = losses(whole), losses(broken)
    assert sorted(got) == sorted(expected)
    for step, loss in expected.items():
        assert got[step] == pytest.approx(loss, rel=1e-5), step


def test_ctrl_c_saves_and_says_how_to_go_on(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["run", *options(data, out, "--steps", "100000")]
    assert_ctrl_c_saves(words, out, lambda: losses(out))


def test_a_run_on_the_clock_ends_annealed(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    # A busy machine takes few steps in this time: none of them is to be warmup but the first.
    train(options(data, out, "--minutes", "0.05", "--warmup-steps", "1"))
    entries = [entry for entry in read_metrics(out / "metrics.jsonl") if "rate" in entry]
    preset = PRESETS["tiny"]
    assert entries[-1]["rate"] < preset["peak_rate"] / 2
    assert entries[-1]["rate"] >= preset["final_rate"]
    assert entries[-1]["seconds"] == pytest.approx(3, abs=3)


@pytest.mark.usefixtures("every_step")
def test_the_autoregressive_baseline_is_one_flag(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "ar"
    train(options(data, out, "--steps", "4", "--objective", "ar"))
    made = load(out / "model")
    assert made.vocabulary.kinds == {"insert", "stop"}
    assert made.metadata["mixture"]["plain"] == 1.0


@pytest.mark.usefixtures("every_step")
def test_a_warm_start_begins_where_the_other_model_ended(data: Path, tmp_path: Path) -> None:
    train(options(data, tmp_path / "first", "--steps", "12", "--peak-rate", "0.01"))
    warm = options(data, tmp_path / "warm", "--steps", "2", "--init", str(tmp_path / "first" / "model"))
    train(warm)
    assert losses(tmp_path / "warm")[1] < losses(tmp_path / "first")[1] - 0.5


@pytest.mark.usefixtures("every_step")
def test_a_run_learns_to_revise(data: Path, tmp_path: Path) -> None:
    """With one edit to learn, over and over, the loss on edits falls."""
    edits = tmp_path / "edits.jsonl"
    row = {"before": "The cat sat.", "after": "The dog sat.", "left": "Once.", "right": ""}
    edits.write_text((json.dumps(row) + "\n") * 40)
    shards = str(tmp_path / "edits")
    tokenizer = str(data / "tokenizer.json")
    assert make_data([shards, str(edits), "--tokenizer", tokenizer, "--edits"]) == 0
    mixture = tmp_path / "mixture.json"
    mixture.write_text(json.dumps({"edits": 5.0, "unchanged": 0.0, "edit_orders": [[1, "forward"]]}))
    out = tmp_path / "run"
    more = ["--mixture", str(mixture), "--edits", shards, "--held-out-edits", shards]
    more += ["--operators", "delete,span_delete", "--steps", "16", "--peak-rate", "0.01"]
    assert train(options(data, out, *more)) == 0
    made = load(out / "model")
    by_chance = math.log(made.vocabulary.size)
    assert read_metrics(out / "metrics.jsonl")[-1]["held_out_edit_loss"] < by_chance - 2.5
    assert made.vocabulary.kinds == {"insert", "move", "stop", "delete", "span_delete"}
    assert made.vocabulary.extensions == ("span_delete",)
    assert made.vocabulary.revises
    assert train(options(data, tmp_path / "no", "--mixture", str(mixture), "--edits", shards)) == 2
    # New operators get their ids behind the old ones.
    more_to_learn = preset_settings("tiny", operators="delete,span_delete,replace")
    grown = starting_point(more_to_learn, tokenizer, str(out / "model"))
    assert grown.vocabulary.size == made.vocabulary.size + made.tokenizer.size
    assert grown.model.config.vocab_size == grown.vocabulary.size


def environment() -> dict[str, str]:
    """For processes that talk over the machine's own loop: its name may not be one that it can look up."""
    loop = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    return os.environ | loop | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def launch(kind: str, out: Path) -> None:
    """Two processes, as torchrun starts them."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr", "127.0.0.1", "--nproc-per-node=2"]
    command += [str(shared_run.__file__), kind, str(out)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def fork_two(kind: str, out: Path) -> None:
    """Two processes with what torchrun would tell them, which need not import torch again."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    told |= {"LOCAL_WORLD_SIZE": "2"}
    processes = [
        start(kind, out, env=environment() | told | {"RANK": rank, "LOCAL_RANK": rank}, program=shared_run.__name__)
        for rank in "01"
    ]
    try:
        for process in processes:
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0, said.decode()
    finally:
        for process in processes:
            process.kill()


@pytest.mark.parametrize(
    ("kind", "begin"),
    [
        ("ddp", fork_two),
        pytest.param("ddp", launch, marks=pytest.mark.slow),
        pytest.param("fsdp", launch, marks=pytest.mark.slow),
    ],
)
def test_two_processes_equal_one_with_twice_the_batch(
    kind: str, begin: Callable[[str, Path], None], tmp_path: Path
) -> None:
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    # A process alone links itself to no others, so it may as well be this one.
    shared_run.run(kind, one)
    begin(kind, two)
    alone, together = (json.loads(path.read_text()) for path in (one, two))
    assert together == pytest.approx(alone, rel=1e-4)
    assert alone[-1] < alone[0]


def test_several_processes_must_be_asked_for(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert train(options(data, tmp_path / "run", "--steps", "2")) == 2


def test_the_schedule_warms_up_and_anneals() -> None:
    settings = preset_settings("tiny", warmup_steps=10, peak_rate=1.0, final_rate=0.1)
    assert learning_rate(settings, 0, 0.0) == pytest.approx(0.1)
    assert learning_rate(settings, 10, 0.0) == pytest.approx(1.0)
    assert learning_rate(settings, 50, 0.5) == pytest.approx(0.55)
    assert learning_rate(settings, 99, 1.0) == pytest.approx(0.1)


def test_the_papers_presets_hold_the_papers_figures() -> None:
    small, large = preset_settings("paper-100m"), preset_settings("paper-300m")
    assert small.rows * small.accumulate * small.row_length == 64 * 256
    assert large.rows * large.accumulate * large.row_length == 64 * 512
    assert (small.peak_rate, small.final_rate) == (1e-4, 2e-5)
    assert (large.peak_rate, large.final_rate) == (1e-5, 1e-6)
    for settings in (small, large):
        assert settings.steps is not None
        actions = settings.steps * settings.rows * settings.accumulate * settings.row_length
        assert actions == pytest.approx(30e9, rel=1e-3)
        assert (settings.warmup_steps, settings.dropout, settings.clip) == (2000, 0.1, 1.0)
        assert (settings.betas, settings.epsilon, settings.weight_decay) == ((0.9, 0.95), 1e-8, 0.1)


@pytest.mark.parametrize(
    "wrong", [{"steps": None, "minutes": None}, {"steps": 1, "minutes": 1.0}, {"steps": 1, "rows": 0}]
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ReviserError):
        Settings.from_dict({"model": "tiny"} | wrong)


def test_a_history_beyond_the_models_context_gets_one_sentence(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    longer = ("--history", "4096", "--row-length", "4096")
    assert train(options(data, tmp_path / "run", *longer)) == 2
    errors = capsys.readouterr().err
    assert "ids at the most: lower --history 4096" in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_resumed_log_drops_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path)
    for step in range(1, 6):
        log.write(step=step)
    log.close()
    with path.open("a") as file:
        file.write('{"step": 6, "lo')
    MetricsLog(path, resumed_at=3).close()
    assert [entry["step"] for entry in read_metrics(path)] == [1, 2, 3]


@pytest.mark.parametrize("size", [0.01, 10.0])
def test_an_optimizer_that_divides_gradients_clips_as_well(size: float) -> None:
    made = []
    for divides in (False, True):
        torch.manual_seed(0)
        layer = torch.nn.Linear(4, 3)
        optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
        norms = []
        # What an optimizer remembers makes clipping last beyond its step.
        for factor in (size, 1 / size, size):
            (factor * layer(torch.ones(2, 4))).square().sum().backward()
            norms.append(clip(optimizer, layer, 1.0, divides=divides))
            optimizer.step()
            optimizer.zero_grad()
        made.append([*norms, *(weight.detach() for weight in layer.parameters())])
    for one, other in zip(*made, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
