"""Open structure at the end of a text, such as a code fence, an environment, a bracket or emphasis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_BLOCKS: Final = re.compile(
    r"^(?P<fence>[ \t]*(?P<mark>`{3,}|~{3,}))(?P<info>[^\n`]*)$"
    r"|(?<!\\)\\(?P<kind>begin|end)\{(?P<name>[A-Za-z]+\*?)\}",
    re.MULTILINE,
)
_MARKS: Final = re.compile(
    r"(?P<escaped>\\.)|(?P<code>`+)|(?P<emphasis>\*+|_+)|(?P<bracket>[()\[\]{}]|<(?=[A-Za-z/])|>)|(?P<quote>[\"“”„«»])|(?P<math>\$\$?)"
)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
_TEX: Final = re.compile(r"\\(?:begin|documentclass|usepackage|chapter|section|item)\b")
# A line that is indented, or that ends as lines of programs do: there quotation marks and stars are no prose.
_CODE: Final = re.compile(r"^(?: {4}|\t)[ \t]*\S|[;{}]$|\w\(.*\)[:,]$", re.MULTILINE)
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "<": ">", "“": "”", "„": "“", "«": "»", '"': '"'}
_BEFORE_OPENING: Final = "([{=\"'“„«‘—–-"


@dataclass(frozen=True)
class Opened:
    """An opening mark at character `at` of a text, closed by `closing`; a line break at its start means a line of its
    own."""

    at: int
    closing: str
    name: str = ""
    """Of an environment."""


@dataclass(frozen=True)
class Blocks:
    """The open code fence, the open environments (innermost last), and the offset after the last block mark."""

    fence: Opened | None = None
    environments: tuple[Opened, ...] = ()
    end: int = 0


def blocks(text: str, first: int = 0, before: Blocks | None = None) -> Blocks:
    """The blocks that are open at the end of a text; `before` are those open before the line that starts at `first`."""
    known = before or Blocks()
    fence, environments, end = known.fence, list(known.environments), known.end
    for found in _BLOCKS.finditer(text, first):
        end = found.end()
        if found["fence"]:
            mark = found["mark"]
            if fence is None:
                fence = Opened(found.start(), "\n" + found["fence"])
            elif mark.startswith(fence.closing.strip()) and not found["info"].strip():
                fence = None
        elif fence is None:
            name = found["name"]
            if found["kind"] == "begin":
                environments.append(Opened(found.start(), f"\n\\end{{{name}}}", name))
            elif any(one.name == name for one in environments):
                while environments.pop().name != name:
                    pass
    return Blocks(fence, tuple(environments), end)


def paragraph_start(text: str) -> int:
    """The offset where the last paragraph of a text begins."""
    end = len(text.rstrip())
    last = 0
    # From the end, in growing steps: the paragraph is mostly near.
    size = 1024
    while True:
        start = max(end - size, 0)
        for found in _PARAGRAPH.finditer(text, start, end):
            last = found.end()
        if last or not start:
            return last
        size *= 4


def is_tex(text: str) -> bool:
    return _TEX.search(text) is not None


class Inline:
    """The marks opened within a paragraph: brackets, quotation marks, emphasis, code and formulas."""

    def __init__(self, text: str, first: int, *, tex: bool) -> None:
        self._text = text
        self._tex = tex
        self._prose = _CODE.search(text, first) is None
        self.opened: list[Opened] = []
        for found in _MARKS.finditer(text, first):
            self._take(found)

    def _take(self, found: re.Match[str]) -> None:
        mark, at = found.group(), found.start()
        before = self._text[at - 1 : at] if at else ""
        after = self._text[found.end() : found.end() + 1]
        if code := self._innermost("`"):
            # What is between two of them means nothing but itself.
            if mark == code.closing:
                self.opened.remove(code)
            return
        match found.lastgroup:
            case "code" if self._prose:
                self._open(at, mark)
            case "emphasis" if self._prose and not self._tex:
                self._emphasis(at, mark, before, after)
            case "quote" if self._prose:
                self._quote(at, mark, before, after)
            case "math" if self._tex:
                self._toggle(at, mark)
            case "escaped" if self._tex and mark in (r"\[", r"\("):
                self._open(at, "\\" + _PAIRS[mark[1]])
            case "escaped" if self._tex and mark in (r"\]", r"\)"):
                self._close(mark)
            case "bracket" if mark not in _PAIRS:
                self._close(mark)
            case "bracket" if before not in tuple(":;"):
                self._open(at, _PAIRS[mark])

    def _emphasis(self, at: int, mark: str, before: str, after: str) -> None:
        closes = not after.isalnum() or not (before.isspace() or mark[0] == "_")
        if closes and self._close(mark):
            return
        if not after.isspace() and (not before or before.isspace() or before in _BEFORE_OPENING):
            self._open(at, mark)

    def _quote(self, at: int, mark: str, before: str, after: str) -> None:
        if mark == '"':
            opens = not before or before.isspace() or before in _BEFORE_OPENING
            if self._close(mark):
                # One that opens has another one before it that was left open.
                if opens and after and not after.isspace():
                    self._open(at, mark)
            elif opens:
                self._open(at, mark)
        elif not (mark in "”“»" and self._close(mark)) and mark in _PAIRS:
            self._open(at, _PAIRS[mark])

    def _open(self, at: int, closing: str) -> None:
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at + 1]
        ends_line = self._text[at + len(closing) : at + len(closing) + 1] == "\n"
        if ends_line and closing in ("}", "]", ")", "$$", r"\]"):
            closing = "\n" + line[: len(line) - len(line.lstrip())] + closing
        self.opened.append(Opened(at, closing))

    def _toggle(self, at: int, mark: str) -> None:
        if not self._close(mark):
            self._open(at, mark)

    def _close(self, closing: str) -> bool:
        """Close the innermost mark that `closing` closes, and those opened within it; False if there is none."""
        for place in range(len(self.opened) - 1, -1, -1):
            if self.opened[place].closing.strip() == closing:
                del self.opened[place:]
                return True
        return False

    def _innermost(self, first: str) -> Opened | None:
        last = self.opened[-1] if self.opened else None
        return last if last is not None and last.closing.startswith(first) else None


class OpenStructure:
    """The open structure at the end of a text, which begins with the text `before` a run."""

    def __init__(self, before: str) -> None:
        self.before = before
        self._known_to = before.rfind("\n") + 1
        self._known = blocks(before[: self._known_to])
        self._paragraph = paragraph_start(before)
        self._tex = is_tex(before)

    def blocks(self, text: str) -> Blocks:
        return blocks(text, self._known_to, self._known)

    def is_tex(self, written: str) -> bool:
        return self._tex or is_tex(written)

    def is_code(self, text: str) -> bool:
        """Whether a text ends in a code fence, or in a paragraph that looks like a program."""
        return self.blocks(text).fence is not None or _CODE.search(text, paragraph_start(text)) is not None

    def is_program(self, text: str) -> bool:
        """Whether a text without code fences ends like a program."""
        return _CODE.search(text, paragraph_start(text)) is not None and _BLOCKS.search(text) is None

    def opened(self, text: str) -> list[Opened]:
        """All open marks, innermost last; of earlier paragraphs, only blocks."""
        return self._all(text, self.blocks(text))

    def to_close(self, text: str, *, own: bool) -> list[Opened]:
        """The marks that a run which ends here has to close: those that it opened itself and, without `own`, also a
        fence that was open before and what was opened in the paragraph that it continues."""
        known = self.blocks(text)
        first = len(self.before) if own else self._paragraph
        return [one for one in self._all(text, known) if one.at >= first or (not own and one is known.fence)]

    def _all(self, text: str, known: Blocks) -> list[Opened]:
        found = list(known.environments)
        if known.fence is not None:
            return [*found, known.fence]
        first = paragraph_start(text)
        if _CODE.search(text, first):
            # Blocks of a program go on behind empty lines.
            first = min(first, self._paragraph)
        first = max(first, known.end)
        return found + Inline(text, first, tex=self.is_tex(text[len(self.before) :])).opened


def closings(opened: Sequence[Opened], text: str) -> str:
    """The text that closes all open marks at the end of a text."""
    made = ""
    for one in reversed(opened):
        ends_line = (text + made).endswith("\n")
        made += one.closing.removeprefix("\n") if ends_line else one.closing
    return made
