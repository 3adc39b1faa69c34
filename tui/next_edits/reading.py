"""The search for next edits: by the text alone in a thread of its own, then by the model if it has learned them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.editor.lists import Lists, TextSource
from reviser.next_edits.history import ChangedLines, meant_in
from tui.runs.jobs import JobThread
from tui.runs.writer import Writer

if TYPE_CHECKING:
    from reviser.editor.following import FollowedPart
    from reviser.next_edits.following import EditFollower, RefusedEdit
    from reviser.session.engine import Engine
    from tui.sheet import Sheet


class FoundOffers(NamedTuple):
    """All suggestions in a part of a text, and the confidence from which on they are shown."""

    part: FollowedPart
    least: float


@dataclass(eq=False)
class OfferReading:
    """A request to follow the user's edits in a text: its content at one version of its draft."""

    sheet: Sheet
    text: str
    version: int
    changed: Sequence[ChangedLines]
    edited: Sequence[tuple[int, int]]
    refused: Sequence[RefusedEdit]
    # The edits that were followed last, as far as everything found then still stands.
    known: Sequence[tuple[str, str]] | None
    made: list[Edit] = field(default_factory=list)
    # What was found, in order: the part around the last edit, then the others; a model's after those of the text alone.
    found: deque[FoundOffers] = field(default_factory=deque)
    # Whether some of that is shown already.
    taken: bool = False
    cancelled: bool = False
    over: bool = False
    failure: str | None = None

    @property
    def source(self) -> TextSource:
        return self.sheet.source

    @property
    def current(self) -> bool:
        """Whether somebody waits for it: the text is unchanged since it began."""
        return not self.cancelled and self.sheet.draft.version == self.version

    @property
    def followed(self) -> list[tuple[str, str]]:
        return [(edit.old, edit.new) for edit in self.made]


_Read = Callable[[OfferReading], bool]


class OfferReader:
    """Looks for next edits in texts, one after the other."""

    def __init__(self, writer: Writer, lists: Lists, confidence: float | None) -> None:
        self._writer = writer
        self._lists = lists
        self._confidence = confidence
        self._thread = JobThread("next edits")
        self._by_text: EditFollower | None = None
        # The rest belongs to the model's thread: the engine with its follower, None if it has not learned next edits.
        self._by_model: tuple[Engine, EditFollower | None] | None = None
        self._reading: OfferReading | None = None

    def begin(self, reading: OfferReading) -> None:
        self._thread.submit(partial(self._attempt, reading, self._read_by_text))

    # In the threads

    def _attempt(self, reading: OfferReading, read: _Read) -> None:
        from reviser.editor.reader import Cancelled

        try:
            if read(reading):
                return
        except Cancelled:
            pass
        except ReviserError as error:
            reading.failure = str(error)
        except Exception as error:
            # A thread that dies in silence would leave the editor waiting for ever.
            reading.failure = f"next edits failed: {type(error).__name__}: {error}"
        reading.over = True

    def _read_by_text(self, reading: OfferReading) -> bool:
        """Follow the edits by the text alone; returns whether the model goes on with that."""
        from reviser.next_edits.following import follower

        reading.made = meant_in(reading.changed)
        if not reading.made or reading.followed == reading.known:
            return False
        if self._by_text is None:
            self._by_text = follower()
        self._read(reading, self._by_text)
        engine = self._writer.loaded
        if engine is None or not engine.policy.vocabulary.next_edits:
            return False
        self._writer.submit(partial(self._attempt, reading, partial(self._read_by_model, engine)))
        return True

    def _read_by_model(self, engine: Engine, reading: OfferReading) -> bool:
        from reviser.next_edits.following import follower

        self._reading = reading
        if self._by_model is None or self._by_model[0] is not engine:
            try:
                self._by_model = engine, follower(engine, self._check)
            except ReviserError:
                # A model without a judgement: the text alone has to do.
                self._by_model = engine, None
        if self._by_model[1] is not None:
            self._read(reading, self._by_model[1])
        return False

    def _check(self) -> None:
        from reviser.editor.reader import Cancelled

        if self._reading is None or not self._reading.current:
            raise Cancelled

    def _read(self, reading: OfferReading, follower: EditFollower) -> None:
        from reviser.editor.following import follow
        from reviser.prose import Format, format_of

        source = reading.source
        named = str(source.file) if source.file is not None else "a.txt"
        format = format_of(named, reading.text)
        if format is Format.UNKNOWN or self._lists.excludes(source):
            return
        least = follower.judgement.confidence if self._confidence is None else self._confidence
        for part in follow(follower, reading.text, format, reading.made, reading.edited, reading.refused):
            reading.found.append(FoundOffers(part, least))
            if not reading.current:
                return
