"""Tests of rules on their own examples: sentences that a rule must correct, and sentences that it must leave."""

from __future__ import annotations

from reviser.core.errors import ReviserError
from reviser.proofreading.language.speech import speech_in
from reviser.proofreading.rules.matching import Matcher, apply
from reviser.proofreading.rules.notation import RuleBook
from reviser.proofreading.rules.patterns import Rule


def check_examples(book: RuleBook, *, all_needed: bool = True) -> None:
    """Test every rule of a book by itself; raises `ReviserError`, with one sentence, for a rule that contradicts its
    examples, or if `all_needed` has none."""
    for rule in book.rules:
        matcher = Matcher([rule], book.classes)
        if all_needed and (not rule.mends or not rule.leaves):
            what = "leaves" if rule.mends else "mends"
            raise ReviserError(f"the rule “{rule.name}” has no example of what it {what}")
        _check(rule, matcher)


def _check(rule: Rule, matcher: Matcher) -> None:
    for wrong, right in rule.pairs():
        if wrong == right:
            raise ReviserError(f"the rule “{rule.name}” has an example in which nothing is {{wrong|right}}: “{right}”")
        if (after := _corrected(wrong, matcher)) != right:
            raise ReviserError(f"the rule “{rule.name}” makes “{after}” of “{wrong}”, and not “{right}”")
    for text in (*rule.leaves, *(right for _, right in rule.pairs())):
        if (after := _corrected(text, matcher)) != text:
            raise ReviserError(f"the rule “{rule.name}” makes “{after}” of “{text}”, which it should leave")


def _corrected(text: str, matcher: Matcher) -> str:
    return apply(text, matcher.find(text, (), speech_in(text)))
