"""The table of mistakes: for each word of a corpus, the wrong words that may be written in its place.

    python -m training mistakes table TABLE.npz --data shards/ --tokenizer tokenizer.json

It is made once for a corpus and a tokenizer. Inflections come from the package `lemminflect`, known misspellings
from the package `codespell` if it is installed; everything else is in `words` and `spelling`. Each alternative
is stored as tokens.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer, decode
from training.data.boundaries import boundary_classes
from training.data.corpus import Corpus
from training.data.randomness import KeyedRandom
from training.edits.mistakes import words
from training.edits.mistakes.generator import (
    ARTICLE,
    COMMA,
    DETERMINER,
    DROPPABLE,
    END,
    KNOWN,
    LITTLE,
    LOWER,
    NOUN,
    PREPOSITION,
    TITLE,
    VERB,
    MistakeTable,
)
from training.edits.mistakes.kinds import MistakeKind
from training.edits.mistakes.spelling import SHORTEST, misspelt
from training.edits.mistakes.units import bare_tokens, edge_categories, find_units, hashed

LEAST_COUNT = 3
"""How often a word must stand in the corpus to be in the table."""
_PAIRS = 40_000
_TRIPLES = 20_000
_LEAST_PAIR = 5
# How many misspellings a word gets, by how often it stands in the corpus.
_MISSPELLINGS = ((20_000, 48), (2_000, 32), (200, 16), (20, 8), (0, 4))
_REAL_WORD = 20
_LISTED = 0.6
"""Share of the misspellings that are taken from the list, where it has some for a word."""

_MARKS = {
    ",": ((";", 1), (".", 1)),
    ".": ((",", 1),),
    "?": ((".", 2), ("!", 1)),
    ";": ((",", 1), (":", 1)),
    ":": ((",", 1), (";", 1)),
    "!": ((".", 1),),
}
_PARTS = (
    ("VERB", MistakeKind.VERB),
    ("NOUN", MistakeKind.NOUN),
    ("ADJ", MistakeKind.WORD_FORM),
    ("ADV", MistakeKind.WORD_FORM),
)
_CONTRACTIONS = frozenset({"t", "s", "re", "ve", "ll", "d", "m"})

Alternative = tuple[MistakeKind, float, str]


def save_table(path: Path, table: MistakeTable) -> None:
    """Writes a table atomically."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = table._asdict()
    np.savez_compressed(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load_table(path: Path) -> MistakeTable:
    """Reads a table that `save_table` wrote."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            parts = {name: arrays[name] for name in MistakeTable._fields}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ReviserError(f"{path} is not a table of mistakes: {error}") from None
    return MistakeTable(**parts | {"comma": int(parts["comma"])})


# Words ---------------------------------------------------------------------------------------------


def cased(word: str, like: str) -> str:
    """A word with the capitalisation of another: lower case or an initial capital."""
    return word[:1].upper() + word[1:] if like[:1].isupper() and word[:1].islower() else word


class Lexicon:
    """The wrong alternatives of single words, by kind."""

    def __init__(self, counts: Counter[str], seed: int = 0) -> None:
        """`counts` has the frequency of each lower-case word in the corpus."""
        self._counts = counts
        self._seed = seed
        self._listed = listed_misspellings()
        self._inflect = _lemminflect()
        self._confused: defaultdict[str, set[str]] = defaultdict(set)
        for right, *wrong in words.CONFUSED:
            self._confused[right].update(wrong)
        for group in words.SYMMETRIC:
            for word in group:
                self._confused[word].update(set(group) - {word})
        self._pronouns = {right: wrong for right, *wrong in words.PRONOUNS}
        self._auxiliaries = {right: wrong for right, *wrong in words.AUXILIARIES}

    def alternatives(self, word: str) -> Iterator[Alternative]:
        """Yields all alternatives for a lower-case word (or "I")."""
        if word in self._auxiliaries:
            for other in self._auxiliaries[word]:
                yield MistakeKind.VERB, 1.0, other
        else:
            yield from self._forms(word)
        for other in self._confused[word]:
            yield MistakeKind.CONFUSED, 1.0, other
        for other in self._pronouns.get(word, ()):
            yield MistakeKind.PRONOUN, 1.0, other
        if word in words.ARTICLES:
            for other in words.ARTICLES:
                if other != word:
                    yield MistakeKind.ARTICLE_SWAP, 3.0 if {word, other} == {"a", "an"} else 1.0, other
        for place, other in enumerate(words.PREPOSITIONS.get(word, ())):
            yield MistakeKind.PREPOSITION_SWAP, 1.0 / (1 + place / 2), other
        for other in self._halves(word):
            yield MistakeKind.SPLIT, 1.0, other
        yield from self._misspellings(word)

    def features(self, word: str) -> int:
        """The grammatical features of a lower-case word, as bits."""
        found = KNOWN
        if word in words.ARTICLES:
            found |= ARTICLE
        if word in words.DETERMINERS:
            found |= DETERMINER
        if word in words.PREPOSITIONS:
            found |= PREPOSITION
        if word in words.LEFT_OUT:
            found |= DROPPABLE
        if word in words.LEFT_OUT or word in words.ARTICLES:
            return found | LITTLE
        classes = self._inflect.getAllLemmas(word)
        if "VERB" in classes:
            found |= VERB
        if "NOUN" in classes:
            found |= NOUN
        return found

    def _forms(self, word: str) -> Iterator[Alternative]:
        """Yields other inflections of a word as a verb, noun, adjective or adverb."""
        if len(word) < 2 or word in words.LEFT_OUT or word in words.ARTICLES:
            return
        lemmas = self._inflect.getAllLemmas(word)
        seen = {word}
        for part, kind in _PARTS:
            for lemma in lemmas.get(part, ()):
                for tag, forms in self._inflect.getAllInflections(lemma, part).items():
                    for form in forms[:1]:
                        if form not in seen and form.isalpha():
                            seen.add(form)
                            yield kind, 2.0 if tag == "VBG" else 1.0, form
        for other in self._derived(word):
            if other not in seen:
                yield MistakeKind.WORD_FORM, 1.0, other
        if word in words.MASS_NOUNS:
            yield MistakeKind.NOUN, 2.0, f"{word}s"

    def _derived(self, word: str) -> Iterator[str]:
        """Yields the adjective of an adverb and the reverse, by their endings, if both are words of the corpus."""
        tries = []
        if word.endswith("ily"):
            tries.append(word[:-3] + "y")
        if word.endswith("ly"):
            tries += [word[:-2], word[:-1] + "e"]
        if word.endswith("y"):
            tries.append(word[:-1] + "ily")
        if word.endswith("e"):
            tries.append(word[:-1] + "y")
        tries.append(word + "ly")
        for other in tries:
            adverb = other if other.endswith("ly") else word
            known = len(other) > 3 and self._counts[other] >= _REAL_WORD
            if known and "ADV" in self._inflect.getAllLemmas(adverb):
                yield other

    def _halves(self, word: str) -> Iterator[str]:
        """Yields a compound word split into its two words."""
        if not 4 <= len(word) <= 14 or self._counts[word] < _REAL_WORD:
            return
        for at in range(2, len(word) - 1):
            first, second = word[:at], word[at:]
            if min(self._counts[first], self._counts[second]) > 2000 and len(second) > 2:
                yield f"{first} {second}"

    def _misspellings(self, word: str) -> Iterator[Alternative]:
        if len(word) < SHORTEST or not word.isascii():
            return
        listed = self._listed.get(word, [])
        number = next(many for least, many in _MISSPELLINGS if self._counts[word] >= least)
        random = KeyedRandom(self._seed, *word.encode())
        made: Counter[str] = Counter()
        for _ in range(number):
            wrong = misspelt(word, random)
            if wrong != word and self._counts[wrong] < _REAL_WORD:
                made[wrong] += 1
        total = sum(made.values()) or 1
        rest = 1 - _LISTED if listed else 1.0
        for wrong in listed:
            yield MistakeKind.SPELLING, _LISTED / len(listed), wrong
        for wrong, count in made.items():
            yield MistakeKind.SPELLING, rest * count / total, wrong


def _lemminflect() -> Any:
    try:
        return import_module("lemminflect")
    except ImportError:
        raise ReviserError("inflections need lemminflect; install it with: pip install 'reviser[train]'") from None


def listed_misspellings() -> dict[str, list[str]]:
    """Misspellings by intended word, from the list of `codespell`; empty if it is not installed."""
    spec = find_spec("codespell_lib")
    if spec is None or spec.origin is None:
        return {}
    listed: defaultdict[str, list[str]] = defaultdict(list)
    file = Path(spec.origin).parent / "data" / "dictionary.txt"
    for line in file.read_text("utf-8").splitlines():
        wrong, _, right = line.partition("->")
        if wrong.isascii() and wrong.islower() and "," not in right and right.isalpha():
            listed[right].append(wrong)
    return dict(listed)


# Counting ------------------------------------------------------------------------------------------


def count_units(
    corpus: Corpus, tokenizer: Tokenizer, edges: NDArray[np.uint8], most: int
) -> tuple[Counter[bytes], Counter[tuple[bytes, ...]]]:
    """The frequencies of units, and of sequences of two and three units, in the first `most` tokens of a corpus."""
    single: Counter[bytes] = Counter()
    several: Counter[tuple[bytes, ...]] = Counter()
    left = most
    for shard in corpus.shards:
        tokens = np.asarray(shard.tokens[: max(left, 0)], dtype=np.int32)
        left -= len(tokens)
        starts = np.empty(len(tokens) + 1, dtype=np.int32)
        bounds = starts[: find_units(tokens, edges, starts) + 1].tolist()
        raw = tokens.astype(np.uint16).tobytes()
        units = [raw[2 * one : 2 * two] for one, two in pairwise(bounds)]
        single.update(units)
        several.update(pairwise(units))
        middles = {one for one in single if _text(tokenizer, one) in ("-", "’", "'")}
        several.update(
            (one, two, three) for one, two, three in zip(units, units[1:], units[2:], strict=False) if two in middles
        )
    return single, several


def _text(tokenizer: Tokenizer, unit: bytes) -> str:
    return decode(tokenizer, np.frombuffer(unit, np.uint16).tolist())


# The table -----------------------------------------------------------------------------------------


class _CollectedRows:
    """Collects alternatives by the right text that they replace."""

    def __init__(self) -> None:
        self.alternatives: defaultdict[str, dict[tuple[MistakeKind, str], float]] = defaultdict(dict)
        self.features: defaultdict[str, int] = defaultdict(int)

    def add(self, text: str, kind: MistakeKind, weight: float, wrong: str) -> None:
        if wrong != text:
            self.alternatives[text][kind, wrong] = weight


def make_table(corpus: Corpus, tokenizer: Tokenizer, most: int = 30_000_000) -> MistakeTable:
    """Makes the table for the words of a corpus."""
    edges = edge_categories(tokenizer)
    single, several = count_units(corpus, tokenizer, edges, most)
    texts = {_text(tokenizer, unit): count for unit, count in single.items() if count >= LEAST_COUNT}
    counts: Counter[str] = Counter()
    for text, count in texts.items():
        counts[text.strip(" ").lower()] += count
    rows = _CollectedRows()
    lexicon = Lexicon(counts)
    for text in texts:
        _add_unit(rows, lexicon, counts, text)
    _add_sequences(rows, tokenizer, several)
    _add_phrases(rows)
    return _as_arrays(rows, tokenizer, edges)


def _add_unit(rows: _CollectedRows, lexicon: Lexicon, counts: Counter[str], text: str) -> None:
    lead = " " if text.startswith(" ") else ""
    word = text[len(lead) :]
    if word in _MARKS and not lead:
        for other, often in _MARKS[word]:
            rows.add(text, MistakeKind.PUNCTUATION_SWAP, often, other)
        rows.features[text] |= COMMA if word == "," else END if word in ".?!" else 0
        return
    if not (word.isascii() and word.isalpha()):
        return
    small = word.lower()
    if word == "I":
        rows.add(text, MistakeKind.CASE, 1.0, f"{lead}i")
        small = "I"
    elif not (word.islower() or word.istitle()):
        if len(word) > 1 and word.isupper():
            rows.features[text] |= KNOWN
        return
    elif word.istitle():
        rows.add(text, MistakeKind.CASE, 1.0, f"{lead}{small}")
    name = word.istitle() and counts[small] < LEAST_COUNT + 2
    rows.features[text] |= lexicon.features(small) | (LOWER if word.islower() and lead else 0)
    if word.istitle():
        rows.features[text] |= TITLE
    elif rows.features[text] & NOUN and len(word) > 3:
        rows.add(text, MistakeKind.CASE, 0.15, f"{lead}{word.title()}")
    if name:
        return
    for kind, weight, other in lexicon.alternatives(small):
        rows.add(text, kind, weight, f"{lead}{cased(other, word)}")


def _add_sequences(rows: _CollectedRows, tokenizer: Tokenizer, several: Counter[tuple[bytes, ...]]) -> None:
    """Adds words wrongly joined, and apostrophes and hyphens omitted or misplaced."""
    pairs = triples = 0
    for units, count in several.most_common():
        if count < _LEAST_PAIR or (pairs > _PAIRS and triples > _TRIPLES):
            break
        parts = [_text(tokenizer, unit) for unit in units]
        text = "".join(parts)
        first, last = parts[0], parts[-1].replace("’", "'")
        if not first.strip(" ").isalpha():
            continue
        if len(parts) == 3 and last.isalpha():
            middle, bare = parts[1], last.strip(" ")
            if middle == "-" and last == bare and triples < _TRIPLES:
                rows.add(text, MistakeKind.HYPHEN, 2.0, f"{first} {last}")
                rows.add(text, MistakeKind.HYPHEN, 1.0, f"{first}{last}")
                triples += 1
            elif middle in "'’" and last in _CONTRACTIONS:
                _add_apostrophe(rows, text, first, last)
        elif len(parts) == 2 and last.startswith("'") and last[1:] in _CONTRACTIONS:
            _add_apostrophe(rows, text, first, last[1:])
        elif len(parts) == 2 and pairs < _PAIRS:
            follows = parts[1].startswith(" ") and parts[1][1:].isalpha() and parts[1].islower()
            if follows and first.islower() and len(text) <= 12:
                rows.add(text, MistakeKind.JOINED, 1.0, f"{first}{parts[1][1:]}")
                pairs += 1


def _add_apostrophe(rows: _CollectedRows, text: str, first: str, ending: str) -> None:
    rows.add(text, MistakeKind.APOSTROPHE, 4.0, f"{first}{ending}")
    if ending == "t" and first.endswith("n"):
        rows.add(text, MistakeKind.APOSTROPHE, 1.0, f"{first[:-1]}'nt")
    if ending == "s":
        rows.add(text, MistakeKind.APOSTROPHE, 1.0, f"{first}s'")
        rows.add(text, MistakeKind.APOSTROPHE, 1.0, first)


def _add_phrases(rows: _CollectedRows) -> None:
    """Adds set phrases, and confused words of more than one unit."""
    for right, *wrong in words.PHRASES:
        for each in wrong:
            _add_cased(rows, MistakeKind.PHRASE, right, each)
    for kind, groups in (
        (MistakeKind.CONFUSED, words.CONFUSED + words.SYMMETRIC),
        (MistakeKind.VERB, words.AUXILIARIES),
    ):
        for group in groups:
            for right in group if groups is not words.AUXILIARIES else group[:1]:
                if "'" in right:
                    for each in group:
                        if each != right:
                            _add_cased(rows, kind, right, each)


def _add_cased(rows: _CollectedRows, kind: MistakeKind, right: str, wrong: str) -> None:
    """Adds a phrase after a space, capitalised after a space, and at the start of a text; also with ’."""
    for mark in ("'", "’") if "'" in right else ("'",):
        one, other = right.replace("'", mark), wrong.replace("'", mark)
        title, other_title = one[:1].upper() + one[1:], other[:1].upper() + other[1:]
        rows.add(f" {one}", kind, 1.0, f" {other}")
        rows.add(f" {title}", kind, 1.0, f" {other_title}")
        rows.add(title, kind, 1.0, other_title)


def _as_arrays(rows: _CollectedRows, tokenizer: Tokenizer, edges: NDArray[np.uint8]) -> MistakeTable:
    texts = sorted({*rows.alternatives, *rows.features})
    hashes = {}
    for text, tokens in zip(texts, _encoded(tokenizer, texts), strict=True):
        hashes[text] = int(hashed(np.array(tokens, dtype=np.int32)))
    texts = sorted({name: text for text, name in hashes.items()}.values(), key=hashes.__getitem__)
    kinds: list[int] = []
    weights: list[float] = []
    wrong: list[str] = []
    starts = [0]
    masks = []
    for text in texts:
        found = sorted(rows.alternatives.get(text, {}).items())
        masks.append(sum(1 << kind for kind in {kind for (kind, _), _ in found}))
        for (kind, other), weight in found:
            kinds.append(kind)
            weights.append(weight)
            wrong.append(other)
        starts.append(len(kinds))
    inserted = [len(kinds)]
    for group in (words.EXTRA_ARTICLES, words.EXTRA_PREPOSITIONS, words.EXTRA):
        for many, word in group:
            kinds.append(len(MistakeKind))
            weights.append(float(many))
            wrong.append(f" {word}")
        inserted.append(len(kinds))
    encoded = _encoded(tokenizer, wrong)
    lengths = np.array([len(tokens) for tokens in encoded], dtype=np.int64)
    newlines = [b"\n" in tokenizer.token_bytes(token) for token in range(tokenizer.size)]
    return MistakeTable(
        keys=np.array([hashes[text] for text in texts], dtype=np.uint64),
        features=np.array([rows.features.get(text, 0) for text in texts], dtype=np.uint32),
        masks=np.array(masks, dtype=np.uint32),
        starts=np.array(starts, dtype=np.int64),
        kinds=np.array(kinds, dtype=np.uint8),
        weights=np.array(weights, dtype=np.float32),
        token_starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        tokens=np.array([token for tokens in encoded for token in tokens], dtype=np.uint16),
        inserted=np.array(inserted, dtype=np.int64),
        edges=edges,
        bare=bare_tokens(tokenizer),
        classes=boundary_classes(tokenizer),
        newlines=np.array(newlines, dtype=np.bool_),
        comma=tokenizer.encode(",")[0],
    )


def _encoded(tokenizer: Tokenizer, texts: Iterable[str]) -> list[list[int]]:
    return [tokenizer.encode(text) for text in texts]
