"""Proofreading in the model's thread, cancelled when the text changes or a run needs the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reviser.core.errors import ReviserError
from reviser.editor.edited_text import EditedText
from reviser.editor.excerpts import excerpt, whole_characters
from reviser.editor.lists import Lists, TextSource
from reviser.proofreading.suggestion import Suggestion
from tui.proofreading.mistakes import Mistakes
from tui.runs.writer import Writer

if TYPE_CHECKING:
    from reviser.editor.reader import EditorReader


# The number of characters of a long text that are read around the screen.
_AROUND = 20_000


@dataclass(eq=False)
class DraftReading:
    """A request to proofread a text: its content at one version of its draft."""

    draft: EditedText
    mistakes: Mistakes
    source: TextSource
    text: str
    near: int
    version: int
    # Whether words were listed or findings ignored since it began.
    outdated: bool = False
    complete: bool = False
    over: bool = False
    failure: str | None = None
    # The findings with the stretches that were read, in order.
    found: deque[FoundMistakes] = field(default_factory=deque)
    read: tuple[int, int] = (0, 0)

    @property
    def current(self) -> bool:
        """Whether text and lists are unchanged since it began."""
        return self.draft.version == self.version and not self.outdated


class FoundMistakes(NamedTuple):
    """All mistakes in some stretches of a text."""

    spans: list[tuple[int, int]]
    findings: list[Suggestion]


class MistakeReader:
    """A reader of texts, one after the other, that caches the findings of each paragraph."""

    def __init__(self, writer: Writer, lists: Lists, confidence: float | None) -> None:
        self._writer = writer
        self._lists = lists
        self._confidence = confidence
        # Belongs to the thread.
        self._reader: EditorReader | None = None

    def begin(self, reading: DraftReading) -> None:
        self._writer.submit(partial(self._work, reading))

    # In the thread

    def _work(self, reading: DraftReading) -> None:
        from reviser.editor.reader import Cancelled, EditorReader

        try:
            engine = self._writer.engine()
            if self._reader is None or self._reader.engine is not engine:
                self._reader = EditorReader(engine)
            reading.found.extend(self._read(reading, self._reader))
            reading.complete = True
        except Cancelled:
            pass
        except ReviserError as error:
            reading.failure = str(error)
        except Exception as error:
            # A thread that dies in silence would leave the editor waiting for ever.
            reading.failure = f"the model failed: {type(error).__name__}: {error}"
        reading.over = True

    def _read(self, reading: DraftReading, reader: EditorReader) -> Iterator[FoundMistakes]:
        from reviser.proofreading.document import Draft
        from reviser.prose import Format, format_of

        text, source = reading.text, reading.source
        named = str(source.file) if source.file is not None else "a.txt"
        format = format_of(named, text)
        if format is Format.UNKNOWN or self._lists.excludes(source):
            reading.read = 0, len(text)
            return
        reading.read = start, end = excerpt(text, reading.near, format, _AROUND)
        given = Draft(
            whole_characters(text[start:end]), format, self._lists.words(source), rules=self._lists.rules(source)
        )
        ignored = self._lists.ignored(source, text)
        project = self._lists.settings(source)

        def waits() -> bool:
            return reading.current and not self._writer.wanted

        confidence = project.dial(self._confidence)
        for part in reader.check(given, reading.near - start, confidence, project.kinds, waits):
            found = [one.moved(start) for one in part.changes]
            yield FoundMistakes(
                [(start + first, start + last) for first, last in part.spans],
                [one for one in found if not ignored(one) and text.startswith(one.old, one.start)],
            )
