"""How sentences read with and without changes, by the bundled model, and what that does to the changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviser.core.edits import Edit
from reviser.model.scoring import ChoiceScores, Questions
from reviser.proofreading.document import Draft
from reviser.proofreading.evidence.readings import BEHIND, SentenceQuestion, SentenceReader, readings, shared
from reviser.proofreading.guard.calibration import (
    BETTER,
    FOLLOWED,
    LEAST_CHANCE,
    LEAST_READ,
    RAW,
    SHIPPED,
    WORSE,
    Calibration,
    SearchThresholds,
    calibration_for,
)
from reviser.proofreading.guard.guard import Guard
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.reading import Passage, overtype, rules_for
from reviser.proofreading.stages import model
from reviser.proofreading.suggestion import Evidence, Kind, Suggestion
from reviser.session.engine import Engine, load_engine

TEXT = "He go to school every day, and he like it."
CHANGED = (
    "He goes to school every day, and he like it.",
    "He go to the a school every day, and he like it.",
    "He go to school every day, and he likes it.",
    "He go to school every day, and he like it",
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return load_engine(threads=1)


def rules_of(engine: Engine) -> OvertypingRules:
    rules = rules_for(engine.policy.vocabulary)
    assert isinstance(rules, OvertypingRules)
    return rules


def question(engine: Engine, *changed: str) -> SentenceQuestion:
    encode = engine.tokenizer.encode
    sides = encode("I know the boy."), encode(" So do I.")
    return SentenceQuestion(Passage(encode(TEXT), *sides), [encode(one) for one in changed])


def test_what_two_lists_share() -> None:
    assert shared([1, 2, 3], [1, 2, 3, 4]) == (3, 0)
    assert shared([1, 2, 3], [1, 9, 3]) == (1, 1)
    assert shared([1, 1], [1, 1, 1]) == (2, 0)
    assert shared([], [1]) == (0, 0)


class Whole:
    """Reads one text from its start, and nothing else."""

    over = False
    enough = None

    def __init__(self, engine: Engine, ids: list[int]) -> None:
        self.rules = rules_of(engine)
        self.canvas = SentenceReader(self.rules, question(engine)).canvas
        self.ids, self.expected, self.longest = ids[:-1], ids[1:], len(ids)
        self.asked: Questions = {}
        self.chances: list[float] = []

    def give_up(self) -> None:
        raise AssertionError("there is room for it")

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        self.chances = [one.expected for one in choice_scores]
        self.over = True


def log_probability(engine: Engine, before: list[int], tokens: list[int]) -> float:
    """The log-probability of tokens behind others."""
    reader = Whole(engine, [*before, *tokens])
    overtype(engine.policy, [reader])
    return sum(reader.chances[len(before) - 1 :])


def test_a_reading_is_the_difference_of_two_texts(engine: Engine) -> None:
    asked = question(engine, *CHANGED)
    tokens, left, right = asked.sentence
    (found,) = readings(engine.policy, rules_of(engine), [asked])
    stop = engine.policy.vocabulary.stop_id
    start = engine.policy.vocabulary.start_id
    for changed, reading in zip(asked.changed, found, strict=True):
        front, back = shared(tokens, changed)
        old, new = (
            log_probability(
                engine, [start, *left, *text[:front]], [*text, *right[:BEHIND], stop][front : len(text) - back + BEHIND]
            )
            for text in (tokens, changed)
        )
        assert reading == pytest.approx(max(WORSE, min(BETTER, new - old)), abs=0.02)
    # What is right reads better, what is wrong reads worse. In full precision the third is 1.05, near the most that
    # counts.
    assert found[0] == BETTER
    assert found[1] is not None
    assert found[1] < -1
    assert found[2] is not None
    assert found[2] > 0.5


def test_neighbours_and_order_do_not_matter(engine: Engine) -> None:
    rules = rules_of(engine)
    alone = [readings(engine.policy, rules, [question(engine, one)])[0][0] for one in CHANGED]
    together = readings(engine.policy, rules, [question(engine, *CHANGED[::-1]), question(engine, CHANGED[1])])
    assert together[0] == pytest.approx(alone[::-1], abs=1e-3)
    assert together[1] == pytest.approx(alone[1:2], abs=1e-3)
    assert readings(engine.policy, rules, [question(engine)]) == [[]]


def test_a_reading_that_has_no_room_says_nothing(engine: Engine) -> None:
    reader = SentenceReader(rules_of(engine), question(engine, *CHANGED))
    reader.give_up()
    assert reader.over
    assert reader.found == [None] * len(CHANGED)


# The calibration ---------------------------------------------------------------------------------

READING = Calibration("a model", -0.5, 0.8, reading=0.6)


def test_what_reads_worse_needs_more() -> None:
    change = Suggestion(Edit(0, "go", "goes"), Kind.AGREEMENT, 0.7)
    sure = [
        READING.judged([replace(change, evidence=Evidence(reading=reading))])[0].confidence
        for reading in (WORSE, -1.0, 0.0, BETTER)
    ]
    assert sure == sorted(sure)
    assert sure[0] < 0.1
    assert sure[-1] > 0.5
    # What could not be read keeps the model's chance.
    assert READING.judged([change])[0].confidence == 0.7
    assert Calibration.from_dict(READING.to_dict()) == READING


def test_the_same_is_looked_for_whatever_the_dial_says() -> None:
    searches = {READING.search(dial)[:2] for dial in (LEAST_READ, 0.3, 0.5, 0.9, 1.0)}
    assert searches == {SearchThresholds(FOLLOWED, LEAST_READ)[:2]}
    assert READING.search(0.1).least == 0.1
    assert READING.search(0.0).least == LEAST_CHANCE


@pytest.mark.parametrize("dial", [0.15, 0.3, 0.5, 0.6, 0.9, 0.99])
def test_where_nothing_is_looked_for_nothing_could_be_accepted(dial: float) -> None:
    for found in (READING, replace(READING, others=1.0)):
        trigger = found.search(dial).trigger
        assert LEAST_READ <= trigger <= max(dial, LEAST_READ)
        # As likely as a change can be there, among as many others, and read as well as can be, or not at all.
        change = Suggestion(Edit(0, "go", "goes"), Kind.AGREEMENT, trigger - 1e-6, evidence=Evidence(reading=BETTER))
        if trigger > LEAST_READ:
            assert max(one.confidence for one in found.judged([change] * 20)) < dial
        unread = replace(change, evidence=Evidence())
        assert found.judged([unread])[0].confidence < max(dial, LEAST_READ)


# The proofreader ---------------------------------------------------------------------------------


def test_a_change_is_vetoed_by_how_the_sentence_reads(engine: Engine) -> None:
    text = "He go to school every day."
    loose = Proofreader(engine.policy, engine.tokenizer, calibration=RAW, phrases=False).proofread(Draft(text))
    assert loose.changes
    against = Calibration("a model", 0.0, 1.0, reading=-20.0)
    strict = Proofreader(engine.policy, engine.tokenizer, calibration=against, phrases=False)
    assert strict.proofread(Draft(text)).text == text
    for_it = Calibration("a model", 0.0, 1.0, reading=0.5)
    done = Proofreader(engine.policy, engine.tokenizer, calibration=for_it, phrases=False).proofread(Draft(text))
    assert done.changes[0].new == loose.changes[0].new
    assert done.changes[0].confidence > loose.changes[0].confidence


def test_what_could_not_be_accepted_is_not_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the changes are the same, to the last bit, as if all of it were."""
    asked: list[SentenceQuestion] = []
    real = model.readings

    def counted(*given: Any) -> list[list[float | None]]:
        asked.extend(given[-1])
        return real(*given)

    monkeypatch.setattr(model, "readings", counted)
    texts = (
        "He go to school every day and like it, because of teachers is kind for him.",
        "In my opinion people should to think about the future of world more often.",
        "I am agree with this statement since the life were more better in past.",
        "It depends from the weather of the day if we go at the beach.",
    )
    drafts = [Draft(text) for text in texts]

    def run(dial: float) -> tuple[list[Suggestion], int]:
        asked.clear()
        done = Proofreader(engine.policy, engine.tokenizer, confidence=dial).proofread_all(drafts)
        changes = [change for one in done for change in one.changes]
        return changes, sum(len(one.changed) for one in asked)

    few = {dial: run(dial) for dial in (0.5, 0.9)}
    monkeypatch.setattr(Guard, "hopeful", lambda guard, sentence, found: set(found))
    for dial, (changes, readings_made) in few.items():
        all_changes, all_readings = run(dial)
        assert changes == all_changes
        assert 0 < readings_made < all_readings
    assert few[0.5][1] > few[0.9][1]


def test_documents_are_read_as_they_are_alone(engine: Engine) -> None:
    texts = ["He go to school every day.", "I has a car, and she like it.", "All is well here."]
    reader = Proofreader(engine.policy, engine.tokenizer, confidence=0.3, calibration=READING, phrases=False)
    together = reader.proofread_all([Draft(text) for text in texts])
    for text, done in zip(texts, together, strict=True):
        alone = reader.proofread(Draft(text))
        assert alone.text == done.text
        assert [one.confidence for one in alone.changes] == pytest.approx(
            [one.confidence for one in done.changes], abs=1e-3
        )


def test_the_bundled_model_has_its_calibration(engine: Engine) -> None:
    found = calibration_for(engine.policy)
    assert found.is_raw is not Path(SHIPPED).is_file()
