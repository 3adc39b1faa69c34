"""What the speller reads serves the first look, and nothing else comes of it than if all were read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import SessionPolicy
from reviser.model.scoring import ChoiceScores
from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.guard.calibration import SearchThresholds
from reviser.proofreading.overtyping import Correction, OvertypingReader, OvertypingRules, ReaderSequence
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.reading import Passage, overtype
from reviser.proofreading.spelling import speller
from reviser.proofreading.spelling.candidates import Candidate
from reviser.proofreading.spelling.choosing import MisspeltPlace, OvertypingScorer, TokenSpan
from reviser.proofreading.stages.model import ModelStage, Readings
from reviser.session.engine import load_engine
from tests.reviser.proofreading.spelling.test_properties import POLICY, TOKENIZER, VOCABULARY

RULES = OvertypingRules(VOCABULARY)
IDS = st.integers(5, 40)


class Keeps:
    """A judge that keeps every word, and reads some candidates before."""

    def choose(self, place: MisspeltPlace) -> int | None:
        return None

    def next_to_read(self, place: MisspeltPlace, bounds: Sequence[float], read: Sequence[bool]) -> int | None:
        return next((number for number, known in enumerate(read) if not known), None)


@settings(max_examples=40, deadline=None)
@given(
    passage=st.lists(IDS, min_size=1, max_size=12),
    sides=st.tuples(st.lists(IDS, max_size=3), st.lists(IDS, max_size=3)),
    cuts=st.lists(st.integers(0, 12), min_size=2, max_size=6),
    others=st.lists(st.lists(IDS, min_size=1, max_size=3), max_size=3),
    least=st.sampled_from([0.02, 0.2, 0.5]),
    trigger=st.sampled_from([0.0, 0.6, 0.95]),
)
def test_a_reading_that_goes_on_finds_what_one_from_the_start_finds(
    passage: list[int],
    sides: tuple[list[int], list[int]],
    cuts: list[int],
    others: list[list[int]],
    least: float,
    trigger: float,
) -> None:
    """Wherever the words are that the speller looked at: at the start, at the end, side by side."""
    bounds = sorted({min(cut, len(passage)) for cut in cuts})
    candidates = [Candidate("x", 1.0, 10)] * len(others)
    places = [MisspeltPlace("w", TokenSpan(a, b), candidates, others) for a, b in pairwise(bounds)]

    def reader(told: Sequence[ChoiceScores] = ()) -> OvertypingReader:
        return OvertypingReader(RULES, passage, *sides, confidence=0.5, least=least, trigger=trigger, told=told)

    first = OvertypingScorer(RULES, passage, *sides, places, Keeps(), watching=True)
    made: list[OvertypingReader] = []

    def then() -> OvertypingReader:
        made.append(reader(first.choice_scores))
        return made[0]

    alone = reader()
    overtype(POLICY, [ReaderSequence(first, [then], 500)])
    overtype(POLICY, [alone])
    assert first.is_kept
    # As far as the words go, and one more: what follows the last of them.
    assert len(first.choice_scores) == (places[-1].span.end + 1 if places else 0)
    assert made[0].over
    found = [(one.start, one.end, one.tokens, one.confidence) for one in made[0].corrections]
    assert found == [
        (one.start, one.end, one.tokens, pytest.approx(one.confidence, abs=1e-3)) for one in alone.corrections
    ]


class StageAlone(ModelStage):
    """A stage that reads everything itself."""

    def find_corrections(
        self,
        passages: Sequence[Passage],
        search: SearchThresholds,
        known: Readings,
        tell: Callable[[int], None] | None = None,
    ) -> list[list[Correction]]:
        return super().find_corrections(passages, search, {}, tell)


class CountingStage(ModelStage):
    """A stage that counts the passages which the speller has read for it."""

    shared = read = 0

    def find_corrections(
        self,
        passages: Sequence[Passage],
        search: SearchThresholds,
        known: Readings,
        tell: Callable[[int], None] | None = None,
    ) -> list[list[Correction]]:
        self.read += len(passages)
        self.shared += len(known)
        return super().find_corrections(passages, search, known, tell)


def sharing_and_alone(
    policy: SessionPolicy, tokenizer: Tokenizer, confidence: float = 0.5
) -> tuple[Proofreader, CountingStage, Proofreader]:
    """A proofreader with a stage that counts, and one whose stage reads everything itself."""
    sharing, alone = (Proofreader(policy, tokenizer, confidence=confidence) for _ in range(2))
    sharing.stage = counting = CountingStage(policy, tokenizer)
    alone.stage = StageAlone(policy, tokenizer)
    return sharing, counting, alone


def told(done: Proofread) -> list[object]:
    """The changes, each with its confidence to a thousandth."""
    return [(one.start, one.old, one.new, pytest.approx(one.confidence, abs=1e-3), one.kind) for one in done.changes]


def plainly(done: Proofread) -> list[object]:
    return [(one.start, one.old, one.new, one.confidence, one.kind) for one in done.changes]


WORDS = ("the", "cat", "burthens", "misemployed", "recieve", "namespace", "banditti", "sat", "on")


def texts() -> Iterator[st.SearchStrategy[str]]:
    sentence = st.lists(st.sampled_from(WORDS), min_size=2, max_size=7).map(lambda words: f"The {' '.join(words)}.")
    paragraph = st.lists(sentence, min_size=1, max_size=3).map(" ".join)
    yield st.lists(paragraph, min_size=1, max_size=3).map("\n\n".join)


@pytest.mark.parametrize("dial", [0.05, 0.5])
def test_sharing_changes_nothing(dial: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model that keeps some unknown words and changes others."""
    monkeypatch.setattr(speller, "PRIOR", -4.0)
    sharing, counting, alone = sharing_and_alone(POLICY, TOKENIZER, dial)

    @settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
    @given(text=next(texts()))
    def run(text: str) -> None:
        draft = Draft(text)
        assert plainly(sharing.proofread(draft)) == told(alone.proofread(draft))

    run()
    assert 0 < counting.shared < counting.read


def test_the_model_that_comes_along_finds_the_same() -> None:
    engine = load_engine("default")
    text = (
        "The hostname in the config are parsed by the the tokenizer. He have two friend there.\n\n"
        "We set the namespace in the the file. Then she go home, wich was late.\n"
    )
    sharing, counting, alone = sharing_and_alone(engine.policy, engine.tokenizer)
    draft = Draft(text)
    found = sharing.proofread(draft)
    assert counting.shared
    assert len(found.changes) > 2
    assert plainly(found) == told(alone.proofread(draft))
