"""The cache and the run folder: nothing is paid for twice, and an interrupted run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from benchmarks.protocol.records import Continuation, Progress, Prompt
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, file_name, generations_of, key_of, measured_each
from benchmarks.protocol.setup import Setup, prompts_by_seed
from reviser.core.errors import ReviserError

SETUP = Setup(prompts=6, seeds=(1, 2))
PROMPTS = prompts_by_seed(SETUP)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[RunCache]:
    with RunCache(tmp_path / "cache.sqlite") as opened:
        yield opened


@dataclass
class Shouter:
    """Continues a prompt with its last word in capitals; may be interrupted after some prompts."""

    name: str = "shouter"
    fingerprint: str = "one"
    patience: int = 1000
    asked: list[str] = field(default_factory=list)

    def generate(self, prompts: Sequence[Prompt], seed: int, progress: Progress) -> Iterator[Continuation]:
        for prompt in reversed(prompts):
            if self.patience == 0:
                raise KeyboardInterrupt
            self.patience -= 1
            self.asked.append(prompt.id)
            text = f" {prompt.text.split()[-1].upper()} {seed}"
            yield Continuation(prompt.id, self.name, seed, text, (1, 2), "stop", None, 0.5)
            progress(1)


def test_the_key_depends_on_the_facts_and_not_on_their_order() -> None:
    assert key_of(a=1, b=[1, 2]) == key_of(b=[1, 2], a=1)
    assert len({key_of(a=1, b=2), key_of(a=2, b=1), key_of(a=1), key_of(a="1", b=2)}) == 4


def test_the_cache_keeps_values_between_openings(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    with RunCache(path) as cache:
        assert cache.get("one") is None
        cache.put("one", {"text": "é\n", "tokens": [1, 2]})
        cache.put("one", {"text": "é\n", "tokens": [1, 2]})
    with RunCache(path) as cache:
        assert cache.get("one") == {"text": "é\n", "tokens": [1, 2]}
        assert cache.get("two") is None


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_text("not a database, but long enough to look at: " * 100)
    with pytest.raises(ReviserError, match="cannot be used as a cache"):
        RunCache(path)


def write(model: Shouter, cache: RunCache, seed: int = 1, setup: Setup = SETUP) -> list[Continuation]:
    done: list[int] = []
    made = generations_of(model, PROMPTS[seed], seed, setup, cache, done.append)
    assert sum(done) == len(PROMPTS[seed])
    return made


def test_generations_come_in_the_order_of_the_prompts_and_only_once(cache: RunCache) -> None:
    model = Shouter()
    first = write(model, cache)
    assert [entry.prompt_id for entry in first] == [prompt.id for prompt in PROMPTS[1]]
    assert len(model.asked) == 6
    assert write(model, cache) == first
    renamed = write(Shouter(name="other"), cache)
    assert [entry.contestant for entry in renamed] == ["other"] * 6
    assert len(model.asked) == 6


def test_whatever_a_generation_depends_on_makes_a_new_one(cache: RunCache) -> None:
    write(Shouter(), cache)
    for model, seed, setup in (
        (Shouter(fingerprint="two"), 1, SETUP),
        (Shouter(), 2, SETUP),
        (Shouter(), 1, replace(SETUP, temperature=0.5)),
        (Shouter(), 1, replace(SETUP, max_actions=9)),
    ):
        write(model, cache, seed, setup)
        assert len(model.asked) == 6
    same = Shouter()
    write(same, cache, 1, replace(SETUP, data="elsewhere", prompts=3))
    assert same.asked == []


def test_an_interrupted_run_goes_on_where_it_was(cache: RunCache) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(Shouter(patience=4), cache)
    second = Shouter()
    made = write(second, cache)
    assert len(second.asked) == 2
    assert made == write(Shouter(), cache)


def test_measurements_are_asked_for_once_each_and_some_at_a_time(cache: RunCache) -> None:
    asked: list[list[str]] = []

    def lengths(words: Sequence[str]) -> list[int]:
        asked.append(list(words))
        return [len(word) for word in words]

    def measure(words: list[str]) -> list[int]:
        done: list[int] = []
        found = measured_each(words, lambda word: key_of(word=word), lengths, cache, done.append, chunk=2)
        assert sum(done) == len(words)
        return found

    assert measure(["a", "bb", "a", "ccc", "dddd"]) == [1, 2, 1, 3, 4]
    assert asked == [["a", "bb"], ["ccc", "dddd"]]
    assert measure(["dddd", "eeeee"]) == [4, 5]
    assert asked[2:] == [["eeeee"]]


def test_a_folder_is_one_runs_alone(tmp_path: Path) -> None:
    folder = RunFolder.start(tmp_path / "run", {"models": ("a",), "seeds": (1, 2)})
    folder.write_json("results.json", {"x": [1, 2]})
    again = RunFolder.start(tmp_path / "run", {"models": ("a",), "seeds": (1, 2)})
    assert again.read_json("results.json") == {"x": [1, 2]}
    assert RunFolder.existing(tmp_path / "run").has("settings.json")
    with pytest.raises(ReviserError, match="other settings"):
        RunFolder.start(tmp_path / "run", {"models": ("b",), "seeds": (1, 2)})
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear")
    with pytest.raises(ReviserError, match="not empty"):
        RunFolder.start(tmp_path / "full", {})
    with pytest.raises(ReviserError, match="no results"):
        RunFolder.existing(tmp_path / "full")


def test_names_of_files_are_safe_and_differ() -> None:
    names = ["gpt2", "a/b", "a-b", "a b", "..", "é", "=", "-"]
    made = [file_name(name) for name in names]
    assert made[0] == "gpt2"
    assert len(set(made)) == len(names)
    for name in made:
        assert not set(name) & set('/\\ :*?"<>|')
        assert name.strip(".") == name


def test_progress_says_nothing_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    for quiet in (True, False):
        with ProgressBars(quiet=quiet).task("writing", 3) as progress:
            progress(3)
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")
    ProgressBars().say("loading a model")
    ProgressBars(quiet=True).say("not said")
    assert capfd.readouterr().err == "loading a model\n"


def test_records_in_the_cache_are_plain_json(cache: RunCache, tmp_path: Path) -> None:
    write(Shouter(), cache)
    import sqlite3

    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        rows = connection.execute("SELECT value FROM results").fetchall()
    assert {json.loads(value)["contestant"] for (value,) in rows} == {"shouter"}
