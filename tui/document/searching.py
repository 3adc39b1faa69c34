"""Finding and replacing in a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reviser.core.errors import ReviserError
from tui.document.draft import Draft, Selection

# Counting goes this far; a larger number tells nobody more.
COUNT_LIMIT = 9999


@dataclass(frozen=True)
class Search:
    """What to look for."""

    wanted: str
    case: bool = False
    pattern: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        flags = re.MULTILINE | (0 if self.case else re.IGNORECASE)
        try:
            return re.compile(self.wanted if self.pattern else re.escape(self.wanted), flags)
        except re.error as error:
            raise ReviserError(f"{self.wanted} is not a pattern: {error}") from None

    def matches_in(self, text: str) -> list[tuple[int, int]]:
        """Where it is found in `text`; empty matches do not count."""
        if not self.wanted:
            return []
        return [found.span() for found in self.regex.finditer(text) if found.end() > found.start()]

    def count(self, draft: Draft) -> int:
        """How often it is found, up to the limit."""
        total = 0
        if not self.wanted:
            return 0
        for found in self.regex.finditer(draft.text):
            total += found.end() > found.start()
            if total == COUNT_LIMIT:
                break
        return total

    def following(self, draft: Draft, offset: int) -> Selection | None:
        """The first match at or behind `offset`, else the first of all."""
        text = draft.text
        return self._first(text, offset) or self._first(text, 0)

    def preceding(self, draft: Draft, offset: int) -> Selection | None:
        """The last match that ends at or before `offset`, else the last of all."""
        matches = self.matches_in(draft.text)
        earlier = [span for span in matches if span[1] <= offset]
        return Selection(*(earlier or matches)[-1]) if matches else None

    def _first(self, text: str, offset: int) -> Selection | None:
        if not self.wanted:
            return None
        found = self.regex.search(text, offset)
        while found is not None and found.end() == found.start():
            if found.end() >= len(text):
                return None
            found = self.regex.search(text, found.end() + 1)
        return None if found is None else Selection(*found.span())

    def replace_selected(self, draft: Draft, replacement: str) -> bool:
        """Replace the selection if it is a match; False if it is not."""
        selection = draft.selection
        found = self.regex.match(draft.text, selection.start) if self.wanted else None
        if found is None or selection.empty or found.end() != selection.end:
            return False
        draft.edit(selection.start, selection.end, self._expand(found, replacement))
        return True

    def replace_all(self, draft: Draft, replacement: str) -> int:
        """Replace every match in one entry of undo; returns how many there were."""
        if not self.wanted:
            return 0
        text = draft.text
        found = [match for match in self.regex.finditer(text) if match.end() > match.start()]
        if not found:
            return 0
        parts = []
        at = found[0].start()
        for match in found:
            parts += [text[at : match.start()], self._expand(match, replacement)]
            at = match.end()
        draft.edit(found[0].start(), at, "".join(parts))
        return len(found)

    def _expand(self, found: re.Match[str], replacement: str) -> str:
        if not self.pattern:
            return replacement
        try:
            return found.expand(replacement)
        except (re.error, IndexError) as error:
            raise ReviserError(f"{replacement} cannot replace a match: {error}") from None
