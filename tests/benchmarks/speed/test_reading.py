"""The measurement of proofreading speed reads the same documents clean and with mistakes."""

from __future__ import annotations

import pytest

from benchmarks.speed.reading import (
    ProofreadingSpeed,
    documents_table,
    measure_documents,
    paragraphs,
    run,
    with_mistakes,
)
from reviser.cli.options import run_with
from reviser.session.engine import Engine
from tests.reviser.proofreading.scripted import GPT2, Scripted


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(run, ["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err


def test_documents_are_proofread_clean_and_with_mistakes() -> None:
    policy = Scripted({"Congress": ("congress", 0.9)})
    engine = Engine("scripted", policy, GPT2)
    clean, full = measure_documents(engine, words=80, rounds=1)
    assert clean.words == full.words >= 80
    assert (clean.mistakes, full.mistakes) == (0, full.words // 8)
    assert min(clean.clock, clean.processor, full.clock, full.processor) > 0
    rows = documents_table([ProofreadingSpeed("clean", 100, 0, 1, 0.5, 0.8)]).splitlines()
    assert [cell.strip() for cell in rows[-1].strip("|").split("|")] == [*("clean", "100", "0", "1", "200", "125")]


def test_mistakes_are_slips_in_words() -> None:
    (text, *_) = paragraphs(80)
    wrong, count = with_mistakes(text, seed=3)
    assert with_mistakes(text, seed=3) == (wrong, count)
    pairs = zip(text.split(" "), wrong.split(" "), strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    assert 0 < len(changed) <= count
    assert all(sorted(old) == sorted(new) for old, new in changed)
