"""Explanations of the kinds of changes, for readers of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reviser.proofreading.suggestion import Kind


@dataclass(frozen=True)
class Explanation:
    """A kind of change: a summary in one sentence, a description, an example, and an encyclopedia page on the
    subject."""

    short: str
    full: str
    wrong: str
    right: str
    subject: str

    @property
    def page(self) -> str:
        return f"https://en.wikipedia.org/wiki/{self.subject}"


EXPLANATIONS: Final = {
    Kind.SPELLING: Explanation(
        "A word is misspelt.",
        "A word is in no dictionary, or its letters are not those of the word that the sentence asks for.",
        "I recieve mail.",
        "I receive mail.",
        "Spelling",
    ),
    Kind.AGREEMENT: Explanation(
        "A verb does not agree with its subject.",
        "A verb is in the singular where its subject is in the plural, or the other way round, also where other words "
        "stand between the two.",
        "The boys goes home.",
        "The boys go home.",
        "Agreement_(linguistics)",
    ),
    Kind.VERB_FORM: Explanation(
        "A verb has the wrong form.",
        "A verb has another tense or form than the words around it ask for, such as an infinitive behind an auxiliary.",
        "She has went home.",
        "She has gone home.",
        "English_verbs",
    ),
    Kind.NOUN_NUMBER: Explanation(
        "A noun should be in the singular or the plural.",
        "A noun stands in the singular where several things are meant, or in the plural where it has none or one is "
        "meant.",
        "Two cat sat there.",
        "Two cats sat there.",
        "Grammatical_number",
    ),
    Kind.WORD_FORM: Explanation(
        "A word has the wrong form.",
        "A word stands where another one of its family belongs, such as an adjective in the place of an adverb.",
        "He spoke quick.",
        "He spoke quickly.",
        "Word_formation",
    ),
    Kind.ARTICLE: Explanation(
        "An article is wrong, missing or not needed.",
        "A noun lacks a, an or the, has one that it does not take, or has the wrong one of them.",
        "It is a old house.",
        "It is an old house.",
        "English_articles",
    ),
    Kind.PREPOSITION: Explanation(
        "A preposition is wrong, missing or not needed.",
        "A verb, an adjective or a noun goes with another preposition, or with none.",
        "It depends from you.",
        "It depends on you.",
        "English_prepositions",
    ),
    Kind.PUNCTUATION: Explanation(
        "A punctuation mark is wrong, missing or not needed.",
        "A comma, a full stop, an apostrophe or another mark is missing, stands where none belongs, or should be "
        "another one.",
        "Before we eat wash your hands.",
        "Before we eat, wash your hands.",
        "English_punctuation",
    ),
    Kind.CASE: Explanation(
        "A capital or a small letter is wrong.",
        "A sentence or a name begins with a small letter, or another word with a capital.",
        "We met on monday.",
        "We met on Monday.",
        "Capitalization_in_English",
    ),
    Kind.JOINED_OR_SPLIT: Explanation(
        "Words should be joined or split.",
        "Two words are written as one, or one as two.",
        "I like it alot.",
        "I like it a lot.",
        "Compound_(linguistics)",
    ),
    Kind.CONFUSED_WORD: Explanation(
        "A word was confused with another.",
        "A word is spelt right, but another one that looks or sounds like it is meant.",
        "I want too go.",
        "I want to go.",
        "Commonly_misused_English_words",
    ),
    Kind.WORD_ORDER: Explanation(
        "Words are in the wrong order.",
        "The words are right, but their order is that of a question, of another language or of none.",
        "Where you are going?",
        "Where are you going?",
        "Word_order",
    ),
    Kind.MISSING_WORD: Explanation(
        "A word is missing.",
        "The sentence is not complete without a word that was left out.",
        "I think will rain.",
        "I think it will rain.",
        "Ellipsis_(linguistics)",
    ),
    Kind.EXTRA_WORD: Explanation(
        "A word is not needed.",
        "A word stands there twice, or has no part in the sentence.",
        "She put the the lamp on the table.",
        "She put the lamp on the table.",
        "Pleonasm",
    ),
    Kind.OTHER: Explanation(
        "A passage should read differently.",
        "A word does not go with the others, or several are wrong at once, in a way that no other kind describes.",
        "He did a big mistake.",
        "He made a big mistake.",
        "Copy_editing",
    ),
}
