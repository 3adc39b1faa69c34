"""A tuned model beside its supervised one: win rates, what judges do not see, and what it says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.measures.arena import Interval, Score, wilson
from benchmarks.studies.preference import agreement, main, verdict
from reviser.checkpoints.home import save_checkpoint
from reviser.core.vocabulary import PAPER_KINDS
from tests.reviser.checkpoints.parts import toy_checkpoint, toy_tokenizer_json
from training.data.shards import main as make_data
from training.ppo.run import main as tune


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Held-out texts, two models that move, and two evaluators."""
    folder = tmp_path_factory.mktemp("preference")
    texts = folder / "texts.jsonl"
    lines = [
        f"{number} of all the things that the cat has seen in the hall. " * 20
        for number in range(6)
    ]
    texts.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    (folder / "tokenizer.json").write_bytes(toy_tokenizer_json())
    words = [str(folder / "shards"), str(texts), "--tokenizer", str(folder / "tokenizer.json")]
    assert make_data([*words, "--workers", "1"]) == 0
    left_to_right = frozenset({"insert", "stop"})
    for number, (name, kinds) in enumerate(
        [
            ("supervised", PAPER_KINDS),
            ("tuned", PAPER_KINDS),
            ("judge", left_to_right),
            ("other", left_to_right),
        ]
    ):
        made = toy_checkpoint(seed=number, context=512, canvas_length=512)
        save_checkpoint(
            folder / name, replace(made, vocabulary=replace(made.vocabulary, kinds=kinds))
        )
    return folder


def words(parts: Path, *more: str) -> list[str]:
    judges = [
        word for name in ("judge", "other") for word in ("--judge", f"likelihood:{parts / name}")
    ]
    few = ["--data", str(parts / "shards"), "--prompts", "5", "--max-actions", "20"]
    return [str(parts / "supervised"), str(parts / "tuned"), *few, *judges, *more]


def test_two_models_are_compared_by_two_judges(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "preference.md"
    assert main(words(parts, "--json", "--write", str(written))) == 0
    told = json.loads(capsys.readouterr().out)
    assert [score["judge"] for score in told["scores"]] == ["likelihood:judge", "likelihood:other"]
    for score in told["scores"]:
        assert (score["first"], score["second"], score["examples"]) == ("tuned", "supervised", 5)
        assert score["wins"] + score["losses"] + score["ties"] == 5
        rate = score["win_rate"]
        assert rate["share"] == pytest.approx((score["wins"] + score["ties"] / 2) / 5)
        assert Interval(**rate) == wilson(score["wins"] + score["ties"] / 2, 5)
    real, *models = told["figures"]
    assert (real["name"], real["moves"], real["stopped"]) == ("real text", None, 1.0)
    assert [entry["name"] for entry in models] == ["supervised", "tuned"]
    assert all(set(entry["perplexities"]) == {"judge", "other"} for entry in told["figures"])
    assert all(0 <= entry["moves"] <= 1 for entry in models)
    text = written.read_text()
    assert text.startswith("# A tuned model beside its supervised one\n\n- Command: `python -m")
    assert "- Commit: " in text
    assert "| likelihood:other" in text
    assert "perplexity, judge" in text


def test_a_model_is_no_better_than_itself(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = words(parts)
    same[1] = same[0]
    assert main(same) == 0
    said = capsys.readouterr().out
    assert "50.0%" in said
    assert "supervised, tuned wins 50.0% of 5 texts" in said
    assert "no difference is shown" in said


def test_the_course_of_the_tuning_run_is_shown(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, judge = tmp_path / "ppo", f"likelihood:{parts / 'judge'}"
    small = ["--prompts", "2", "--candidates", "3", "--max-actions", "12", "--prompt-tokens", "8"]
    small += ["--text-tokens", "16", "--row-length", "64", "--minibatch-rows", "2"]
    tuning = ["--reward", f"rank:{judge}", "--reward", "0.5*repetition:2", "--iterations", "2"]
    shards = ["--data", str(parts / "shards"), "--out", str(run)]
    assert tune([str(parts / "supervised"), *shards, *small, *tuning]) == 0
    out = tmp_path / "preference.md"
    given = words(parts, "--run", str(run), "--write", str(out))
    given[1] = str(run / "model")
    assert main(given) == 0
    text = out.read_text()
    course = text.split("## The tuning run")[1]
    assert "`python -m training ppo" in course
    assert "2 iterations in" in course
    assert "seed 0" in course
    assert "| 1 to 1 " in course
    assert "| 2 to 2 " in course
    assert "rank:likelihood:judge |" in course
    assert "0.5*repetition:2" in course
    assert "| ppo " in text
    capsys.readouterr()
    assert main(words(parts, "--run", str(tmp_path))) == 2
    assert "settings.json" in capsys.readouterr().err


def _score(judge: str, rate: Interval) -> Score:
    return Score("tuned", "old", judge, 100, 60, 40, 0, 100, 0, rate, rate, None)


def test_a_gain_that_one_judge_alone_sees_is_called_that() -> None:
    better, even, worse = wilson(70, 100), wilson(50, 100), wilson(30, 100)
    assert "preferred" in verdict(_score("a", better))
    assert "no difference" in verdict(_score("a", even))
    assert "worse" in verdict(_score("a", worse))
    assert "agree" in agreement([_score("a", better), _score("b", better)])
    assert "taste" in agreement([_score("a", better), _score("b", even)])
    assert agreement([_score("a", better)]) == ""
    assert agreement([_score("a", even), _score("b", better)]) == ""


@pytest.mark.parametrize(
    ("place", "word", "told"), [(1, "nobody", "no model nobody"), (3, "nowhere", "nowhere")]
)
def test_a_mistake_is_told_in_one_sentence(
    parts: Path, capsys: pytest.CaptureFixture[str], place: int, word: str, told: str
) -> None:
    wrong = words(parts)
    wrong[place] = word
    assert main(wrong) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
