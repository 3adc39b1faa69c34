"""Suggestions are read off a policy's chances: here one that knows a few texts by heart, so that all chances are
known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed
from reviser.decoding.suggesting import Opens, Suggester
from reviser.decoding.suggestion import Piece, SuggestedText, begun_word, ends_too_soon, is_worth_showing
from reviser.model.scoring import Scores

TOKENIZER = Gpt2Tokenizer()
TEXTS = {
    "I look forward to seeing you.": 6,
    "I look forward to hearing from you.": 4,
    "The cat sat down": 3,
    "The cattle sat down": 1,
    "It rained.It stopped": 8,
    "It rained. We stayed": 2,
    "Done.\n  Next": 7,
    "Done.\nLast": 3,
    "Her name was Wojciechowska, of course": 1,
    "One two.\nThree": 1,
    "Over.\nso it is": 4,
    "Over.\nSo it was": 1,
}


class KnownTexts:
    """Goes on as the texts do that begin with what is written, by their weights."""

    vocabulary = Vocabulary.gpt2(kinds=("insert", "move", "stop"))

    def __init__(self) -> None:
        self._texts = [(TOKENIZER.encode(text), weight) for text, weight in TEXTS.items()]

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        written = list(history[1:])
        scores = np.full(self.vocabulary.size, -30.0, dtype=np.float32)
        # Moves are left out of suggestions, however likely they are.
        scores[list(self.vocabulary.move_ids)] = 20.0
        for tokens, weight in self._texts:
            if tokens[: len(written)] == written:
                rest = tokens[len(written) :]
                next_id = rest[0] if rest else self.vocabulary.stop_id
                scores[next_id] = np.logaddexp(scores[next_id], math.log(weight))
        return scores


def suggestions(typed: str, *, count: int = 1, opens: Opens | None = None, least: float = 0.0) -> list[SuggestedText]:
    policy = KnownTexts()
    begun = begun_word(typed)
    canvas, history = seed(policy.vocabulary, TOKENIZER.encode(typed.removesuffix(begun) if begun else typed))
    found = Suggester(policy, TOKENIZER).suggest(history, canvas, begun, count=count, opens=opens, least=least)
    return list(found)


def told(suggestion: SuggestedText) -> list[tuple[str, float]]:
    return [(piece.text, round(piece.chance, 3)) for piece in suggestion.pieces]


def test_a_word_begun_is_finished_and_each_word_has_the_chance_of_all_before_it() -> None:
    (found,) = suggestions("I look forw")
    assert told(found) == [("ard", 1), (" to", 1), (" seeing", 0.6), (" you", 0.6), (".", 0.6)]
    assert found.sure(0.7).text == "ard to"
    assert found.sure(0.6 - 1e-3).text == "ard to seeing you."
    assert found.sure(1.1).pieces == ()


@pytest.mark.parametrize("typed", ["I look", "I look ", "I look f"])
def test_it_is_the_same_wherever_in_a_word_one_stands(typed: str) -> None:
    (found,) = suggestions(typed)
    assert typed + found.text == "I look forward to seeing you."


def test_others_begin_with_another_word() -> None:
    first, second = suggestions("I look forward to ", count=2)
    assert told(first)[0] == ("seeing", 0.6)
    assert told(second)[0] == ("hearing", 0.4)


def test_a_word_counts_only_if_it_may_end_there() -> None:
    first, *others = suggestions("The c", count=4)
    assert told(first)[0] == ("at", 0.75)
    assert told(others[0])[0] == ("attle", 0.25)


def test_letters_that_no_token_begins_with_are_followed() -> None:
    (found,) = suggestions("Her name was Wojciecho")
    assert found.text == "wska, of course"
    assert found.pieces[0].chance == pytest.approx(1, abs=1e-3)


def test_no_word_is_glued_to_a_full_stop() -> None:
    assert suggestions("It rained.")[0].text == "It stopped"
    (found,) = suggestions("It rained.", opens="sentence")
    assert found.text == " We stayed"
    # That the model would rather go on otherwise is no reason to be surer.
    assert found.pieces[0].chance == pytest.approx(0.2, abs=1e-3)


def test_no_line_begins_with_a_space() -> None:
    assert suggestions("Done.\n")[0].text.startswith(" ")
    (found,) = suggestions("Done.\n", opens="line")
    assert found.text == "Last"
    assert found.pieces[0].chance == pytest.approx(0.3, abs=1e-3)


def test_a_sentence_that_begins_a_line_has_no_small_letter() -> None:
    assert suggestions("Over.\n", opens="line")[0].text == "so it is"
    (found,) = suggestions("Over.\n", opens="line and sentence")
    assert found.text == "So it was"
    (found,) = suggestions("Done.\n", opens="line and sentence")
    assert found.text == "Last"


def test_a_suggestion_ends_with_its_line() -> None:
    assert suggestions("One")[0].text == " two."
    assert suggestions("One two.") == []


def test_nothing_is_followed_that_is_too_unlikely() -> None:
    assert suggestions("I look forward to ", least=0.7) == []
    (found,) = suggestions("I look forward ", least=0.7)
    assert found.sure(0.7).text == "to"


def test_the_chance_never_rises() -> None:
    for typed in ("I", "The ", "It", "Her"):
        for found in suggestions(typed, count=3):
            chances = [piece.chance for piece in found.pieces]
            assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize(
    ("text", "after_letter", "worth"),
    [
        ("ard", True, True),
        ("ed", True, False),
        (" the", True, False),
        (" the end", True, True),
        ("a cat", False, True),
        ("cat", False, False),
        ("seeing", False, True),
        (",,,,,,,,", True, False),
        ("…?!) ed", True, False),
        ("", True, False),
    ],
)
def test_what_saves_little_is_not_worth_showing(text: str, after_letter: bool, worth: bool) -> None:
    assert is_worth_showing(text, after_letter) is worth


def test_what_is_asked_for_may_save_less() -> None:
    assert is_worth_showing(" the", True, invoked=True)
    assert is_worth_showing("ed", True, invoked=True)
    assert not is_worth_showing("s", True, invoked=True)
    assert not is_worth_showing(".", True, invoked=True)


@pytest.mark.parametrize(
    ("text", "behind", "too_soon"),
    [
        (" is a library.", " keeps jobs in a file.", True),
        (" is a library that", " keeps jobs in a file.", False),
        (' he said."', "and left", True),
        (" is a library.", " Jobs are kept in a file.", False),
        (" of jobs.", ". It is new.", True),
        (" of jobs,", ", and more", True),
        (" of jobs", ", and more", False),
        (" of jobs.", "", False),
        (" of our meeting.", " 3 May.", True),
    ],
)
def test_a_sentence_that_goes_on_is_not_ended(text: str, behind: str, too_soon: bool) -> None:
    assert ends_too_soon(text, behind) is too_soon


def test_what_is_sure_ends_at_the_last_sure_word() -> None:
    whole = SuggestedText((Piece("a", 0.9), Piece(" b", 0.5), Piece(".", 0.5), Piece(" c", 0.1)))
    assert whole.sure(0.5).text == "a b."
    assert whole.sure(0.0) == whole
