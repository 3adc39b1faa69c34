"""A data set in parts: together they hold every document once, by files, by documents and from the hub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from tests.conftest import ROOT
from tests.training.data.test_shards import texts_in
from training.data.corpus import Manifest
from training.data.parts import Part, join_parts
from training.data.shards import run

main = partial(run_with, run)

TEXTS = [f"Document number {number}, and a line of its own." for number in range(41)]


def as_files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        rows = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS[number::count])
        (folder / f"{number:02}.jsonl").write_text(rows)
    return folder


def tokenise(out: Path, source: str, *more: str) -> int:
    return main([str(out), source, "--tokenizer", "gpt2", "--workers", "1", *more])


@pytest.mark.parametrize("files", [1, 2, 9])
def test_parts_together_are_the_whole(tmp_path: Path, files: int) -> None:
    source, out = str(as_files(tmp_path / "texts", files)), tmp_path / "out"
    for index in range(3):
        assert tokenise(out, source, "--part", f"{index}/3") == 0
    sizes = [Manifest.load(out / Part(index, 3).folder).documents for index in range(3)]
    assert sum(sizes) == len(TEXTS)
    assert min(sizes) > 0
    assert main([str(out), "--join"]) == 0
    assert Counter(texts_in(out)) == Counter(TEXTS)
    assert not list(out.glob("part-*"))
    # What was joined is as good as if it had been made at once: more can be added to it.
    other = tmp_path / "more.txt"
    other.write_text("One more.")
    assert tokenise(out, str(other)) == 0
    assert len(texts_in(out)) == len(TEXTS) + 1


def test_a_part_that_is_done_is_not_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = str(as_files(tmp_path / "texts", 1)), tmp_path / "out"
    assert tokenise(out, source, "--part", "1/2") == 0
    assert tokenise(out, source, "--part", "1/2") == 0
    assert "already there" in capsys.readouterr().err


def test_joining_goes_on_where_it_was(tmp_path: Path) -> None:
    source, out = str(as_files(tmp_path / "texts", 1)), tmp_path / "out"
    for index in range(2):
        tokenise(out, source, "--part", f"{index}/2")
    # As if it had been killed with half of a part moved.
    folder = out / Part(0, 2).folder
    moved = next(folder.glob("*.tokens.npy"))
    moved.rename(out / moved.name)
    join_parts(out)
    assert Counter(texts_in(out)) == Counter(TEXTS)


def test_parts_that_are_missing_or_damaged_get_a_sentence(tmp_path: Path) -> None:
    source, out = str(as_files(tmp_path / "texts", 1)), tmp_path / "out"
    with pytest.raises(ReviserError, match="holds no parts to join"):
        join_parts(out)
    tokenise(out, source, "--part", "1/3")
    with pytest.raises(ReviserError, match="lacks 2 of 3 parts: 0, 2"):
        join_parts(out)
    for index in (0, 2):
        tokenise(out, source, "--part", f"{index}/3")
    next((out / Part(2, 3).folder).glob("*.tokens.npy")).unlink()
    with pytest.raises(ReviserError, match="damaged or incomplete"):
        join_parts(out)


@pytest.mark.parametrize("wrong", ["3/3", "1", "a/b", "-1/2", "rank"])
def test_a_wrong_part_gets_a_sentence(
    tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX"):
        monkeypatch.delenv(name, raising=False)
    assert tokenise(tmp_path / "out", "nothing", f"--part={wrong}") == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_processes_take_the_part_of_their_rank(tmp_path: Path, streamed: bool) -> None:
    """As torchrun, Slurm and Kubernetes start them; the texts are files, or a data set that is streamed."""
    if streamed:
        pytest.importorskip("datasets", reason="datasets is not installed (the extra `data`)")
    files, out = as_files(tmp_path / "texts", 4), tmp_path / "out"
    source = f"hf:{files}" if streamed else str(files)
    cache = {"HF_DATASETS_CACHE": str(tmp_path / "cache")}
    words = ["-m", "training", "data", str(out), source, "--tokenizer", "gpt2", "--workers", "1"]
    started = [
        subprocess.Popen(
            [sys.executable, *words, "--part", "rank"],
            cwd=ROOT,
            env=os.environ | cache | names,
            stdout=subprocess.DEVNULL,
        )
        for names in ({"RANK": "0", "WORLD_SIZE": "2"}, {"SLURM_PROCID": "1", "SLURM_NTASKS": "2"})
    ]
    assert [process.wait(timeout=300) for process in started] == [0, 0]
    join_parts(out)
    assert Counter(texts_in(out)) == Counter(TEXTS)


@pytest.mark.parametrize("files", [3, 4])
def test_a_data_set_is_streamed_in_parts(tmp_path: Path, files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By files where each part gets as many, else by rows; a folder of files stands for the hub's."""
    pytest.importorskip("datasets", reason="datasets is not installed (the extra `data`)")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    source, out = f"hf:{as_files(tmp_path / 'texts', files)}", tmp_path / "out"
    for index in range(2):
        assert tokenise(out, source, "--part", f"{index}/2") == 0
    join_parts(out)
    assert Counter(texts_in(out)) == Counter(TEXTS)
    shutil.rmtree(out)
    assert tokenise(out, source) == 0
    assert Counter(texts_in(out)) == Counter(TEXTS)
