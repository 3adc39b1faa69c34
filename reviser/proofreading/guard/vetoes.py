"""Vetoes: reasons not to make a suggested change, whatever its confidence.

The structure of the document is not looked after here: `reviser.prose` refuses what would alter that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from reviser.proofreading import english
from reviser.proofreading.changes import distance_between
from reviser.proofreading.guard.doubts import is_doubtful, is_series_comma
from reviser.proofreading.guard.meant import is_dialect, is_half_of_word, is_meant_twice, is_name_of_word
from reviser.proofreading.guard.usage import Usage, lowers
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.spelling.variants import are_variants
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Paragraph, Role, sentences

FAR: Final = 0.4
"""The factor by which the permitted chance of error (1 - confidence) shrinks for changes that are seldom right."""
SELDOM_RIGHT: Final = frozenset((Kind.OTHER, Kind.MISSING_WORD))
"""The kinds of changes of which less than half are right, however high their probability."""
COMMA: Final = 0.8
"""The same factor for a new comma."""
MEANT: Final = 0.1
"""The same factor for a word that the document repeats, or has in its code, if it only loses letters at an end."""
FURTHEST: Final = 0.34
"""The largest share of a word's letters that the correction of a slip changes."""
MOST_WORDS: Final = 3
"""The most words that a change may insert or remove: more would be rewriting."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_NUMBER = re.compile(r"[$€£#+-]?\w*\d\w*(?:[.,:/'’×x+-]?\d\w*)*%?")
_ACRONYM = re.compile(r"\b[A-Z][A-Z&.]*[A-Z]s?\b")
_POINTING = (frozenset(("this", "that")), frozenset(("these", "those")))
_RELATIVE = frozenset(("which", "that"))
_OBLIGING = frozenset(("has", "have", "had"))
# A mark behind which something follows that is no part of the paragraph: an example, a list, a letter's text.
_LEADS_ON = re.compile(r"[,:]")
_INTRODUCES = re.compile(
    r"\b(?:for example|for instance|such as|like this|like so|as follows|the following|e\.g\.)\s*\Z", re.IGNORECASE
)
# The end of a letter: "Best Regards,", "Yours faithfully", "Lots of Love, Anna", or in two lines "Best regards Maria".
_CLOSING = re.compile(
    r"(?:^|(?<=[.!?…,]\s))(?:(?:with|my|our|kind|kindest|warm|warmest|best|lots|much|all|of|and|many|yours|very)\s+)*"
    r"(?:regards|wishes|love|thanks|cheers|greetings|faithfully|sincerely|truly|respectfully)\s*"
    r"(?:,?\s*(?-i:[A-Z][\w'’.-]*\s*){1,4}\Z|,|\Z)",
    re.IGNORECASE,
)
# Prefixes that hardly any misspelling starts with, before a word of four letters or more.
_PREFIXED = re.compile(r"(?:auto|hyper|meta|micro|mini|multi|non|pseudo|semi|sub|super)([a-z]{4,})", re.IGNORECASE)
_HYPHEN_BEFORE = re.compile(r"[^\W\d_]-\Z")
_HYPHEN_BEHIND = re.compile(r"-[^\W\d_]")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"))
_PAIRED = re.compile(r"[\"()\[\]{}“”«»]")
# Letters of a noun, at the least.
_NOUN = 4
# Characters of a line that is wrapped, at the least.
_WRAPPED = 60
# Characters around a change that hold the words beside it.
_NEAR = 60


@dataclass(frozen=True)
class Vetoes:
    """The limits that a user sets: the confidence, the kinds of changes, and the names and terms."""

    confidence: float
    kinds: Collection[Kind] = frozenset(Kind)
    terms: Terms = field(default_factory=Terms)
    usage: Usage = field(default_factory=Usage)
    known: Callable[[str], bool] | None = None
    """A predicate that tells whether a word is in the word list; None without a list."""
    is_name: Callable[[str], bool] | None = None
    """A predicate that tells whether a capitalised word is in the list as written."""

    def objection(self, suggestion: Suggestion, paragraph: Paragraph) -> str | None:
        """The reason not to make a change, in a few words; None if there is none."""
        old, new = _with_surroundings(suggestion, paragraph.text)
        if suggestion.kind not in self.kinds:
            reason = "its kind is not wanted"
        elif suggestion.confidence < self.needed(suggestion, paragraph):
            reason = "it is not sure enough"
        elif abs(len(_words(suggestion.new)) - len(_words(suggestion.old))) > MOST_WORDS:
            reason = "it writes or erases too much"
        elif _contracts(old, new):
            reason = "it only contracts words, or writes a contraction out"
        elif _doubles(suggestion, paragraph.text):
            reason = "it says a word twice"
        elif self._takes_compound(suggestion):
            reason = "the word is made of another one"
        elif self._makes_up_word(suggestion):
            reason = "it writes a word that is in no list"
        elif _NUMBER.findall(old) != _NUMBER.findall(new):
            reason = "it changes a number"
        elif _leaves_open(suggestion, paragraph.text):
            reason = "it leaves a quotation or a bracket open"
        elif self._loses_word(suggestion, paragraph.text) or self.terms.forbids_capital(old, new):
            reason = "it changes a word that stays"
        elif self.usage.forbids(suggestion.kind, suggestion.old, suggestion.new, paragraph.text, suggestion.start):
            reason = "the document has the word so elsewhere"
        else:
            return _matter_of_style(suggestion, paragraph)
        return reason

    def needed(self, suggestion: Suggestion, paragraph: Paragraph) -> float:
        """The confidence that a change must reach in its document."""
        if not self.confidence:
            return 0.0
        if self.usage.has_often(suggestion.kind, suggestion.old):
            return needed_if_meant(self.confidence, suggestion.old, suggestion.new)
        seldom_right = is_doubtful(
            suggestion.kind, suggestion.old, suggestion.new, paragraph, suggestion.start, self.is_name
        )
        return needed(suggestion, self.confidence, seldom_right=seldom_right)

    def _takes_compound(self, suggestion: Suggestion) -> bool:
        """Whether a known word with a prefix, an s or a rare letter added ("multiline", "dicts", "healthz") is
        respelt, or its prefix separated."""
        if self.known is None or suggestion.kind not in (Kind.SPELLING, Kind.JOINED_OR_SPLIT):
            return False
        old, new = suggestion.old.casefold(), suggestion.new.casefold()
        if found := _PREFIXED.fullmatch(old):
            return self.known(found[1]) or self.known(found[1].removesuffix("s"))
        if suggestion.kind is not Kind.SPELLING:
            return False
        if is_name_of_word(suggestion, self.known):
            return True
        single = old.removesuffix("s")
        # "citys", "childs", "cames" and "thats" are no plurals.
        return (
            single != old
            and len(single) >= _NOUN
            and not single.endswith(("s", "y"))
            and single not in english.BASES_OF_FORMS
            and frozenset((single, new)) not in english.PLURALS
            and not new.startswith(single)
            and self.known(single)
        )

    def _makes_up_word(self, suggestion: Suggestion) -> bool:
        """Whether a change writes a lower-case word that is neither in the list nor in the document."""
        if self.known is None:
            return False
        old = set(_words(suggestion.old))
        return any(
            word.isascii()
            and word.islower()
            and word not in old
            and not self.known(word)
            and not self.usage.spellings[word]
            for word in _words(suggestion.new)
        )

    def _loses_word(self, suggestion: Suggestion, text: str) -> bool:
        """Whether a listed word, a name or an acronym is removed."""
        before, after = _beside(suggestion, text)
        # Texts in capitals have no acronyms that could be told from other words.
        acronyms = not text.isupper()
        old = self._fixed(before + suggestion.old + after, acronyms)
        return bool(old - self._fixed(before + suggestion.new + after, acronyms))

    def _fixed(self, text: str, acronyms: bool) -> Counter[str]:
        """The words of a text that must stay, with their counts."""
        found = self.terms.fixed_in(text)
        if acronyms:
            found.update(_ACRONYM.findall(text))
        return found


def needed(suggestion: Suggestion, confidence: float, *, seldom_right: bool = False) -> float:
    """The confidence that a change must reach: higher for kinds that are seldom right, and slightly higher for a new
    comma."""
    if seldom_right or suggestion.kind in SELDOM_RIGHT or is_far(suggestion):
        return raised(confidence)
    if suggestion.new.strip() == "," and not suggestion.old.strip():
        return raised(confidence, COMMA)
    return confidence


def raised(confidence: float, share: float = FAR) -> float:
    """The confidence whose chance of error is `share` times that of `confidence`."""
    return 1 - (1 - confidence) * share


def needed_if_meant(confidence: float, old: str, new: str) -> float:
    """The confidence needed to respell a word that the document seems to intend.

    Many programs are called like a word with a letter more, and many terms like two words in one: "gedit", "oneof".
    """
    one, other = old.casefold(), new.casefold()
    shortened = len(other) < len(one) and (one.startswith(other) or one.endswith(other))
    split = " " in other and other.replace(" ", "").startswith(one)
    if shortened or split:
        return 1 - (1 - confidence) * MEANT
    return raised(confidence)


def is_far(suggestion: Suggestion) -> bool:
    """Whether words are replaced by others that are neither similar nor of the same class."""
    if not _words(suggestion.old) or not _words(suggestion.new):
        return False
    if suggestion.kind is not Kind.SPELLING:
        return False
    old, new = suggestion.old.casefold(), suggestion.new.casefold()
    return distance_between(old, new) > FURTHEST * max(len(old), len(new))


def _matter_of_style(suggestion: Suggestion, paragraph: Paragraph) -> str | None:
    """The reason for which a change is a matter of the author's style, in a few words; None if it is not."""
    text = paragraph.text
    old, new = suggestion.old.casefold(), suggestion.new.casefold()
    pair = frozenset((old, new))
    heading = paragraph.role is Role.HEADING
    leads_on = suggestion.end == len(text) and _LEADS_ON.fullmatch(suggestion.old)
    objections = (
        (are_variants(old, new), "both spellings are right"),
        (pair == _RELATIVE, "both words are right"),
        (pair <= english.PERMITTING or pair in _POINTING, "it says something else"),
        (_denies(old, new), "it says the opposite"),
        (is_dialect(suggestion, text), "speech may be in a dialect"),
        (is_meant_twice(suggestion, text), "both words are needed"),
        (is_half_of_word(suggestion, text), "the two words are one"),
        (_releases(suggestion, text), "it says something else"),
        (heading and lowers(suggestion.old, suggestion.new), "headings have capitals of their own"),
        (_lowers_line(suggestion, paragraph), "the author began a new line"),
        (_in_name(suggestion, text), "it changes a name"),
        (leads_on or _ends_early(suggestion, text), "it ends what leads on"),
        (_capitalises(suggestion, text), "a label is no sentence"),
        (is_series_comma(suggestion.old, suggestion.new, text, suggestion.start), "series have two styles"),
        (_between_code(suggestion, paragraph), "it writes between two pieces of code"),
        (_is_note(suggestion, paragraph), "a note needs no subject"),
        (_in_closing(suggestion, text), "the end of a letter is no sentence"),
    )
    return next((reason for holds, reason in objections if holds), None)


def _lowers_line(suggestion: Suggestion, paragraph: Paragraph) -> bool:
    """Whether the first word of a line loses its capital although the line before had room for it, so that the line
    break is intended."""
    if not lowers(suggestion.old, suggestion.new):
        return False
    number = paragraph.segment_at(suggestion.start)
    before = suggestion.start - 1
    if not number or paragraph.starts[number] != suggestion.start or paragraph.touches_protected(before, before + 1):
        return False
    start, end = paragraph.segments[number - 1]
    return end - start + 1 + len(suggestion.old) <= _WRAPPED


def _leaves_open(suggestion: Suggestion, text: str) -> bool:
    """Whether a change leaves more quotation marks or brackets of a paragraph unpaired: 'see "Home."' to 'see
    "Home.'."""
    if not _PAIRED.search(suggestion.old + suggestion.new):
        return False
    return _open_marks(text[: suggestion.start] + suggestion.new + text[suggestion.end :]) > _open_marks(text)


def _open_marks(text: str) -> int:
    """The number of unpaired quotation marks and brackets, by counting alone."""
    counts = Counter(_PAIRED.findall(text))
    unequal = sum(abs(counts[opening] - counts[closing]) for opening, closing in _PAIRS)
    return counts['"'] % 2 + unequal


def _denies(old: str, new: str) -> bool:
    """Whether a change inserts or removes a negation, alone or with other words: "match" to "will not match"."""
    one, other = _words(old), _words(new)
    moved = sorted(one) == sorted(other) and set(_affirmed(one)) <= english.AUXILIARIES
    if one == other or moved:
        return False
    if _affirmed(one) == _affirmed(other):
        return True
    fewer, more = sorted((one, other), key=len)
    return _affirmed(more) != more and all(word in more for word in fewer)


def _releases(suggestion: Suggestion, text: str) -> bool:
    """Whether "has to" loses its "has", which expresses an obligation."""
    taken = suggestion.old.strip().casefold()
    if taken not in _OBLIGING or suggestion.new.strip():
        return False
    before = _WORD.findall(text[max(suggestion.start - _NEAR, 0) : suggestion.start])
    doubled = bool(before) and before[-1].casefold() in _OBLIGING
    return not doubled and bool(re.match(r"\s*to\b", text[suggestion.end :]))


def _affirmed(words: list[str]) -> list[str]:
    return [word for word in words if word not in ("not", "never")]


def _in_name(suggestion: Suggestion, text: str) -> bool:
    """Whether a word in a compound, or a capitalised one beside another, gets another ending: "batteries-included",
    "United Nations"."""
    old, new = suggestion.old, suggestion.new
    if suggestion.kind not in (Kind.NOUN_NUMBER, Kind.WORD_FORM, Kind.VERB_FORM, Kind.AGREEMENT):
        return False
    if _HYPHEN_BEFORE.search(text[: suggestion.start]) or _HYPHEN_BEHIND.match(text, suggestion.end):
        return True
    if not (old[:1].isupper() and new[:1].isupper()):
        return False
    before = re.search(r"(\w[\w'’-]*) \Z", text[: suggestion.start])
    after = re.match(r" ([^\W\d_][\w'’-]*)", text[suggestion.end :])
    return bool(before and (before[1][0].isupper() or (after and after[1][0].isupper())))


def _ends_early(suggestion: Suggestion, text: str) -> bool:
    """Whether a full stop is inserted before a lower-case word, or after "for example"."""
    if suggestion.new != "." or suggestion.old not in ("", ","):
        return False
    if suggestion.end == len(text):
        return bool(_INTRODUCES.search(text[: suggestion.start]))
    return bool(re.match(r"\s*[a-z]", text[suggestion.end :]))


def _capitalises(suggestion: Suggestion, text: str) -> bool:
    """Whether a word after a colon gets a capital: "Note: if it rains"."""
    following = (suggestion.old or text[suggestion.end :]).lstrip()
    return (
        text[: suggestion.start].rstrip(" *_")[-1:] == ":"
        and suggestion.new.lstrip()[:1].isupper()
        and following[:1].islower()
    )


def _between_code(suggestion: Suggestion, paragraph: Paragraph) -> bool:
    """Whether words are inserted between two pieces of inline code, as in a list of values."""
    if suggestion.old.strip() or not _words(suggestion.new):
        return False
    ends = [span.end for span in paragraph.protected]
    before = max((end for end in ends if end <= suggestion.start), default=None)
    behind = next((span.start for span in paragraph.protected if span.start >= suggestion.end), None)
    if before is None or behind is None:
        return False
    beside = paragraph.text[before : suggestion.start] + paragraph.text[suggestion.end : behind]
    return not any(character.isalnum() for character in beside)


def _is_note(suggestion: Suggestion, paragraph: Paragraph) -> bool:
    """Whether the first word of a sentence changes its form where it is the subject, has none, or is a label:
    "Returning", "Returns", "Changed: …"."""
    if suggestion.kind not in (Kind.VERB_FORM, Kind.AGREEMENT, Kind.NOUN_NUMBER, Kind.WORD_FORM):
        return False
    if not any(start == suggestion.start for start, _ in sentences(paragraph)):
        return False
    if paragraph.text.startswith(":", suggestion.end) and " " not in suggestion.old:
        return True
    if suggestion.kind is Kind.WORD_FORM:
        return False
    old, new = suggestion.old.casefold(), suggestion.new.casefold()
    if old in (f"{new}s", f"{new}es") or (old.endswith("ing") and len(new) < len(old)):
        return True
    led_on = paragraph.role.fragment or paragraph.text.endswith(":")
    return led_on and new.endswith("ing")


def _in_closing(suggestion: Suggestion, text: str) -> bool:
    """Whether the closing words of a letter are replaced or lose their capitals: "Best Regards,"."""
    if suggestion.kind is Kind.SPELLING:
        return False
    return any(found.start() <= suggestion.start and suggestion.end <= found.end() for found in _CLOSING.finditer(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _with_surroundings(suggestion: Suggestion, text: str) -> tuple[str, str]:
    """The old and the new text of a change, each extended to the next spaces on both sides."""
    start, end = suggestion.start, suggestion.end
    while start and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    before, after = text[start : suggestion.start], text[suggestion.end : end]
    return before + suggestion.old + after, before + suggestion.new + after


def _beside(suggestion: Suggestion, text: str) -> tuple[str, str]:
    """The words before a change and the words after it."""
    before, after = text[: suggestion.start], text[suggestion.end :]
    cut = before.find(" ", max(0, len(before) - _NEAR)) if len(before) > _NEAR else 0
    end = after.rfind(" ", 0, _NEAR) if len(after) > _NEAR else len(after)
    return before[max(cut, 0) :], after[: end if end >= 0 else len(after)]


def _contracts(old: str, new: str) -> bool:
    """Whether the texts differ only in a contraction, which is a matter of style."""
    return old.casefold() != new.casefold() and _written_out(old) == _written_out(new)


def _written_out(text: str) -> str:
    """A text with contractions of "not" written out."""
    text = re.sub(r"\bcan not\b", "cannot", text.casefold().replace("’", "'"))
    text = re.sub(r"\bcan't\b", "cannot", text)
    text = re.sub(r"\bwon't\b", "will not", text)
    text = re.sub(r"\bshan't\b", "shall not", text)
    return re.sub(r"n't\b", " not", text)


def _doubles(suggestion: Suggestion, text: str) -> bool:
    """Whether a change leaves more words directly repeated than before."""
    before, after = _beside(suggestion, text)
    counts = []
    for changed in (suggestion.old, suggestion.new):
        words = [word.casefold() for word in _words(before + changed + after)]
        counts.append(sum(a == b for a, b in pairwise(words)))
    return counts[1] > counts[0]
