"""The measurement of proofreading speed reads every sentence both ways, action by action."""

from __future__ import annotations

import pytest

from benchmarks.speed.reading import Measured, ScriptedReader, Sentence, main, measure, table
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.native import NativeDecoder, available, read_batch
from reviser.proofreading.reader import Rules
from tests.reviser.checkpoints.parts import random_model

WORDS = Vocabulary(90, frozenset({0}), kinds=frozenset({"insert", "move", "stop", "delete"}))


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_both_ways_read_all() -> None:
    rules = Rules(WORDS)
    given = [Sentence(words, list(range(1, 2 * words))) for words in (8, 11, 17)]
    with NativeDecoder.from_model(random_model(preset("tiny", vocab_size=WORDS.size))) as decoder:
        decoder.start_profile()
        read_batch(
            decoder, [ScriptedReader(rules, one.tokens, one.actions(rules)) for one in given]
        )
        # The passages, and then ten actions of the one that has most mistakes.
        assert decoder.stop_profile().steps == 11
        clean, full = measure(decoder, rules, given, rounds=1)
    assert (clean.words, clean.actions, full.words, full.actions) == (36, 0, 36, 20)
    assert clean.tokens == full.tokens == sum(len(one.tokens) + 2 for one in given)
    assert min(clean.together, clean.alone, full.together, full.alone) > 0


def test_the_table() -> None:
    rows = table([Measured("clean", 100, 130, 20, 0.5, 1.5)]).splitlines()
    cells = [cell.strip() for cell in rows[-1].strip("|").split("|")]
    assert cells == ["clean", "100", "130", "20", "200", "67", "300", "100", "3.00"]


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err
