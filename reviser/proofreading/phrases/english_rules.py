"""All rules for English, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.agreement import AGREEMENT
from reviser.proofreading.phrases.nouns import NOUNS
from reviser.proofreading.phrases.patterns import PATTERNS
from reviser.proofreading.phrases.questions import QUESTIONS
from reviser.proofreading.phrases.rules import Rule
from reviser.proofreading.phrases.small_words import SMALL_WORDS
from reviser.proofreading.phrases.sounds import SOUNDS
from reviser.proofreading.phrases.tenses import TENSES
from reviser.proofreading.phrases.verbs import VERBS
from reviser.proofreading.phrases.words import WORDS

RULES: Final[tuple[Rule, ...]] = (
    *WORDS,
    *SOUNDS,
    *AGREEMENT,
    *VERBS,
    *TENSES,
    *QUESTIONS,
    *NOUNS,
    *SMALL_WORDS,
    *PATTERNS,
)
