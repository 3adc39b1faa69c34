"""Runs of several processes under torchrun: saved by some, resumed by others, killed and restarted."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import load
from reviser.cli.options import run_with
from tests.conftest import ROOT
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from training.data.shards import run as run_make_data
from training.trainer.metrics import read_metrics
from training.trainer.run import run as run_train
from training.trainer.saving import tidy

make_data = partial(run_with, run_make_data)
train = partial(run_with, run_train)

SCRIPT = ROOT / "tests" / "training" / "distributed" / "one_of_many.py"
STEPS = 10
TEXT = "the cat sat on a mat and looked at his dog who had gone away to find bread"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    chooser = random.Random(0)
    (folder / "tokenizer.json").write_bytes(toy_tokenizer_json())
    lines = [" ".join(chooser.choices(TEXT.split(), k=40)).capitalize() + "." for _ in range(150)]
    path = folder / "train.jsonl"
    path.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    tokenizer = str(folder / "tokenizer.json")
    assert make_data([str(folder / "train"), str(path), "--tokenizer", tokenizer]) == 0
    return folder


def options(data: Path, out: Path, *more: str) -> list[str]:
    return [
        "tiny",
        *("--data", str(data / "train"), "--out", str(out)),
        *("--tokenizer", str(data / "tokenizer.json")),
        *("--rows", "8", "--steps", str(STEPS), "--checkpoint-every", "4", "--ema", "0.9"),
        *("--workers", "1", "--accumulate", "2", "--peak-rate", "0.01"),
        *more,
    ]


def environment() -> dict[str, str]:
    chosen = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return chosen | ({"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {})


def torchrun(processes: int, *words: str) -> list[str]:
    # Over the machine's own loop: its name may not be one that it can look up.
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr", "127.0.0.1", f"--nproc-per-node={processes}"]
    return [*command, *words]


def started(processes: int, words: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        torchrun(processes, str(SCRIPT), *words),
        env=environment() | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def losses(out: Path) -> dict[int, float]:
    entries = read_metrics(out / "metrics.jsonl")
    return {entry["step"]: entry["loss"] for entry in entries if "loss" in entry}


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four processes that nobody interrupted."""
    out = tmp_path_factory.mktemp("whole") / "run"
    done = started(4, options(data, out, "--parallel", "fsdp"))
    assert done.returncode == 0, done.stderr
    assert losses(out)[STEPS] < losses(out)[1] - 0.3
    return out


@pytest.fixture(scope="module")
def broken(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, ended in its fifth step; its last checkpoint is of the fourth."""
    out = tmp_path_factory.mktemp("broken") / "run"
    words = options(data, out, "--parallel", "fsdp")
    done = started(4, words, REVISER_TEST_ENDS_AT="5")
    assert done.returncode != 0
    assert (out / "latest").is_dir()
    assert not (out / "model").exists()
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "parallel"), [(2, "fsdp"), (4, "fsdp"), (2, "ddp"), (1, "none")])
def test_what_four_saved_others_go_on_with(
    processes: int, parallel: str, data: Path, whole: Path, broken: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(broken, out)
    words = options(data, out, "--parallel", parallel, "--resume")
    done = started(processes, words)
    assert done.returncode == 0, done.stderr
    assert "goes on from step 4" in done.stdout
    expected, got = losses(whole), losses(out)
    assert sorted(got) == sorted(expected)
    for step, loss in expected.items():
        assert got[step] == pytest.approx(loss, rel=1e-4), step
    # The result is an average over all steps: of those before the checkpoint, too.
    one, other = (load(folder / "model").model.state_dict() for folder in (whole, out))
    for name, weight in one.items():
        torch.testing.assert_close(other[name], weight, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_what_one_process_saved_several_go_on_with(data: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), *options(data, out, "--lanes", "4")],
        env=environment() | {"REVISER_TEST_ENDS_AT": "5"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 9, ended.stderr
    done = started(2, options(data, out, "--parallel", "fsdp", "--resume"))
    assert done.returncode == 0, done.stderr
    for step, loss in losses(whole).items():
        assert losses(out)[step] == pytest.approx(loss, rel=1e-4), step


@pytest.mark.slow
def test_a_killed_process_costs_no_more_than_a_checkpoints_worth(data: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = options(data, out, "--parallel", "fsdp", "--elastic")
    said = tmp_path / "said.txt"
    with said.open("w") as file:
        command = torchrun(4, "--max-restarts=2", str(SCRIPT), *words)
        agent = subprocess.Popen(command, env=environment(), stdout=file, stderr=file)
        try:
            _wait_for(lambda: max(losses(out), default=0) >= 5, agent)
            reached = max(losses(out))
            os.kill(_a_worker_of(agent.pid), signal.SIGKILL)
            assert agent.wait(timeout=600) == 0, said.read_text()
        finally:
            agent.kill()
    went_on = [int(line.rpartition(" ")[2]) for line in said.read_text().splitlines() if "goes on from step" in line]
    assert went_on, said.read_text()
    assert 0 <= reached - went_on[0] <= 4 or went_on[0] > reached
    expected, got = losses(whole), losses(out)
    assert sorted(got) == sorted(expected)
    for step, loss in expected.items():
        assert got[step] == pytest.approx(loss, rel=1e-4), step


@pytest.mark.slow
def test_a_number_of_processes_that_cannot_share_the_lanes_gets_a_sentence(
    data: Path, broken: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(broken, out)
    done = started(3, options(data, out, "--parallel", "fsdp", "--resume"))
    assert done.returncode != 0
    assert "dealt out to 4 lanes" in done.stderr
    assert (out / "latest" / "shards").is_dir()


def test_a_run_that_may_be_restarted_begins_and_goes_on_with_the_same_words(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = options(data, tmp_path / "run", "--elastic")
    assert train(words) == 0
    assert "goes on" not in capsys.readouterr().out
    assert train(words) == 0
    assert f"goes on from step {STEPS}" in capsys.readouterr().out


def test_a_run_killed_between_two_names_gets_its_checkpoint_back(tmp_path: Path) -> None:
    aside = tmp_path / ".latest.abc.old" / "latest"
    aside.mkdir(parents=True)
    (aside / "weights").write_bytes(b"of hours")
    (tmp_path / ".latest.def.tmp").mkdir()
    tidy(tmp_path)
    assert (tmp_path / "latest" / "weights").read_bytes() == b"of hours"
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]
    # Where the new one is in place, the old one is not wanted any more.
    (tmp_path / ".latest.abc.old" / "latest").mkdir(parents=True)
    tidy(tmp_path)
    assert (tmp_path / "latest" / "weights").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]


def _wait_for(has_come: object, agent: subprocess.Popen[bytes]) -> None:
    assert callable(has_come)
    while not has_come():
        assert agent.poll() is None
        time.sleep(0.1)


def _a_worker_of(agent: int) -> int:
    """The process id of one of the workers that the agent started."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(agent)], capture_output=True, text=True, check=True
    )
    workers = [int(line.split()[0]) for line in listed.stdout.splitlines() if SCRIPT.name in line]
    return workers[-1]
