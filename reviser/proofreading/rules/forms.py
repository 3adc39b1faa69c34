"""The forms of English words: third person, -ing form, past, participle and plural.

They are made by rule, but for the verbs and nouns that the files of rules list as irregular.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

_S = {"have": "has", "be": "is"}
_KEEPS_E = frozenset(("be", "see", "agree"))


class Forms(NamedTuple):
    """The forms of words, with the irregular ones listed.

    `verbs` maps a base form to its past form and its participle, `plurals` a noun to its plural; verbs in `doubling`
    double the last letter before a vowel.
    """

    verbs: Mapping[str, tuple[str, str]] = MappingProxyType({})
    plurals: Mapping[str, str] = MappingProxyType({})
    doubling: frozenset[str] = frozenset()

    def named(self, name: str) -> Callable[[str], str] | None:
        """The function for the form that rules call `name`; None if there is none."""
        made = {"s": s_form, "ing": self.ing, "ed": self.ed, "past": self.past, "done": self.done}
        return (made | {"plural": self.plural}).get(name)

    def ing(self, word: str) -> str:
        if word in _KEEPS_E:
            return f"{word}ing"
        if word.endswith("ie"):
            return f"{word[:-2]}ying"
        return f"{self._stem(word.removesuffix('e'))}ing"

    def ed(self, word: str) -> str:
        """The past form of a regular verb."""
        if word.endswith("e"):
            return f"{word}d"
        return f"{word[:-1]}ied" if re.search(r"[^aeiou]y$", word) else f"{self._stem(word)}ed"

    def past(self, word: str) -> str:
        return self.verbs[word][0] if word in self.verbs else self.ed(word)

    def done(self, word: str) -> str:
        """The participle."""
        return self.verbs[word][1] if word in self.verbs else self.ed(word)

    def plural(self, word: str) -> str:
        return self.plurals.get(word) or s_form(word)

    def _stem(self, word: str) -> str:
        """A verb as it is before a vowel, with the last letter doubled if listed: "stop" becomes "stopp"."""
        return word + word[-1] if word in self.doubling else word


def s_form(word: str) -> str:
    """The regular third person of a verb, or plural of a noun."""
    if word in _S:
        return _S[word]
    if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else f"{word}s"


FORMS: Final = Forms()
"""The forms of regular words only."""
