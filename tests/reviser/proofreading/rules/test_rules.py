"""Each rule corrects its examples and leaves its near misses, alone and among all rules."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.proofreading.language.speech import speech_in
from reviser.proofreading.rules.english import english, matcher
from reviser.proofreading.rules.examples import check_examples
from reviser.proofreading.rules.matching import Matcher, RuleMatch, apply, words_of
from reviser.proofreading.rules.notation import RuleBook
from reviser.proofreading.rules.patterns import Rule

RULES = english().rules
EXAMPLES = [wrong for rule in RULES for wrong, _ in rule.pairs()]
# What the step was made for.
WANTED = {
    "I went to the the shop.": "I went to the shop.",
    "Me and him goes there.": "He and I go there.",
    "He is more taller.": "He is taller.",
    "I am agree with you.": "I agree with you.",
    "There is many informations.": "There is much information.",
    "We discussed about the problem.": "We discussed the problem.",
    "I look forward to hear from you.": "I look forward to hearing from you.",
    "Can you explain me how does it works?": "Can you explain to me how it works?",
    "He said me that he can not come, because he have to much work.": (
        "He told me that he can not come, because he has too much work."
    ),
    "Please find attach the report.": "Please find attached the report.",
    "We need to loose weight.": "We need to lose weight.",
    "It has more healthy foods then before.": "It has more healthy foods than before.",
    "It is one of the best book.": "It is one of the best books.",
    "If I would have known, I will have came earlier.": "If I had known, I will have come earlier.",
}


def find(text: str, among: Matcher | None = None) -> list[RuleMatch]:
    return (among or matcher()).find(text, (), speech_in(text))


def corrected(text: str, among: Matcher | None = None) -> str:
    return apply(text, find(text, among))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_corrects_its_examples_and_leaves_its_near_misses(rule: Rule) -> None:
    assert len(rule.mends) >= 2
    assert len(rule.leaves) >= 3
    alone = RuleBook(english().classes, english().forms)
    alone.rules.append(rule)
    check_examples(alone)
    for wrong, right in rule.pairs():
        assert wrong != right
        assert corrected(wrong, Matcher([rule], english().classes)) == right
        assert corrected(wrong) == right
        assert find(right) == []
    for text in rule.leaves:
        assert find(text) == [], text


def test_names_of_rules_are_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(0.5 < rule.confidence < 1 for rule in RULES)
    assert all(rule.why.endswith(".") for rule in RULES)


@pytest.mark.parametrize("text", WANTED)
def test_what_every_reader_sees(text: str) -> None:
    assert corrected(text) == WANTED[text]


def test_capitals_and_apostrophes_are_kept() -> None:
    assert corrected("The the cat is here.") == "The cat is here."
    assert corrected("In the other hand, it is late.") == "On the other hand, it is late."
    assert corrected("I think its a shame, isn’t it?") == "I think it’s a shame, isn’t it?"
    assert corrected("I think its a shame, isn't it?") == "I think it's a shame, isn't it?"
    assert corrected("She don’t know.") == "She doesn’t know."


def test_names_marks_and_wide_gaps_are_no_phrases() -> None:
    for text in (
        "The band The The plays here.",
        "We saw the, the shop.",
        "Use the  the file.",
        "It is in the-the file, a/a and a_a.",
        "He saw WAS was not there.",
        "a=a a a.b",
    ):
        assert find(text) == [], text


def test_speech_may_be_in_a_dialect() -> None:
    assert find("“He don't know,” said Tom.") == []
    assert find("'We was there,' said Tom.") == []
    assert corrected("“Yes,” he said, but she don't know.") == "“Yes,” he said, but she doesn't know."
    # What nobody says is a slip there too.
    assert corrected("“I saw the the cat,” he said.") == "“I saw the cat,” he said."


def test_places_are_those_of_the_text() -> None:
    text = "🙂 “Oh,” I’d say — it’s of of no use, and a old one too 🙂."
    shown = [(text[one.start : one.end], one.new) for one in find(text)]
    assert shown == [(" of", ""), ("a", "an")]


@given(st.lists(st.sampled_from([*matcher().keys, "cat", "red", ",", ".", "“", "”", "’", "🙂"])))
def test_nothing_is_left_to_correct_after_corrections(words: list[str]) -> None:
    text = " ".join(words)
    after = corrected(text)
    assert find(after) == [] or after == text


@given(st.text(max_size=60) | st.sampled_from(EXAMPLES))
def test_changes_are_in_order_and_inside(text: str) -> None:
    place = 0
    for one in find(text):
        assert place <= one.start <= one.end <= len(text)
        assert text[one.start : one.end] != one.new
        place = one.end


@given(st.text(max_size=80) | st.sampled_from(EXAMPLES))
def test_nothing_is_found_without_a_first_word(text: str) -> None:
    named = {word.key for word in words_of(text)} & matcher().keys
    if find(text):
        assert named - {"^", "$"}
    strange = re.sub(r"\w+", "zyzzy", text)
    assert find(strange) == []


def test_a_sentence_takes_little_time() -> None:
    known = matcher()
    text = (
        "They know that he said it was one of the things which we all have to see in the end, and I am a friend of it."
    )
    best = min(_seconds(known, text) for _ in range(20))
    assert best < 0.002


def _seconds(known: Matcher, text: str) -> float:
    began = time.perf_counter()
    known.find(text)
    return time.perf_counter() - began
