from __future__ import annotations

import dataclasses
import json
import math
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchmarks.contestants.diffusion.checkpoint import is_diffusion
from benchmarks.protocol.records import Continuation, Judgement, Scored, read_records
from benchmarks.protocol.runs import PlainBars
from benchmarks.protocol.setup import Setup
from benchmarks.report.findings import NAMES, findings
from benchmarks.reproduction.data import TrainingTexts
from benchmarks.reproduction.four_models import SCALES, ReproductionScale, model_folder
from benchmarks.reproduction.small import Measures, Tables, measure, merge, reproduce, run
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from tests.benchmarks import tiny_models
from tests.conftest import ROOT
from training.trainer.settings import preset_settings

main = partial(run_with, run)

TINY = ReproductionScale(
    dataclasses.replace(preset_settings("tiny", steps=2, rows=2, row_length=64, history=64), model="tiny-paper"),
    Setup(prompts=3, seeds=(1, 2), shortest=40, prompt_tokens=8, total_tokens=16, max_actions=12, diffusion_steps=3),
    evaluators=("AR", "MDLM"),
    judges=("likelihood:AR",),
    features=("minilm",),
)


class Heard(PlainBars):
    """Keeps what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("reproduction") / "out"
    return out, reproduce(TINY, out, bars=Heard())


def test_trains_all_four_on_as_many_ids(made: tuple[Path, dict[str, Any]]) -> None:
    _, found = made
    assert set(found["training"]) == set(NAMES)
    assert {entry["ids"] for entry in found["training"].values()} == {2 * 2 * 64}
    assert all(entry["loss"] > 0 for entry in found["training"].values())


def test_everything_is_measured_or_its_absence_is_explained(made: tuple[Path, dict[str, Any]]) -> None:
    out, found = made
    results = found["results"]
    rows = {(row["contestant"], row["evaluator"]) for row in results["perplexity"]}
    assert rows == {(name, by) for name in ("real text", *NAMES) for by in ("ar", "mdlm")}
    assert {row["second"] for row in results["arena"]} == {"real text", "AR", "SEDD", "MDLM"}
    assert all(row["first"] == "Reviser" for row in results["arena"])
    (missing,) = results["missing"]
    assert missing["what"] == "MAUVE with minilm features"
    for name in NAMES:
        texts = read_records(out / "run" / "generations" / f"{name}.jsonl", Continuation)
        assert len(texts) == 6
        assert {entry.seed for entry in texts} == {1, 2}
    for row in found["results"]["perplexity"]:
        path = out / "run" / "perplexities" / f"{row['evaluator']}.jsonl"
        mine = [one for one in read_records(path, Scored) if one.contestant == row["contestant"]]
        assert len(mine) == 6
        each = [math.exp(one.nats / one.tokens) for one in mine if one.tokens]
        assert median(each) == pytest.approx(row["median"], rel=1e-3)
    assert json.loads((out / "reproduction.json").read_text())["findings"] == found["findings"]
    assert "Arena" in (out / "run" / "report.html").read_text("utf-8")


def test_what_is_continued_was_not_trained_on(made: tuple[Path, dict[str, Any]]) -> None:
    out, _ = made
    trained = (out / "data" / "train.jsonl").read_text()
    held_out = [json.loads(line)["text"] for line in (out / "data" / "held-out.jsonl").read_text().splitlines()]
    assert len(held_out) > 50
    assert not any(json.dumps(text, ensure_ascii=False)[1:-1] in trained for text in held_out)


def test_a_second_call_goes_on_where_the_first_ended(made: tuple[Path, dict[str, Any]]) -> None:
    out, found = made
    weights = {name: model_folder(out, name).stat().st_mtime_ns for name in NAMES}
    bars = Heard()
    again = reproduce(TINY, out, bars=bars)
    assert sum("trained already" in line for line in bars.said) == 4
    assert weights == {name: model_folder(out, name).stat().st_mtime_ns for name in NAMES}
    assert again["results"]["perplexity"] == found["results"]["perplexity"]


def test_a_model_of_other_settings_is_not_taken_for_this_one(made: tuple[Path, dict[str, Any]]) -> None:
    with pytest.raises(ReviserError, match="other settings"):
        reproduce(TINY.changed(steps=5, prompts=None), made[0], bars=PlainBars(quiet=True))


def test_texts_can_be_measured_later_without_their_models(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    out = tmp_path / "moved"
    shutil.copytree(made[0], out)
    shutil.rmtree(out / "models")
    shutil.rmtree(out / "data")
    evaluator = str(tiny_models.gpt2(tmp_path / "late-evaluator"))
    further = Measures([evaluator], [f"likelihood:{evaluator}"])
    found = measure(out, further, bars=PlainBars(quiet=True))
    rows = found["results"]["perplexity"]
    assert len(rows) == 15
    assert sum(row["evaluator"] == evaluator for row in rows) == 5
    assert len(found["results"]["arena"]) == 8
    judges = {entry.judge for entry in read_records(out / "run" / "judgements.jsonl", Judgement)}
    assert len(judges) == 2
    assert any(evaluator in entry["measure"] for entry in found["findings"])
    assert found["training"] == json.loads(json.dumps(made[1]["training"]))


def test_the_report_says_how_models_were_trained_and_what_holds(made: tuple[Path, dict[str, Any]]) -> None:
    report = (made[0] / "run" / "report.md").read_text("utf-8")
    assert "## Training" in report
    assert "## The paper's rankings" in report
    assert "arena, likelihood:ar" in report
    assert "median evalPPL, mdlm" in report
    assert "Reviser is preferred to SEDD" in report


def test_results_of_another_machine_keep_their_origin(
    made: tuple[Path, dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "moved"
    shutil.copytree(made[0], out)
    path = out / "run" / "results.json"
    results = json.loads(path.read_text())
    results["provenance"]["Hardware"] = "a large machine"
    path.write_text(json.dumps(results))
    evaluator, page = str(tiny_models.gpt2(tmp_path / "late")), tmp_path / "page.md"
    words = ["--measure", str(out), "--evaluator", evaluator, "--write", str(page)]
    assert main(words) == 0
    assert "holds" in capsys.readouterr().out
    text = page.read_text("utf-8")
    assert "- Hardware: a large machine\n" in text
    assert f"- Measured later: {evaluator} on " in text
    assert "- Seeds: 1, 2\n- Minutes: " in text
    assert "## Training" in text
    assert "## The paper's rankings" in text
    assert "![" not in text


def test_token_shards_need_held_out_texts_beside_them(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    shards = [str(made[0] / "data" / "tokens")]
    with pytest.raises(ReviserError, match="name held-out texts"):
        reproduce(TINY, tmp_path / "out", TrainingTexts(shards), bars=PlainBars(quiet=True))


def results(perplexity: dict[str, float], mauve: dict[str, float], wins: dict[str, float]) -> dict[str, Any]:
    return {
        "perplexity": [
            {"contestant": name, "evaluator": "e", "mean": mean, "interval": [mean - 1, mean + 1]}
            for name, mean in perplexity.items()
        ],
        "mauve": [
            {"contestant": name, "features": "f", "score": score, "spread": 0.01} for name, score in mauve.items()
        ],
        "arena": [
            {"second": name, "judge": "j", "win_rate": {"share": share, "low": share - 0.1, "high": share + 0.1}}
            for name, share in wins.items()
        ],
    }


def test_says_which_of_the_papers_claims_hold() -> None:
    found = findings(
        results(
            {"real text": 5, "AR": 10, "Reviser": 20, "SEDD": 30, "MDLM": 29},
            {"AR": 0.5, "Reviser": 0.9},
            {"AR": 0.3, "SEDD": 0.9, "MDLM": 0.55, "real text": 0.1},
        )
    )
    holds = {(entry["measure"].partition(",")[0], entry["claim"]): entry["holds"] for entry in found}
    assert holds["arena", "Reviser is preferred to AR"] is False
    assert holds["arena", "Reviser is preferred to SEDD"] is True
    assert holds["arena", "Reviser is preferred to MDLM"] is None
    assert holds["evalPPL", "AR is better than Reviser"] is True
    assert holds["evalPPL", "Reviser is better than SEDD"] is True
    assert holds["evalPPL", "MDLM is better than SEDD"] is None
    assert holds["MAUVE", "AR is better than Reviser"] is False
    assert len(found) == 3 + 6 + 1


def test_medians_are_ranked_where_a_run_says_how_sure_they_are() -> None:
    old = results({"AR": 10, "Reviser": 20}, {}, {})
    assert len(findings(old)) == 1
    for row, value in zip(old["perplexity"], (30.0, 20.0), strict=True):
        row |= {"median": value, "median_interval": [value - 1, value + 1]}
    mean, middle = findings(old)
    assert (mean["measure"], mean["holds"]) == ("evalPPL, e", True)
    assert (middle["measure"], middle["holds"]) == ("median evalPPL, e", False)
    assert middle["measured"] == {"AR": 30.0, "Reviser": 20.0}


def test_new_rows_take_the_place_of_the_same_old_ones() -> None:
    old: Any = {
        "perplexity": [{"contestant": "AR", "evaluator": "e", "mean": 1}],
        "arena": [],
        "mauve": [],
        "missing": [{"what": "evalPPL under f", "why": "not there"}],
    }
    rows: list[Any] = [
        {"contestant": "AR", "evaluator": "e", "mean": 2},
        {"contestant": "AR", "evaluator": "f", "mean": 3},
    ]
    new = Tables(perplexity=rows)
    merged = merge(old, new, [])
    assert [row["mean"] for row in merged["perplexity"]] == [2, 3]
    assert merged["missing"] == []


def test_models_can_be_trained_one_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCALES, "smoke", TINY)
    out = tmp_path / "out"
    assert main(["--scale", "smoke", "--out", str(out), "--train", "MDLM", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["training"]) == ["MDLM"]
    assert is_diffusion(model_folder(out, "MDLM"))
    assert not model_folder(out, "AR").exists()


def test_scales_differ_in_size_alone() -> None:
    assert set(SCALES) == {"smoke", "lab"}
    lab = SCALES["lab"]
    assert lab.setup == Setup()
    assert lab.settings.model == "paper-100m"


@pytest.mark.slow
def test_needs_neither_the_command_line_nor_the_scores_packages(tmp_path: Path) -> None:
    """A GPU box may have torch, numba, tiktoken, safetensors and little else, and no model of ours."""
    code = """
import sys
for name in "typer rich mauve faiss sklearn gguf unidiff pygls lsprotocol textual".split():
    sys.modules[name] = None  # as if it were not there
from pathlib import Path
from reviser.checkpoints import library
library.embedded_folder = lambda: Path("/nowhere")
from benchmarks.reproduction.four_models import SCALES
from benchmarks.reproduction import small
from reviser.cli.options import run_with
from tests.benchmarks.reproduction.test_small import TINY
SCALES["smoke"] = TINY
raise SystemExit(run_with(small.run, ["--out", sys.argv[1], "--json"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "out")], check=True, cwd=ROOT, capture_output=True, text=True
    )
    results = json.loads(done.stdout)["results"]
    assert {row["evaluator"] for row in results["perplexity"]} == {"ar", "mdlm"}
    assert len(results["arena"]) == 4


@pytest.mark.slow
def test_the_whole_smoke_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scale", "smoke", "--out", str(tmp_path / "out"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["results"]["missing"] == []
    assert {row["contestant"] for row in found["results"]["mauve"]} == set(NAMES)
    assert all(entry["loss"] < 10.83 for name, entry in found["training"].items() if name != "SEDD")
