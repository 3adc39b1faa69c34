"""Joins of runs that were written by hand, and the measure on models made here."""

from __future__ import annotations

import torch

from benchmarks.everyday.joins import Join, Reader, joins_of, judged, real_strangeness, threshold_of
from reviser.core.actions import Action, Delete, Insert, Move, Stop
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary

TOKENIZER = Gpt2Tokenizer()
VOCABULARY = Vocabulary.gpt2()
PROMPT = TOKENIZER.encode("The soup is")


def words(text: str) -> list[Action]:
    return [Insert(token) for token in TOKENIZER.encode(text)]


def found(*actions: Action) -> list[Join]:
    ids = [VOCABULARY.id(action) for action in actions]
    return joins_of(VOCABULARY, TOKENIZER, PROMPT, ids)


def test_writing_from_left_to_right_makes_no_joins() -> None:
    assert found(*words(" hot and good."), Stop()) == []


def test_an_insertion_in_between_has_a_join_on_each_side() -> None:
    # "The soup is hot[ and thick] today."
    joins = found(*words(" hot today."), Move(-2), *words(" and thick"), Stop())
    assert joins == [Join(len("The soup is hot"), "before"), Join(len("The soup is hot and thick"), "after")]


def test_going_on_at_the_end_after_an_insertion_is_no_join() -> None:
    joins = found(*words(" hot today"), Move(-1), *words(" very"), Move(1), *words(" again."), Stop())
    assert [join.kind for join in joins] == ["before", "after"]


def test_a_deletion_in_between_joins_its_neighbours() -> None:
    joins = found(*words(" hot and good today."), Move(-2), Delete(), Stop())
    assert joins == [Join(len("The soup is hot and"), "cut")]


def test_a_word_that_is_taken_back_at_the_end_leaves_no_join() -> None:
    assert found(*words(" hot"), Delete(), *words(" cold."), Stop()) == []


def test_an_insertion_right_behind_the_prompt() -> None:
    joins = found(*words(" hot."), Move(-2), *words(" very"), Stop())
    assert joins == [Join(len("The soup is"), "before"), Join(len("The soup is very"), "after")]


SIZE = 128


def letters(text: str) -> tuple[list[int], list[int]]:
    return [ord(letter) for letter in text], list(range(len(text)))


def alphabet(ids: torch.Tensor) -> torch.Tensor:
    """A model that expects each letter to be followed by the next one of the alphabet."""
    logits = torch.zeros(*ids.shape, SIZE)
    return logits.scatter(2, ((ids + 1) % SIZE)[..., None], 8.0)


READER = Reader("alphabet", "1", letters, alphabet, torch.device("cpu"))
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def test_what_goes_before_helps_in_real_text_and_not_behind_a_broken_join() -> None:
    threshold = threshold_of(real_strangeness(READER, [ALPHABET]))
    assert threshold < 0
    whole = [Join(18, "before"), Join(20, "after")]
    assert not any(join.broken for join in judged(READER, READER.read(ALPHABET), whole, threshold))
    cut_in = ALPHABET[:18] + "defg" + ALPHABET[18:]
    joins = [Join(18, "before"), Join(22, "after"), Join(20, "before")]
    judgement = judged(READER, READER.read(cut_in), joins, threshold)
    assert [join.broken for join in judgement] == [True, True, False]


def test_a_join_with_little_before_it_is_not_judged() -> None:
    (join,) = judged(READER, READER.read(ALPHABET), [Join(3, "after")], -100.0)
    assert join.strangeness is None
    assert not join.broken


def test_each_token_costs_what_it_costs_after_those_before() -> None:
    reading = READER.read("abx")
    assert reading.nats[0] == 0.0
    assert reading.nats[1] < 0.1
    assert reading.nats[2] > 7
    assert reading.costs(2) == [reading.nats[2]]


def test_rows_of_unequal_length_cost_what_they_cost_alone() -> None:
    together = READER._nats([letters("abcdef")[0], letters("xy")[0]])
    assert together == [READER._nats([letters("abcdef")[0]])[0], READER._nats([letters("xy")[0]])[0]]
