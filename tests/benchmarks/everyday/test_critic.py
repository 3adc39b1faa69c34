"""The critic on a tiny random model: its arithmetic, its caching, and what follows from its opinions."""

from __future__ import annotations

import pytest
import torch

from benchmarks.everyday.critic import Critic, Opinion, Preference
from tests.benchmarks.everyday.tiny_qwen2 import tiny_model, tokens, write_gguf

OPENING = "Dear Anna, the garden is"
FIRST = " full of apples. We made jam."
SECOND = " apples full. jam jam"


@pytest.fixture(scope="module")
def critic(tmp_path_factory: pytest.TempPathFactory) -> Critic:
    path = write_gguf(tmp_path_factory.mktemp("critic") / "a.gguf", tiny_model())
    return Critic.load(path, torch.device("cpu"))


def test_a_preference_turns_with_the_order(critic: Critic) -> None:
    one, two = critic.preferences([(OPENING, FIRST, SECOND), (OPENING, SECOND, FIRST)])
    assert one.answers == pytest.approx(-two.answers, abs=1e-3)
    assert one.reading == pytest.approx(-two.reading, abs=1e-2)
    assert one.points == 1 - two.points


def test_what_was_read_before_changes_no_opinion(critic: Critic) -> None:
    before = critic.opinion(OPENING, FIRST)
    critic.opinion("Another opening", SECOND)
    again = critic.opinion(OPENING, FIRST)
    assert again.praise == pytest.approx(before.praise, abs=1e-3)
    assert again.cost == pytest.approx(before.cost, abs=1e-3)
    assert again.help == pytest.approx(before.help, abs=1e-3)


def test_the_odds_are_those_of_the_answers(critic: Critic) -> None:
    found = critic.opinion(OPENING, FIRST)
    text = (
        "<|im_start|>system\nYou are an experienced editor with a sharp eye.<|im_end|>\n<|im_start|>user\n"
        "A writer was given the opening of a text and went on from it. A good continuation keeps to the subject of "
        "the opening, makes sense, and has no broken sentences and no repetition.\n\nOpening:\n"
        f"{OPENING}\n\nContinuation:\n{FIRST.strip()}\n\nIs this a good continuation? "
        "Answer Yes or No.<|im_end|>\n<|im_start|>assistant\n"
    )
    model, tokenizer = critic._given._model, critic._tokenizer
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode(text).ids])).logits[0, -1]
    odds = float(logits[tokens().index("Yes")] - logits[tokens().index("No")])
    assert found.praise[0] == pytest.approx(odds, abs=0.02)


def test_a_blank_continuation_is_worse_than_any(critic: Critic) -> None:
    cases = [(OPENING, "\n", SECOND), (OPENING, FIRST, ""), (OPENING, "", " ")]
    assert [found.points for found in critic.preferences(cases)] == [0, 1, 0.5]


def test_answers_and_reading_are_added_up() -> None:
    good, bad = Opinion((1.0, 0.5), 0.5, 0.1), Opinion((0.0, 0.0), 0.5, 0.1)
    assert Preference.between(good, bad) == Preference(0.75, 0.0)
    assert Preference.between(good, bad).points == 1
    assert Preference.between(bad, good).points == 0
    assert Preference.between(good, good).points == 0.5
    # What has nothing to do with its opening is worse, however well it reads.
    strayed = Opinion((1.5, 1.0), 0.4, 0.0)
    assert Preference.between(good, strayed).points == 1
    assert not Preference.between(good, strayed).agrees


@torch.no_grad()
def test_help_is_what_the_opening_saves(critic: Critic) -> None:
    model, tokenizer = critic._given._model, critic._tokenizer
    costs = []
    for opening in (OPENING, "(not given)"):
        head = tokenizer.encode(
            "<|im_start|>system\nYou are an experienced editor with a sharp eye.<|im_end|>\n<|im_start|>user\n"
            "A writer was given the opening of a text and went on from it. A good continuation keeps to the subject of "
            f"the opening, makes sense, and has no broken sentences and no repetition.\n\nOpening:\n{opening}"
            "\n\nContinuation:\n"
        ).ids
        ids = tokenizer.encode(FIRST.strip()).ids
        chances = model(torch.tensor([head + ids])).logits[0].log_softmax(dim=-1)
        read = range(len(head), len(head) + len(ids) - 1)
        costs.append(-sum(float(chances[at, id]) for at, id in zip(read, ids[1:], strict=True)))
    size = len(FIRST.strip())
    found = critic.opinion(OPENING, FIRST)
    assert found.cost == pytest.approx(costs[0] / size, abs=0.02)
    assert found.help == pytest.approx((costs[1] - costs[0]) / size, abs=0.02)
