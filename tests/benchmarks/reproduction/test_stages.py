"""A reproduction in stages, whole and small: cut short and carried on, branched, judged twice over, never done
again."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from benchmarks.protocol.records import Continuation, Judgement, read_records, write_records
from benchmarks.protocol.runs import PlainBars
from benchmarks.reproduction.command import ReproduceOptions, carry_out, run
from benchmarks.reproduction.judging import ReproductionJudges, judge
from benchmarks.reproduction.page import over_budgets, trend
from benchmarks.reproduction.scales import MILLION, NAMES, SCALES, StagedScale, label
from benchmarks.reproduction.texts import run_folder
from benchmarks.reproduction.training import ModelPlaces, train
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from tests.benchmarks.everyday.tiny_qwen2 import tiny_model, write_gguf
from training.data.shards import tokenise

main = partial(run_with, run)

SMALL = dataclasses.replace(SCALES["smoke"], budgets=(384, 640))


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Heard(PlainBars):
    """Keeps what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    texts = [f"The cat number {n} sat on a mat, and looked at dog {n + 1}." for n in range(300)]
    (folder / "a.jsonl").write_text("".join(json.dumps({"text": t * 4}) + "\n" for t in texts))
    tokenise(folder / "tokens", [str(folder / "a.jsonl")], "gpt2")
    return folder / "tokens"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """All stages at once, with a critic; and the critic's file."""
    folder = tmp_path_factory.mktemp("made")
    critic = write_gguf(folder / "critic.gguf", tiny_model())
    out = folder / "out"
    assert carry_out(ReproduceOptions(out=out, critic=critic, words=("--out", "o")), SMALL, Heard())
    return out, critic


def weights(folder: Path) -> dict[str, torch.Tensor]:
    (file,) = folder.glob("*.safetensors")
    return load_file(file)


def same(one: Path, other: Path) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(
    "name", ["AR", pytest.param("MDLM", marks=pytest.mark.slow), pytest.param("Reviser-ours", marks=pytest.mark.slow)]
)
def test_a_run_cut_short_again_and_again_comes_to_the_same(name: Any, corpus: Path, tmp_path: Path) -> None:
    quiet: list[str] = []
    assert train(name, SMALL, tmp_path / "whole", corpus, say=quiet.append)
    calls = 1
    # Without any minutes, a call ends after one step. The second comes to where the short run leaves, which takes
    # that to its end, in one step, and the long one a step further.
    while not train(name, SMALL, tmp_path / "cut", corpus, minutes=0, say=quiet.append):
        calls += 1
    assert calls == 4
    for budget in SMALL.budgets:
        assert same(
            ModelPlaces(tmp_path / "whole", name).model(budget), ModelPlaces(tmp_path / "cut", name).model(budget)
        )
    # A short run that branched off is the run that it would have been by itself.
    alone = dataclasses.replace(SMALL, budgets=SMALL.budgets[:1])
    assert train(name, alone, tmp_path / "alone", corpus, say=quiet.append)
    assert same(ModelPlaces(tmp_path / "whole", name).model(384), ModelPlaces(tmp_path / "alone", name).model(384))
    # It was finished before the long one was.
    done = [line for line in quiet if ": done" in line]
    assert [line.split(",")[1].split(":")[0].strip() for line in done[:2]] == ["384", "640"]
    # Nothing is left of what was needed on the way.
    assert not list((tmp_path / "whole").rglob("state.pt"))
    assert not list((tmp_path / "cut").rglob("state.pt"))


def test_a_short_run_whose_long_one_is_over_gets_a_sentence(corpus: Path, tmp_path: Path) -> None:
    assert train("AR", SMALL, tmp_path, corpus, say=lambda text: None)
    ModelPlaces(tmp_path, "AR").record(384).unlink()
    with pytest.raises(ReviserError, match="name another folder"):
        train("AR", SMALL, tmp_path, corpus, say=lambda text: None)


def test_a_run_goes_on_elsewhere(corpus: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    said: list[str] = []
    assert not train("AR", SMALL, here, corpus, minutes=0, say=said.append)
    shutil.copytree(here, there)
    assert train("AR", SMALL, there, corpus, say=said.append)
    assert train("AR", SMALL, here, corpus, say=said.append)
    assert same(ModelPlaces(here, "AR").model(640), ModelPlaces(there, "AR").model(640))


def test_what_was_done_is_not_done_again(made: tuple[Path, Path]) -> None:
    out, critic = made
    times = {path: path.stat().st_mtime_ns for path in (out / "models").rglob("*.safetensors")}
    assert len(times) == 2 * len(NAMES)
    heard = Heard()
    assert carry_out(ReproduceOptions(out=out, critic=critic), SMALL, heard)
    assert sum("trained already" in line for line in heard.said) == len(NAMES)
    assert sum("has written already" in line for line in heard.said) == 2 * len(NAMES)
    assert times == {path: path.stat().st_mtime_ns for path in times}
    other = dataclasses.replace(SMALL, settings=dataclasses.replace(SMALL.settings, seed=7))
    with pytest.raises(ReviserError, match="trained with other settings"):
        carry_out(ReproduceOptions(out=out, stage=("train",)), other, heard)


def test_all_five_saw_as_many_ids(made: tuple[Path, Path]) -> None:
    for name in NAMES:
        for budget in SMALL.budgets:
            record = json.loads(ModelPlaces(made[0], name).record(budget).read_text())
            assert record["ids"] == budget
            assert record["steps"] == SMALL.steps(budget)


def test_two_judges_in_both_orders_and_their_agreement(made: tuple[Path, Path]) -> None:
    out, _ = made
    for budget in SMALL.budgets:
        found = json.loads((run_folder(out, budget).path / "judged.json").read_text())
        others = {"real text", "Reviser-ours", "AR", "SEDD", "MDLM"}
        judges = {row["judge"] for row in found["arena"]}
        assert len(judges) == 2
        assert {row["second"] for row in found["arena"]} == others
        by_critic = [row for row in found["arena"] if row["judge"].startswith("critic:")]
        # All against all: five models and the real text.
        assert len({(row["first"], row["second"]) for row in by_critic}) == 15
        for row in by_critic:
            assert row["asked"] == 2 * SMALL.critic_prompts
            assert row["agreement"]["share"] == 1.0
        assert {row["second"] for row in found["agreement"]} <= others
        assert found["agreement"]
        rows = {row["contestant"]: row for row in found["perplexity"]}
        assert set(rows) == {"real text", *NAMES}
        # Every budget is measured by the same evaluator, so that they compare.
        assert {row["evaluator"] for row in rows.values()} == {"ar-640"}
        assert found["missing"] == []


def test_texts_can_be_judged_without_their_models(made: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "moved"
    shutil.copytree(made[0] / "texts", out / "texts")
    scale = dataclasses.replace(SMALL, evaluators=(), judges=())
    found = judge(scale, out, 640, ReproductionJudges(made[1]), Heard())
    assert len(found["arena"]) == 15
    assert found["perplexity"] == []


def test_short_texts_are_told_and_rule_no_mean(made: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "moved"
    shutil.copytree(made[0], out)
    path = run_folder(out, 640).path / "generations" / "AR.jsonl"
    texts = read_records(path, Continuation)
    short = dataclasses.replace(texts[0], continuation=" .", tokens=texts[0].tokens[:1])
    write_records(path, [short, *texts[1:]])
    before = json.loads((run_folder(made[0], 640).path / "judged.json").read_text())
    after = judge(SMALL, out, 640, ReproductionJudges(made[1]), Heard())

    def of(found: dict[str, Any]) -> Any:
        (row,) = (row for row in found["perplexity"] if row["contestant"] == "AR")
        return row

    assert of(after)["short"] == of(before)["short"] + 1
    assert of(after)["mean"] != of(before)["mean"]
    assert of(after)["without_short"] is not None


def test_the_page_says_where_it_comes_from_and_what_it_shows(made: tuple[Path, Path]) -> None:
    text = (made[0] / "report.md").read_text("utf-8")
    assert "- train: `python -m benchmarks reproduce --out o` (" in text
    for words in ("## Training", "## 384 ids", "## 640 ids", "## Over budgets", "prefer the same"):
        assert words in text
    assert "Reviser: with ten times the ids" in text
    assert "Not measured" not in text
    judgements = run_folder(made[0], 640).path / "judgements-critic.jsonl"
    assert {one.order for one in read_records(judgements, Judgement)} == {"kept", "swapped"}


def test_a_missing_critic_is_said(made: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "moved"
    shutil.copytree(made[0], out)
    heard = Heard()
    carry_out(ReproduceOptions(out=out, stage=("judge", "report")), SMALL, heard)
    assert any("name its file with --critic" in line for line in heard.said)
    assert "an arena judged by the critic: name its file" in (out / "report.md").read_text("utf-8")


def test_scales_are_what_they_say() -> None:
    bench, small = (SCALES[name] for name in ("bench", "bench-small"))
    assert bench.budgets == small.budgets == (72 * MILLION, 200 * MILLION, 700 * MILLION)
    for scale in (bench, small):
        for budget in scale.budgets:
            assert budget <= scale.steps(budget) * scale.ids_a_step < budget + scale.ids_a_step
        # A branch leaves the longest run where that is still on its plateau.
        last = scale.budgets[-1]
        assert all(scale.branch(budget) <= scale.branch(last) for budget in scale.budgets)
    trained = bench.steps(bench.budgets[-1]) + sum(
        bench.steps(budget) - bench.branch(budget) for budget in bench.budgets[:-1]
    )
    assert trained * bench.ids_a_step < 760 * MILLION
    assert label(72 * MILLION) == "72M"
    assert bench.with_budgets([200 * MILLION, 72 * MILLION]).budgets == bench.budgets[:2]
    with pytest.raises(ReviserError, match="100M is no budget of this scale: choose from 72M, 200M"):
        bench.with_budgets([100 * MILLION])
    with pytest.raises(ReviserError, match="budgets rise"):
        StagedScale(bench.settings, (2, 1), bench.setup, (), (), ())


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ({10: 2.0}, "no trend"),
        ({10: 2.0, 100: 2.5}, "does not come nearer"),
        ({72: 4.6, 200: 4.0, 700: 3.5}, "no prediction"),
        ({10: 2.0, 100: 1.2}, r"meets AR at 2\.3e\+02 ids"),
        ({72: 4.0, 200: 4.5, 700: 3.0}, "but not at every step"),
    ],
)
def test_a_trend_is_put_in_words(points: dict[int, float], words: str) -> None:
    assert re.search(words, trend(points))


def test_without_ar_there_is_nothing_to_compare_with() -> None:
    assert over_budgets([]) == "Nothing is judged yet."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scale", "smoke", "--budgets", "3"], "3M is no budget"),
        (["--scale", "smoke", "--stage", "judge"], "holds no texts to judge"),
    ],
)
def test_wrong_words_get_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err
