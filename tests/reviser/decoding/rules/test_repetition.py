"""Long repeats are not written, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.actions import Insert
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import PAPER_KINDS
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.rules.repetition import (
    OPENING_LINES,
    OPENING_SENTENCES,
    PHRASE,
    SECOND,
    THIRD,
    NoRepeatedPhrases,
    NoRepeats,
    Places,
)
from reviser.decoding.rules.rule import RuledScores
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Scores
from tests.toys import VOCABULARY, ToyTokenizer


class Even:
    """Finds every id as likely as any other, but for one that it likes best."""

    vocabulary = VOCABULARY

    def __init__(self, favourites: Sequence[int]) -> None:
        self._favourites = favourites

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        scores[self._favourites[canvas.length % len(self._favourites)]] = 9.0
        return scores


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(2, 5), st.data())
def test_completions_are_what_would_repeat(tokens: list[int], size: int, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(tokens)))
    if cursor < size - 1:
        return
    canvas = Canvas(VOCABULARY, tokens, cursor=cursor)
    places = Places(size)
    places.follow(canvas, 0)
    found = set(places.completions(canvas.between(cursor, canvas.length)))
    tail = tokens[cursor - size + 1 : cursor]
    windows = {tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1) if at + size - 1 != cursor}
    assert found == {token for token in range(4) if (*tail, token) in windows}


class CountingTokenizer(ToyTokenizer):
    """Counts how often it is asked for a token's bytes."""

    asked = 0

    def token_bytes(self, token: int) -> bytes:
        self.asked += 1
        return super().token_bytes(token)


def test_rules_look_at_no_token_before_it_is_met() -> None:
    """A vocabulary has tens of thousands of them, and to look at all would delay the first action."""
    tokenizer = CountingTokenizer()
    rules = [NoRepeats(4, tokenizer), NoRepeatedPhrases(tokenizer)]
    assert tokenizer.asked == 0
    canvas, history = seed(VOCABULARY, [])
    list(Rollout(Even([1, 2, 3]), canvas, history, Sampler.greedy(), rules=rules, max_actions=12))
    assert 0 < tokenizer.asked <= 2 * len(set(canvas.tokens))


def test_a_loop_is_left() -> None:
    for size, favourites in ((4, [1, 2, 3]), (6, [5]), (8, [1, 2, 3, 4, 5])):
        canvas, history = seed(VOCABULARY, [])
        policy, rules = Even(favourites), [NoRepeats(size)]
        list(Rollout(policy, canvas, history, Sampler.greedy(), rules=rules, max_actions=60))
        tokens = canvas.tokens
        windows = [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)]
        assert len(windows) == len(set(windows)) > 10


def test_scores_of_a_policy_stay_as_they_were() -> None:
    canvas, history = seed(VOCABULARY, [1, 2, 3, 1, 2])
    policy = Even([7])
    kept = policy.scores(history, canvas)
    made = RuledScores([NoRepeats(3)]).changed(kept, history, canvas)
    assert np.flatnonzero(~np.isfinite(made)).tolist() == [3]
    assert np.isfinite(kept).all()
    short, empty = seed(VOCABULARY, [1])
    assert np.isfinite(RuledScores([NoRepeats(3)]).changed(kept, empty, short)).all()
    assert RuledScores([]).changed(kept, history, canvas) is kept


class Asked:
    """Finds a token as likely as it is told, and all others alike."""

    vocabulary = VOCABULARY

    def __init__(self, token: int, chance: float) -> None:
        self._token, self._chance = token, chance

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        others = (1 - self._chance) / (VOCABULARY.size - 1)
        scores = np.full(VOCABULARY.size, np.log(others), dtype=np.float32)
        scores[self._token] = np.log(self._chance)
        return scores


def change_of(text: str, said: str, word: str, chance: float = 0.3) -> float:
    """What a word's score becomes less after a run that wrote a text and then some words of it."""
    tokenizer = ToyTokenizer()
    (token,) = tokenizer.encode(word)
    canvas, history = seed(VOCABULARY, [])
    for one in tokenizer.encode(text + said):
        canvas.apply(Insert(one))
    scores = Asked(token, chance).scores(history, canvas)
    made = RuledScores([NoRepeatedPhrases(tokenizer)]).changed(scores, history, canvas)
    return float(scores[token] - made[token])


def test_the_longer_a_repeated_phrase_the_less_likely_its_next_word() -> None:
    text = " the cat sat on the mat."
    assert change_of(text, " mat", " cat") == 0
    assert change_of(text, " cat", " sat") == pytest.approx(SECOND)
    assert change_of(text, " the cat", " sat") == pytest.approx(THIRD)
    assert change_of(text, " the cat sat", " on") == np.inf
    # Where there is no other way to go on, four and five words may be said again, but not six.
    assert change_of(text, " the cat sat", " on", 0.9) == 0
    assert change_of(text, " the cat sat on", " the", 0.9) == 0
    assert change_of(text, " the cat sat on the", " mat", 0.9) == np.inf


def test_the_more_often_a_phrase_was_said_the_less_likely_it_is_said_again() -> None:
    text = " the cat sat on the mat. the cat sat on."
    assert change_of(text, " cat", " sat") == pytest.approx(2 * SECOND)
    assert change_of(text, " the cat", " sat") == pytest.approx(2 * THIRD)
    # What stands there twice is not said a third time, however sure the model is.
    assert change_of(text, " the cat sat", " on", 0.9) == np.inf


def test_a_word_that_opens_lines_becomes_less_likely_at_the_start_of_another() -> None:
    # Lines end with numbers, which end phrases.
    text = "\n the cat 1\n the mat 2\n\n on the 3"
    assert change_of(text, "\n", " mat") == 0
    assert change_of(text, "\n", " on") == pytest.approx(OPENING_LINES)
    assert change_of(text, "\n", " the") == pytest.approx(OPENING_LINES * np.log2(3))
    assert change_of(text, "\n- ", " the") == pytest.approx(OPENING_LINES * np.log2(3))
    often = change_of(text + "\n the 4" + text, "\n", " the")
    assert often == pytest.approx(OPENING_LINES * np.log2(6))
    # In the middle of a line it is as likely as before.
    assert change_of(text, "\n- cat", " the") == 0
    assert change_of(text, " on", " the") == pytest.approx(SECOND)


def test_a_word_that_opens_sentences_becomes_less_likely_at_the_start_of_another() -> None:
    text = " on 1. the cat 2! the mat 3.\n the 4"
    assert change_of(text, ".", " the") == pytest.approx(OPENING_SENTENCES * 2)
    # Only one line opens so, which counts more than three sentences.
    assert change_of(text, "\n", " the") == pytest.approx(max(OPENING_LINES, OPENING_SENTENCES * 2))
    assert change_of(text, ",", " the") == 0
    assert change_of(text, ".", " on") == 0


def test_a_word_of_several_tokens_belongs_to_a_phrase() -> None:
    assert change_of(" catx sat on the mat.", " catx", " sat") == pytest.approx(SECOND)
    assert change_of(" the catx sat.", " the catx", " sat") == pytest.approx(THIRD)
    # Another word that begins so, or the same one before it is ended, begins no phrase.
    assert change_of(" catx sat.", " caty", " sat") == 0
    assert change_of(" catx sat.", " cat", " sat") == 0
    # Its own next token is never held back.
    assert change_of(" the catx.", " the cat", "x") == 0
    # What would begin it is.
    assert change_of(" the matx.", " the", " mat") == pytest.approx(SECOND)


def test_marks_between_the_words_of_a_phrase_do_not_matter() -> None:
    assert change_of(" the cat. sat on the mat.", " the cat", " sat") == pytest.approx(THIRD)
    assert change_of(" the cat sat.", " the cat.", " sat") == pytest.approx(THIRD)
    # The mark itself may be written again.
    assert change_of(" the cat sat.", " the cat sat", ".") == 0


def test_a_run_may_repeat_what_it_was_given_and_leaves_its_own_loops() -> None:
    tokenizer = ToyTokenizer()
    said = tokenizer.encode(" the cat sat on")
    rules = [NoRepeatedPhrases(tokenizer)]
    canvas, history = seed(VOCABULARY, said)
    list(Rollout(Even(said), canvas, history, Sampler.greedy(), rules=rules, max_actions=60))
    own = canvas.tokens[len(said) :]
    # The phrase of the prefix is written once.
    assert own[: len(said)] == said
    words = set(tokenizer.encode(" the cat sat on mat"))
    phrases = [
        tuple(own[at : at + PHRASE]) for at in range(len(own) - PHRASE + 1) if words.issuperset(own[at : at + PHRASE])
    ]
    assert len(phrases) == len(set(phrases))


def test_a_word_that_was_begun_may_be_ended() -> None:
    tokenizer = ToyTokenizer()
    text = tokenizer.encode("\nabc")
    piece = text[-1]
    canvas, history = seed(VOCABULARY, [*text, *text[:-1]])
    for known, banned in ((None, True), (tokenizer, False)):
        scores = Even([1]).scores(history, canvas)
        made = RuledScores([NoRepeats(3, known)]).changed(scores, history, canvas)
        assert bool(np.isinf(made[piece])) == banned


def test_marks_and_lines_may_be_repeated() -> None:
    tokenizer = ToyTokenizer()
    list_item = tokenizer.encode("\n- [")
    rules = [NoRepeatedPhrases(tokenizer)]
    canvas, history = seed(VOCABULARY, [])
    list(Rollout(Even(list_item), canvas, history, Sampler.greedy(), rules=rules, max_actions=24))
    assert canvas.tokens == (list_item * 24)[:24]


@given(st.lists(st.integers(0, 999), max_size=60), st.integers(0, 8), st.integers(0, 8))
def test_rules_that_follow_a_run_say_what_new_ones_say(choices: list[int], before: int, behind: int) -> None:
    """Whatever is inserted, deleted, moved, taken back and done again, and whatever other canvas they are asked
    about between."""
    tokenizer = ToyTokenizer()
    words = [256, 257, 258, *b"c.\n4"]
    vocabulary = replace(VOCABULARY, kinds=PAPER_KINDS | {"delete"})

    def rules() -> RuledScores:
        return RuledScores([NoRepeats(4, tokenizer), NoRepeatedPhrases(tokenizer)])

    def said(ruled: RuledScores, canvas: Canvas) -> Scores:
        return ruled.changed(Even(words).scores(history, canvas), history, canvas)

    canvas, history = seed(vocabulary, (words * 2)[:before], (words * 2)[:behind])
    followed = rules()
    for number in choices:
        if number % 19 == 0:
            other = Canvas(vocabulary, [*canvas.tokens, *words[: number % 5]])
            said(followed, other)
        if number % 23 == 0 and canvas.redoable:
            canvas.redo()
        elif number % 17 == 0 and canvas.undoable:
            canvas.undo()
        elif number % 7 == 0:
            others = [id for id in canvas.valid_actions().operators if id != vocabulary.stop_id]
            if others:
                canvas.apply(canvas.action(others[number % len(others)]))
        else:
            canvas.apply(Insert(words[number % len(words)]))
        assert said(followed, canvas).tolist() == said(rules(), canvas).tolist()
