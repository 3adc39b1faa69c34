"""The measurement of proofreading speed reads every sentence with the decisions that it is given."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.speed.documents import Proofreading, documents_table, measure_documents, paragraphs, with_mistakes
from benchmarks.speed.reading import Measured, ScriptedOvertyping, Sentence, main, measure, table
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.native import NativeDecoder, available
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.together import read_overtyping
from reviser.session.engine import Engine
from tests.reviser.checkpoints.parts import random_model
from tests.reviser.proofreading.scripted import GPT2, Scripted

WORDS = Vocabulary(90, frozenset({0}), kinds=frozenset({"insert", "move", "stop", "delete"}))


OVERTYPING = OvertypingRules(dataclasses.replace(WORDS, overtypes=True))


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_all_is_read() -> None:
    given = [Sentence(words, list(range(1, 2 * words))) for words in (8, 11, 17)]
    with NativeDecoder.from_model(random_model(preset("tiny", vocab_size=WORDS.size))) as decoder:
        found = {(one.kind, one.way): one for one in measure(decoder, WORDS, given, rounds=1)}
    over, typed = found["clean", "overtyping"], found["full of mistakes", "overtyping"]
    assert over.words == typed.words == 36
    assert over.tokens == typed.tokens == sum(2 * len(one.tokens) + 3 for one in given)
    # Of four mistakes each takes a Delete and three tokens, and then the rest is read again.
    assert (over.actions, typed.actions > 16) == (0, True)
    once = found["clean", "once"]
    assert (once.words, once.actions) == (36, 0)
    assert once.tokens == sum(len(one.tokens) for one in given)
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
        # The beginning; twice a Delete and three tokens; between these 8 tokens and 16 more, and then the last 8.
        assert decoder.stop_profile().steps == 1 + 4 + 2 + 4 + 1
    assert [(one.start, one.end, len(one.tokens)) for one in reader.corrections] == [(8, 9, 3), (24, 25, 3)]


def test_the_table() -> None:
    rows = table([Measured("clean", "overtyping", 100, 130, 20, 0.5, 1.5, 0.8)]).splitlines()
    cells = [cell.strip() for cell in rows[-1].strip("|").split("|")]
    assert cells == ["clean", "overtyping", "100", "130", "20", "200", "67", "300", "100", "3.00", "125"]


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err


def test_documents_are_proofread_clean_and_with_mistakes() -> None:
    policy = Scripted({"Congress": ("congress", 0.9)})
    engine = Engine("scripted", policy, GPT2)
    clean, full = measure_documents(engine, words=80, rounds=1)
    assert clean.words == full.words >= 80
    assert (clean.mistakes, full.mistakes) == (0, full.words // 8)
    assert min(clean.clock, clean.processor, full.clock, full.processor) > 0
    rows = documents_table([Proofreading("clean", 100, 0, 1, 0.5, 0.8)]).splitlines()
    assert [cell.strip() for cell in rows[-1].strip("|").split("|")] == [*("clean", "100", "0", "1", "200", "125")]


def test_mistakes_are_slips_in_words() -> None:
    (text, *_) = paragraphs(80)
    wrong, count = with_mistakes(text, seed=3)
    assert with_mistakes(text, seed=3) == (wrong, count)
    pairs = zip(text.split(" "), wrong.split(" "), strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    assert 0 < len(changed) <= count
    assert all(sorted(old) == sorted(new) for old, new in changed)
