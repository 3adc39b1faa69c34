"""The whole benchmark with tiny models: written, read, judged, kept, and told in three files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.everyday.command import run
from benchmarks.everyday.contest import CriticVerdict as EverydayVerdict
from benchmarks.everyday.contest import same_length, standings_of
from benchmarks.everyday.critic import Critic, Preference
from reviser.cli.options import run_with
from tests.benchmarks.everyday.tiny_qwen2 import tiny_model, write_gguf
from tests.benchmarks.tiny_reviser import tiny_reviser

main = partial(run_with, run)

SENTENCES = (
    "The road to the harbour was wet and the lamps were still burning in the early light.",
    "Nobody had thought of bringing bread for the long way over the hills to the old town.",
    "She put the letter on the table beside the window and waited for him to speak again.",
    "In the garden the apples had begun to fall and the children carried them to the house.",
    "After a while the rain stopped and the birds came back to the roof of the small church.",
)
TEXTS = [" ".join(SENTENCES[number:] + SENTENCES[:number]) * 2 for number in range(5)]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everyday")
    tiny_reviser(folder / "ours")
    tiny_reviser(folder / "base", kinds=frozenset({"insert", "stop"}), seed=5)
    write_gguf(folder / "critic.gguf", tiny_model())
    lines = [json.dumps({"text": f"{text} {number}"}) for number in range(15) for text in TEXTS]
    (folder / "real.jsonl").write_text("\n".join(lines))
    return folder


def run_contest(parts: Path, *more: str) -> int:
    return main(
        [
            *more,
            f"--base={parts / 'base'}",
            f"--real={parts / 'real.jsonl'}",
            f"--critic={parts / 'critic.gguf'}",
            f"--cache={parts / 'cache.sqlite'}",
        ]
    )


def contest(parts: Path, out: Path, *more: str) -> dict[str, Any]:
    ours, base = parts / "ours", parts / "base"
    contestants = [f"ours=unchecked:{ours}", f"straight=plain:{ours}", f"base={base}"]
    small = ["--kinds=mail,recipe", "--each=1", "--seeds", "1", "2", "--length=12"]
    assert run_contest(parts, *contestants, *small, f"--out={out}", *more) == 0
    data: dict[str, Any] = json.loads((out / "everyday.json").read_text())
    return data


def test_everything_is_written_judged_and_told(parts: Path, tmp_path: Path) -> None:
    data = contest(parts, tmp_path / "out")
    assert [entry["contestant"] for entry in data["figures"]] == ["ours", "straight", "base"]
    assert {entry["runs"] for entry in data["figures"]} == {4}
    ours, straight, base = data["figures"]
    assert ours["moves"] > 0 == straight["joins"] == base["joins"]
    assert straight["moves"] is None is base["broken_runs"]
    assert [(entry["first"], entry["second"]) for entry in data["standings"]] == [
        ("ours", "straight"),
        ("ours", "base"),
    ]
    for entry in data["standings"]:
        assert entry["wins"] + entry["ties"] + entry["losses"] == 4
        assert set(entry["by_kind"]) == {"mail", "recipe"}
    text = (tmp_path / "out" / "everyday.md").read_text()
    assert "What the critic prefers, by kind" in text
    assert "Commit" in text
    html = (tmp_path / "out" / "everyday.html").read_text()
    assert "Dana" in html
    joins = sum(len(entry["joins"]) for entry in data["runs"])
    assert html.count("\u2038") >= joins > 0


def test_nothing_is_made_or_judged_twice(parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = contest(parts, tmp_path / "one")

    def never(*arguments: object) -> None:
        raise AssertionError("this was judged before")

    monkeypatch.setattr(Critic, "opinion", never)
    monkeypatch.setattr("benchmarks.everyday.joins.Reader.read", never)
    monkeypatch.setattr("benchmarks.contestants.own_models.NativeReviser._run", never)
    again = contest(parts, tmp_path / "two")
    assert again | {"provenance": 0} == first | {"provenance": 0}


def test_a_critic_is_not_needed(parts: Path, tmp_path: Path) -> None:
    assert contest(parts, tmp_path / "out", "--no-critic")["standings"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name at least one model"),
        (["ours", "--kinds=poem"], "no openings of the kind poem"),
        (["ours", "--each=0"], "--each must be at least 1"),
        (["ours", "--length=0"], "--length must be at least 1"),
    ],
)
def test_mistakes_are_said_in_one_sentence(
    parts: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run_contest(parts, *arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_two_contestants_need_two_names(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = parts / "ours"
    assert run_contest(parts, str(ours), str(ours)) == 2
    assert "same name" in capsys.readouterr().err


def test_texts_are_cut_to_the_same_number_of_words() -> None:
    assert same_length(" one two\n three", " four  five") == (" one two", " four  five")
    assert same_length("a b c", "d e f", most=2) == ("a b", "d e")


def test_a_tie_is_half_a_win() -> None:
    said = [Preference(1.0, 1.0), Preference(-1.0, -2.0), Preference(1.0, -1.0)]
    verdicts = [EverydayVerdict("mail-01", "mail", seed, "a", "b", entry) for seed, entry in enumerate(said)]
    (standing,) = standings_of(verdicts)
    assert (standing.wins, standing.ties, standing.losses) == (1, 1, 1)
    assert standing.win_rate.share == 0.5
    assert standing.agreement.share == pytest.approx(2 / 3)
