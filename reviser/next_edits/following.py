"""Suggestions of next edits for a document: what else a person would change after the edits made so far."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.decoding.policy import LoadedModel
from reviser.next_edits.evidence import RepeatEvidence
from reviser.next_edits.guard import NextEditGuard
from reviser.next_edits.judgement import MODEL, NextEditJudgement, judgement_for
from reviser.next_edits.prompt import RecentEdit, recent_edit
from reviser.next_edits.reading import NextEditReader
from reviser.next_edits.repeats import Repeat, RepeatWay, repeats
from reviser.proofreading.changes import kind_of
from reviser.proofreading.guard.calibration import log_odds
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.suggestion import NEXT_EDIT, Suggestion
from reviser.prose import Format

REFUSED: Final = 1.0
"""The reduction of the log-odds of an edit for each time it was refused elsewhere."""
OWN_REASON: Final = "It goes with your last edits"
"""The reason for a change that a model proposes by itself."""
_BESIDE: Final = 24
_WORTH_READING: Final = 0.03


@dataclass(frozen=True)
class RefusedEdit:
    """A suggestion that a person refused, known by its words and their neighbours in the line, wherever the line
    moves."""

    old: str
    new: str
    before: str
    after: str

    @classmethod
    def of(cls, text: str, change: Edit) -> RefusedEdit:
        before = text[max(change.start - _BESIDE, 0) : change.start].rpartition("\n")[2]
        after = text[change.end : change.end + _BESIDE].partition("\n")[0]
        return cls(change.old, change.new, before, after)

    @property
    def pattern(self) -> tuple[str, str]:
        return self.old.casefold(), self.new.casefold()


@dataclass(frozen=True)
class EditedDocument:
    """A document in which a person has made edits.

    `made` are the edits by their places in the text, the latest last. `elsewhere` are edits that were made in other
    documents before. `refused` are suggestions that the person did not want.
    """

    text: str
    format: Format
    made: Sequence[Edit] = ()
    elsewhere: Sequence[RecentEdit] = ()
    refused: Collection[RefusedEdit] = ()

    @property
    def shown(self) -> list[RecentEdit]:
        """All edits, the latest last."""
        return [*self.elsewhere, *(recent_edit(self.text, edit) for edit in self.made)]

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The ranges of the new texts of the edits in this document."""
        return [(edit.start, edit.start + len(edit.new)) for edit in self.made]

    @property
    def spans(self) -> list[tuple[int, int] | None]:
        """The range of each edit's new text; None for edits in other documents."""
        return [*([None] * len(self.elsewhere)), *self.taken]

    @cached_property
    def guard(self) -> NextEditGuard:
        """The guard of the text, which takes as long to make as all else."""
        return NextEditGuard(self.text, self.format)


@dataclass(frozen=True)
class NextEditCandidate:
    """A change that the guard allows, the edit that it follows, and its features."""

    repeat: Repeat
    edit: RecentEdit
    features: Mapping[str, float]

    @property
    def change(self) -> Edit:
        return self.repeat.change


@dataclass(frozen=True)
class JudgedEdit:
    """A candidate, and the probability that the person makes it."""

    candidate: NextEditCandidate
    confidence: float

    @property
    def change(self) -> Edit:
        return self.candidate.change


def candidates(
    edited: EditedDocument,
    known: Callable[[str], bool] | None = None,
    reader: NextEditReader | None = None,
    within: tuple[int, int] | None = None,
) -> list[NextEditCandidate]:
    """The changes that could follow a person's edits, in order: repeats of them, and proposals of a model.

    `known` tells whether a word is in the word list. With a `reader`, the features include the model's odds; unlikely
    repeats are then left out, as reading costs time. Of the text, only what is `within` a range is changed or read.
    """
    shown = edited.shown
    found = repeats(edited.text, shown, edited.taken)
    if not shown or not (found or reader):
        return []
    guard = edited.guard
    evidence = RepeatEvidence(edited.text, shown, edited.spans, found, known)
    refused = set(edited.refused)

    in_protected = [False] * len(edited.elsewhere) + [not guard.allows(edit.inverse()) for edit in edited.made]

    def is_open(change: Edit) -> bool:
        return guard.allows(change) and RefusedEdit.of(edited.text, change) not in refused

    worth = []
    for one in found:
        if within is not None and not within[0] <= one.change.start < within[1]:
            continue
        features = evidence.features(one)
        # What is protected stays, unless the person has changed such a thing himself, as in another address.
        follows = in_protected[one.edit] and "same inside" in features and "in fence" not in features
        if (follows and RefusedEdit.of(edited.text, one.change) not in refused) or is_open(one.change):
            worth.append(NextEditCandidate(one, shown[one.edit], features))
    alone = judgement_for() if reader is not None else None
    if reader is None or alone is None:
        return worth
    worth = [one for one in worth if alone.confidence_of(one.features) >= _WORTH_READING]
    odds = dict(reader.odds(edited.text, shown, [one.change for one in worth]))
    read = [replace(one, features={**one.features, MODEL: odds[one.change]}) for one in worth if one.change in odds]
    cores = {one.change.core for one in read}
    for own in reader.proposed(edited.text, shown, edited.taken, within):
        repeat = Repeat(own.change, len(shown) - 1, RepeatWay.OWN)
        if own.change.core not in cores and is_open(own.change):
            features = {**evidence.features_of_own(own.change), MODEL: log_odds(own.chance)}
            read.append(NextEditCandidate(repeat, shown[-1], features))
    return sorted(read, key=lambda one: one.change)


class EditFollower:
    """Suggests what else a person would change in a document."""

    def __init__(
        self,
        judgement: NextEditJudgement,
        known: Callable[[str], bool] | None = None,
        reader: NextEditReader | None = None,
    ) -> None:
        if bool(judgement.model) != (reader is not None):
            raise ValueError("a judgement goes with the model that it was fitted for")
        self.judgement = judgement
        self._known = known
        self.reader = reader

    def judged(self, edited: EditedDocument, within: tuple[int, int] | None = None) -> list[JudgedEdit]:
        """All candidates, or those `within` a range, in order, each with its confidence after earlier refusals."""
        refused = Counter(one.pattern for one in edited.refused)
        found = []
        for one in candidates(edited, self._known, self.reader, within):
            confidence = self.judgement.confidence_of(one.features)
            times = refused[one.change.old.casefold(), one.change.new.casefold()]
            found.append(JudgedEdit(one, _less(confidence, REFUSED * times)))
        return found

    def suggestions(
        self, edited: EditedDocument, least: float | None = None, within: tuple[int, int] | None = None
    ) -> list[Suggestion]:
        """The suggested changes, or those `within` a range, in order; together, those in prose keep the document's
        structure.

        `least` is the lowest confidence of a suggestion, by default that of the judgement.
        """
        wanted = chosen(self.judged(edited, within), self.judgement.confidence if least is None else least)
        if not wanted:
            return []
        in_prose = [one.change for one in wanted if edited.guard.allows(one.change)]
        unsafe = set(in_prose) - set(edited.guard.safe(in_prose))
        text = edited.text
        return [
            Suggestion(
                change := one.change,
                kind_of(change.old, change.new, text[: change.start], text[change.end :]),
                one.confidence,
                reason_of(one.candidate),
                rule=NEXT_EDIT,
            )
            for one in wanted
            if one.change not in unsafe
        ]


def follower(engine: LoadedModel | None = None, before_reading: Callable[[], object] = lambda: None) -> EditFollower:
    """A follower that uses the text alone, or also a model that was trained for next edits.

    `before_reading` is called before each reading of the model, and may raise an exception to stop it.
    """
    known = dictionary().knows
    if engine is None:
        alone = judgement_for()
        if alone is None:
            raise ReviserError("the judgement of next edits is missing from this installation")
        return EditFollower(alone, known)
    reader = NextEditReader(engine.policy, engine.tokenizer, f"the model {engine.name}", before_reading)
    fitted = judgement_for(getattr(engine.policy, "digest", ""))
    if fitted is None or not fitted.model:
        raise ReviserError(f"next edits were not calibrated for the model {engine.name}")
    return EditFollower(fitted, known, reader)


def _less(confidence: float, by: float) -> float:
    """A confidence whose log-odds are lowered by `by`."""
    odds = confidence * math.exp(-by)
    return odds / (odds + 1 - confidence)


def chosen(judged: Iterable[JudgedEdit], least: float) -> list[JudgedEdit]:
    """The edits of at least a confidence, in order and without overlaps: of two that touch, the surer one stays."""
    kept: list[JudgedEdit] = []
    for one in sorted((one for one in judged if one.confidence >= least), key=lambda one: -one.confidence):
        if all(one.change.end < other.change.start or other.change.end < one.change.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.change.start)


def reason_of(candidate: NextEditCandidate) -> str:
    """The reason for a suggestion, as shown to the person: the edit that it follows."""
    if candidate.repeat.way is RepeatWay.OWN:
        return OWN_REASON
    old, new = candidate.edit.old.strip(), candidate.edit.new.strip()
    if not old and not new:
        return "You changed the space here in the same way elsewhere"
    if not old:
        return f"You put in '{new}'"
    return f"You changed '{old}' to '{new}'" if new else f"You took out '{old}'"
