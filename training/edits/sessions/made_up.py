"""Synthetic sessions: a change made at every place of a good text to which it applies, or a change made once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from reviser.core.edits import Edit
from reviser.next_edits.repeats import plural_of
from reviser.proofreading.rules.sounds import consonant_sound, vowel_sound
from training.data.randomness import KeyedRandom
from training.edits.sessions.session import EditSession

Edits = list[Edit]


class SessionKind(StrEnum):
    """The kind of change of a synthetic session; ONCE is a single change that nothing follows."""

    TERM = "term"
    PHRASE = "phrase"
    CASE = "case"
    HYPHEN = "hyphen"
    SPELLING = "spelling"
    MARKUP = "markup"
    ADDED_WORD = "added_word"
    DROPPED_WORD = "dropped_word"
    ENDING = "ending"
    PAIR = "pair"
    HEADING = "heading"
    LIST_MARK = "list_mark"
    ONCE = "once"


SHARES: Final[dict[SessionKind, float]] = {
    SessionKind.TERM: 24,
    SessionKind.PHRASE: 10,
    SessionKind.CASE: 9,
    SessionKind.HYPHEN: 5,
    SessionKind.SPELLING: 4,
    SessionKind.MARKUP: 6,
    SessionKind.ADDED_WORD: 6,
    SessionKind.DROPPED_WORD: 6,
    SessionKind.ENDING: 5,
    SessionKind.PAIR: 8,
    SessionKind.HEADING: 2,
    SessionKind.LIST_MARK: 3,
    SessionKind.ONCE: 20,
}

_PAIRS = """colour color|colours colors|behaviour behavior|favourite favorite|centre center|organise organize
organised organized
organisation organization|recognise recognize|realise realize|analyse analyze|licence license|catalogue catalog
grey gray|travelling traveling
cancelled canceled|labelled labeled|modelling modeling|programme program|defence defense|honour honor|labour labor
neighbour neighbor
for example e.g.|that is i.e.|and so on etc.|do not don't|does not doesn't|cannot can't|can not cannot|is not isn't
are not aren't|it is it's|you will you'll
we will we'll|we are we're|you are you're|they are they're|will not won't|I am I'm|have not haven't|did not didn't
was not wasn't|let us let's
one 1|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|twelve 12|percent %|per cent percent|% percent
and &|and/or or
http:// https://|utilize use|utilise use|in order to to|as well as and|such as like|whilst while|amongst among
towards toward|upon on|prior to before
make sure ensure|a lot of many|due to because of|via through|click select|log in sign in|log on log in|set up configure
choose select|enter type|allow let
allows you to lets you|should must|may might|can could|will would|shall will|which that|whether if|because since
about approximately|however but
… ...|-- —| - – | – |” "|“ "|’ '|‘ '|;,|web site website|e-mail email|Internet internet|on-line online
data base database|file name filename|user name username
back end backend|front end frontend|real time real-time|open source open-source|check box checkbox|drop down dropdown
life cycle lifecycle|time stamp timestamp
master main|blacklist blocklist|whitelist allowlist|guys everyone|he they|his their|him them|chairman chair
mankind humanity|disabled people people with disabilities
, and  and|, but  but|please |simply |just |easily |basically |actually |really |very |quite |also |currently |\
obviously |of course, |Note that |Please note that """

_STOP_WORDS = """the and that this with from have been will would could should there their they them then than when
where which while what your you are was were for not but all any can has had his her its our out who how why one two
into over under more most some such only other these those also each very just about after before between because
through during does did done being both same"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_CODE = re.compile(
    r"`[^`\n]*`|https?://\S+|\]\([^)\n]*\)|^(?:```|~~~)[\s\S]*?^(?:```|~~~)|<[^>\n]*>|\{\{[^}]*\}\}", re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_ITEM = re.compile(r"^( *)([-*+]) +(.*\S)$", re.MULTILINE)
_ARTICLE = re.compile(r"(?<![\w'’-])([Aa]n?)(?=[ \n]+$)")
_LONGEST_PASSAGE = 6000
_TRIES = 12
_COMMONEST = 100


def _pairs() -> list[tuple[str, str]]:
    pairs = []
    for entry in re.split(r"[|\n]", _PAIRS):
        old, _, new = entry.strip(" \n").partition(" ")
        words = entry.split(" ")
        # Longer entries have as many words on both sides, or one more on the left.
        if len(words) > 2 and entry.strip():
            half = (len(words) + 1) // 2
            old, new = " ".join(words[:half]), " ".join(words[half:])
        if old.strip():
            pairs.append((old, new))
    return pairs


@dataclass
class ShapeLexicon:
    """Words that can replace others, by their shape."""

    lower: list[str] = field(default_factory=list)
    title: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, texts: Iterable[str], most: int = 4000) -> ShapeLexicon:
        """The lexicon of some texts: words that are common but not the most common."""
        counts = Counter(word for text in texts for word in _WORD.findall(text))
        words = [word for word, _ in counts.most_common(4 * most) if word.lower() not in _STOP]
        lower = [word for word in words if word.islower()]
        title = [word for word in words if not word.islower()]
        # The commonest words of a large corpus are seldom terms.
        lower = lower[min(_COMMONEST, len(lower) // 4) :][:most] or ["term"]
        return cls(lower, title[:most] or [word.capitalize() for word in lower])


@dataclass(frozen=True)
class MadeUpSession:
    session: EditSession
    kind: SessionKind


def made_up_session(text: str, lexicon: ShapeLexicon, random: KeyedRandom) -> MadeUpSession | None:
    """Makes a session in a passage of a text; None if no change that was tried applies there."""
    passage = _draw_passage(text, random)
    for _ in range(_TRIES):
        kind = _draw_kind(random)
        edits = _MAKERS[kind](passage, lexicon, random)
        least = 1 if kind is SessionKind.ONCE else 2
        if len(edits) >= least and len(edits) <= 60:
            return MadeUpSession(EditSession(passage, tuple(edits)), kind)
    return None


def _draw_kind(random: KeyedRandom) -> SessionKind:
    drawn = random.share() * sum(SHARES.values())
    for kind, share in SHARES.items():
        drawn -= share
        if drawn < 0:
            return kind
    return SessionKind.ONCE


def _draw_passage(text: str, random: KeyedRandom) -> str:
    size = 800 + random.below(_LONGEST_PASSAGE - 800)
    if len(text) <= size:
        return text
    start = random.below(len(text) - size)
    line = text.rfind("\n", 0, start) + 1
    if start - line > 300:
        line = text.find(" ", start) + 1
    return text[line : line + size].rsplit(" ", 1)[0]


def _places(passage: str, pattern: str, *, whole: bool = True, exact: bool = True) -> list[re.Match[str]]:
    """The matches of a pattern outside of code and addresses; with `whole`, only as whole words."""
    bounds = (r"(?<![\w-])", r"(?![\w-])") if whole else ("", "")
    flags = 0 if exact else re.IGNORECASE
    code = [found.span() for found in _CODE.finditer(passage)]
    return [
        found
        for found in re.finditer(bounds[0] + pattern + bounds[1], passage, flags)
        if all(found.end() <= first or found.start() >= last for first, last in code)
    ]


def _like(word: str, model: str) -> str:
    """A word with the capitalisation of another."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def _repeated(passage: str, random: KeyedRandom, least: int = 2) -> str | None:
    counts = Counter(word for word in _WORD.findall(passage) if word.lower() not in _STOP)
    words = [word for word, count in counts.items() if count >= least]
    return random.pick(words) if words else None


def _replaced(places: Sequence[re.Match[str]], new: Callable[[str], str]) -> Edits:
    edits = [Edit(found.start(), found[0], new(found[0])) for found in places]
    return [edit for edit in edits if edit.old != edit.new]


def _with_ending(word: str, ending: str) -> str:
    return plural_of(word) if ending in {"s", "es"} else word + ending


def _with_articles(passage: str, edits: Edits) -> Edits:
    """Words that were exchanged, and with them the articles before them: "a user" becomes "an operator"."""
    changes = []
    for edit in edits:
        first = max(edit.start - 4, 0)
        article = _ARTICLE.search(passage[first : edit.start])
        word = re.sub(r"[^A-Za-z].*", "", edit.new, flags=re.DOTALL).lower()
        wanted = "an" if vowel_sound(word) else "a" if consonant_sound(word) else ""
        if article and wanted and article[1].lower() != wanted:
            start = first + article.start()
            changes.append(Edit(start, article[1], wanted if article[1].islower() else wanted.capitalize()))
        changes.append(edit)
    return changes


def _term(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    old = _repeated(passage, random)
    if old is None:
        return []
    new = random.pick(lexicon.lower if old.islower() else lexicon.title)
    if random.chance(0.15):
        new = f"{random.pick(lexicon.lower)} {new}" if old.islower() else f"{random.pick(lexicon.title)} {new}"
    if random.chance(0.5):
        return _with_articles(passage, _replaced(_places(passage, re.escape(old)), lambda _: new))
    stem = re.escape(old)
    edits = _replaced(
        _places(passage, f"{stem}(?:s|es|'s|’s)?", exact=False),
        lambda found: _like(_with_ending(new, found[len(old) :]), found[: len(old)]),
    )
    return _with_articles(passage, edits)


def _phrase(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    pairs = Counter(re.findall(r"\b[A-Za-z][a-z]+ [A-Za-z][a-z]{2,}\b", passage))
    known = [pair for pair, count in pairs.items() if count >= 2 and not _STOP & set(pair.lower().split())]
    if not known:
        return []
    old = random.pick(known)
    first, second = old.split()
    new = random.pick(
        [
            first[0].upper() + second[0].upper(),
            f"{random.pick(lexicon.lower)} {second}",
            f"{first} {random.pick(lexicon.lower)}",
            second,
            random.pick(lexicon.lower),
            f"{random.pick(lexicon.title)} {random.pick(lexicon.title)}",
        ]
    )
    return _with_articles(
        passage, _replaced(_places(passage, re.escape(old), exact=False), lambda found: _like(new, found))
    )


def _case(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    old = _repeated(passage, random)
    if old is None:
        return []
    new = random.pick([old.lower(), old.upper(), old[0].upper() + old[1:]])
    edits = _replaced(_places(passage, re.escape(old)), lambda _: new)
    if new.islower():
        # The first word of a sentence or a line keeps its capital.
        edits = [edit for edit in edits if re.search(r"[\w,;:] $", passage[: edit.start])]
    return edits


def _hyphen(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    known = Counter(re.findall(r"\b[A-Za-z][a-z]+[- ][a-z]{3,}\b", passage))
    pairs = [pair for pair, count in known.items() if count >= 2 and not _STOP & set(re.split("[- ]", pair.lower()))]
    if not pairs:
        return []
    old = random.pick(pairs)
    mark = random.pick([mark for mark in ("-", " ", "") if mark not in old or not mark])
    return _replaced(_places(passage, re.escape(old), exact=False), lambda found: re.sub("[- ]", mark, found))


def _spelling(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    """Edits that correct a word which the draft misspells everywhere."""
    old = _repeated(passage, random)
    if old is None or len(old) < 5:
        return []
    at = 1 + random.below(len(old) - 2)
    slip = random.pick(
        [
            old[:at] + old[at + 1 :],
            old[:at] + old[at] + old[at:],
            old[:at] + old[at + 1] + old[at] + old[at + 2 :],
            old[:at] + random.pick("aeiou") + old[at + 1 :],
        ]
    )
    return _replaced(_places(passage, re.escape(old)), lambda _: slip)


def _markup(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    old = _repeated(passage, random)
    if old is None:
        return []
    mark = random.pick(["`", "`", "**", "*", "_", '"'])
    return _replaced(_places(passage, rf"(?<!{re.escape(mark[0])}){re.escape(old)}"), lambda found: mark + found + mark)


def _added_word(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    old = _repeated(passage, random)
    if old is None:
        return []
    word = random.pick(lexicon.lower if random.chance(0.6) else lexicon.title)
    behind = random.chance(0.3)
    return [
        Edit(found.end() if behind else found.start(), "", f" {word}" if behind else f"{word} ")
        for found in _places(passage, re.escape(old), exact=False)
    ]


def _dropped_word(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    word = (
        _repeated(passage, random)
        if random.chance(0.6)
        else random.pick(["very", "just", "also", "really", "simply", "please", "quite"])
    )
    if word is None:
        return []
    return _replaced(_places(passage, re.escape(word) + " (?=[a-z])", whole=False), lambda _: "")


def _ending(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    old = _repeated(passage, random)
    if old is None:
        return []
    if old.endswith("s"):
        new = old[:-1]
    elif old.endswith("ing") and len(old) > 6:
        new = old[:-3] + random.pick(["", "ed", "s"])
    elif old.endswith("ed") and len(old) > 5:
        new = old[:-2] + random.pick(["", "ing", "s"])
    else:
        new = old + random.pick(["s", "s", "ing", "ed", "'s"])
    return _replaced(_places(passage, re.escape(old)), lambda _: new)


_KNOWN_PAIRS: Final = _pairs()


def _pair(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    known = []
    for old, new in _KNOWN_PAIRS:
        for one, other in ((old, new), (new, old)):
            if one.strip() and passage.count(one) >= 2:
                known.append((one, other))
    if not known:
        return []
    old, new = random.pick(known)
    whole = old[0].isalnum() and old[-1].isalnum()
    return _replaced(_places(passage, re.escape(old), whole=whole, exact=False), lambda found: _like(new, found))


def _heading(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    lower = random.chance(0.6)
    edits = []
    for found in _HEADING.finditer(passage):
        words = found[1].split(" ")
        at = found.start(1) + len(words[0]) + 1
        for word in words[1:]:
            new = word.lower() if lower else word[:1].upper() + word[1:]
            if word.isalpha() and new != word and not (len(word) > 1 and word.isupper()):
                edits.append(Edit(at, word, new))
            at += len(word) + 1
    return edits


def _list_mark(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    items = list(_ITEM.finditer(passage))
    if len(items) < 2:
        return []
    way = random.below(3)
    if way == 0:
        new = random.pick("-*+")
        return _replaced_at([(found.start(2), found[2], new) for found in items])
    if way == 1:
        return _replaced_at([(found.end(), "", ".") for found in items if found[3][-1].isalnum()])
    return _replaced_at([(found.end() - 1, ".", "") for found in items if found[3].endswith(".")])


def _replaced_at(changes: Iterable[tuple[int, str, str]]) -> Edits:
    return [Edit(*change) for change in changes if change[1] != change[2]]


def _once(passage: str, lexicon: ShapeLexicon, random: KeyedRandom) -> Edits:
    """A change of one place only: a word is corrected or replaced there, even if it also occurs elsewhere."""
    words = list(re.finditer(r"(?<![\w`/-])[A-Za-z]+(?![\w`/-])", passage))
    if not words:
        return []
    found = random.pick(words)
    # Function words and slips are what people mostly change once.
    common = [word for word in words if word[0].lower() in _STOP]
    if common and random.chance(0.5):
        found = random.pick(common)
    word = found[0]
    way = random.below(5)
    if way == 0:
        return [Edit(found.start(), word, _like(random.pick(sorted(_STOP)), word))]
    if way == 1:
        return [Edit(found.start(), word + " ", "")] if passage[found.end() : found.end() + 1] == " " else []
    if way == 2:
        return [
            Edit(found.start(), "", random.pick(["the ", "a ", "also ", "often ", random.pick(lexicon.lower) + " "]))
        ]
    if way == 3:
        return [Edit(found.end(), "", random.pick([",", ".", " and " + random.pick(lexicon.lower), "s"]))]
    return [Edit(found.start(), word, _like(random.pick(lexicon.lower), word))]


_MAKERS: Final[dict[SessionKind, Callable[[str, ShapeLexicon, KeyedRandom], Edits]]] = {
    SessionKind.TERM: _term,
    SessionKind.PHRASE: _phrase,
    SessionKind.CASE: _case,
    SessionKind.HYPHEN: _hyphen,
    SessionKind.SPELLING: _spelling,
    SessionKind.MARKUP: _markup,
    SessionKind.ADDED_WORD: _added_word,
    SessionKind.DROPPED_WORD: _dropped_word,
    SessionKind.ENDING: _ending,
    SessionKind.PAIR: _pair,
    SessionKind.HEADING: _heading,
    SessionKind.LIST_MARK: _list_mark,
    SessionKind.ONCE: _once,
}
