"""A proofreader: documents in, corrected documents and the list of changes out.

A document is read as its format's prose. Sentences are the unit of a decision, and the paragraph is what the model sees
around them; one that overtypes reads each sentence by itself. Each correction is judged by itself: by the model's confidence in it, by what it does to the words
(`vetoes`), and by what it would do to the document (`reviser.prose.safe_edits`). Sentences that were changed are read again.
What was changed once stays: a later look corrects other words alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise, product
from typing import Final, NamedTuple

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.proofreading.calibration import (
    FOLLOWED,
    RAW,
    THOROUGH,
    Calibration,
    Search,
    calibration_for,
)
from reviser.proofreading.changes import Kind, kind_of
from reviser.proofreading.changes import changes as changes_between
from reviser.proofreading.evidence.readings import Question
from reviser.proofreading.evidence.readings import readings as sentence_readings
from reviser.proofreading.overtyping import Outlook, OvertypingReader, OvertypingRules
from reviser.proofreading.project.settings import CONFIDENCE
from reviser.proofreading.project.words import Words
from reviser.proofreading.reader import MOST_ACTIONS, Correction
from reviser.proofreading.reading import (
    AT_ONCE,
    Passage,
    corrections_of,
    find_corrections,
    overtyping_reader,
    rules_for,
)
from reviser.proofreading.spelling.dictionary import Dictionary
from reviser.proofreading.spelling.speller import Found, Speller, Strange, speller_for
from reviser.proofreading.spelling.terms import as_names, terms_in
from reviser.proofreading.spelling.unknown import Unknown
from reviser.proofreading.usage import makes_one, usage_in
from reviser.proofreading.vetoes import Guard, Proposal, names_in
from reviser.prose import Change as ProseChange
from reviser.prose import (
    Format,
    Paragraph,
    SourceEdit,
    Span,
    apply_edits,
    paragraphs,
    safe_edits,
    same_structure,
    sentences,
    source_edits,
)
from reviser.session.session import NEIGHBOURS, PASSAGE, SessionPolicy

LOOKS: Final = 3
"""How often a sentence is read at the most: once, and again where it was changed."""

# Tokens on either side of a part of a sentence that a model that overtypes reads. Whole sentences are shown alone: with text beside
# them the model leaves more mistakes.
_SIDE_OF_PART: Final = 32
# Characters between words that agree with each other, at the most.
_NEAR_VERB: Final = 24
_IN_AGREEMENT: Final = frozenset(
    ((Kind.NOUN_NUMBER, Kind.AGREEMENT), (Kind.ARTICLE, Kind.NOUN_NUMBER))
)
# The start marker, the draft's, and the moves back over what follows a passage.
_MARKERS: Final = 14
_CHARACTERS_OF_TOKEN: Final = 8
_QUOTES = re.compile('["“”„«»]')
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_FIRST_OF_WORD = re.compile(r"[^\W_]")
_FINAL = ".!?…;:,"
# What the correction of an unknown word may be called.
_OF_SPELLING = frozenset(Kind) - {Kind.PUNCTUATION, Kind.WORD_ORDER, Kind.EXTRA_WORD}
_LETTERS = re.compile(r"[^\W\d_]{2}|\b[aiAI]\b")


@dataclass(frozen=True)
class Draft:
    """A text to proofread: its format, the words in it that stay, and the part of it to look at."""

    text: str
    format: Format = Format.PLAIN
    words: Words = field(default_factory=Words)
    within: Span | None = None


@dataclass(frozen=True)
class Change:
    """`new` in the place of `old`, which stands at `start` in the text as it was given."""

    start: int
    old: str
    new: str
    confidence: float
    kind: Kind

    @property
    def end(self) -> int:
        return self.start + len(self.old)

    @property
    def edit(self) -> SourceEdit:
        return SourceEdit(self.start, self.end, self.new)


@dataclass(frozen=True)
class Proofread:
    """A text after proofreading, and the changes that made it, in order and none over another."""

    draft: Draft
    text: str
    changes: tuple[Change, ...]
    sentences: int


class Undecided(NamedTuple):
    """A proposal, the confidence that it needs, and its sentence before and after it."""

    proposal: Proposal
    needed: float
    question: Question


@dataclass(frozen=True)
class Examined:
    """A text whose unknown words and sure mistakes are corrected, the corrections, and what the first look at the rest proposes."""

    text: str
    spelled: tuple[Change, ...]
    undecided: tuple[Undecided, ...]


def with_changes(text: str, changes: Sequence[Change]) -> str:
    """A text with some of the changes that were found in it."""
    return apply_edits(text, [change.edit for change in changes])


def safe_selection(draft: Draft, changes: Sequence[Change]) -> list[Change]:
    """Those of some changes that leave the structure of the text alone without the others that were found with them."""

    def is_safe(some: Sequence[Change]) -> bool:
        return same_structure(draft.text, with_changes(draft.text, some), draft.format)

    if is_safe(changes):
        return list(changes)
    kept: list[Change] = []
    for change in changes:
        if is_safe([*kept, change]):
            kept.append(change)
    return kept


def confidence_of(sureness: float) -> float:
    """The confidence of a change that is so many times as likely as leaving the text."""
    return sureness / (1 + sureness)


class Proofreader:
    """A model that corrects documents, as sure of each change as `confidence` says.

    Without a `calibration` it takes the one that comes along, if that was fitted for this model.
    """

    def __init__(
        self,
        policy: SessionPolicy,
        tokenizer: Tokenizer,
        *,
        confidence: float = CONFIDENCE,
        kinds: Collection[Kind] = frozenset(Kind),
        max_actions: int = MOST_ACTIONS,
        calibration: Calibration | None = None,
        phrases: bool = True,
    ) -> None:
        """Without `phrases`, mistakes that are sure from the words alone are left to the model."""
        if policy.vocabulary.base_size < tokenizer.size:
            raise ReviserError("the model and the tokenizer do not belong together")
        if not 0 <= confidence <= 1:
            raise ReviserError("the confidence lies between 0 and 1")
        self._policy = policy
        self._tokenizer = tokenizer
        rules_for(policy.vocabulary)
        self._confidence = confidence
        self._kinds = frozenset(kinds)
        self._calibration = calibration_for(policy) if calibration is None else calibration
        # As many actions, tokens of a passage, and tokens around it: together they fit the model.
        third = min(policy.context, policy.max_length or policy.context) // 3
        self._actions = max(1, min(max_actions, third))
        self._speller = speller_for(policy, tokenizer)
        self._phrases = phrases
        self._longest = max(1, min(PASSAGE, third - _MARKERS))
        self._side = max(0, min(NEIGHBOURS, third)) // 2
        self._alone = policy.vocabulary.overtypes
        if self._alone:
            self._side = min(self._side, _SIDE_OF_PART)

    @property
    def known(self) -> Callable[[str], bool] | None:
        """Whether a word is in the list of words, where the model uses one."""
        return self._speller.known.knows if self._speller else None

    def proofread(
        self, draft: Draft, tell: Callable[[int, int], None] = lambda done, of: None
    ) -> Proofread:
        """Correct one document; `tell` hears how many of how many sentences have been read."""
        return self.proofread_all([draft], tell)[0]

    def proofread_all(
        self, drafts: Sequence[Draft], tell: Callable[[int, int], None] = lambda done, of: None
    ) -> list[Proofread]:
        """Correct several documents, whose sentences are read together."""
        listed = self._speller.known if self._speller else None
        works = [
            _Work(draft, self._confidence, self._kinds, self._calibration, listed=listed)
            for draft in drafts
        ]
        search = self._calibration.search(self._confidence, self._kinds)
        done = 0
        readings: _Readings = {}
        self._prepare(works, search, readings)
        for _ in range(LOOKS):
            done = self._look(works, search, done, tell, readings, reads=self._calibration.reads)
            if not sum([work.finish_look() for work in works]):
                break
        tell(done, done)
        return [work.result() for work in works]

    def _prepare(self, works: Sequence[_Work], search: Search, readings: _Readings) -> None:
        """Correct unknown words and sure mistakes, so that the model reads the rest as it was meant."""
        if self._speller is not None and self._kinds & _OF_SPELLING:
            self._spell(self._speller, works, search, readings)
        if self._phrases:
            for work in works:
                work.correct_phrases()

    def _spell(
        self, speller: Speller, works: Sequence[_Work], search: Search, readings: _Readings
    ) -> None:
        """Correct the words of documents that are not in the list of words, before anything else is read.

        What is plain is corrected without a reading. Where the others seem to stay, the first look reads the same: its `readings` are made at once.
        """
        for work in works:
            work.correct_plain_misspellings(speller)
        found = [
            (work, misspelt)
            for work in works
            for misspelt in work.misspelt(speller, self._tokenizer, self._longest)
        ]
        for at in range(0, len(found), AT_ONCE):
            some = found[at : at + AT_ONCE]
            passages = [self._strange(one, search, readings) for _, one in some]
            for (work, one), corrections in zip(some, speller.find(passages), strict=True):
                work.propose_spellings(one.passage, corrections)
        for work in {id(work): work for work, _ in found}.values():
            work.finish_spelling()

    def _strange(self, misspelt: _Misspelt, search: Search, readings: _Readings) -> Strange:
        """What the speller is shown: a sentence by itself, unless its words seem right, or what the first look reads."""
        passage, unknown, seems_right = misspelt
        if not seems_right:
            return Strange(Passage(passage.tokens), passage.text, unknown)
        shown = self._with_sides(passage)

        def read_on(told: Sequence[Outlook]) -> OvertypingReader:
            reader = overtyping_reader(self._policy, shown, search, told)
            readings[_key(shown)] = reader
            return reader

        return Strange(shown, passage.text, unknown, read_on)

    def candidates(
        self, drafts: Sequence[Draft], tell: Callable[[int, int], None] = lambda done, of: None
    ) -> list[list[Proposal]]:
        """What a first look proposes for documents and nothing but the dial could speak against, with the model's own chances.

        The places are those of the document. Nothing is made, so nothing is looked at again.
        """
        works = [_Work(draft, 0.0, self._kinds, RAW, calibrated=True) for draft in drafts]
        done = self._look(works, THOROUGH, 0, tell, {})
        tell(done, done)
        return [work.proposed() for work in works]

    def examined(self, drafts: Sequence[Draft], least: float) -> list[Examined]:
        """Documents with what only the dial could speak against, down to a probability of `least`; a model that overtypes is needed.

        Unknown words and sure mistakes are corrected, and nothing else is. The places are those of a paragraph of the corrected text.
        """
        listed = self._speller.known if self._speller else None
        works = [
            _Work(draft, self._confidence, self._kinds, RAW, listed=listed) for draft in drafts
        ]
        search = Search(FOLLOWED, least)
        known: _Readings = {}
        self._prepare(works, search, known)
        found = [
            (work, passage)
            for work in works
            for passage in work.passages(self._tokenizer, self._longest)
        ]
        shown = [self._with_sides(passage) for _, passage in found]
        corrections = self._find_corrections(shown, search, known)
        undecided: dict[int, list[Undecided]] = {id(work): [] for work in works}
        for (work, passage), some in zip(found, corrections, strict=True):
            proposed = work.found(passage, some)
            # Probabilities of the other changes in a sentence count whatever speaks against them.
            judged = RAW.judged(proposed, work.made_in(passage))
            for one in work.undecided(passage, judged):
                question = self._question(passage, [one])
                undecided[id(work)].append(Undecided(one, work.needed(passage, one), question))
        return [
            Examined(result.text, result.changes, tuple(undecided[id(work)]))
            for work in works
            for result in [work.result()]
        ]

    def _look(
        self,
        works: Sequence[_Work],
        search: Search,
        done: int,
        tell: Callable[[int, int], None],
        readings: _Readings,
        *,
        reads: bool = False,
    ) -> int:
        """Read what documents want to have read, after `done` sentences; returns how many have been read then.

        What `readings` has is not read again. With `reads`, sentences are also read from left to right with what is proposed for them.
        """
        found = [
            (work, passage)
            for work in works
            for passage in work.passages(self._tokenizer, self._longest)
        ]
        total = done + len(found)
        for at in range(0, len(found), AT_ONCE):
            tell(done, total)
            some = found[at : at + AT_ONCE]
            shown = [self._with_sides(passage) for _, passage in some]
            corrections = self._find_corrections(shown, search, readings)
            proposed = [
                (work, passage, work.found(passage, there))
                for (work, passage), there in zip(some, corrections, strict=True)
            ]
            for work, passage, there in self._with_readings(proposed) if reads else proposed:
                work.propose(passage, there)
            done += len(some)
        return done

    def _find_corrections(
        self, passages: Sequence[Passage], search: Search, readings: _Readings
    ) -> list[list[Correction]]:
        keys = [*map(_key, passages)]
        unread = [one for one, key in zip(passages, keys, strict=True) if key not in readings]
        found = iter(
            find_corrections(
                self._policy,
                unread,
                search.least,
                self._actions,
                followed=search.followed,
                rousing=search.rousing,
            )
        )
        return [
            corrections_of(readings[key], search.least) if key in readings else next(found)
            for key in keys
        ]

    def _with_readings(
        self, proposed: Sequence[tuple[_Work, _Passage, list[Proposal]]]
    ) -> list[tuple[_Work, _Passage, list[Proposal]]]:
        """What was proposed; of all that only the dial can speak against, it is told how the sentence reads with it.

        Where that could not be sure enough however well it reads, nothing is read, and it is told that it reads best.
        """
        rules = rules_for(self._policy.vocabulary)
        if not isinstance(rules, OvertypingRules):
            return list(proposed)
        best = self._calibration.best_reading
        known = [dict[Proposal, float | None]() for _ in proposed]
        asked = []
        for number, (work, passage, found) in enumerate(proposed):
            undecided = work.undecided(passage, found)
            hopeful = work.hopeful(passage, found)
            known[number].update((one, best) for one in undecided if one not in hopeful)
            wanted = [one for one in undecided if one in hopeful]
            if wanted:
                asked.append((number, wanted))
        questions = [self._question(proposed[number][1], some) for number, some in asked]
        answers = sentence_readings(self._policy, rules, questions)
        for (number, some), read in zip(asked, answers, strict=True):
            known[number].update(zip(some, read, strict=True))
        return [
            (work, passage, [replace(one, reading=said.get(one)) for one in found])
            for (work, passage, found), said in zip(proposed, known, strict=True)
        ]

    def _question(self, passage: _Passage, some: Sequence[Proposal]) -> Question:
        """How a sentence reads with each of some changes."""
        text, (start, end) = passage.paragraph.text, passage.span
        changed = [
            self._tokenizer.encode(text[start : one.start] + one.new + text[one.end : end])
            for one in some
        ]
        return Question(self._with_sides(passage), changed)

    def _with_sides(self, passage: _Passage) -> Passage:
        """A passage as the model is shown it, between what stands beside it in its paragraph if it needs that."""
        if self._alone and not passage.is_part:
            return Passage(passage.tokens)
        text, (start, end) = passage.paragraph.text, passage.span
        size = self._side * _CHARACTERS_OF_TOKEN
        left = self._tokenizer.encode(text[_space_after(text, start - size) : start])
        right = self._tokenizer.encode(text[end : _space_before(text, end + size)])
        return Passage(
            passage.tokens, left[len(left) - min(len(left), self._side) :], right[: self._side]
        )


_Key = tuple[tuple[int, ...], ...]
_Readings = dict[_Key, OvertypingReader]


def _key(passage: Passage) -> _Key:
    """All that decides what is found in a passage."""
    return tuple(map(tuple, passage))


def _space_after(text: str, place: int) -> int:
    """The first space from a place on, or the start of the text if the place is before that."""
    return 0 if place <= 0 else max(text.find(" ", place), place)


def _space_before(text: str, place: int) -> int:
    """The last space before a place, or the end of the text if the place is behind that."""
    return len(text) if place >= len(text) else max(text.rfind(" ", 0, place), 0) or place


# Passages ----------------------------------------------------------------------------------------


class _Passage(NamedTuple):
    """A sentence of a paragraph with the space before it, or a part of a long one, and its tokens."""

    paragraph: Paragraph
    span: Span
    tokens: list[int]
    was_cut: bool = False

    @property
    def is_part(self) -> bool:
        """Whether it has a part of a sentence: of a long one, or of one in which a full stop is no end."""
        first = _FIRST_OF_WORD.search(self.text)
        later = _FIRST_OF_WORD.search(self.paragraph.text, self.span.end)
        return self.was_cut or any(found and found[0].islower() for found in (first, later))

    @property
    def text(self) -> str:
        return self.paragraph.text[self.span.start : self.span.end]


def _passages(paragraph: Paragraph, tokenizer: Tokenizer, longest: int) -> Iterator[_Passage]:
    """What of a paragraph is read at once; what no tokenizer gives back as it was is not read."""
    place = 0
    for sentence in sentences(paragraph):
        # The space between two sentences belongs to the second, as to a word.
        whole = Span(place, sentence.end)
        waiting = [whole]
        place = sentence.end
        while waiting:
            span = waiting.pop()
            text = paragraph.text[span.start : span.end]
            if not _LETTERS.search(text):
                continue
            tokens = tokenizer.encode(text) if len(text) <= 16 * longest else []
            cut = _cut(text)
            if (not tokens or len(tokens) > longest) and cut:
                middle = span.start + cut
                waiting += [Span(middle, span.end), Span(span.start, middle)]
            elif 0 < len(tokens) <= longest and _shown(tokenizer, tokens) == text.encode():
                yield _Passage(paragraph, span, tokens, span != whole)


def _cut(text: str) -> int:
    """Where a long text is best cut in two: at the mark, else the space, that is nearest to its middle; 0 if nowhere."""
    for pattern in (r"[,;:–—](?= )", r"(?<=\S)(?= )"):
        cuts = [found.end() for found in re.finditer(pattern, text)]
        if cuts:
            return min(cuts, key=lambda cut: abs(2 * cut - len(text)))
    return 0


def _shown(tokenizer: Tokenizer, tokens: Sequence[int]) -> bytes:
    return b"".join(map(tokenizer.token_bytes, tokens))


class _Misspelt(NamedTuple):
    """A passage with unknown words, which have their places in it, and whether they seem right."""

    passage: _Passage
    unknown: list[Unknown]
    seems_right: bool


def _words_inside(passage: _Passage, unknown: Sequence[Unknown]) -> list[Unknown]:
    """Words of a paragraph that are wholly in a passage, with places in it."""
    start, end = passage.span
    return [
        one._replace(start=one.start - start, end=one.end - start)
        for one in unknown
        if start <= one.start and one.end <= end
    ]


# Corrections become proposals --------------------------------------------------------------------


class _Edit(NamedTuple):
    """`new` in the place of the characters from `start` to `end` of a passage."""

    start: int
    end: int
    new: str
    confidence: float


def _edits(
    passage: _Passage, tokenizer: Tokenizer, corrections: Sequence[Correction]
) -> list[_Edit]:
    """The corrections in characters, in order; those that would cut a character in two are left out."""
    data = passage.text.encode()
    ends = [0, *accumulate(len(tokenizer.token_bytes(token)) for token in passage.tokens)]
    found = []
    for correction in corrections:
        start, end = ends[correction.start], ends[correction.end]
        first, last = start, end
        while first and _continues(data, first):
            first -= 1
        while _continues(data, last):
            last += 1
        new = data[first:start] + _shown(tokenizer, correction.tokens) + data[end:last]
        try:
            text = new.decode()
        except UnicodeDecodeError:
            continue
        before, old = data[:first].decode(), data[first:last].decode()
        found.append(_Edit(len(before), len(before) + len(old), text, correction.confidence))
    return sorted(found)


def _continues(data: bytes, place: int) -> bool:
    return place < len(data) and 0x80 <= data[place] <= 0xBF


def _whole(text: str, edits: Sequence[_Edit]) -> Iterator[_Edit]:
    """The edits, those of one word made one, which is as sure as the least sure of them."""
    groups: list[list[_Edit]] = []
    reached = -1
    for edit in edits:
        start, end = _reach(text, edit)
        if groups and edit.start < groups[-1][-1].end:
            continue
        if groups and start < reached:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        reached = max(reached, end)
    for group in groups:
        pieces = [group[0].new]
        for one, other in pairwise(group):
            pieces += [text[one.end : other.start], other.new]
        sure = min(edit.confidence for edit in group)
        yield _Edit(group[0].start, group[-1].end, "".join(pieces), sure)


def _reach(text: str, edit: _Edit) -> tuple[int, int]:
    """Where the words start and end that an edit changes."""
    start, end, new, _ = edit
    old = text[start:end]
    if _in_word(old[:1]) or _in_word(new[:1] or text[end : end + 1]):
        while start and _in_word(text[start - 1]):
            start -= 1
    if _in_word(old[-1:]) or _in_word(new[-1:] or text[edit.start - 1 : edit.start]):
        while end < len(text) and _in_word(text[end]):
            end += 1
    return start, end


def _in_word(character: str) -> bool:
    return character.isalnum() or character in ("'", "’", "_")


def proposals(paragraph: Paragraph, span: Span, edits: Sequence[_Edit]) -> Iterator[Proposal]:
    """The edits of a passage from word to word, each with its kind.

    One that replaces several words, each by one, is that many changes. Any other is one change, to be made whole or not.
    """
    text = paragraph.text[span.start : span.end]
    gap = len(text) - len(text.lstrip())
    place = -1
    for edit in _whole(text, edits):
        written = _as_apostrophes(paragraph.text, text[edit.start : edit.end], edit.new)
        after = _as_fragment(paragraph, span, text[: edit.start] + written + text[edit.end :])
        if not after.strip() or after[:gap] != text[:gap]:
            continue
        parts = changes_between(text, after)
        if not parts:
            continue
        if not all(
            len(_WORD.findall(part.old)) == len(_WORD.findall(part.new)) == 1 for part in parts
        ):
            start, end = parts[0].start, parts[-1].end
            new = after[start : len(after) - (len(text) - end)]
            kind = kind_of(text[start:end], new, text[:start], text[end:])
            places = [(start, end, new, kind)]
        else:
            places = [(part.start, part.end, part.new, part.kind) for part in parts]
        if places[0][0] <= place:
            continue
        place = places[-1][1]
        for start, end, new, kind in places:
            yield Proposal(
                span.start + start, span.start + end, text[start:end], new, edit.confidence, kind
            )


def _as_apostrophes(text: str, old: str, new: str) -> str:
    """New text with the apostrophes of its paragraph: straight ones, unless it has curved ones alone."""
    if "’" in old or "'" in old:
        return new
    curved = "’" in text and "'" not in text
    return new.replace("'", "’") if curved else new.replace("’", "'")


def _as_fragment(paragraph: Paragraph, span: Span, after: str) -> str:
    """A changed passage without what makes a sentence of a heading, an item or a caption: a capital and a final mark."""
    text = paragraph.text
    if not paragraph.role.fragment:
        return after
    if span.end == len(text) and text[-1:] not in _FINAL:
        after = after.rstrip(_FINAL + " ")
    old, new = _FIRST_WORD.search(text), _FIRST_WORD.search(after)
    if old is None or new is None or old.start() < span.start or re.match(r"i\b", old[0]):
        return after
    if old[0][0] != new[0][0] and old[0][0].upper() == new[0][0]:
        return after[: new.start()] + old[0][0] + after[new.start() + 1 :]
    return after


# Looks -------------------------------------------------------------------------------------------


class _Work:
    """A document between two looks."""

    def __init__(
        self,
        draft: Draft,
        confidence: float,
        kinds: Collection[Kind],
        calibration: Calibration,
        *,
        calibrated: bool | None = None,
        listed: Dictionary | None = None,
    ) -> None:
        self._draft = draft
        self._calibration = calibration
        self._text = draft.text
        self._changes: list[Change] = []
        # The same with the places of what they put in, in the present text.
        self._made: list[tuple[int, int, Change]] = []
        self._sentences = 0
        # Which parts of the text a look reads; None for all.
        self._fresh: list[Span] | None = None
        self._paragraphs = paragraphs(draft.text, draft.format)
        known = listed.knows if listed else None
        names = names_in(self._paragraphs)
        terms = terms_in(draft.text, self._paragraphs, draft.format, known)
        even = calibration.is_even if calibrated is None else calibrated
        self._guard = Guard(
            confidence,
            kinds,
            draft.words,
            names | as_names(terms),
            usage_in(self._paragraphs, terms),
            even,
            known,
            listed.is_name if listed else None,
        )
        self._open = replace(self._guard, confidence=0.0)
        self._proposed: dict[int, list[Proposal]] = {}
        self._former: set[str] = set()
        # Changes of unknown words, which may be changed further.
        self._spelled: set[Change] = set()
        self._tokenizer: Tokenizer | None = None

    def passages(self, tokenizer: Tokenizer, longest: int) -> Iterator[_Passage]:
        """The sentences that this look reads."""
        self._tokenizer = tokenizer
        self._proposed = {}
        start, end = self._within
        for paragraph in self._paragraphs:
            first, last = paragraph.segments[0].start, paragraph.segments[-1].end
            if last < start or first > end or not self._is_fresh(first, last):
                continue
            for passage in self._inside(paragraph, tokenizer, longest):
                self._sentences += self._fresh is None
                yield passage

    def _inside(
        self, paragraph: Paragraph, tokenizer: Tokenizer, longest: int
    ) -> Iterator[_Passage]:
        """The sentences of a paragraph that are looked at."""
        start, end = self._within
        for passage in _passages(paragraph, tokenizer, longest):
            first, last = (paragraph.source_offset(place) for place in passage.span)
            if start <= last and first <= end and self._is_fresh(first, last):
                yield passage

    def _unknown(self, speller: Speller) -> Iterator[tuple[Paragraph, list[Unknown]]]:
        """The paragraphs with words that are not in the list, and these words."""
        start, end = self._within
        for paragraph in self._paragraphs:
            first, last = paragraph.segments[0].start, paragraph.segments[-1].end
            if last < start or first > end:
                continue
            unknown = speller.unknown(
                paragraph,
                self._draft.words,
                self._guard.names,
                plain=self._draft.format in (Format.PLAIN, Format.MAIL),
            )
            if unknown:
                yield paragraph, unknown

    def correct_plain_misspellings(self, speller: Speller) -> None:
        """Correct the words that plainly stand for others.

        One that comes twice is read, as it may be meant, and so is a sentence that quotes something.
        """
        counts: Counter[str] | None = None
        for paragraph, unknown in self._unknown(speller):
            for span in sentences(paragraph):
                passage = _Passage(paragraph, span, [])
                if _QUOTES.search(passage.text):
                    continue
                words = _words_inside(passage, unknown)
                found = [one for each in words if (one := speller.plainly(each)) is not None]
                if found:
                    counts = counts or Counter(_WORD.findall(self._text))
                    once = [one for one in found if counts[one.unknown.text] == 1]
                    self.propose_spellings(passage, once)
        if self._proposed:
            self.finish_spelling()

    def misspelt(self, speller: Speller, tokenizer: Tokenizer, longest: int) -> Iterator[_Misspelt]:
        """The sentences with words that are not in the list."""
        for paragraph, unknown in self._unknown(speller):
            for passage in self._inside(paragraph, tokenizer, longest):
                if words := _words_inside(passage, unknown):
                    yield _Misspelt(passage, words, all(map(speller.seems_right, words)))

    def propose_spellings(self, passage: _Passage, corrections: Sequence[Found]) -> None:
        """Take down the corrections of unknown words that nothing speaks against."""
        text = passage.text
        found = []
        for (start, end, old, _), new, confidence in corrections:
            kind = kind_of(old, new, text[:start], text[end:])
            low = passage.span.start
            found.append(Proposal(low + start, low + end, old, new, confidence, kind))
        self._take_down(passage, found)

    def finish_spelling(self) -> None:
        """Make the corrections of unknown words; then all is read. What is read may be corrected further."""
        self.finish_look()
        self._fresh = None
        self._spelled = set(self._changes)

    def correct_phrases(self) -> None:
        """Correct mistakes that are sure from the words alone; then all is read, and these stay corrected."""
        from reviser.proofreading.phrases.matching import phrases_in

        start, end = self._within
        for paragraph in self._paragraphs:
            first, last = paragraph.segments[0].start, paragraph.segments[-1].end
            if last < start or first > end:
                continue
            for span, some in phrases_in(paragraph):
                edits = [_Edit(one.start, one.end, one.new, one.confidence) for one in some]
                found = [*proposals(paragraph, span, edits)]
                self._take_down(_Passage(paragraph, span, []), found)
        if self._proposed:
            self.finish_look()
            self._fresh = None

    def found(self, passage: _Passage, corrections: Sequence[Correction]) -> list[Proposal]:
        """The corrections of a passage as proposals."""
        assert self._tokenizer is not None
        edits = _edits(passage, self._tokenizer, corrections)
        return [*proposals(passage.paragraph, passage.span, edits)]

    def undecided(self, passage: _Passage, found: Sequence[Proposal]) -> list[Proposal]:
        """The proposals that nothing but the dial can speak against."""
        paragraph = passage.paragraph
        return [
            one
            for one in found
            if self._open.objection(one, paragraph) is None
            if self._is_within(paragraph, one) and not self._was_changed(paragraph, one)
        ]

    def hopeful(self, passage: _Passage, found: Sequence[Proposal]) -> set[Proposal]:
        """The proposals that are sure enough if their sentence reads best with them."""
        best = self._calibration.best_reading
        judged = self._judged(passage, [replace(one, reading=best) for one in found])
        return {
            one
            for one, sure in zip(found, judged, strict=True)
            if sure.confidence >= self.needed(passage, one)
        }

    def needed(self, passage: _Passage, proposal: Proposal) -> float:
        """The confidence that a proposal needs."""
        return self._guard.needed(proposal, passage.paragraph)

    def propose(self, passage: _Passage, found: Sequence[Proposal]) -> None:
        """Take down the proposals for a passage that nothing speaks against."""
        followed = frozenset((one.start, one.end) for one in found if one.confidence >= FOLLOWED)
        self._take_down(passage, self._judged(passage, found), followed)

    def _take_down(
        self,
        passage: _Passage,
        found: Sequence[Proposal],
        followed: frozenset[tuple[int, int]] | None = None,
    ) -> None:
        """Take down what nothing speaks against; `followed` are the places with whose changes the rest of the sentence was read."""
        paragraph = passage.paragraph
        allowed = [
            proposal
            for proposal in found
            if self._guard.objection(proposal, paragraph) is None
            if self._is_within(paragraph, proposal) and not self._was_changed(paragraph, proposal)
        ]
        if followed is not None:
            allowed = _without_contradictions(found, allowed, followed)
            allowed = [one for one in allowed if not self._contradicts_made(paragraph, one)]
        span = passage.span
        # Nothing leads back to what the sentence was before.
        kept = [one for one in allowed if _corrected(paragraph, span, [one]) not in self._former]
        if kept and _corrected(paragraph, span, kept) not in self._former:
            self._former.add(_corrected(paragraph, span, []))
            self._proposed.setdefault(id(paragraph), []).extend(kept)

    def _contradicts_made(self, paragraph: Paragraph, proposal: Proposal) -> bool:
        """Whether a proposal does not go with what an earlier look has changed near it."""
        start, end = map(paragraph.source_offset, (proposal.start, proposal.end))
        return any(
            (0 < start - last <= _NEAR_VERB and _agree(change, proposal) is False)
            or (0 < first - end <= _NEAR_VERB and _agree(proposal, change) is False)
            for first, last, change in self._made
        )

    def _judged(self, passage: _Passage, found: Sequence[Proposal]) -> list[Proposal]:
        """Proposals with their calibrated confidence, which depends on the others in the same sentence."""
        return self._calibration.judged(found, self.made_in(passage))

    def made_in(self, passage: _Passage) -> float:
        """How sure the changes that a sentence already has were, added up: other changes beside those that are proposed now."""
        start, end = map(passage.paragraph.source_offset, passage.span)
        first = bisect_left(self._made, start, key=lambda made: made[0])
        sure = 0.0
        for _, last, change in islice(self._made, first, None):
            if last > end:
                break
            sure += change.confidence
        return sure

    def proposed(self) -> list[Proposal]:
        """What was taken down in this look, with places in the text."""
        return [
            replace(
                one,
                start=paragraph.source_offset(one.start),
                end=paragraph.source_offset(one.end),
            )
            for paragraph in self._paragraphs
            for one in self._proposed.get(id(paragraph), ())
        ]

    def finish_look(self) -> bool:
        """Make the changes of this look that are safe; returns whether there were any."""
        proposed = [
            (paragraph, self._proposed[id(paragraph)])
            for paragraph in self._paragraphs
            if id(paragraph) in self._proposed
        ]
        wanted = [
            (paragraph, [ProseChange(one.start, one.end, one.new) for one in some])
            for paragraph, some in proposed
        ]
        safe = set(safe_edits(self._text, self._draft.format, wanted)) if wanted else set()
        made = [
            one
            for paragraph, some in proposed
            for proposal in some
            if (one := _made(paragraph, proposal, safe)) is not None
        ]
        self._proposed, self._fresh = {}, []
        if not made:
            return False
        later = _merged(self._text, made)
        self._changes = _composed(self._draft.text, self._text, self._changes, later)
        self._made = [*_placed(self._changes)]
        self._text = with_changes(self._text, later)
        self._fresh = [Span(start, end) for start, end, _ in _placed(later)]
        self._paragraphs = paragraphs(self._text, self._draft.format)
        return True

    def result(self) -> Proofread:
        return Proofread(self._draft, self._text, tuple(self._changes), self._sentences)

    @property
    def _within(self) -> Span:
        """The part of the present text that is looked at."""
        within = self._draft.within
        if within is None:
            return Span(0, len(self._text))
        return Span(within.start, len(self._text) - (len(self._draft.text) - within.end))

    def _is_fresh(self, start: int, end: int) -> bool:
        if self._fresh is None:
            return True
        after = bisect_left(self._fresh, start, key=lambda span: span.end)
        return after < len(self._fresh) and self._fresh[after].start <= end

    def _is_within(self, paragraph: Paragraph, proposal: Proposal) -> bool:
        start, end = self._within
        first = paragraph.source_offset(proposal.start)
        return start <= first and paragraph.source_offset(proposal.end) <= end

    def _was_changed(self, paragraph: Paragraph, proposal: Proposal) -> bool:
        """Whether a proposal is about what an earlier look has changed."""
        start = paragraph.source_offset(proposal.start)
        end = paragraph.source_offset(proposal.end)
        for first, last, change in self._made:
            if change in self._spelled:
                continue
            # A mark may be put beside a word that was corrected; nothing comes beside what was put in or taken out.
            beside = not (change.old.strip() and change.new.strip())
            if (start <= last and first <= end) if beside else (start < last and first < end):
                return True
        return False


def _without_contradictions(
    found: Sequence[Proposal],
    allowed: Sequence[Proposal],
    followed: frozenset[tuple[int, int]],
) -> list[Proposal]:
    """What is allowed, without changes that are each right only if the other one is not made: the surer one stays.

    "My colleagues describes" has two corrections. A verb that was read behind another noun does not stay either, if the noun is not changed.
    """
    left = list(allowed)
    for first, second in product(found, found):
        if second not in left or not 0 < second.start - first.end <= _NEAR_VERB:
            continue
        agree = _agree(first, second)
        if first in left and agree is False:
            left.remove(min(first, second, key=lambda one: one.confidence))
        elif (
            agree
            and first not in left
            and (first.start, first.end) in followed
            and first.kind is Kind.NOUN_NUMBER
        ):
            left.remove(second)
    return left


def _agree(first: Proposal | Change, second: Proposal | Change) -> bool | None:
    """Whether two changes say the same of how many things there are; None if they do not depend on each other."""
    if (first.kind, second.kind) not in _IN_AGREEMENT:
        return None
    one, other = (makes_one(made.kind, made.old, made.new) for made in (first, second))
    return None if one is None or other is None else one is other


def _corrected(paragraph: Paragraph, span: Span, some: Sequence[Proposal]) -> str:
    start, end = span
    edits = [SourceEdit(one.start - start, one.end - start, one.new) for one in some]
    return apply_edits(paragraph.text[start:end], edits).strip()


class _Made(NamedTuple):
    """The edits of a proposal that were safe, and the stretch of the text that it is about."""

    start: int
    end: int
    edits: list[SourceEdit]
    proposal: Proposal


def _made(paragraph: Paragraph, proposal: Proposal, safe: set[SourceEdit]) -> _Made | None:
    """What a proposal does to the source; None if that is not safe."""
    wanted = ProseChange(proposal.start, proposal.end, proposal.new)
    edits = source_edits(paragraph, [wanted])
    if not edits or not safe.issuperset(edits):
        return None
    start = min(paragraph.source_offset(proposal.start), edits[0].start)
    end = max(paragraph.source_offset(proposal.end), edits[-1].end)
    return _Made(start, end, edits, proposal)


def _merged(text: str, made: Sequence[_Made]) -> list[Change]:
    """What was made as changes of the text; some are one where a line break moved by a word."""
    groups: list[list[_Made]] = []
    end = -1
    for one in sorted(made):
        if groups and one.start < end:
            groups[-1].append(one)
        else:
            groups.append([one])
        end = max(end, one.end)
    changes = []
    for group in groups:
        start, end = group[0].start, max(one.end for one in group)
        old = text[start:end]
        edits = [edit for one in group for edit in one.edits]
        new = apply_edits(old, [SourceEdit(a - start, b - start, put) for a, b, put in edits])
        first = group[0].proposal
        sure = min(one.proposal.confidence for one in group)
        kind = first.kind if len(group) == 1 else _kind(text, start, end, new)
        if old != new:
            changes.append(Change(start, old, new, sure, kind))
    return changes


def _kind(text: str, start: int, end: int, new: str) -> Kind:
    return kind_of(text[start:end], new, text[:start], text[end:])


def _placed(changes: Sequence[Change]) -> Iterator[tuple[int, int, Change]]:
    """Changes with the places of what they put in, in the text that has all of them."""
    growth = 0
    for change in changes:
        start = change.start + growth
        yield start, start + len(change.new), change
        growth += len(change.new) - len(change.old)


def _composed(
    original: str, text: str, earlier: Sequence[Change], later: Sequence[Change]
) -> list[Change]:
    """Changes that made `text` of `original`, and changes of `text`, as changes of `original`."""
    placed = [*_placed(earlier)]
    ends = [end for _, end, _ in placed]

    def origin(place: int) -> int:
        """The place in the original of one that is in no earlier change."""
        before = placed[: bisect_right(ends, place)]
        return place - sum(len(change.new) - len(change.old) for _, _, change in before)

    both = [(start, end, change, True) for start, end, change in placed]
    both += [(change.start, change.end, change, False) for change in later]
    groups: list[list[tuple[int, int, Change, bool]]] = []
    last = -1
    for one in sorted(both, key=lambda one: one[:2]):
        if groups and one[0] < last:
            groups[-1].append(one)
        else:
            groups.append([one])
        last = max(last, one[1])
    composed = []
    for group in groups:
        start, end = group[0][0], max(one[1] for one in group)
        _, _, change, is_earlier = group[0]
        if len(group) == 1 and is_earlier:
            composed.append(change)
        elif len(group) == 1:
            composed.append(replace(change, start=origin(start)))
        else:
            first, last = origin(start), origin(end)
            edits = [one[2].edit for one in group if not one[3]]
            moved = [SourceEdit(a - start, b - start, new) for a, b, new in edits]
            new = apply_edits(text[start:end], moved)
            sure = min(one[2].confidence for one in group)
            kind = _kind(original, first, last, new)
            composed.append(Change(first, original[first:last], new, sure, kind))
    return composed
