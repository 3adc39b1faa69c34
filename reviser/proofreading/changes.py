"""The word changes between two texts, and the kind of mistake that each corrects.

A change is told from the words alone: from lists of closed classes (articles, prepositions, auxiliaries), from
the regular endings and the irregular forms of English, and from the words around it. No dictionary is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from reviser.core.edits import Edit
from reviser.proofreading import english
from reviser.proofreading.suggestion import Kind, Suggestion

# Finding changes ---------------------------------------------------------------------------------

_PIECE = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
# Beyond this many words on both sides a rewritten part is one change: pairing them would say little.
_LONGEST_PAIRED = 24
# Words that moved further than this were not put in another order, but taken out and put in.
_FURTHEST_MOVE = 4


@dataclass(frozen=True)
class _Splice:
    """A change without its kind, with its ranges in both texts."""

    start: int
    end: int
    new_start: int
    new_end: int


def changes(before: str, after: str) -> list[Suggestion]:
    """The edits, with their kinds, that turn one text into the other, in order; together they give it exactly."""
    if before == after:
        return []
    splices = [part for gap in _gaps(before, after) for part in _parts(before, after, gap)]
    found = []
    for splice in _together(before, after, splices):
        old, new = before[splice.start : splice.end], after[splice.new_start : splice.new_end]
        kind = kind_of(old, new, before[: splice.start], before[splice.end :])
        found.append(Suggestion(Edit(splice.start, old, new), kind))
    return found


def _spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PIECE.finditer(text)]


def _gaps(before: str, after: str) -> Iterator[_Splice]:
    """The differing ranges between common words, without the spaces that both texts have there."""
    old, new = _spans(before), _spans(after)
    matcher = SequenceMatcher(None, [before[a:b] for a, b in old], [after[a:b] for a, b in new], autojunk=False)
    ends = (0, 0)
    for block in matcher.get_matching_blocks():
        for at in range(block.size + 1):
            last = at == block.size
            if last and block.size:
                break
            i, j = block.a + at, block.b + at
            starts = (old[i][0] if i < len(old) else len(before), new[j][0] if j < len(new) else len(after))
            yield from _trimmed(before, after, _Splice(ends[0], starts[0], ends[1], starts[1]))
            if not last:
                ends = (old[i][1], new[j][1])


def _trimmed(before: str, after: str, gap: _Splice) -> Iterator[_Splice]:
    old, new = before[gap.start : gap.end], after[gap.new_start : gap.new_end]
    if old == new:
        return
    front = 0
    while front < min(len(old), len(new)) and old[front] == new[front] and old[front].isspace():
        front += 1
    back = 0
    while back < min(len(old), len(new)) - front and old[-1 - back] == new[-1 - back] and old[-1 - back].isspace():
        back += 1
    yield _Splice(gap.start + front, gap.end - back, gap.new_start + front, gap.new_end - back)


def _parts(before: str, after: str, gap: _Splice) -> Iterator[_Splice]:
    """A differing range divided into changes of a word or two, where the words of both sides correspond."""
    old = _spans(before[gap.start : gap.end])
    new = _spans(after[gap.new_start : gap.new_end])
    if max(len(old), len(new)) < 2 or len(old) + len(new) > _LONGEST_PAIRED:
        yield gap
        return
    pairs = _pairing(
        [before[gap.start + a : gap.start + b] for a, b in old],
        [after[gap.new_start + a : gap.new_start + b] for a, b in new],
    )
    cuts = [(gap.start, gap.new_start)]
    for k, m in pairs[1:]:
        # A cut is made between two words on each side, behind the space that both have there.
        if not (0 < k < len(old) and 0 < m < len(new)):
            continue
        left = before[gap.start + old[k - 1][1] : gap.start + old[k][0]]
        right = after[gap.new_start + new[m - 1][1] : gap.new_start + new[m][0]]
        if left == right:
            cuts.append((gap.start + old[k][0], gap.new_start + new[m][0]))
    cuts.append((gap.end, gap.new_end))
    for (start, new_start), (end, new_end) in pairwise(cuts):
        yield from _trimmed(before, after, _Splice(start, end, new_start, new_end))


def _pairing(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of positions at which both lists are best divided: similar words correspond, as do words joined or
    split."""
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {(0, 0): (0.0, None)}
    steps = ((1, 1), (1, 0), (0, 1), (1, 2), (2, 1))
    for i in range(len(old) + 1):
        for j in range(len(new) + 1):
            for a, b in steps:
                origin = (i - a, j - b)
                if min(origin) < 0 or (i, j) == (0, 0):
                    continue
                cost = best[origin][0] + _unlikeness(old[i - a : i], new[j - b : j])
                if (i, j) not in best or cost < best[i, j][0]:
                    best[i, j] = (cost, origin)
    place: tuple[int, int] | None = (len(old), len(new))
    path = []
    while place is not None:
        path.append(place)
        place = best[place][1]
    return path[::-1]


def _unlikeness(old: Sequence[str], new: Sequence[str]) -> float:
    if not old or not new:
        return 0.7
    one, other = "".join(old).casefold(), "".join(new).casefold()
    if len(old) != len(new):
        return 0.1 if one == other else 3.0
    if _related(one, other):
        return 0.2
    return 1.3 - SequenceMatcher(None, one, other, autojunk=False).ratio()


def _together(before: str, after: str, splices: Sequence[_Splice]) -> Iterator[_Splice]:
    """The splices, with those joined that a reader sees as one change: a moved word, a mark with its spaces."""
    waiting: _Splice | None = None
    for splice in splices:
        if waiting is not None and (
            _moved(before, after, waiting, splice) or _of_one_mark(before, after, waiting, splice)
        ):
            joined = _Splice(waiting.start, splice.end, waiting.new_start, splice.new_end)
            (waiting,) = _trimmed(before, after, joined)
            continue
        if waiting is not None:
            yield waiting
        waiting = splice
    if waiting is not None:
        yield waiting


def _of_one_mark(before: str, after: str, one: _Splice, other: _Splice) -> bool:
    """Whether both change the same mark: the spaces beside it, or the mark and the capital after it."""
    between = before[one.end : other.start]
    texts = [(before[part.start : part.end], after[part.new_start : part.new_end]) for part in (one, other)]
    if between and not re.search(r"[\w\s]", between):
        return not any(text.strip() for pair in texts for text in pair)
    (old, new), (word, capital) = texts
    return (
        not between.strip()
        and not _words(old + new)
        and len(_words(word)) == 1
        and word != capital
        and word.casefold() == capital.casefold()
    )


def _moved(before: str, after: str, one: _Splice, other: _Splice) -> bool:
    between = _words(before[one.end : other.start])
    if not 0 < len(between) <= _FURTHEST_MOVE:
        return False
    olds = [_words(before[part.start : part.end]) for part in (one, other)]
    news = [_words(after[part.new_start : part.new_end]) for part in (one, other)]
    taken_first = bool(olds[0] and not news[0] and not olds[1]) and olds[0] == news[1]
    taken_last = bool(olds[1] and not news[1] and not olds[0]) and olds[1] == news[0]
    return taken_first or taken_last


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _PIECE.finditer(text) if match[0][0].isalnum()]


# Telling kinds -----------------------------------------------------------------------------------


def kind_of(old: str, new: str, before: str = "", after: str = "") -> Kind:
    """The kind of mistake that is corrected by replacing `old` with `new`; `before` and `after` are the texts around
    it."""
    one, other = _words(old), _words(new)
    around = _Neighbours((_words(before[-80:]) or [""])[-1], (_words(after[:80]) or [""])[0], after)
    if one == other:
        return _kind_of_same_words(old, new, before[-1:].isalnum() and after[:1].isalnum())
    if "".join(one) == "".join(other):
        return Kind.JOINED_OR_SPLIT
    if not one or not other:
        return _kind_of_insertion(one or other, around, put_in=not one)
    if sorted(one) == sorted(other):
        return Kind.WORD_ORDER
    if len(one) == len(other) == 1:
        return _kind_of_word(one[0], other[0], around)
    return _kind_of_phrase(one, other, around)


@dataclass(frozen=True)
class _Neighbours:
    """The word before a change, the one after it, and the text after it."""

    before: str
    after: str
    text_after: str

    @property
    def ends_clause(self) -> bool:
        return self.text_after.lstrip()[:1] in ("", ".", ",", "!", "?", ";", ":", ")")


def _kind_of_same_words(old: str, new: str, inside: bool) -> Kind:
    """The kind of a change that keeps all letters: marks, spaces or capitals; `inside` means between two words."""
    marks, other_marks = (re.sub(r"[\w\s]|(?<=\w)['’](?=\w)", "", text) for text in (old, new))
    if marks == other_marks and re.sub(r"\s", "", old) != re.sub(r"\s", "", new):
        return Kind.CASE
    hyphens = marks.count("-") != other_marks.count("-")
    if hyphens and marks.replace("-", "") == other_marks.replace("-", ""):
        joins = len(_words(old)) > 1 or (inside and bool(old and new))
        return Kind.JOINED_OR_SPLIT if joins else Kind.PUNCTUATION
    return Kind.PUNCTUATION


def _kind_of_insertion(words: list[str], around: _Neighbours, *, put_in: bool) -> Kind:
    """The kind of a change that only inserts or only removes words."""
    whole = Kind.MISSING_WORD if put_in else Kind.EXTRA_WORD
    if (not put_in and words[-1] == around.after) or words[0] == around.before:
        return Kind.EXTRA_WORD if not put_in else whole
    kinds = {_class_of(word, around) for word in words}
    return kinds.pop() or whole if len(kinds) == 1 else whole


def _class_of(word: str, around: _Neighbours) -> Kind | None:
    """The kind of a change that inserts or removes one word of a closed class, such as an article; None for other
    words."""
    if word in english.ARTICLES:
        return Kind.ARTICLE
    if word == "to" and around.before in english.BEFORE_INFINITIVES:
        return Kind.VERB_FORM
    if word in english.PREPOSITIONS:
        return Kind.PREPOSITION
    if word in english.AUXILIARIES:
        return Kind.VERB_FORM
    return None


def _kind_of_word(old: str, new: str, around: _Neighbours) -> Kind:  # noqa: PLR0911 - a table of rules
    if _confused(old, new, around):
        return Kind.CONFUSED_WORD
    if old.replace("'", "").replace("’", "") == new.replace("'", "").replace("’", ""):
        contracted = english.CONTRACTION.search(new) or english.CONTRACTION.search(old)
        return Kind.SPELLING if contracted else Kind.PUNCTUATION
    for members, kind in ((english.ARTICLES, Kind.ARTICLE), (english.PREPOSITIONS, Kind.PREPOSITION)):
        if old in members and new in members:
            return kind
    if frozenset((old, new)) in english.AGREEING:
        return Kind.AGREEMENT
    if old in english.AUXILIARIES and new in english.AUXILIARIES:
        return Kind.VERB_FORM
    if old in _CLOSED and new in _CLOSED:
        return Kind.CONFUSED_WORD
    inflected = _kind_of_inflection(old, new, around)
    if inflected is not None:
        return inflected
    if _alike(old, new):
        return Kind.SPELLING
    return Kind.OTHER


def _kind_of_inflection(old: str, new: str, around: _Neighbours) -> Kind | None:
    if frozenset((old, new)) in english.PLURALS or _plural_of_plural(old, new):
        return Kind.NOUN_NUMBER
    shared = _bases(old).keys() & _bases(new).keys()
    endings = [(_bases(old)[base], _bases(new)[base]) for base in shared]
    if any(set(pair) == {"", "s"} for pair in endings):
        return _kind_of_s(min(old, new, key=len), around)
    if any(a != b for a, b in endings):
        return Kind.VERB_FORM
    if endings:
        return None
    return Kind.WORD_FORM if _derived(old, new) else None


def _kind_of_s(base: str, around: _Neighbours) -> Kind:
    """Whether a final s makes a plural or a verb's third person, judged by the words on both sides."""
    noun = (
        (around.before in english.BEFORE_NOUNS or around.before.isdigit()) * 3
        + bool(english.ADJECTIVE_ENDING.search(around.before)) * 2
        + (around.after in english.AFTER_NOUNS) * 2
        + around.ends_clause * 1
        + bool(english.NOUN_ENDING.search(base)) * 3
    )
    verb = (
        (around.before in english.BEFORE_VERBS) * 4
        + around.before.endswith("ly") * 1
        + (around.after in english.AFTER_VERBS) * 2
        + (base in english.VERBS) * 3
    )
    return Kind.AGREEMENT if verb > noun else Kind.NOUN_NUMBER


def _kind_of_phrase(old: list[str], new: list[str], around: _Neighbours) -> Kind:
    if _same_verb(old, new):
        return Kind.VERB_FORM
    if _compared(old, new):
        return Kind.WORD_FORM
    longer, shorter = (new, old) if len(new) > len(old) else (old, new)
    rest = _without(longer, shorter)
    if rest is not None:
        return _kind_of_insertion(rest, around, put_in=longer is new)
    if _alike("".join(old), "".join(new)):
        return Kind.JOINED_OR_SPLIT if len(old) != len(new) else Kind.SPELLING
    return Kind.OTHER


def _without(longer: list[str], shorter: list[str]) -> list[str] | None:
    """The rest of the longer list after the shorter one is taken out in order; None if it is not contained."""
    rest, wanted = list[str](), list(shorter)
    for word in longer:
        if wanted and word == wanted[0]:
            wanted.pop(0)
        else:
            rest.append(word)
    return None if wanted else rest


def _same_verb(old: list[str], new: list[str]) -> bool:
    """Whether both are forms of one verb, possibly with auxiliaries."""
    helping = english.AUXILIARIES | {"to", "not"}
    if not all(word in helping for word in (*old[:-1], *new[:-1])):
        return False
    if old[-1] == new[-1]:
        return True
    return bool(_bases(old[-1]).keys() & _bases(new[-1]).keys())


def _compared(old: list[str], new: list[str]) -> bool:
    """Whether one is a comparative or superlative with more or most, and the other with an ending."""
    marked = [words for words in (old, new) if words[0] in ("more", "most")]
    plain = [words for words in (old, new) if words[0] not in ("more", "most")]
    if len(marked) == 2:
        return _derived(old[-1], new[-1])
    if len(marked) != 1 or len(marked[0]) != 2 or len(plain[0]) != 1:
        return False
    (_, base), (form,) = marked[0], plain[0]
    return _derived(base, form) or base == form or {base, form} <= {"good", "well", "better", "best"}


# Forms of words ----------------------------------------------------------------------------------

_CLOSED = english.ARTICLES | english.PREPOSITIONS | english.PRONOUNS


def _bases(word: str) -> dict[str, str]:
    """The base forms that a word may have, each with its ending: "", s, ed (any past form) or ing."""
    found = {word: ""}
    if word == "has":
        found["have"] = "s"
    for base in english.BASES_OF_FORMS.get(word, ()):
        found[base] = f"ed:{word}"
    for suffix, ending in (("s", "s"), ("ed", "ed"), ("ing", "ing")):
        if not word.endswith(suffix) or len(word) - len(suffix) < 2:
            continue
        stem = word.removesuffix(suffix)
        candidates = {stem}
        if suffix == "s":
            if re.search(r"(?:s|x|z|ch|sh|o)e$", stem):
                candidates.add(stem[:-1])
            if stem.endswith("ie"):
                candidates.add(f"{stem[:-2]}y")
        else:
            candidates.add(f"{stem}e")
            if stem[-1] == stem[-2]:
                candidates.add(stem[:-1])
            if stem.endswith("i") and suffix == "ed":
                candidates.add(f"{stem[:-1]}y")
        for base in candidates:
            found.setdefault(base, ending)
    return found


def _plural_of_plural(old: str, new: str) -> bool:
    """Whether the old word is an irregular plural with an s added: "childrens"."""
    longer, shorter = sorted((old, new), key=len, reverse=True)
    plurals = {word for pair in english.PLURALS for word in pair}
    return longer == f"{shorter}s" and shorter in plurals


def _derived(old: str, new: str) -> bool:
    """Whether both words have one stem, with different endings that form words."""
    if any({old, new} <= group for group in english.COMPARISONS):
        return True
    one, other = _stems(old), _stems(new)
    return any(one[stem] != other[stem] for stem in one.keys() & other.keys())


def _stems(word: str) -> dict[str, str]:
    """The possible stems of a word, each with its ending; a final e or y of a stem is ignored."""
    found = {_bare(word): ""}
    for ending in english.DERIVING:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            found.setdefault(_bare(stem), ending)
    return found


def _bare(stem: str) -> str:
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl"
    return stem[:-1] if doubled or stem[-1:] in ("e", "y", "i") else stem


def _related(old: str, new: str) -> bool:
    return bool(_bases(old).keys() & _bases(new).keys()) or any({old, new} <= group for group in english.CONFUSED)


def _confused(old: str, new: str, around: _Neighbours) -> bool:
    if {old, new} == {"of", "have"}:
        return around.before in english.MODALS
    return any({old, new} <= group for group in english.CONFUSED)


def _alike(old: str, new: str) -> bool:
    """Whether one word looks like a misspelling of the other."""
    longest = max(len(old), len(new))
    distance = distance_between(old, new)
    if longest <= 3:
        return distance == 1 and longest > 1
    if old[0] == new[0]:
        return distance <= max(2, 0.45 * longest)
    return distance <= max(1, 0.34 * longest)


def distance_between(old: str, new: str) -> int:
    """The edit distance: letters inserted, removed, replaced or transposed."""
    rows = [list(range(len(new) + 1))]
    for i, a in enumerate(old, 1):
        row = [i]
        for j, b in enumerate(new, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == new[j - 2] and old[i - 2] == b:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
