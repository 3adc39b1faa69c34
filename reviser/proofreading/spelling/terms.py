"""Terms: the one place that says which words of a document are names or terms there.

The spelling stage does not look at them, and the guard lets no stage change them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from reviser.proofreading.project.words import Words, bare_word, forms_of

# With hyphens, as a whole compound may be a name.
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True)
class Terms:
    """The words that a user or project lists, and the names and terms that a document and its project tell.

    `names` are kept as they are written, `told` are unknown words in small letters, which are kept with their plurals
    and genitives. `cased` are words of code that the list has with a capital alone, such as "python", of which only the
    capitals are the document's. `forms` has how often it writes each of both so within sentences.
    """

    words: Words = field(default_factory=Words)
    names: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    cased: frozenset[str] = frozenset()
    forms: Counter[str] = field(default_factory=Counter)

    def holds(self, word: str) -> bool:
        """Whether a word of the document's text is one of its names or terms."""
        return word in self.names or any(form in self.told for form in forms_of(word))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The ranges of listed words, names and terms in a text."""
        yield from self.words.spans(text)
        if not (self.names or self.told):
            return
        for found in _TOKEN.finditer(text):
            for start, word in _parts(found[0]):
                if self.holds(bare := bare_word(word)):
                    first = found.start() + start
                    yield first, first + len(bare)

    def fixed_in(self, text: str) -> Counter[str]:
        """What of a text must stay, with counts: terms in small letters, since their capitals are another matter."""
        found = Counter(text[start:end] for start, end in self.words.spans(text))
        for token in _TOKEN.findall(text):
            for _, word in _parts(token):
                bare = bare_word(word)
                if bare in self.names:
                    found[bare] += 1
                elif self.holds(bare):
                    found[bare.lower()] += 1
        return found

    def forbids_capital(self, old: str, new: str) -> bool:
        """Whether a change of a term's capitals goes against the document's habit."""
        if old == new or old.casefold() != new.casefold() or not (self.holds(old) or old.lower() in self.cased):
            return False
        return new not in self.names and new not in self.words.terms and self.forms[new] <= self.forms[old]


def _parts(token: str) -> Iterator[tuple[int, str]]:
    """A token, and the words that hyphens join in it, with their places."""
    yield 0, token
    if "-" in token.strip("-"):
        for found in re.finditer(r"[^-]+", token):
            yield found.start(), found[0]
