"""The reader that editors share: checks and revises documents with a model, and stops when the request is cancelled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from reviser.core.errors import ReviserError
from reviser.editor.incremental import CheckedPart, IncrementalChecker
from reviser.editor.revising import Revised, revise
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.project.ignoring import IgnoredPlace
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.session.engine import Engine
from reviser.session.session import check_revises

if TYPE_CHECKING:
    from reviser.next_edits.following import EditedDocument, EditFollower

_CHECKERS: Final = 4
_Found = TypeVar("_Found")

Waits = Callable[[], bool]
"""A predicate: whether the result is still wanted. It is called between groups of sentences."""


class Cancelled(Exception):
    """The request was cancelled: nobody waits for the result."""


class EditorReader:
    """Reads documents with one model, with a cache of results for the last few confidences and sets of kinds."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._checkers: OrderedDict[tuple[float, frozenset[Kind]], IncrementalChecker] = OrderedDict()

    def check(
        self, draft: Draft, near: int, confidence: float, kinds: Collection[Kind], waits: Waits
    ) -> Iterator[CheckedPart]:
        """The changes found in the parts of a document, those nearest to `near` first; raises `Cancelled`."""
        checker = self._checker(confidence, frozenset(kinds))
        return _until(waits, checker.check(draft, near, _stopping(waits)))

    def revise(
        self, draft: Draft, confidence: float, name: str, ignored: Collection[IgnoredPlace], waits: Waits
    ) -> Iterator[Revised]:
        """The changes to a document, called `name` in its project, without the ignored ones; raises `Cancelled`."""
        check_revises(self.engine.policy.vocabulary)
        reader = Proofreader(self.engine.policy, self.engine.tokenizer, confidence=confidence)

        def is_wanted(change: Suggestion) -> bool:
            return IgnoredPlace.of(name, draft.text, change.start, change.old, change.new) not in ignored

        return _until(waits, revise(draft, lambda some: reader.proofread(some, _stopping(waits)), is_wanted))

    def next_edits(
        self, edited: EditedDocument, least: float | None, within: tuple[int, int], waits: Waits
    ) -> list[Suggestion] | None:
        """The next edits in a part of a document; None if the model has not learned them. Raises `Cancelled`."""
        if self._follower is None or self._follower.reader is None:
            return None
        self._follower.reader.before_reading = lambda: _go_on(waits)
        return self._follower.suggestions(edited, least, within)

    @cached_property
    def _follower(self) -> EditFollower | None:
        from reviser.next_edits.following import follower

        try:
            return follower(self.engine)
        except ReviserError:
            return None

    def _checker(self, confidence: float, kinds: frozenset[Kind]) -> IncrementalChecker:
        checker = self._checkers.pop((confidence, kinds), None)
        if checker is None:
            policy, tokenizer = self.engine.policy, self.engine.tokenizer
            reader = Proofreader(policy, tokenizer, confidence=confidence, kinds=kinds)
            checker = IncrementalChecker(reader.proofread, confidence, reader.listed)
        self._checkers[confidence, kinds] = checker
        while len(self._checkers) > _CHECKERS:
            self._checkers.popitem(last=False)
        return checker


def _until(waits: Waits, found: Iterator[_Found]) -> Iterator[_Found]:
    """The items of an iterator; raises `Cancelled` as soon as nobody waits."""
    _go_on(waits)
    for one in found:
        yield one
        _go_on(waits)


def _go_on(waits: Waits) -> None:
    if not waits():
        raise Cancelled


def _stopping(waits: Waits) -> Callable[[int, int], None]:
    """A progress callback that raises `Cancelled` when nobody waits."""
    return lambda done, of: _go_on(waits)
