"""Runs that near their limit end with a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from reviser.core.actions import Insert
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.rules.ending import NEAR, EndingRule
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Scores
from tests.toys import VOCABULARY, ToyTokenizer

SENTENCE = "so it is. "


class Saying:
    """A policy that says the same sentence again and again, and never stops."""

    vocabulary: Vocabulary = VOCABULARY

    def __init__(self, tokenizer: ToyTokenizer, said: str) -> None:
        self._ids = tokenizer.encode(said)

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = np.full(VOCABULARY.size, -50.0, dtype=np.float32)
        scores[self._ids[(canvas.cursor - canvas.low) % len(self._ids)]] = 50.0
        return scores


@pytest.mark.parametrize("limit", [64, 100, 200])
def test_a_run_near_its_limit_ends_with_a_sentence(limit: int) -> None:
    tokenizer = ToyTokenizer()
    canvas, history = seed(VOCABULARY, tokenizer.encode("Well, "))
    rules = [EndingRule(VOCABULARY, tokenizer, len(history), limit)]
    said = Saying(tokenizer, SENTENCE)
    run = Rollout(said, canvas, history, Sampler(0.0), rules=rules, max_actions=limit)
    taken = len(list(run))
    assert run.ending == "stop"
    assert NEAR * limit <= taken - 1 <= NEAR * limit + len(tokenizer.encode(SENTENCE))
    written = "".join(tokenizer.token_bytes(id).decode() for id in canvas.tokens)
    assert written.endswith("is.")


def test_a_run_without_an_end_of_a_sentence_goes_on_to_its_limit() -> None:
    tokenizer = ToyTokenizer()
    canvas, history = seed(VOCABULARY, tokenizer.encode("Well, "))
    rules = [EndingRule(VOCABULARY, tokenizer, len(history), 64)]
    said = Saying(tokenizer, "and so on ")
    run = Rollout(said, canvas, history, Sampler(0.0), rules=rules, max_actions=64)
    assert len(list(run)) == 64
    assert run.ending == "limit"


@pytest.mark.parametrize(
    ("text", "may_stop"),
    [
        ("So it is.", True),
        ("Yours,\nAnna", True),
        ("Eggs\n- milk", True),
        ("one. two.\n3.", False),
        ("one.\n- ", False),
        ("Dear Anna,\n\n", False),
        ("We saw (", False),
        ("as follows:\n", False),
        ("It is the", False),
        ("to and fro to", False),
        ("We can breathe", True),
    ],
)
def test_no_run_stops_where_the_text_plainly_goes_on(text: str, may_stop: bool) -> None:
    tokenizer = ToyTokenizer()
    for suffix in ("", " and then"):
        canvas, history = seed(VOCABULARY, [], tokenizer.encode(suffix))
        for token in tokenizer.encode(text):
            canvas.apply(Insert(token))
        rule = EndingRule(VOCABULARY, tokenizer, len(history), 1000)
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        rule.change(scores, history, canvas)
        # What fills a gap may end anywhere.
        assert np.isfinite(scores[VOCABULARY.stop_id]) == (may_stop or bool(suffix))


def test_no_item_of_a_list_stays_empty() -> None:
    tokenizer = ToyTokenizer()
    (line,) = tokenizer.encode("\n")
    for text, may_break in (("one.\n2.", False), ("one.\n- ", False), ("one.\n- two", True)):
        canvas, history = seed(VOCABULARY, [])
        for token in tokenizer.encode(text):
            canvas.apply(Insert(token))
        rule = EndingRule(VOCABULARY, tokenizer, len(history), 1000)
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        rule.change(scores, history, canvas)
        assert np.isfinite(scores[line]) == may_break


def chances(before: str, written: str, *, stop: float = 0.0, limit: int = 1000) -> NDArray[np.float32]:
    """The scores that the rule leaves of equal ones, but for a stop."""
    tokenizer = ToyTokenizer()
    canvas, history = seed(VOCABULARY, tokenizer.encode(before))
    rule = EndingRule(VOCABULARY, tokenizer, len(history), limit, before)
    for token in tokenizer.encode(written):
        canvas.apply(Insert(token))
        history.append(token)
    scores = np.zeros(VOCABULARY.size, dtype=np.float32)
    scores[VOCABULARY.stop_id] = stop
    rule.change(scores, history, canvas)
    return scores


def test_a_run_stops_at_once_in_a_finished_text_alone() -> None:
    letter = "Dear Anna,\n\nthank you.\n\nBest,\n"
    for before, stop, ends in (
        (letter + "Tom", 0.0, True),
        (letter, 0.0, False),
        ("So it is.", 0.0, False),
        ("So it is.", 10.0, True),
    ):
        scores = chances(before, "", stop=stop)
        assert np.isfinite(scores[VOCABULARY.stop_id]) == ends
        assert np.isfinite(scores[: VOCABULARY.base_size]).any() != ends
    # Once something is written, the text may end as it did.
    assert np.isfinite(chances(letter, "Tom")[VOCABULARY.stop_id])


@pytest.mark.parametrize(
    ("written", "ends"),
    [("\n- milk", True), ("\nso it is", True), ("\n- ", False), ("\nas follows:", False), ("\nso (", False)],
)
def test_near_its_limit_a_run_ends_with_a_line(written: str, ends: bool) -> None:
    tokenizer = ToyTokenizer()
    (line,) = tokenizer.encode("\n")
    for limit, is_near in ((1000, False), (16, True)):
        canvas, history = seed(VOCABULARY, tokenizer.encode("List"))
        rule = EndingRule(VOCABULARY, tokenizer, len(history), limit, "List")
        for token in tokenizer.encode(written):
            canvas.apply(Insert(token))
        # So many actions are taken by then.
        history += [0] * 12
        instead = rule.instead(line, history, canvas)
        assert instead == ((VOCABULARY.stop_id,) if ends and is_near else None)


def test_a_signed_letter_ends_with_the_line_of_the_name() -> None:
    tokenizer = ToyTokenizer()
    (line,) = tokenizer.encode("\n")
    before = "Dear Anna,\n\nthank you.\n\nBest,"
    for written, ends in (("", False), ("\nTom", True), ("\nTom will be there on Sunday", False)):
        canvas, history = seed(VOCABULARY, tokenizer.encode(before))
        rule = EndingRule(VOCABULARY, tokenizer, len(history), 1000, before)
        for token in tokenizer.encode(written):
            canvas.apply(Insert(token))
            history.append(token)
        assert (rule.instead(line, history, canvas) is not None) == ends


def test_towards_the_limit_the_end_of_a_sentence_is_likelier() -> None:
    (dot,) = ToyTokenizer().encode(".")
    far, near, last = (float(chances("", "a" * taken, limit=40)[dot]) for taken in (20, 35, 39))
    assert far == 0 < near < last
