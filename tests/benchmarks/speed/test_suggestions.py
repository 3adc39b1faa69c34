"""The replay of a typing session against a real server with a tiny random model."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks.speed.suggestions import command, next_edits
from benchmarks.speed.suggestions.editor import TimedRequest
from benchmarks.speed.suggestions.keys import DRAFT, Key, recorded
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from reviser.model.layout import Quantisation
from tests.lsp_server.models import save_tiny_model

SESSION = [
    *(Key(0.08, "type", letter) for letter in " The rain"),
    Key(0.8, "accept"),
    Key(0.2, "erase"),
    Key(0.2, "go", "It was late."),
    *(Key(0.08, "type", letter) for letter in " The cat"),
    Key(0.5, "type", " "),
]
TEXT = "It was late. The rain fell on the mat.\n\nThe cat sat on the mat. It was a quiet day."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantised, as the embedded model is, so that it is loaded without torch."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", quantisation=Quantisation(8))


def test_the_command_measures_a_session(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "recorded", lambda: SESSION)
    monkeypatch.setattr(command, "DRAFT", TEXT)
    monkeypatch.setattr(command, "REST", 0.5)
    monkeypatch.setattr(next_edits, "ROUNDS", 1)
    out = tmp_path / "latency.md"
    assert run_with(command.run, ["--model", str(model), "--json", "--write", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    # Every key but the one that only goes elsewhere asks, and so does an accepted suggestion.
    asked = sum(key.act in ("type", "erase") for key in SESSION)
    assert result["requests"] in (asked, asked + 1)
    assert result["cancelled"] + result["made"] + result["known"] + result["empty"] == (result["requests"])
    assert result["made"] > 0
    assert 0 < result["p50_unwaited_ms"] <= result["p50_ms"] <= result["p95_ms"]
    assert result["p50_steps"] == pytest.approx(result["p50_ms"] / result["step_ms"])
    assert 0 < result["reuse_share"] < 1
    assert result["rss_mb"] > result["rss_server_mb"] > 0
    assert result["cpu_s_per_minute"] > 0
    assert 0 < result["tasks"] <= 3 * (result["requests"] + 1)  # and the first, which is not counted
    assert result["next_edit_words"] > 4900
    assert 0 < result["next_edit_first_ms"] <= result["next_edit_all_ms"]
    assert min(result["cpu_s_after_typing"], result["cpu_s_disabled"]) >= 0
    written = out.read_text()
    assert "Commit:" in written
    assert str(model) not in written
    assert f"Model: {result['model']}" in written
    assert re.search(rf"one step of the model, median \(ms\) +\| +{result['step_ms']:.2f} ", written)


def test_a_time_counts_from_the_request_and_apart_from_the_wait() -> None:
    request = TimedRequest("1", sent=1.0, at_end=True, begun=1.3, answered=1.5)
    assert (request.took, request.took_unwaited) == pytest.approx((0.5, 0.2))


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_quantiles_are_values_that_were_measured(share: float, value: int) -> None:
    assert command.quantile(range(20, 0, -1), share) == value


def test_the_recorded_session_is_one_that_a_person_could_type() -> None:
    keys = recorded()
    assert {key.act for key in keys} == {"type", "erase", "accept", "go"}
    assert all(0.1 <= key.wait < 3 for key in keys)
    assert 45 < sum(key.wait for key in keys) < 110
    assert all(key.text in DRAFT for key in keys if key.act == "go")


def test_a_model_that_is_not_there_is_said_plainly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(command.run, ["--model", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from reviser.cli.app import app

    monkeypatch.delitem(sys.modules, "benchmarks.speed.suggestions.editor")
    monkeypatch.delitem(sys.modules, "benchmarks.speed.suggestions.command")
    monkeypatch.setitem(sys.modules, "pygls.lsp.client", None)
    result = CliRunner().invoke(app, ["bench", "lsp"])
    assert isinstance(result.exception, ReviserError)
    assert "pip install 'reviser[lsp]'" in str(result.exception)
