"""Searches through shards: interrupted and gone on with, not made twice, and made anew where something else is
wanted."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from reviser.cli.options import run_with
from tests.benchmarks.tiny_reviser import base_and_shards
from tests.commands import start
from tests.conftest import ROOT
from training.data.corpus import Manifest, optional_path
from training.data.optional_pieces import FACTS, run
from training.data.shards import Options, tokenise

TEXT = "the tin in a hall, the thin a tin, is ill. a thing is in the tin. all is the a hall. " * 6
STOPPED = "stopped: the same command goes on with the first unfinished shard"
EVERYTHING = ("--most", "1000", "--rows", "1")


search = partial(run_with, run)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A short shard and a long one, beside the base that reads them."""
    base_and_shards(tmp_path, TEXT, 1)
    more = tmp_path / "more.jsonl"
    more.write_text("".join(json.dumps({"text": f"{n} {TEXT}"}) + "\n" for n in range(8)))
    tokenise(tmp_path / "data", [str(more)], str(tmp_path / "tokenizer.json"), Options())
    return tmp_path / "data"


def words_of(shards: Path, *more: str) -> list[str]:
    base = str(shards.parent / "base")
    return [str(shards), "--base", base, "--per-hundred", "5", *EVERYTHING, *more]


def names_of(shards: Path) -> list[str]:
    return [entry.name for source in Manifest.load(shards).sources for entry in source.shards]


@contextmanager
def ctrl_c_after(path: Path) -> Iterator[None]:
    """Interrupts this process as soon as a file is there."""

    def watch() -> None:
        until = time.monotonic() + 120
        while not path.exists() and time.monotonic() < until:
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        watcher.join()


def test_an_interrupted_search_goes_on_with_the_next_shard(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, facts = words_of(shards), shards / FACTS
    first, second = names_of(shards)
    paths = [optional_path(shards, name) for name in (first, second)]
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(facts):
        search(words)
    assert STOPPED in capsys.readouterr().err
    assert [path.exists() for path in paths] == [True, False]
    assert [one["shard"] for one in json.loads(facts.read_text())["shards"]] == [first]
    made = paths[0].stat().st_mtime_ns
    assert search(words) == 0
    assert f"{first}: already there" in capsys.readouterr().out
    assert paths[0].stat().st_mtime_ns == made
    noted = json.loads(facts.read_text())["shards"]
    assert [one["shard"] for one in noted] == [first, second]
    # What went on comes to what one search finds.
    whole = paths[1].read_bytes()
    for path in (*paths, facts):
        path.unlink()
    assert search(words) == 0
    assert paths[1].read_bytes() == whole
    assert json.loads(facts.read_text())["shards"] == noted


def test_a_search_is_made_again_only_where_something_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base_and_shards(tmp_path, TEXT, 2)
    shards = tmp_path / "data"
    words, facts = words_of(shards), shards / FACTS
    (name,) = names_of(shards)
    path = optional_path(shards, name)
    assert search(words) == 0
    first, when = path.read_bytes(), path.stat().st_mtime_ns
    assert search(words) == 0
    assert "already there" in capsys.readouterr().out
    assert path.stat().st_mtime_ns == when
    # Another seed is another search.
    assert search([*words, "--seed", "1"]) == 0
    assert path.read_bytes() != first
    assert search(words) == 0
    assert path.read_bytes() == first
    # So it is with findings that were lost, and with facts that do not say which tokens they are about.
    path.unlink()
    assert search(words) == 0
    assert path.read_bytes() == first
    known = json.loads(facts.read_text())
    assert len(known["shards"]) == 1
    del known["shards"][0]["sha256"]
    facts.write_text(json.dumps(known))
    capsys.readouterr()
    assert search(words) == 0
    assert "already there" not in capsys.readouterr().out
    assert "sha256" in json.loads(facts.read_text())["shards"][0]


def test_ctrl_c_ends_the_process_without_a_trace(shards: Path) -> None:
    process = start("optional_pieces", *words_of(shards), cwd=ROOT, program="training")
    while not (shards / FACTS).exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert said.decode().strip().endswith(STOPPED)


def test_what_a_search_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base_and_shards(tmp_path, TEXT, 1)
    base = str(tmp_path / "base")
    assert search([str(tmp_path / "data"), "--base", base, "--rows", "0"]) == 2
    assert "--rows is 1 or more" in capsys.readouterr().err
    (tmp_path / "text.txt").write_text(TEXT)
    tokenise(tmp_path / "other", [str(tmp_path / "text.txt")], "gpt2", Options())
    assert search([str(tmp_path / "other"), "--base", base]) == 2
    assert "another tokenizer" in capsys.readouterr().err
    assert not (tmp_path / "other" / FACTS).exists()
