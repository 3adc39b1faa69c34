"""A calibrated confidence: what it is made of, what it lets a proofreader look for, and which model it is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.checkpoints.description import digest_of
from reviser.checkpoints.library import embedded_folder
from reviser.core.canvas import Canvas
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.model.scoring import Scores
from reviser.proofreading.document import Draft
from reviser.proofreading.guard.calibration import (
    BETTER,
    RAW,
    SHIPPED,
    WORSE,
    Calibration,
    SearchThresholds,
    calibration_for,
    log_odds,
    logistic,
)
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.suggestion import Evidence, Kind, Suggestion
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted

FITTED = Calibration("a model", 0.5, 1.0, others=0.8, reading=0.3)


def test_chances_and_odds() -> None:
    assert logistic(log_odds(0.3)) == pytest.approx(0.3)
    assert logistic(-1e9) == pytest.approx(0)
    assert logistic(log_odds(1.0)) == pytest.approx(1)


def test_each_change_of_a_sentence_is_judged_beside_the_others() -> None:
    read = Evidence(reading=0.0)
    slip = Suggestion(Edit(0, "teh", "the"), Kind.SPELLING, 0.4, evidence=read)
    article = Suggestion(Edit(9, "a", "an"), Kind.ARTICLE, 0.7, evidence=read)
    (alone,) = FITTED.judged([slip])
    beside, other = FITTED.judged([slip, article])
    assert 0.4 < alone.confidence < beside.confidence
    assert other.confidence > 0.7
    assert (alone.evidence.others, beside.evidence.others) == (0.0, pytest.approx(0.7))
    assert [one.confidence for one in RAW.judged([slip, article])] == [0.4, 0.7]
    assert FITTED.judged([slip], made=0.7)[0] == beside


@given(
    st.floats(0.01, 0.99),
    st.floats(0.001, 0.999),
    st.floats(0.0, 5.0),
    st.floats(0.2, 3.0),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(WORSE, BETTER),
)
def test_nothing_is_missed_that_a_dial_accepts(
    dial: float, chance: float, others: float, slope: float, of_others: float, of_reading: float, reading: float
) -> None:
    calibration = Calibration("a model", 0.3, slope, of_others, of_reading)
    search = calibration.search(dial)
    assert search.followed >= search.least <= search.trigger
    if chance >= search.least and calibration.confidence(chance, others, reading) > dial + 1e-9:
        assert chance >= search.trigger - 1e-9


def test_little_else_is_looked_for() -> None:
    assert RAW.search(0.7) == SearchThresholds(0.7, 0.7)
    assert FITTED.search(0.3).trigger < FITTED.search(0.95).trigger
    assert FITTED.search(1.0).trigger > 0.999


def test_a_file_has_it_all(tmp_path: Path) -> None:
    assert Calibration.from_dict(json.loads(json.dumps(FITTED.to_dict()))) == FITTED
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(FITTED.to_dict()))
    policy = Scripted({})
    assert calibration_for(policy, path) is RAW
    policy.digest = "another model"  # type: ignore[attr-defined]
    assert calibration_for(policy, path) is RAW
    assert calibration_for(policy, tmp_path / "missing.json") is RAW
    policy.digest = "a model"  # type: ignore[attr-defined]
    assert calibration_for(policy, path) == FITTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slope": -1.0}, "must grow"),
        ({"slope": float("nan")}, "finite"),
        ({"others": "many"}, "no calibration"),
        ({"reading": None}, "no calibration"),
    ],
)
def test_what_is_no_calibration_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ReviserError, match=message):
        Calibration.from_dict(FITTED.to_dict() | change)


def test_the_shipped_file_is_for_the_model_that_comes_along() -> None:
    if SHIPPED.is_file():
        data = json.loads(SHIPPED.read_text("utf-8"))
        assert Calibration.from_dict(data).model == digest_of(embedded_folder())


def test_a_digest_tells_weights_apart(tmp_path: Path) -> None:
    digests = set()
    for name, data in (("a", bytes(300_000)), ("b", bytes(299_999) + b"x"), ("c", bytes(9))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(data)
        digests.add(digest_of(tmp_path / name))
        assert digest_of(tmp_path / name) in digests
    assert len(digests) == 3


class Counting(Scripted):
    """Counts what it is asked."""

    asked = 0

    def scores(self, history: list[int], canvas: Canvas) -> Scores:  # type: ignore[override]
        self.asked += 1
        return super().scores(history, canvas)


UNSURE: Known = {"becuse": ("because", 0.3), "a old": ("an old", 0.7), "car": ("train", 0.6)}
TEXT = "It is a old house, becuse I like my car."


def test_the_dial_is_about_calibrated_confidence() -> None:
    raw = Proofreader(Scripted(UNSURE), GPT2, phrases=False).proofread(Draft(TEXT))
    assert raw.text == "It is an old house, becuse I like my car."
    reader = Proofreader(Scripted(UNSURE), GPT2, phrases=False, calibration=FITTED)
    done = reader.proofread(Draft(TEXT))
    assert done.text == "It is an old house, because I like my train."
    slip = next(change for change in done.changes if change.old == "becuse")
    # Written right it is one token, and reads better by more than counts.
    assert slip.confidence == pytest.approx(FITTED.confidence(0.3, 1.3, BETTER), abs=0.01)
    strict = Proofreader(Scripted(UNSURE), GPT2, phrases=False, confidence=0.8, calibration=FITTED)
    assert strict.proofread(Draft(TEXT)).text == "It is an old house, becuse I like my car."


def test_what_was_corrected_before_makes_another_change_of_its_sentence_likelier() -> None:
    """A rule corrects "he have"; the doubtful change is made in that sentence, and in no other."""
    doubtful: Known = {"car": ("cars", 0.4)}
    text = "I think he have my car. I like my car."
    plain, beside = Calibration("a model"), Calibration("a model", others=2.0)
    made = {
        name: Proofreader(Scripted(doubtful), GPT2, calibration=which).proofread(Draft(text)).text
        for name, which in (("plain", plain), ("beside", beside))
    }
    assert made["plain"] == "I think he has my car. I like my car."
    assert made["beside"] == "I think he has my cars. I like my car."
    alone = Proofreader(Scripted(doubtful), GPT2, calibration=beside, phrases=False)
    assert alone.proofread(Draft(text)).text == text


def test_a_sentence_without_anything_likely_costs_its_reading_alone() -> None:
    unlikely: Known = {"mail": ("letters", 0.16)}
    asked = []
    for known, calibration in (({}, RAW), (unlikely, RAW), (unlikely, FITTED)):
        policy = Counting(known)
        done = Proofreader(policy, GPT2, calibration=calibration).proofread(Draft("I like mail."))
        assert not done.changes
        asked.append(policy.asked)
    assert FITTED.search(0.5).least < 0.16 < FITTED.search(0.5).trigger
    assert asked[0] == asked[1] == asked[2]
