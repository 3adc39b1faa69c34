"""Several margins, measured: as runs with that margin would have it, and a whole page from a tiny model."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.contestants.editing_models import MAX_ACTIONS, Revision
from benchmarks.protocol.runs import Cache
from benchmarks.studies.lookahead_margin import (
    LookaheadTrace,
    familiar,
    key_of_thoughts,
    known_among,
    main,
    substitutions,
    trace,
    trace_all,
)
from benchmarks.studies.revision_quality import main as revising
from reviser.core.tokenizer import decode
from reviser.core.vocabulary import PAPER_KINDS
from reviser.decoding.lookahead import LookaheadPolicy, LookaheadStep
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.scoring.loading import fingerprint
from reviser.session.engine import Engine, load_engine
from tests.reviser.cli.test_revise import tiny_model
from training.edits.files import Edit, read_edits

EDITS = [
    Edit("The cat sat.", "A cat sat.", "It was noon. ", " Nothing moved."),
    Edit("He go home.", "He went home.", "", ""),
    Edit("a a b", "a b", "", " c"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "revising", PAPER_KINDS | {"delete"})


@pytest.fixture(scope="module")
def engine(folder: Path) -> Engine:
    return load_engine(folder)


def revised(engine: Engine, edit: Edit, margin: float, horizon: int) -> Revision:
    """What a run makes of a text that is so sure."""
    left, draft, _, right = (engine.tokenizer.encode(part) for part in edit.parts)
    canvas, history = seed(engine.policy.vocabulary, left, right, draft=draft)
    policy = LookaheadPolicy(engine.policy, margin, horizon=horizon)
    room = min(MAX_ACTIONS, engine.policy.context - len(history))
    run = Rollout(policy, canvas, history, Sampler.greedy(), max_actions=room)
    steps = sum(1 for _ in run)
    text = decode(engine.tokenizer, canvas.between(canvas.low, canvas.high))
    assert run.ending is not None
    return Revision(text, steps, run.ending)


@pytest.mark.parametrize("horizon", [5, 64])
@pytest.mark.parametrize("margin", [1e-300, 1e-9, 1.0, 5.0])
def test_a_degree_makes_what_a_run_of_it_makes(engine: Engine, margin: float, horizon: int) -> None:
    for edit in EDITS:
        found = trace(engine, edit)
        assert found.revision(margin, horizon) == revised(engine, edit, margin, horizon)
        assert LookaheadTrace.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_less_sure_is_later() -> None:
    found = LookaheadTrace(
        [
            LookaheadStep("move", -0.5, -1.0),
            LookaheadStep("change", -1.0, -4.0),
            LookaheadStep("stop", -0.2, -0.2),
        ],
        ["a", "a", "b", "b"],
    )
    # To change it: 0.5 + 1 + 0.2 against 1.
    assert found.revision(0.6) == Revision("a", 1, "stop")
    assert found.revision(0.4) == Revision("b", 3, "stop")
    assert found.revision(0.0) == Revision("b", 3, "stop")


def test_a_page_of_all_degrees_beside_other_models(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, kept = tmp_path / "edits.jsonl", tmp_path / "cache.sqlite"
    file.write_text(
        "".join(
            json.dumps({"before": e.before, "after": e.after, "left": e.left, "right": e.right})
            + "\n"
            for e in EDITS
        )
    )
    assert revising([str(file), "--keep", str(tmp_path / "figures")]) == 0
    capsys.readouterr()
    words = [str(file), str(folder), "--skip", "1", "--cache", str(kept), "--json"]
    beside = ["--beside", str(tmp_path / "figures"), "--margins", "0", "1"]
    assert main([*words, *beside, "--write", str(tmp_path / "page.md")]) == 0
    told = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(told) == ["copying", "margin 0", "margin 1"]
    assert {entry["edits"] for entry in told.values()} == {2}
    assert told["copying"]["left_alone"] == 1
    assert told["margin 1"]["changed"] <= told["margin 0"]["changed"]
    page = (tmp_path / "page.md").read_text()
    assert "2 edits after the first 1" in page
    assert str(file) not in page
    # What was found is not looked for again, unless by another model.
    key = key_of_thoughts(fingerprint(str(folder)), EDITS[1])
    with Cache(kept) as cache:
        found = LookaheadTrace.from_dict(cache.get(key))
        assert found == trace(load_engine(folder), EDITS[1])
        cache.put(key, replace(found, texts=["He knows."] * len(found.texts)).to_dict())
    assert main([*words, "--margins", "1"]) == 0
    (again,) = json.loads(capsys.readouterr().out)
    assert again["changed"] == 0.5 + told["margin 1"]["changed"]
    other = tiny_model(tmp_path / "other", PAPER_KINDS | {"delete"}, seed=1)
    assert main([words[0], str(other), *words[2:], "--margins", "1"]) == 0
    (fresh,) = json.loads(capsys.readouterr().out)
    assert fresh["changed"] == 0


def test_two_processes_think_what_one_does_and_are_not_forked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fork() -> int:
        raise AssertionError("a fork of a process in which torch has threads may wait for ever")

    monkeypatch.setattr(os, "fork", fork)
    with Cache(tmp_path / "one.sqlite") as one, Cache(tmp_path / "two.sqlite") as two:
        found = trace_all(str(folder), EDITS, two, processes=2)
        assert found == trace_all(str(folder), EDITS, one, processes=1)


def test_edits_that_do_what_was_learned_are_told_from_others(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(name: str, pairs: list[tuple[str, str]]) -> str:
        file = tmp_path / name
        lines = [json.dumps({"before": before, "after": after}) for before, after in pairs]
        file.write_text("\n".join(lines))
        return str(file)

    learned = written(
        "learned.jsonl", [("a big house", "a large house"), ("So,it is", "So, it is")]
    )
    asked = [
        ("the big sea", "the large sea"),
        ("the big sea", "the wide sea"),
        ("No,I do", "No, I do"),
    ]
    edits = list(read_edits(written("edits.jsonl", asked)))
    assert substitutions(edits[0]) == (("big", "large"),)
    assert known_among(edits, learned) == [True, False, True]
    told = familiar([True, False, True], {1.0: [True, True, False], 2.0: [False, False, True]})
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in told.splitlines()]
    assert rows[0][1:] == ["exact", "of 2 that do what was learned", "of 1 others"]
    assert rows[2:] == [["margin 1", "2", "1", "1"], ["margin 2", "1", "1", "0"]]
    words = [written("edits.jsonl", asked), str(folder), "--cache", str(tmp_path / "cache.sqlite")]
    page = tmp_path / "page.md"
    assert main([*words, "--known", learned, "--margins", "1", "--write", str(page)]) == 0
    assert "of 2 that do what was learned" in capsys.readouterr().out
    assert "--known learned.jsonl" in page.read_text()


def test_what_is_wrong_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "edits.jsonl"
    file.write_text('{"before": "a", "after": "b"}\n')
    plain = tiny_model(tmp_path / "plain", PAPER_KINDS)
    for words, said in (
        ([str(file), str(plain)], "not trained to revise"),
        ([str(file), str(plain), "--margins", "1001"], "between 0 and 1000"),
        ([str(file), str(plain), "--skip", "1"], "no edits"),
    ):
        assert main(words) == 2
        assert said in capsys.readouterr().err
