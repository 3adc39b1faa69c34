"""Keeping what a base knows: where its word counts, what it counts, and that a run stays nearer to it."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from reviser.checkpoints import load
from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from training.batches.packing import PackedRows
from training.data.shards import run as run_make_data
from training.trainer.distillation import BaseTeacher, divergence_and_gradient, plain_places
from training.trainer.run import run as run_train

make_data = partial(run_with, run_make_data)
train = partial(run_with, run_train)

BASE = 10
START, MOVE = 11, 14


def rows_of(*samples: list[int], length: int = 12) -> PackedRows:
    """One row with some samples, one after the other."""
    row = PackedRows.empty(1, length, START)
    at = 0
    for number, ids in enumerate(samples):
        place = slice(at, at + len(ids))
        row.ids[0, place] = ids
        row.samples[0, place] = number
        row.positions[0, place] = np.arange(len(ids))
        row.mask[0, place] = True
        at += len(ids)
    return row


def test_the_base_is_asked_while_a_history_is_plain_text() -> None:
    row = rows_of([START, 1, 2, MOVE, 3, 4], [START, 5, 6, 7])
    plain = plain_places(row, BASE)[0].tolist()
    # After the move nothing is plain, nor where an operator or another sample comes next.
    assert plain == [True, True, False, False, False, False, True, True, True, False, False]


def test_the_gradient_is_that_of_the_divergence() -> None:
    torch.manual_seed(0)
    logits = torch.randn(5, 16, requires_grad=True)
    wanted = torch.randn(5, 10)
    inserts = torch.tensor([0.0, 1.0, 0.5, 0.0, 2.0])
    loss, grad = divergence_and_gradient(logits, wanted, 13, inserts)
    chances = wanted.softmax(-1)
    tokens = logits[:, :10].log_softmax(-1)
    inserting = logits[:, :10].logsumexp(-1) - logits[:, :13].logsumexp(-1)
    plain = (chances * (wanted.log_softmax(-1) - tokens)).sum() - (inserts * inserting).sum()
    plain.backward()
    assert torch.allclose(loss, plain)
    assert logits.grad is not None
    assert torch.allclose(grad, logits.grad, atol=1e-6)


def test_what_is_given_says_nothing_about_moves() -> None:
    """Where nothing counts, the divergence does not care how likely a move is."""
    logits = torch.randn(3, 13)
    wanted = torch.randn(3, 10)
    likelier = logits.clone()
    likelier[:, 10:] += 5
    nothing = torch.zeros(3)
    loss, grad = divergence_and_gradient(logits, wanted, 13, nothing)
    other, _ = divergence_and_gradient(likelier, wanted, 13, nothing)
    assert torch.allclose(loss, other)
    assert not grad[:, 10:].any()


def test_places_that_are_asked_stand_for_all_that_count() -> None:
    row = rows_of([START, 1, 2, 3, 4, 5, 6, 7, 8])
    row.mask[0, :3] = False
    teacher = BaseTeacher(toy(0), BASE, 2.0, most=4)
    kept = teacher.choose(row, plain_places(row, BASE), torch.device("cpu"))
    assert len(kept.places) == 4
    # Six tokens count; the divergence itself is weighed by 2.
    assert float(kept.inserts.sum()) * teacher.weight == pytest.approx(6)
    assert set((kept.inserts > 0).tolist()) == {False, True}


def toy(seed: int, size: int = 20) -> Reviser:
    torch.manual_seed(seed)
    return Reviser(preset("tiny", vocab_size=size, dropout=0.0))


def test_divergence_from_oneself_is_nothing() -> None:
    model, row = toy(1), rows_of([START, 1, 2, 3, 4], [START, 5, 6, 7])
    for other, apart in ((toy(1), False), (toy(2), True)):
        teacher = BaseTeacher(other, BASE, 1.0)
        teacher.to(torch.device("cpu"), compiled=False)
        kept = teacher.choose(row, plain_places(row, BASE), torch.device("cpu"))
        assert len(kept.places) == 7
        ids, positions = (torch.from_numpy(part.astype(np.int64)) for part in (row.ids, row.positions))
        # The base sees token 0 for the operators, and so does the model here.
        seen = torch.where(ids < BASE, ids, 0)
        states = model.hidden_packed(seen, positions).flatten(0, 1)
        away = teacher.divergence(ids, positions, kept, states, model.embedding.weight[:BASE])
        assert (away.item() > 1e-2) == apart


def test_another_vocabulary_is_refused() -> None:
    with pytest.raises(ReviserError, match="another vocabulary"):
        BaseTeacher(toy(0, 12), 50, 1.0)


def test_a_run_that_keeps_its_base_stays_nearer_to_it(tmp_path: Path) -> None:
    """Two runs from one base on other texts: the one that keeps it diverges less."""
    chooser = random.Random(0)
    # A small vocabulary: with GPT-2's, most of the time would go into scores of ids that do not occur.
    (tmp_path / "tokenizer.json").write_bytes(toy_tokenizer_json())
    given = ["--tokenizer", str(tmp_path / "tokenizer.json")]
    for name, letters in (("old", "abcde"), ("new", "vwxyz")):
        texts = [" ".join(chooser.choices(letters, k=60)) for _ in range(60)]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        assert make_data([str(tmp_path / name), str(file), *given, "--workers", "1"]) == 0
    common = ["tiny", *given, "--rows", "4", "--seed", "1", "--workers", "1"]
    base = tmp_path / "base"
    old = ["--data", str(tmp_path / "old"), "--out", str(base), "--objective", "ar", "--steps", "60"]
    assert train([*common, *old]) == 0
    away = {}
    for keep in ("0", "3"):
        out = tmp_path / f"run{keep}"
        new = [*common, "--data", str(tmp_path / "new"), "--out", str(out), "--keep", keep]
        new += ["--objective", "ar"]
        assert train([*new, "--init", str(base / "model"), "--steps", "40"]) == 0
        away[keep] = _apart(out / "model", base / "model")
    assert away["3"] < 0.5 * away["0"]


def _apart(one: Path, other: Path) -> float:
    """How far a model's next tokens are from another's after some plain text, in nats."""
    left, right = load(one), load(other)
    ids = torch.tensor([[left.vocabulary.start_id, *left.tokenizer.encode("v w x y z v x")]])
    plain = torch.where(ids < left.vocabulary.base_size, ids, 0)
    size = left.vocabulary.base_size
    with torch.no_grad():
        shares = left.model(ids)[0].log_softmax(-1)[:, :size]
        wanted = right.model(plain)[0, :, :size].log_softmax(-1)
    return float((wanted.exp() * (wanted - shares)).sum(-1).mean())


def test_keeping_needs_a_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("one two three four five six " * 40)
    shards = str(tmp_path / "shards")
    assert make_data([shards, str(file), "--tokenizer", "gpt2", "--workers", "1"]) == 0
    assert train(["tiny", "--data", shards, "--out", str(tmp_path / "run"), "--keep", "1"]) == 2
    assert "--keep needs the model" in capsys.readouterr().err
