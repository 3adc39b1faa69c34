"""Own rules: their texts, and the terms that they spell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reviser.proofreading.rules.matching import RuleMatch
from reviser.proofreading.rules.patterns import SURE
from reviser.proofreading.suggestion import Kind
from reviser.prose import Paragraph, Span, sentences


class RuleText(NamedTuple):
    """A file of rules; `source` names it in errors."""

    source: str
    text: str


class SpelledTerms:
    """Finds terms that are not spelled as a project wants."""

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        """`terms` has the spelling of each term, and other spellings that are wrong."""
        self._terms = {form.casefold(): term for term, others in terms.items() for form in (term, *others)}
        forms = sorted(self._terms, key=len, reverse=True)
        either = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in forms)
        self._pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE) if forms else None

    def find_in(self, paragraph: Paragraph) -> list[tuple[Span, list[RuleMatch]]]:
        """The sentences of a paragraph with corrections of terms, which have places within the sentence."""
        if self._pattern is None:
            return []
        found = []
        for span in sentences(paragraph):
            some = [
                RuleMatch(start - span.start, end - span.start, term, SURE, (f"term {term}",), kind, why)
                for one in self._pattern.finditer(paragraph.text, *span)
                for start, end in [one.span()]
                for term in [self._terms[" ".join(one[0].split()).casefold()]]
                for kind in [Kind.CASE if one[0].casefold() == term.casefold() else Kind.SPELLING]
                for why in [f"This project writes “{term}”."]
                if one[0] != term and not paragraph.touches_protected(start, end)
            ]
            if some:
                found.append((span, some))
        return found
