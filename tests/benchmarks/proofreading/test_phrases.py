"""What is counted where rules for sure mistakes are tried on texts and on pairs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.proofreading.phrases import among_pairs, in_good_text, in_set, page, run
from reviser.cli.options import run_with

main = partial(run_with, run)


def test_all_that_is_found_in_good_text_is_counted(tmp_path: Path) -> None:
    texts = tmp_path / "good.jsonl"
    rows = [{"text": "All is well.\n\nI saw the the cat."}, {"text": "It is a old house."}]
    texts.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    tally = in_good_text(str(texts), 1000, 1)
    assert tally.words == 13
    assert tally.found == {"doubled word": 1, "a before a vowel": 1}
    assert {line.split("\t")[2] for line in tally.lines} == {"I saw the{ the|} cat.", "It is {a|an} old house."}
    assert in_good_text(str(texts), 1, 1).words in (8, 5)


def test_a_change_is_right_if_a_reference_makes_it() -> None:
    pairs = [
        ("I saw the the cat.", ["I saw the cat.", "I had seen the cat."]),
        ("It is a old house.", ["It is the old house."]),
        ("She don't know.", ["She don't know."]),
        ("He went there yesterday.", ["He went there."]),
        ("We discussed about the plan and she laugh.", ["We discussed the plan and she laughed."]),
    ]
    tally = among_pairs("made-up", pairs)
    assert [line.split("\t")[1] for line in tally.lines] == [
        "made-up right",
        "made-up otherwise",
        "made-up left",
        "made-up right",
    ]
    assert tally.right == {"doubled word": 1, "discuss about": 1}
    assert tally.otherwise == {"a before a vowel": 1}
    shown = page({}, {"made-up": tally})
    assert "| made-up |" in shown
    assert "0.500" in shown


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, pairs = tmp_path / "good.txt", tmp_path / "pairs.jsonl"
    texts.write_text("All is well here.\n")
    pairs.write_text(json.dumps({"before": "I saw the the cat.", "after": "I saw the cat."}))
    written, found = tmp_path / "page.md", tmp_path / "found.tsv"
    words = [str(texts), "--pairs", str(pairs), "--write", str(written), "--found", str(found)]
    assert main(words) == 0
    shown = written.read_text("utf-8")
    assert shown.startswith("# Sure mistakes\n\n- Command: `python -m benchmarks phrases good.txt ")
    assert str(tmp_path / "good.txt") not in shown.splitlines()[2]
    assert "| pairs.jsonl |" in shown
    assert found.read_text("utf-8") == "doubled word\tpairs.jsonl right\tI saw the{ the|} cat.\n"
    assert in_set(str(pairs)).sentences == 1
    assert main([]) == 2
    assert "name texts" in capsys.readouterr().err
    assert main(["--pairs", "no-such-set"]) == 2
