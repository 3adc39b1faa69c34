"""Evidence on changes: what is asked, how it is weighed, the figures, and the command."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.proofreading import sets
from benchmarks.proofreading.deciding import command
from benchmarks.proofreading.deciding.asking import Case, Heard, hear
from benchmarks.proofreading.deciding.collecting import (
    Judged,
    Plain,
    Sample,
    collect,
    is_nearer,
)
from benchmarks.proofreading.deciding.figures import (
    area,
    average_precision,
    correcting,
    left_alone,
    lowest_setting,
)
from benchmarks.proofreading.deciding.weighing import (
    OTHERS,
    PROGRAM,
    WAYS,
    as_calibration,
    bounded_reading,
    chance,
    dial_of,
    fitted,
    reading,
)
from reviser.core.errors import ReviserError
from reviser.proofreading.calibration import RAW, Calibration, features_of, logistic
from reviser.proofreading.changes import Kind
from reviser.proofreading.evidence.readings import Question, readings
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.proofreader import Proofreader
from reviser.proofreading.reading import Passage, rules_for
from reviser.session.engine import Engine, load_engine
from tests.benchmarks.proofreading.made_up import m2_set, parallel_set
from tests.reviser.proofreading.scripted import GPT2, Scripted


@pytest.fixture(scope="module")
def engine() -> Engine:
    return load_engine(threads=1)


def judged(chance: float, read: float, right: bool, *, share: float = 1.0) -> Judged:
    """A proposal whose sentence reads better by `read`."""
    heard = Heard(1, 1, [-3.0], [-3.0 + read], [-0.1], [-2.0], [-0.1], [-5.0])
    return Judged("go", "goes", Kind.AGREEMENT, chance, 0.0, share, 9, right, heard)


def drawn(count: int, seed: int = 0) -> list[Judged]:
    """Proposals that are right as often as a known weighing says."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        sure, read = draw.uniform(0.15, 0.99), draw.uniform(-4, 4)
        odds = np.log(sure / (1 - sure))
        right = draw.random() < logistic(-0.5 + 0.8 * odds + 0.7 * min(read, 1.0))
        found.append(judged(sure, read, right))
    return found


def sample(*some: Judged, references: tuple[str, ...] = ()) -> Sample:
    return Sample("He go.", references, (), some)


# Asking ------------------------------------------------------------------------------------------


def test_what_the_program_reads_is_what_is_asked_here(engine: Engine) -> None:
    encode, rules = engine.tokenizer.encode, rules_for(engine.policy.vocabulary)
    assert isinstance(rules, OvertypingRules)
    passage = Passage(encode("He go to the school every day."), encode("I know him."), ())
    changed = [encode("He go to school every day."), encode("He go to a the school every day.")]
    found = hear(engine.policy, rules, [Case(passage, one) for one in changed])
    (read,) = readings(engine.policy, rules, [Question(passage, changed)])
    for one, told in zip(found, read, strict=True):
        assert one is not None
        proposal = Judged("a", "b", Kind.OTHER, 0.5, 0.0, 1.0, 7, True, one)
        assert bounded_reading(proposal) == pytest.approx(told, abs=1e-3)
    good, bad = found
    assert good is not None
    assert bad is not None
    # A bad change is not likely to stay, and likely to be changed back.
    assert sum(bad.stays) < sum(good.stays)
    assert sum(bad.reverted) > sum(good.reverted)


def test_proposals_are_collected_once(engine: Engine, tmp_path: Path) -> None:
    proofreader = Proofreader(engine.policy, engine.tokenizer, calibration=RAW, phrases=False)
    texts = [Plain("He go to shcool every day.", ("He goes to school every day.",)), Plain("Fine.")]
    first = collect(proofreader, engine.policy, "own", texts, tmp_path)
    assert first[0].spelled == (True,)
    assert any(one.old == "go" for one in first[0].proposals)
    assert first[0].wanted == 2
    assert (first[1].proposals, first[1].wanted) == ((), 0)
    again = collect(proofreader, engine.policy, "own", texts[:1], tmp_path)
    assert again[0].text == first[0].text
    assert [one.heard for one in again[0].proposals] == [one.heard for one in first[0].proposals]
    with pytest.raises(ReviserError, match="other texts"):
        collect(proofreader, engine.policy, "own", texts[::-1], tmp_path)


def test_other_models_are_refused(tmp_path: Path) -> None:
    policy = Scripted({})
    with pytest.raises(ReviserError, match="overtyping"):
        collect(Proofreader(policy, GPT2), policy, "own", [Plain("Fine.")], tmp_path)


def test_a_change_is_right_if_the_text_is_nearer() -> None:
    assert is_nearer("He go.", "He goes.", ["She went.", "He goes."])
    assert not is_nearer("He go.", "He gone.", ["He goes."])
    assert not is_nearer("He goes.", "He go.", [])


# Weighing ----------------------------------------------------------------------------------------


def test_known_weights_are_found_again() -> None:
    found = fitted((chance, bounded_reading), drawn(6000))
    assert found.weights == pytest.approx((-0.5, 0.8, 0.7), abs=0.12)
    assert reading(judged(0.5, 3.0, True)) == 3.0
    with pytest.raises(ReviserError, match="at least 20"):
        fitted(PROGRAM, drawn(30))
    assert PROGRAM in WAYS.values()


def test_the_calibration_says_what_was_fitted() -> None:
    weighing = fitted(PROGRAM, drawn(500))
    calibration = as_calibration(weighing, "a model")
    one = replace(judged(0.4, -2.0, True), others=0.6)
    assert calibration.confidence(
        one.chance, one.kind, features_of(one.old, one.new, one.others), bounded_reading(one)
    ) == pytest.approx(weighing.confidence(one), abs=1e-3)
    with pytest.raises(ReviserError, match="other features"):
        as_calibration(fitted((chance,), drawn(500)), "a model")


# Figures -----------------------------------------------------------------------------------------


def test_areas_and_precisions() -> None:
    scores, right = np.array([0.9, 0.8, 0.3, 0.1]), np.array([1.0, 0.0, 1.0, 0.0])
    assert area(scores, right) == 0.75
    assert area(np.zeros(4), right) == 0.5
    assert average_precision(scores, right) == pytest.approx((1 + 2 / 3) / 2)


def test_settings_leave_texts_alone() -> None:
    texts = [sample(judged(sure, 0.0, False)) for sure in (0.2, 0.5, 0.7, 0.9)]
    dials = {id(one): one.chance for text in texts for one in text.proposals}
    assert left_alone(texts, dials, 0.6) == 0.5
    assert left_alone([Sample("a", (), (True,), ())], {}, 0.6) == 0
    setting = lowest_setting(texts, dials, 0.75)
    assert 0.7 < setting < 0.71
    assert left_alone(texts, dials, setting) == 0.75
    assert dial_of(0.8, 0.4) == pytest.approx(0.5)


def test_what_a_setting_corrects() -> None:
    texts = [sample(judged(0.6, 0.0, True), judged(0.7, 0.0, False), judged(0.3, 0.0, True))]
    dials = {id(one): one.chance for text in texts for one in text.proposals}
    found = correcting(texts, dials, 0.5, 4)
    assert (found.precision, found.recall) == (0.5, 0.25)
    assert found.f == pytest.approx(1.25 * 0.125 / (0.125 + 0.25))
    assert correcting(texts, dials, 0.95, 4).f == 0


# The command -------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of texts, dev sets, and a folder with what the model is said to have proposed for them."""
    lines = [{"before": f"He go {n}.", "after": f"He goes {n}."} for n in range(300)]
    finished = [{"text": f"All is well {n}."} for n in range(300)]
    for name, some in (("own", lines), ("clean", finished[:150]), ("after", finished[150:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in some))
    made_up = {"jfleg-dev": parallel_set(tmp_path), "bea-dev": m2_set(tmp_path)}
    public = {name: replace(each, name=name) for name, each in made_up.items()}
    monkeypatch.setattr(sets, "are_here", lambda: True)
    monkeypatch.setattr(sets, "read_set", public.__getitem__)
    texts = command._texts(options(tmp_path))
    some = iter(drawn(4000))
    (tmp_path / "cache").mkdir()
    for name, plain in texts.items():
        with (tmp_path / "cache" / f"{name}.jsonl").open("w") as file:
            for one in plain:
                proposed = [vars(next(some)) for _ in range(2 if one.references else 1)]
                for each in proposed:
                    each["right"] = each["right"] and bool(one.references)
                data = {"text": one.text, "references": one.references, "spelled": ()}
                file.write(f"{json.dumps({**data, 'proposals': proposed})}\n")
    return tmp_path


def options(parts: Path) -> command.DecidingOptions:
    return command.DecidingOptions(
        pairs=(str(parts / "own.jsonl"),),
        finished=(str(parts / "clean.jsonl"),),
        measured=str(parts / "after.jsonl"),
    )


def run(parts: Path, *words: str) -> int:
    return command.main(
        [
            *("--pairs", str(parts / "own.jsonl"), "--finished", str(parts / "clean.jsonl")),
            *("--measured", str(parts / "after.jsonl"), "--cache", str(parts / "cache")),
            *words,
        ]
    )


def test_a_page_and_coefficients_are_written(
    parts: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    page, file = parts / "page.md", parts / "c.json"
    assert run(parts, "--write", str(page), "--coefficients", str(file)) == 0, (
        capsys.readouterr().err
    )
    text = page.read_text("utf-8")
    assert "python -m benchmarks deciding --pairs own.jsonl" in text
    assert str(parts / "own.jsonl") not in text
    assert "He go" not in text
    for name in (*WAYS, "as it is", "jfleg-dev", "bea-refs left alone", "after left alone"):
        assert name in text
    found = Calibration.from_dict(json.loads(file.read_text("utf-8")))
    assert found.model == getattr(engine.policy, "digest", "")
    assert found.reads
    assert found.reading > 0
    assert found.weights[0] == pytest.approx(found.slope * OTHERS, abs=1e-3)
    assert "mean precision" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--limit=elsewhere=3",), "there is no elsewhere among own, clean, after"),
        (("--limit=many",), "--limit is a number"),
        (("--limit=5",), "at least 20"),
    ],
)
def test_mistakes_are_told(
    parts: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert run(parts, *words) == 2
    assert message in capsys.readouterr().err


def test_there_must_be_something_to_fit_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 2
    assert "give --pairs and --measured" in capsys.readouterr().err
