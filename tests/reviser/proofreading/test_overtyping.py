"""Proofreading by overtyping: what stays is proposed and kept, and each change is judged by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.model.scoring import ChoiceScores
from reviser.model.torch_decoder import TorchDecoder
from reviser.proofreading.overtyping import Correction, OvertypingReader, OvertypingRules
from reviser.proofreading.together import read_overtyping
from tests.reviser.checkpoints.parts import random_model

KINDS = frozenset({"insert", "move", "stop", "delete"})
WORDS = Vocabulary(12, frozenset({0}), kinds=KINDS, overtypes=True)
RULES = OvertypingRules(WORDS)
DELETE, STOP = WORDS.delete_id, WORDS.stop_id

# What a model says after some ids: the chances of the next one.
Model = Callable[[list[int]], dict[int, float]]


def corrected(passage: Sequence[int], corrections: Sequence[Correction]) -> list[int]:
    """The passage with corrections made."""
    tokens = list(passage)
    for one in sorted(corrections, key=lambda one: (one.start, one.end), reverse=True):
        tokens[one.start : one.end] = one.tokens
    return tokens


def choice_score(chances: dict[int, float], expected: int) -> ChoiceScores:
    def log(id: int) -> float:
        return math.log(chances[id]) if chances.get(id) else -math.inf

    tokens = sorted(range(1, WORDS.base_size), key=log, reverse=True)
    first, second = tokens[:2]
    return ChoiceScores(log(expected), log(DELETE), log(STOP), first, log(first), second, log(second))


def read(reader: OvertypingReader, model: Model) -> int:
    """Run a reader on a model; returns how often the model was asked."""
    rounds = 0
    while not reader.over:
        first = len(reader.ids) - len(reader.expected)
        reader.take(
            [choice_score(model(reader.ids[: first + 1 + number]), id) for number, id in enumerate(reader.expected)]
        )
        rounds += 1
    return rounds


def follows(draft: Sequence[int], *written: tuple[int, float]) -> Model:
    """A model that writes these ids, each with its chance, and else what the draft has next."""

    def chances(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        number = len(done)
        right = [id for id, _ in written]
        if done == right[:number] and number < len(right):
            id, chance = written[number]
            return {11: 1 - chance, next_of(draft, done): 1 - chance} | {id: chance}
        return {next_of(draft, done): 1.0}

    return chances


def next_of(draft: Sequence[int], done: Sequence[int]) -> int:
    place = 0
    for id in done:
        if id == DELETE or (place < len(draft) and draft[place] == id):
            place += 1
    return draft[place] if place < len(draft) else STOP


def test_a_clean_passage_costs_one_pass() -> None:
    reader = OvertypingReader(RULES, [1, 2, 3])
    assert reader.expected == [1, 2, 3, STOP]
    assert read(reader, follows([1, 2, 3])) == 1
    assert reader.corrections == []


def test_the_confidence_is_the_chance_of_all_that_makes_a_change() -> None:
    reader = OvertypingReader(RULES, [1, 2, 3, 4], confidence=0.3, least=0.3)
    model = follows([1, 2, 3, 4], (1, 1.0), (DELETE, 0.8), (7, 0.6), (3, 0.9))
    read(reader, model)
    (only,) = reader.corrections
    assert only == Correction(1, 2, (7,), pytest.approx(0.8 * 0.6 * 0.9))
    assert corrected([1, 2, 3, 4], reader.corrections) == [1, 7, 3, 4]


def test_what_is_inserted_or_left_out_at_the_ends() -> None:
    reader = OvertypingReader(RULES, [5, 2], least=0.5)
    read(reader, follows([5, 2], (8, 0.9), (9, 0.9), (5, 1.0), (DELETE, 0.9), (6, 0.9)))
    assert [(one.start, one.end, one.tokens) for one in reader.corrections] == [(0, 0, (8, 9)), (1, 2, (6,))]
    assert corrected([5, 2], reader.corrections) == [8, 9, 5, 6]


def test_a_doubtful_change_takes_no_other_with_it() -> None:
    """It is written down, the text goes on without it, and a sure one behind it is found from what the model has
    seen."""

    def model(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        if done == [1]:
            return {DELETE: 0.2, 2: 0.8}
        if done == [1, DELETE]:
            return {8: 1.0}
        if done == [1, 2, 3]:
            return {DELETE: 0.9, 4: 0.1}
        return {next_of([1, 2, 3, 4], done): 1.0}

    reader = OvertypingReader(RULES, [1, 2, 3, 4], confidence=0.5)
    read(reader, model)
    assert [(one.start, one.end, one.tokens) for one in reader.corrections] == [(1, 2, (8,)), (3, 4, ())]
    assert [round(one.confidence, 6) for one in reader.corrections] == [0.2, 0.9]


def test_a_change_that_became_unlikely_is_not_followed() -> None:
    """Its first action is likely, all of it is not: the model is not asked how it would go on."""

    def model(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        if done == [1]:
            return {DELETE: 0.6, 2: 0.4}
        if done == [1, DELETE]:
            return {7: 0.4, 8: 0.3, 3: 0.3}
        return {next_of([1, 2, 3], done): 1.0}

    reader = OvertypingReader(RULES, [1, 2, 3], least=0.3)
    assert read(reader, model) == 2
    assert reader.corrections == []
    patient = OvertypingReader(RULES, [1, 2, 3], least=0.2)
    assert read(patient, model) == 3
    assert [one.tokens for one in patient.corrections] == [(7,)]


def test_a_change_without_end_is_given_up() -> None:
    def model(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        return {3: 0.9, next_of([1], done): 0.1}

    reader = OvertypingReader(RULES, [1])
    read(reader, model)
    assert reader.over
    assert reader.corrections == []


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.sampled_from([0.0, 0.3, 0.8]))
def test_corrections_say_what_the_model_wrote(seed: int, size: int, confidence: float) -> None:
    """Whatever a model likes: the corrections that were made give the text that it wrote over the draft."""
    chance = np.random.default_rng(seed)
    passage = [int(token) for token in chance.integers(1, WORDS.base_size, size)]

    def model(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        own = np.random.default_rng([seed, *ids])
        scores = own.exponential(1, WORDS.size) ** 3
        scores[next_of(passage, done)] += own.choice([1, 30, 300])
        return dict(enumerate((scores / scores.sum()).tolist()))

    reader = OvertypingReader(RULES, passage, [1, 2], [3], confidence=confidence, least=0.01)
    read(reader, model)
    made = [one for one in reader.corrections if one.confidence >= confidence]
    shown = reader.ids[reader.ids.index(WORDS.overtype_id) + 1 :]
    assert corrected(passage, made) == [id for id in shown if id != DELETE]


@given(st.integers(0, 2**32 - 1), st.integers(0, 90), st.sampled_from([0.3, 0.8]))
def test_steps_find_what_all_at_once_finds(seed: int, size: int, confidence: float) -> None:
    chance = np.random.default_rng(seed)
    passage = [int(token) for token in chance.integers(1, WORDS.base_size, size)]

    def model(ids: list[int]) -> dict[int, float]:
        done = ids[ids.index(WORDS.overtype_id) + 1 :]
        own = np.random.default_rng([seed, *ids[-4:]])
        scores = own.exponential(1, WORDS.size) ** 3
        scores[next_of(passage, done)] += own.choice([3, 300, 300, 300])
        return dict(enumerate((scores / scores.sum()).tolist()))

    least = confidence / 2
    whole, steps = (
        OvertypingReader(RULES, passage, confidence=confidence, least=least, in_steps=in_steps)
        for in_steps in (False, True)
    )
    read(whole, model)
    read(steps, model)
    assert steps.corrections == whole.corrections
    assert steps.ids == whole.ids


def test_steps_read_little_in_vain() -> None:
    """A short clean passage is one pass, and behind a change the rest of a long one is not read at once."""
    reader = OvertypingReader(RULES, [1, 2] * 15, in_steps=True)
    assert read(reader, follows([1, 2] * 15)) == 1
    draft = [1, 2] * 60
    wrong = (DELETE, 0.9), (7, 0.9), (2, 1.0)
    for in_steps, most in ((False, 4.2), (True, 1.6)):
        reader = OvertypingReader(RULES, draft, least=0.5, in_steps=in_steps)
        asked = 0

        def model(ids: list[int]) -> dict[int, float]:
            nonlocal asked
            asked += 1
            return follows(draft, *[one for _ in range(3) for one in wrong])(ids)

        read(reader, model)
        assert len(reader.corrections) == 3
        assert asked < most * len(draft)
        assert in_steps or asked > 3 * len(draft)


def test_a_model_that_does_not_overtype_is_refused() -> None:
    with pytest.raises(ReviserError, match="not trained to revise"):
        OvertypingRules(Vocabulary(12, kinds=KINDS))


def test_together_as_alone_on_torch() -> None:
    model = random_model(preset("tiny", vocab_size=WORDS.size, dropout=0.0), seed=3).eval()
    passages = [[1, 2, 3], [4, 5, 6, 7, 8, 9, 1, 2], [3], [9, 8, 7, 6, 5], []]

    def readers() -> list[OvertypingReader]:
        return [OvertypingReader(RULES, one, confidence=1e-6, least=1e-9) for one in passages]

    together, alone = readers(), readers()
    read_overtyping(TorchDecoder(model), together, rows=3)
    for reader in alone:
        read_overtyping(TorchDecoder(model), [reader])
    assert any(reader.corrections for reader in together)
    for one, other in zip(together, alone, strict=True):
        assert [(c.start, c.end, c.tokens) for c in one.corrections] == [
            (c.start, c.end, c.tokens) for c in other.corrections
        ]
        for mine, its in zip(one.corrections, other.corrections, strict=True):
            assert mine.confidence == pytest.approx(its.confidence, rel=1e-3)


def test_scores_are_those_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chances that a reader is told are the model's own."""
    model = random_model(preset("tiny", vocab_size=WORDS.size, dropout=0.0), seed=4).eval()
    reader = OvertypingReader(RULES, [1, 2, 3], [4], [5])
    told: list[ChoiceScores] = []

    def take(choice_scores: Sequence[ChoiceScores]) -> None:
        told.extend(choice_scores)
        reader.over = True

    monkeypatch.setattr(reader, "take", take)
    read_overtyping(TorchDecoder(model), [reader])
    with torch.inference_mode():
        chances = model(torch.tensor([reader.ids])).log_softmax(-1)[0, -len(reader.expected) :]
    for row, id, one in zip(chances, reader.expected, told, strict=True):
        assert one.expected == pytest.approx(float(row[id]), abs=1e-4)
        assert one.delete == pytest.approx(float(row[DELETE]), abs=1e-4)
        assert one.stop == pytest.approx(float(row[STOP]), abs=1e-4)
        assert one.first == int(row[1 : WORDS.base_size].argmax()) + 1
