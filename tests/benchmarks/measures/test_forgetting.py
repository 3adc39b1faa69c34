"""What a model forgot: perplexities from left to right, beside the base's."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from benchmarks.measures.forgetting import TextReading, ratio_of, read, run, tokens_of
from reviser.checkpoints.home import Checkpoint
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from tests.benchmarks.tiny_reviser import tiny_reviser
from tests.toys import VOCABULARY, ToyTokenizer, toy_model


def toy_checkpoint(seed: int = 0) -> Checkpoint:
    return Checkpoint(toy_model(seed=seed), VOCABULARY, ToyTokenizer(), None, {})


def test_a_model_is_as_good_as_itself() -> None:
    texts = [[1, 2, 3, 4, 5], [9, 8, 7]]
    reading = read(toy_checkpoint(), texts, 1, insertions=False)
    ratio = ratio_of(reading, reading)
    assert (ratio.value, ratio.low, ratio.high) == (1, 1, 1)
    assert reading.tokens == (4, 2)


def test_nats_are_those_of_the_tokens_behind_what_is_given() -> None:
    checkpoint = toy_checkpoint()
    text = [10, 20, 30, 40]
    ids = torch.tensor([[VOCABULARY.start_id, *text]])
    with torch.no_grad():
        chances = checkpoint.model(ids)[0].log_softmax(-1)
    expected = -float(chances[2, 30] + chances[3, 40])
    reading = read(checkpoint, [text], 2, insertions=False)
    assert reading.nats == pytest.approx((expected,), rel=1e-5)
    assert reading.perplexity == pytest.approx(math.exp(expected / 2), rel=1e-5)


def test_among_insertions_alone_every_token_is_likelier() -> None:
    acting, inserting = (read(toy_checkpoint(), [[1, 2, 3, 4]], 1, insertions=alone) for alone in (False, True))
    assert inserting.perplexity < acting.perplexity


def test_the_interval_holds_the_ratio_and_narrows_where_texts_agree() -> None:
    base = TextReading((1.0,) * 8, (10,) * 8)
    steady = ratio_of(TextReading((2.0,) * 8, (10,) * 8), base)
    varied = ratio_of(TextReading((1.0, 3.0) * 4, (10,) * 8), base)
    assert steady.value == pytest.approx(math.exp(0.1)) == pytest.approx(varied.value)
    assert steady.high - steady.low < 1e-9 < varied.high - varied.low
    assert varied.low < varied.value < varied.high
    with pytest.raises(ReviserError, match="same tokens"):
        ratio_of(TextReading((1.0,), (2,)), base)


def test_short_documents_are_left_out_and_long_ones_cut(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    lines = ["ab", "abcdefgh" * 9, "abcdefgh", "xyzxyzxyz"]
    file.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    found = tokens_of(str(file), toy_checkpoint(), texts=2, given=4, longest=20)
    assert [len(ids) for ids in found] == [20, 8]


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_reviser(tmp_path / "model")
    texts = tmp_path / "letters.txt"
    texts.write_text("Dear neighbour, the parcel that you waited for has come today. " * 3)
    page = tmp_path / "page.md"
    words = [str(texts), "--base", str(model), "--model", str(model), "--given", "4"]
    assert run_with(run, [*words, "--longest", "24", "--write", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "letters (1)" in shown
    assert "1.00 (1.00 to 1.00)" in shown
    assert "python -m benchmarks forgetting letters.txt" in page.read_text()


def test_a_file_without_long_texts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_reviser(tmp_path / "model")
    texts = tmp_path / "short.txt"
    texts.write_text("Hm.")
    assert run_with(run, [str(texts), "--base", str(model), "--model", str(model)]) == 2
    assert "has no document of 70 tokens" in capsys.readouterr().err
