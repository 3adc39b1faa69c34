"""Search and replace in a draft, each with a time limit.

A regular expression can take more steps than any user would wait for. Unlike `re`, the module `regex` can stop at a
time limit and lets other threads work meanwhile.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import regex

from reviser.core.errors import ReviserError
from reviser.editor.edited_text import EditedText, Selection

# Counting stops at this number of matches.
COUNT_LIMIT = 9999
# The longest search text, in characters.
LONGEST = 1000
# Time limits in seconds for a search, and for replacing all matches.
_FINDING = 1.0
_REPLACING = 3.0


class SearchFailed(ReviserError):
    """The reason why a search failed, as a sentence, and in few words for where room is short."""

    def __init__(self, sentence: str, short: str) -> None:
        super().__init__(sentence)
        self.short = short


@dataclass(frozen=True)
class Count:
    """The number of matches found; a lower bound if counting stopped at the limit."""

    number: int
    complete: bool


@dataclass(frozen=True)
class TextSearch:
    """A search for a text or pattern. Its methods raise `SearchFailed` for an invalid pattern or at the time limit."""

    wanted: str
    case: bool = False
    pattern: bool = False

    @cached_property
    def _regex(self) -> regex.Pattern[str]:
        if len(self.wanted) > LONGEST:
            raise SearchFailed(f"there is no search for more than {LONGEST:,} characters", "too long")
        flags = regex.MULTILINE | (0 if self.case else regex.IGNORECASE)
        try:
            made = regex.compile(self.wanted if self.pattern else re.escape(self.wanted), flags)
        except (regex.error, RecursionError) as error:
            raise self._no_pattern(error) from None
        if made.flags & regex.REVERSE:
            raise self._no_pattern("it is searched from its start to its end")
        return made

    def _no_pattern(self, reason: object) -> SearchFailed:
        return SearchFailed(f"{self.wanted} is not a pattern: {reason}", "not a pattern")

    def _matches(self, text: str, start: int = 0, seconds: float = _FINDING) -> Iterator[regex.Match[str]]:
        """The matches in `text` from `start` on; empty ones do not count."""
        if not self.wanted:
            return
        end = time.thread_time() + seconds
        with self._in_time():
            for found in self._regex.finditer(text, start, timeout=seconds, concurrent=True):
                if found.end() > found.start():
                    yield found
                if time.thread_time() > end:
                    raise TimeoutError

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            sentence = f"looking for {self.wanted} takes too long"
            raise SearchFailed(sentence, "takes too long") from None

    def matches_in(self, text: str, seconds: float = _FINDING) -> list[tuple[int, int]]:
        """The start and end of each match in `text`."""
        return [found.span() for found in self._matches(text, seconds=seconds)]

    def count(self, text: str, unwanted: Callable[[], bool] = lambda: False) -> Count:
        """The number of matches, up to a limit; counting stops when `unwanted` returns True."""
        number = 0
        try:
            for _ in self._matches(text):
                number += 1
                if number == COUNT_LIMIT or unwanted():
                    return Count(number, complete=False)
        except SearchFailed:
            return Count(number, complete=False)
        return Count(number, complete=True)

    def following(self, draft: EditedText, offset: int, seconds: float = _FINDING) -> Selection | None:
        """The first match at or behind `offset`, else the first in the text; None if there is none."""
        text = draft.text
        for start in (offset, 0):
            for found in self._matches(text, start, seconds):
                return Selection(*found.span())
        return None

    def preceding(self, draft: EditedText, offset: int, seconds: float = _FINDING) -> Selection | None:
        """The last match that ends at or before `offset`, else the last in the text; None if there is none."""
        matches = self.matches_in(draft.text, seconds)
        earlier = [span for span in matches if span[1] <= offset]
        return Selection(*(earlier or matches)[-1]) if matches else None

    def replace_selected(self, draft: EditedText, replacement: str) -> bool:
        """Replace the selection if it is a match; False if it is not."""
        selection = draft.selection
        if not self.wanted or selection.empty:
            return False
        with self._in_time():
            found = self._regex.match(draft.text, selection.start, timeout=_FINDING)
        if found is None or found.end() != selection.end:
            return False
        draft.edit(selection.start, selection.end, self._expand(found, replacement))
        return True

    def replace_all(self, draft: EditedText, replacement: str) -> int:
        """Replace every match in one undo step; returns how many there were."""
        text = draft.text
        found = list(self._matches(text, seconds=_REPLACING))
        if not found:
            return 0
        parts = []
        at = found[0].start()
        for match in found:
            parts += [text[at : match.start()], self._expand(match, replacement)]
            at = match.end()
        draft.edit(found[0].start(), at, "".join(parts))
        return len(found)

    def _expand(self, found: regex.Match[str], replacement: str) -> str:
        if not self.pattern:
            return replacement
        try:
            return str(found.expand(replacement))
        except (regex.error, IndexError) as error:
            raise ReviserError(f"{replacement} cannot replace a match: {error}") from None
