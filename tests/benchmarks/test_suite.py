"""A whole run with tiny models: everything is written, measured, kept, reported, and never made twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.command import BenchOptions, plan_of
from benchmarks.measures.statistics import walks
from benchmarks.protocol.records import Continuation, Judgement, Prompt, read_records
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder
from benchmarks.protocol.setup import Setup
from benchmarks.suite import Suite, SuitePlan
from reviser.core.errors import ReviserError
from reviser.core.trajectory import load_trajectories
from tests.benchmarks import tiny_models
from tests.benchmarks.tiny_reviser import tiny_reviser

TEXT = "All the tall halls stand in a thin hail, and all that is in the halls is tall and thin too."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny random models: a Reviser, a causal language model and another one that evaluates."""
    folder = tmp_path_factory.mktemp("models")
    tiny_reviser(folder / "tiny-reviser")
    tiny_models.gpt2(folder / "tiny-gpt2", seed=1)
    tiny_models.gpt2(folder / "judge", seed=2)
    lines = [json.dumps({"text": f"{number}. {TEXT}"}) for number in range(12)]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    return folder


def plan(folder: Path, **changes: Any) -> SuitePlan:
    setup = Setup(
        data=str(folder / "texts.jsonl"),
        prompts=5,
        seeds=(1, 2),
        shortest=20,
        longest=40,
        prompt_tokens=4,
        total_tokens=16,
        max_actions=24,
    )
    values: dict[str, Any] = {
        "setup": setup,
        "models": (str(folder / "tiny-reviser"), f"baseline={folder / 'tiny-gpt2'}"),
        "evaluators": (str(folder / "judge"),),
        "judges": (f"likelihood:{folder / 'judge'}",),
        "both_ways": True,
        "features": ("minilm",),
    }
    return SuitePlan(**values | changes)


def carry_out(made: SuitePlan, folder: Path, cache: Path) -> Any:
    with RunCache(cache) as opened:
        return Suite(made, RunFolder.start(folder, made.to_dict()), opened, ProgressBars(quiet=True)).run()


@pytest.fixture(scope="module")
def done(models: Path) -> tuple[Path, Any]:
    folder = models / "run"
    return folder, carry_out(plan(models), folder, models / "cache.sqlite")


def test_everything_that_was_written_is_in_the_folder(done: tuple[Path, Any]) -> None:
    folder, results = done
    prompts = {seed: read_records(folder / "prompts" / f"{seed}.jsonl", Prompt) for seed in (1, 2)}
    assert [len(part) for part in prompts.values()] == [5, 5]
    assert [entry["name"] for entry in results["contestants"]] == [REAL, "tiny-reviser", "baseline"]
    for entry in results["contestants"]:
        made = read_records(folder / "generations" / f"{entry['file']}.jsonl", Continuation)
        wanted = [(seed, prompt.id) for seed, part in prompts.items() for prompt in part]
        assert [(one.seed, one.prompt_id) for one in made] == wanted
        assert entry["texts"] == 10
        assert sum(entry["endings"].values()) == 10
    real = results["contestants"][0]
    assert real["statistics"] is real["flops"] is real["viewer"] is None


def test_runs_of_a_reviser_are_kept_as_trajectories(done: tuple[Path, Any]) -> None:
    folder, results = done
    path = folder / "trajectories" / "tiny-reviser.json"
    runs = load_trajectories(path, path.read_text("utf-8"))
    made = read_records(folder / "generations" / "tiny-reviser.jsonl", Continuation)
    assert [run.action_ids[run.prefix_tokens :] for run in runs] == [one.actions for one in made]
    followed = walks(runs)
    entry = results["contestants"][1]
    assert entry["statistics"]["trajectories"] == 10
    assert sum(run.moves for run in followed) > 0
    assert entry["flops"]["actions"] == sum(run.actions for run in followed) / 10
    assert "openRememberedPlace" in (folder / entry["viewer"]).read_text("utf-8")


def test_each_contestant_has_a_perplexity_with_an_interval(done: tuple[Path, Any]) -> None:
    rows = done[1]["perplexity"]
    assert [row["contestant"] for row in rows] == [REAL, "tiny-reviser", "baseline"]
    for row in rows:
        low, high = row["interval"]
        assert low <= row["mean"] <= high
        assert set(row["by_seed"]) == {"1", "2"}
        assert row["examples"] + row["empty"] == 10
        assert row["seed_spread"] >= 0


def test_the_first_model_meets_all_others(done: tuple[Path, Any]) -> None:
    folder, results = done
    assert [(row["first"], row["second"]) for row in results["arena"]] == [
        ("tiny-reviser", REAL),
        ("tiny-reviser", "baseline"),
    ]
    judgements = read_records(folder / "judgements.jsonl", Judgement)
    assert len(judgements) == 2 * 10 * 2
    for row in results["arena"]:
        assert row["asked"] == 20
        assert row["wins"] + row["losses"] + row["ties"] == 10
        # A judge of likelihood does not look at the order.
        assert row["agreement"]["share"] == 1


def test_what_cannot_be_measured_is_named_with_its_reason(models: Path, done: tuple[Path, Any]) -> None:
    (missing,) = done[1]["missing"]
    assert missing["what"] == "MAUVE with minilm features"
    assert "10 texts are too few" in missing["why"]
    poor = plan(models, evaluators=(str(models / "no-evaluator"),), judges=(), features=())
    poor = replace(poor, models=(poor.models[0], str(models / "nothing")))
    results = carry_out(poor, models / "poor", models / "cache.sqlite")
    assert [entry["name"] for entry in results["contestants"]] == [REAL, "tiny-reviser"]
    assert [entry["what"] for entry in results["missing"]] == [
        "nothing as a contestant",
        f"evalPPL under {models / 'no-evaluator'}",
    ]
    nothing = replace(poor, models=(str(models / "nothing"),))
    with pytest.raises(ReviserError):
        carry_out(nothing, models / "nothing-run", models / "cache.sqlite")


def test_what_was_known_before_an_interruption_is_kept(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*values: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Suite, "arenas", interrupt)
    with pytest.raises(KeyboardInterrupt):
        carry_out(plan(models), models / "interrupted", models / "cache.sqlite")
    known = json.loads((models / "interrupted" / "results.json").read_text())
    assert len(known["contestants"]) == len(known["perplexity"]) == 3
    assert known["arena"] == known["mauve"] == []


def test_a_second_run_takes_everything_from_the_cache(
    models: Path, done: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.contestants import continuation_models, own_models
    from reviser.scoring import evaluators

    def refuse(*values: Any, **more: Any) -> Any:
        raise AssertionError("nothing is left to compute")

    for kind in (own_models.NativeReviser, continuation_models.CausalLm):
        monkeypatch.setattr(kind, "generate", refuse)
    monkeypatch.setattr(evaluators.AutoregressiveEvaluator, "_token_losses", refuse)
    folder, first = done
    again = carry_out(plan(models), models / "again", models / "cache.sqlite")
    assert again == first
    for name in ("generations/tiny-reviser.jsonl", "judgements.jsonl", "results.json"):
        assert (models / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_path_may_have_a_sign_of_equality_in_it(models: Path) -> None:
    (models / "rate=3").mkdir(exist_ok=True)
    named = plan(models, models=(str(models / "rate=3"), "name=a=b")).named_models()
    assert named == [("rate=3", str(models / "rate=3")), ("name", "a=b")]


def test_names_must_differ(models: Path) -> None:
    with pytest.raises(ReviserError, match="a name of its own"):
        plan(models, models=("one", "elsewhere/one"))
    with pytest.raises(ReviserError, match="a name of its own"):
        plan(models, models=(f"{REAL}=one",))
    with pytest.raises(ReviserError, match="needs models"):
        plan(models, models=())


def test_options_have_the_numbers_of_the_protocol() -> None:
    options = BenchOptions(models=("a", "b"), data="builtin", mauve=("",))
    plan = plan_of(options, say=print)
    assert plan.setup == Setup()
    assert plan.models == ("a", "b")
    assert plan.features == ()
    assert plan.evaluators == ("smollm2",)
