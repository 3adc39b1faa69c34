"""Candidates for the correction of an unknown word: listed words at a small distance from it.

The distance counts letters that were put in, left out, exchanged or transposed. Slips that are common count less:
doubled letters, vowels for one another, letters that sound alike or are neighbours on a keyboard, an apostrophe
that is missing.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.proofreading import english
from reviser.proofreading.changes import distance_between
from reviser.proofreading.spelling.dictionary import LARGEST, LETTERS, Dictionary

MOST: Final = 10
"""The most candidates of a word."""
ALWAYS: Final = -1.0
"""The distance of a fixed correction, such as that of "alot"."""
SHORTEST: Final = 3
"""The length of the shortest word that is corrected: shorter ones have too many neighbours."""
ONE_SLIP: Final = 0.65
"""The largest distance of one common slip: two letters transposed, or a letter wrongly single or doubled."""

_COMMON: Final = 35
_MOST_COMMON: Final = 10
# How much a size counts beside the distance.
_PER_SIZE: Final = 0.025
_APOSTROPHE: Final = len(LETTERS) - 1
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ALIKE = ("ck", "cs", "sz", "fv", "gj", "dt", "mn", "kq", "bp", "iy", "uw", "ao", "ei")
_VOWELS = "aeiouy"
_FIRST_LETTER: Final = 0.4
_TRANSPOSED: Final = 0.65
_DOUBLED: Final = 0.45
_SPLIT: Final = 0.6
# Two longer words in one are often a name that someone gave: "triggervariables".
_SPLIT_LONG: Final = 1.2
_LONG: Final = 4
CAPITAL: Final = 0.2
"""The distance of a word from itself with a capital."""
_FORM: Final = 0.9
_SOUND: Final = 0.8
# A common word that is so near leaves no doubt that would be worth a search by sound.
_CLEAR: Final = 0.7
_SOUNDS = (
    ("f", "ph"),
    ("uff", "ough"),
    ("k", "ch"),
    ("k", "c"),
    ("shun", "tion"),
    ("sion", "tion"),
    ("cion", "tion"),
    ("n", "kn"),
    ("r", "wr"),
    ("ite", "ight"),
    ("er", "our"),
    ("aw", "ough"),
    ("j", "dge"),
    ("kw", "qu"),
    ("x", "cks"),
    ("ys", "ies"),
    ("cks", "x"),
    ("ing", "ying"),
    ("ly", "ally"),
)
# At the start of words, which sound alike with either.
_PREFIXES = (("in", "en"), ("en", "in"), ("im", "em"), ("em", "im"))


class Candidate(NamedTuple):
    """A possible correction, of one word or two: its distance, and the size of the list that has it."""

    text: str
    distance: float
    size: int

    @property
    def is_split(self) -> bool:
        return " " in self.text

    @property
    def rank(self) -> float:
        """The distance, increased for rarer words."""
        return self.distance + _PER_SIZE * self.size


@lru_cache(maxsize=4096)
def candidates(word: str, known: Dictionary) -> tuple[Candidate, ...]:
    """The possible corrections of a lower-case word, best first by spelling."""
    if word == "i":
        return (Candidate("I", CAPITAL, 10),)
    found = {one.text: one for one in _split(word, known)}
    near = _near(word, known)
    if not any(one.distance <= _CLEAR and one.size <= _COMMON for one in near):
        near += _by_sound(word, known)
    for one in (*_forms(word, known), *near):
        if one.text not in found or one.distance < found[one.text].distance:
            found[one.text] = one
    found.pop(word, None)
    return tuple(sorted(found.values(), key=_order)[:MOST])


def distance_of(word: str, other: str) -> float:
    """The distance of a word in small letters from another one, or from two."""
    if word == other:
        return CAPITAL
    if word == other.replace(" ", ""):
        return _SPLIT_LONG if min(map(len, other.split())) >= _LONG else _SPLIT
    if not (known := set(LETTERS)).issuperset(word) or not known.issuperset(other):
        return float(distance_between(word, other))
    one, letters = (np.array([LETTERS.index(letter) for letter in text], dtype=np.int8) for text in (word, other))
    return float(_distances(one, letters[None, :], np.array([len(other)], dtype=np.int8))[0])


def _order(one: Candidate) -> tuple[float, str]:
    return one.rank, one.text


def _split(word: str, known: Dictionary) -> list[Candidate]:
    """The word divided into two common words."""
    found = []
    for cut in range(1, len(word)):
        parts = word[:cut], word[cut:]
        if any(len(part) == 1 and part not in ("a", "i") for part in parts) or parts[1] == "i":
            continue
        sizes = [known.size("I" if part == "i" else part) or LARGEST for part in parts]
        if max(sizes) <= _COMMON:
            distance = _SPLIT_LONG if min(map(len, parts)) >= _LONG else _SPLIT
            if english.RUN_TOGETHER.get(word) == " ".join(parts):
                distance = ALWAYS
            found.append(Candidate(" ".join(parts), distance, max(sizes)))
    return found


def _forms(word: str, known: Dictionary) -> list[Candidate]:
    """The irregular forms of a verb written with a regular ending: "buyed"."""
    bases = {word.removesuffix("ed"), word.removesuffix("d"), word.removesuffix("ed")[:-1]} - {word}
    if not word.endswith("ed"):
        return []
    return [
        Candidate(form, _FORM, known.size(form) or LARGEST)
        for form, of in english.BASES_OF_FORMS.items()
        if bases.intersection(of)
    ]


def _by_sound(word: str, known: Dictionary) -> list[Candidate]:
    """The words near to another spelling of the same sounds: "fisical", "enuff"."""
    others = [word.replace(old, new, 1) for old, new in _SOUNDS if old in word]
    others += [new + word.removeprefix(old) for old, new in _PREFIXES if word.startswith(old)]
    return [
        Candidate(text, distance + _SOUND, size)
        for other in others
        for text, distance, size in _near(other, known)
        if distance + _SOUND <= _furthest(len(word))
    ]


def _furthest(length: int) -> float:
    """The largest distance of a candidate for a word of `length` letters."""
    return 1.3 if length <= 4 else 2.0 if length <= 6 else 2.6


def _furthest_common(length: int) -> float:
    """The largest distance of one of the most common words for a word of `length` letters."""
    return max(1.7, _furthest(length))


def _near(word: str, known: Dictionary) -> list[Candidate]:
    """The listed words within the largest distance."""
    typed = np.array([LETTERS.index(letter) for letter in word], dtype=np.int8)
    spelled = known.spelled
    mask = np.int32(np.bitwise_or.reduce(np.int32(1) << typed.astype(np.int32)))
    # A letter that is left out or put in changes one bit, an exchanged one two; an apostrophe says little.
    others = (spelled.masks ^ mask) & np.int32((1 << _APOSTROPHE) - 1)
    differing = _bits()[others & 0xFFFF] + _bits()[others >> 16]
    near = (np.abs(spelled.lengths - len(word)) <= 2 + (len(word) > 6)) & (differing <= (3 if len(word) <= 4 else 4))
    chosen = np.flatnonzero(near)
    distances = _distances(typed, spelled.letters[chosen], spelled.lengths[chosen])
    found = []
    for place in np.flatnonzero(distances <= _furthest_common(len(word))):
        text = spelled.words[chosen[place]]
        distance = float(distances[place])
        size = known.size(text) or LARGEST
        if distance > _furthest(len(word)) and size > _MOST_COMMON:
            continue
        if text != text.lower():
            # Within a sentence a name without its capital is the name itself, seldom another one.
            if distance or text.isupper():
                continue
            distance = CAPITAL
        found.append(Candidate(text, round(distance, 3), size))
    return found


@cache
def _bits() -> NDArray[np.int8]:
    """The number of set bits of each number of 16 bits."""
    numbers = np.arange(1 << 16)
    counts: NDArray[np.int8] = np.zeros(len(numbers), dtype=np.int8)
    for bit in range(16):
        counts += (numbers >> bit & 1).astype(np.int8)
    return counts


@cache
def _exchanges() -> NDArray[np.float32]:
    """The cost of replacing each letter by each other."""
    costs = np.ones((len(LETTERS), len(LETTERS)), dtype=np.float32)

    def lower(one: str, other: str, cost: float) -> None:
        a, b = LETTERS.index(one), LETTERS.index(other)
        costs[a, b] = costs[b, a] = min(costs[a, b], np.float32(cost))

    for row in _ROWS:
        for one, other in pairwise(row):
            lower(one, other, 0.85)
    for pair in _ALIKE:
        lower(pair[0], pair[1], 0.7)
    for one in _VOWELS:
        for other in _VOWELS:
            lower(one, other, 0.7)
    np.fill_diagonal(costs, 0)
    return costs


@cache
def _missing() -> NDArray[np.float32]:
    """The cost of inserting or removing each letter."""
    costs = np.ones(len(LETTERS), dtype=np.float32)
    for letter in "aeiouh":
        costs[LETTERS.index(letter)] = 0.8
    costs[_APOSTROPHE] = 0.15
    return costs


def _distances(typed: NDArray[np.int8], letters: NDArray[np.int8], lengths: NDArray[np.int8]) -> NDArray[np.float32]:
    """The distance of each word in a table from the typed one."""
    count = len(letters)
    if not count:
        return np.zeros(0, dtype=np.float32)
    width = int(lengths.max())
    exchanges, missing = _exchanges(), _missing()
    # What each letter of the words counts where it was left out: less if it is one of a pair.
    columns = [np.maximum(letters[:, at], 0) for at in range(width)]
    left_out = [missing[column] for column in columns]
    for at in range(1, width):
        left_out[at] = np.where(columns[at] == columns[at - 1], np.float32(_DOUBLED), left_out[at])
    zero = np.zeros(count, dtype=np.float32)
    rows = [[zero]]
    for at in range(width):
        rows[0].append(rows[0][-1] + left_out[at] + (_FIRST_LETTER if at == 0 else 0))
    for i, a in enumerate(typed):
        pair = i > 0 and typed[i - 1] == a
        put_in = _DOUBLED if pair else float(missing[a])
        first = _FIRST_LETTER if i == 0 else 0.0
        row = [rows[-1][0] + put_in + first]
        for j in range(width):
            exchanged = rows[-1][j] + exchanges[a][columns[j]]
            if i == 0 and j == 0:
                exchanged = np.where(columns[0] == a, exchanged, exchanged + _FIRST_LETTER)
            cost = np.minimum(exchanged, rows[-1][j + 1] + put_in)
            cost = np.minimum(cost, row[-1] + left_out[j])
            if i and j:
                swapped = (columns[j - 1] == a) & (columns[j] == typed[i - 1])
                turned = np.where(swapped, rows[-2][j - 1] + np.float32(_TRANSPOSED), np.inf)
                cost = np.minimum(cost, turned)
            row.append(cost.astype(np.float32))
        rows.append(row)
    table = np.stack(rows[-1], axis=1)
    return table[np.arange(count), lengths.astype(np.int64)]
