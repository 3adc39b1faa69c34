"""The measurement of proofreading speed reads every sentence both ways, with the decisions that it is given."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.speed.reading import (
    Measured,
    ScriptedOvertyping,
    ScriptedReader,
    Sentence,
    main,
    measure,
    table,
)
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.native import NativeDecoder, available, read_batch, read_overtyping
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.reader import Rules
from tests.reviser.checkpoints.parts import random_model

WORDS = Vocabulary(90, frozenset({0}), kinds=frozenset({"insert", "move", "stop", "delete"}))


OVERTYPING = OvertypingRules(dataclasses.replace(WORDS, overtypes=True))


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_both_ways_read_all() -> None:
    rules = Rules(WORDS)
    given = [Sentence(words, list(range(1, 2 * words))) for words in (8, 11, 17)]
    with NativeDecoder.from_model(random_model(preset("tiny", vocab_size=WORDS.size))) as decoder:
        decoder.start_profile()
        read_batch(
            decoder, [ScriptedReader(rules, one.tokens, one.actions(WORDS)) for one in given]
        )
        # The passages, and then ten actions of the one that has most mistakes.
        assert decoder.stop_profile().steps == 11
        found = {(one.kind, one.way): one for one in measure(decoder, WORDS, given, rounds=1)}
    clean, full = found["clean", "backward"], found["full of mistakes", "backward"]
    assert (clean.words, clean.actions, full.words, full.actions) == (36, 0, 36, 20)
    assert clean.tokens == full.tokens == sum(len(one.tokens) + 2 for one in given)
    over, typed = found["clean", "overtyping"], found["full of mistakes", "overtyping"]
    assert over.tokens == typed.tokens == sum(2 * len(one.tokens) + 3 for one in given)
    assert (over.actions, typed.actions > full.actions) == (0, True)
    for one in found.values():
        assert min(one.together, one.alone, one.processor) > 0


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_scripted_corrections_are_made_by_overtyping() -> None:
    sentence = Sentence(17, list(range(1, 34)))
    model = random_model(preset("tiny", vocab_size=WORDS.size))
    reader = ScriptedOvertyping(OVERTYPING, sentence.tokens, sentence.places())
    with NativeDecoder.from_model(model) as decoder:
        decoder.start_profile()
        read_overtyping(decoder, [reader])
        # All of it; then twice a Delete and three tokens, and the rest behind them.
        assert decoder.stop_profile().steps == 1 + 2 * (4 + 1)
    assert [(one.start, one.end, len(one.tokens)) for one in reader.corrections] == [
        (8, 9, 3),
        (24, 25, 3),
    ]


def test_the_table() -> None:
    rows = table([Measured("clean", "backward", 100, 130, 20, 0.5, 1.5, 0.8)]).splitlines()
    cells = [cell.strip() for cell in rows[-1].strip("|").split("|")]
    assert cells == [
        "clean",
        "backward",
        "100",
        "130",
        "20",
        "200",
        "67",
        "300",
        "100",
        "3.00",
        "125",
    ]


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err
