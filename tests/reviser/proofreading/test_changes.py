"""Changes between two texts, and their kinds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.proofreading.changes import changes, kind_of
from reviser.proofreading.suggestion import Kind, with_suggestions

ONE_CHANGE = [
    # Spelling.
    ("I recieve mail.", "I receive mail.", "recieve", "receive", Kind.SPELLING),
    ("It is teh end.", "It is the end.", "teh", "the", Kind.SPELLING),
    ("We stoped there.", "We stopped there.", "stoped", "stopped", Kind.SPELLING),
    ("I dont know.", "I don't know.", "dont", "don't", Kind.SPELLING),
    ("Give me exapmles.", "Give me examples.", "exapmles", "examples", Kind.SPELLING),
    ("A definately good day.", "A definitely good day.", "definately", "definitely", Kind.SPELLING),
    # Agreement.
    ("She go home.", "She goes home.", "go", "goes", Kind.AGREEMENT),
    ("The cat sit on the mat.", "The cat sits on the mat.", "sit", "sits", Kind.AGREEMENT),
    ("They was late.", "They were late.", "was", "were", Kind.AGREEMENT),
    ("He don't care.", "He doesn't care.", "don't", "doesn't", Kind.AGREEMENT),
    ("This books are old.", "These books are old.", "This", "These", Kind.AGREEMENT),
    ("It depend on you.", "It depends on you.", "depend", "depends", Kind.AGREEMENT),
    # Verb form.
    ("I have went home.", "I have gone home.", "went", "gone", Kind.VERB_FORM),
    ("He is walk home.", "He is walking home.", "walk", "walking", Kind.VERB_FORM),
    ("Yesterday I walk home.", "Yesterday I walked home.", "walk", "walked", Kind.VERB_FORM),
    ("She catched it.", "She caught it.", "catched", "caught", Kind.VERB_FORM),
    ("I want go home.", "I want to go home.", "", "to ", Kind.VERB_FORM),
    ("He going home.", "He is going home.", "", "is ", Kind.VERB_FORM),
    ("I will went.", "I went.", "will ", "", Kind.VERB_FORM),
    ("They tried it and stop.", "They tried it and stopped.", "stop", "stopped", Kind.VERB_FORM),
    # Noun number.
    ("I have two cat.", "I have two cats.", "cat", "cats", Kind.NOUN_NUMBER),
    ("Many informations.", "Many information.", "informations", "information", Kind.NOUN_NUMBER),
    ("Three child came.", "Three children came.", "child", "children", Kind.NOUN_NUMBER),
    ("The childrens came.", "The children came.", "childrens", "children", Kind.NOUN_NUMBER),
    ("All the city of it.", "All the cities of it.", "city", "cities", Kind.NOUN_NUMBER),
    # Word form.
    ("He runs quick.", "He runs quickly.", "quick", "quickly", Kind.WORD_FORM),
    ("A beauty house.", "A beautiful house.", "beauty", "beautiful", Kind.WORD_FORM),
    ("It is more easy.", "It is easier.", "more easy", "easier", Kind.WORD_FORM),
    # Articles.
    ("I saw cat.", "I saw a cat.", "", "a ", Kind.ARTICLE),
    ("It is a old house.", "It is an old house.", "a", "an", Kind.ARTICLE),
    ("The life is hard.", "Life is hard.", "The life", "Life", Kind.ARTICLE),
    # Prepositions.
    ("I am good in maths.", "I am good at maths.", "in", "at", Kind.PREPOSITION),
    ("We discuss about it.", "We discuss it.", "about ", "", Kind.PREPOSITION),
    ("I listen music.", "I listen to music.", "", "to ", Kind.PREPOSITION),
    # Punctuation.
    ("However it rained.", "However, it rained.", "", ",", Kind.PUNCTUATION),
    ("It rained", "It rained.", "", ".", Kind.PUNCTUATION),
    ("He said ,yes.", "He said, yes.", " ,", ", ", Kind.PUNCTUATION),
    ("What is it.", "What is it?", ".", "?", Kind.PUNCTUATION),
    ("It rained, we left.", "It rained. We left.", ", we", ". We", Kind.PUNCTUATION),
    ("my parents house", "my parents' house", "", "'", Kind.PUNCTUATION),
    # Capitals.
    ("i am here.", "I am here.", "i", "I", Kind.CASE),
    ("In london.", "In London.", "london", "London", Kind.CASE),
    # Words joined and split.
    ("I like it alot.", "I like it a lot.", "alot", "a lot", Kind.JOINED_OR_SPLIT),
    ("I saw some one.", "I saw someone.", "some one", "someone", Kind.JOINED_OR_SPLIT),
    ("A well known man.", "A well-known man.", " ", "-", Kind.JOINED_OR_SPLIT),
    # Confused words.
    ("There house is big.", "Their house is big.", "There", "Their", Kind.CONFUSED_WORD),
    ("Its late.", "It's late.", "Its", "It's", Kind.CONFUSED_WORD),
    ("I am to young.", "I am too young.", "to", "too", Kind.CONFUSED_WORD),
    ("It is better then it.", "It is better than it.", "then", "than", Kind.CONFUSED_WORD),
    ("I would of gone.", "I would have gone.", "of", "have", Kind.CONFUSED_WORD),
    ("By who's advice?", "By whose advice?", "who's", "whose", Kind.CONFUSED_WORD),
    # Order.
    ("I go always home.", "I always go home.", "go always", "always go", Kind.WORD_ORDER),
    ("What you are doing?", "What are you doing?", "you are", "are you", Kind.WORD_ORDER),
    # Words missing and too many.
    ("It is very day.", "It is very sunny day.", "", "sunny ", Kind.MISSING_WORD),
    ("I saw the the cat.", "I saw the cat.", None, None, Kind.EXTRA_WORD),
    ("He is is here.", "He is here.", None, None, Kind.EXTRA_WORD),
    ("It is really banana good.", "It is really good.", "banana ", "", Kind.EXTRA_WORD),
    # Other words.
    ("I did a party.", "I threw a party.", "did", "threw", Kind.OTHER),
]


@pytest.mark.parametrize(("before", "after", "old", "new", "kind"), ONE_CHANGE)
def test_one_change_and_its_kind(before: str, after: str, old: str | None, new: str | None, kind: Kind) -> None:
    (change,) = changes(before, after)
    assert change.kind == kind
    if old is not None:
        assert (change.old, change.new) == (old, new)
    assert before[change.start : change.end] == change.old
    assert with_suggestions(before, [change]) == after


def test_changes_side_by_side_are_told_apart() -> None:
    found = changes("He have went to scool yestreday.", "He has gone to school yesterday.")
    assert [(change.old, change.new, change.kind) for change in found] == [
        ("have", "has", Kind.AGREEMENT),
        ("went", "gone", Kind.VERB_FORM),
        ("scool", "school", Kind.SPELLING),
        ("yestreday", "yesterday", Kind.SPELLING),
    ]


def test_joined_words_among_others_are_told_apart() -> None:
    found = changes("I like alot off tihngs.", "I like a lot of things.")
    assert [(change.old, change.new) for change in found] == [("alot", "a lot"), ("off", "of"), ("tihngs", "things")]


def test_a_word_that_moved_further_is_one_change() -> None:
    (change,) = changes("Always I go to school.", "I go to school Always.")
    assert change.kind == Kind.WORD_ORDER


def test_the_same_text_has_no_changes() -> None:
    assert changes("As it is.", "As it is.") == []


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("is go", "goes", Kind.VERB_FORM),
        ("has been", "was", Kind.VERB_FORM),
        ("more good", "better", Kind.WORD_FORM),
        ("red big", "big red", Kind.WORD_ORDER),
        ("infact", "in fact", Kind.JOINED_OR_SPLIT),
        ("e mail", "e-mail", Kind.JOINED_OR_SPLIT),
        ("", "!", Kind.PUNCTUATION),
        ("house", "of the house", Kind.MISSING_WORD),
        ("cat", "philosophy", Kind.OTHER),
    ],
)
def test_kinds_of_phrases(old: str, new: str, kind: Kind) -> None:
    assert kind_of(old, new) == kind


TEXTS = st.lists(
    st.sampled_from(["the", "cat", "cats", "a", "lot", "alot", ",", ".", " ", "  ", "\n", "go", "I"]), max_size=14
).map("".join)


@given(TEXTS | st.text(max_size=12), TEXTS | st.text(max_size=12))
def test_changes_give_the_other_text_exactly(before: str, after: str) -> None:
    found = changes(before, after)
    assert with_suggestions(before, found) == after
    assert all(before[change.start : change.end] == change.old for change in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
