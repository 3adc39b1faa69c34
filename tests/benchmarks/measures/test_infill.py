"""Gaps in held-out texts, filled as `reviser infill` fills them, and what they cost a reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.measures import infill
from reviser.cli.options import run_with
from reviser.core.tokenizer import Gpt2Tokenizer
from tests.benchmarks.tiny_reviser import tiny_reviser

TEXT = "The road to the harbour was wet and the lamps were still burning in the early light. " * 12


def test_a_passage_is_cut_from_the_beginning_of_a_text_that_is_long_enough() -> None:
    tokenizer = Gpt2Tokenizer()
    (passage,) = infill.passages_of(iter(["Too short.", TEXT]), tokenizer, 5)
    whole = passage.before + passage.gap + passage.scored + passage.behind
    assert TEXT.startswith(whole)
    sizes = [len(tokenizer.encode(part)) for part in (passage.before, passage.gap, passage.scored)]
    assert sizes == [infill.PREFIX_TOKENS, infill.GAP_TOKENS, infill.SCORED_TOKENS]


def test_models_fill_gaps_beside_the_real_text_and_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_reviser(tmp_path / "ours")
    tiny_reviser(tmp_path / "base", kinds=frozenset({"insert", "stop"}), seed=5)
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps({"text": f"{n} {TEXT}"}) + "\n" for n in range(3)))
    options = ["--evaluator", str(tmp_path / "base"), "--data", str(data), "--passages", "2"]
    assert run_with(infill.run, [str(tmp_path / "ours"), *options, "--tries", "2"]) == 0
    real, nothing, made = map(json.loads, capsys.readouterr().out.splitlines())
    assert (real["name"], real["tokens"], real["beaten"]) == ("real text", infill.GAP_TOKENS, 1.0)
    assert (nothing["name"], nothing["tokens"]) == ("nothing", 0.0)
    assert made["passages"] == 2
    assert made["perplexity"] > 1
    assert 0 <= made["stopped"] <= 1
