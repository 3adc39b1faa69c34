"""Plain text: paragraphs between blank lines, lists and headings are prose; apparent code and tables are not.

The text of comments and messages is read here, too, after the markers around it are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviser.prose.source import Block, Line, Role, Span, block_of

_ITEM = re.compile(r"\s*(?:[-*+•‣–◦]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)")
_RULE = re.compile(r"\s*([-=*_~#+.^])\s?(?:\1\s?){2,}\s*\Z")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_QUOTE = re.compile(r"\s{0,3}(?:>|\|\s|[A-Za-z]{1,3}>)")
_TABLE = re.compile(r"\S(?: {3,}|\t+)\S.*\S(?: {3,}|\t+)\S|\|.*\||\+-{2,}|\S\t+\S|^\s*\W{4,}\s*\Z")
_FINAL = re.compile(r"[.!?…:;,\"'”’)\]]\s*\Z")
_WORDS = re.compile(r"[^\W\d_]{2,}")

# Signs that a line is code; a sentence has hardly any of them.
_CODE = re.compile(
    r"[;{]\s*\Z|^[^{}]*\}\s*\Z|^\s*[{}\])]|^\s*[$%]\s\S|^\s*>>>|^\s*\.\.\.\s"
    r"|^\s*[\w.\[\]\"']+\s*(?:[-+*/|&:]?=|==|<-|=>)\s*\S"
    r"|^\s*[\w.:]+\([^()]*\)\s*[;:]?\s*\Z"
    r"|^\s*(?:def|class|import|from|return|elif|else|if|for|while|try|except|with|var|let|const|function|fn|func|"
    r"public|private|static|void|int|char|struct|#include|#define|#if|#endif)\b.*(?:[:;{(]\s*\Z|\bimport\b|=|\(\))"
    r"|^\s*(?:diff --git|index [0-9a-f]{7}|@@ |\+\+\+ |--- [ab]/|[+-]\s*\w+\()"
    r"|&&|\|\||==|!="
)

MOST_WRAPPED = 120
"""The most characters of a wrapped line; each longer line is a paragraph of its own."""


def looks_like_code(text: str) -> bool:
    """Whether a line looks like code rather than a sentence."""
    return bool(_CODE.search(text[:400]))


def document(lines: Sequence[Line]) -> Iterator[Block]:
    """The prose of a document in plain text; each paragraph is a scope of its own."""
    for block in blocks(lines):
        block.scope = Span(block.segments[0].start, block.segments[-1].end)
        yield block


def blocks(lines: Sequence[Line], *, role: Role = Role.BODY) -> Iterator[Block]:
    """The prose in plain text; `role` is the role of ordinary paragraphs."""
    fence = ""
    waiting: list[Line] = []
    for line in lines:
        found = _FENCE.match(line.text)
        if fence:
            if found and found.group(1).startswith(fence):
                fence = ""
            continue
        if line.blank or found:
            yield from _chunk(waiting, role)
            waiting = []
            fence = found.group(1) if found else ""
        else:
            waiting.append(line)
    if waiting:
        yield from _chunk(waiting, role)


def _chunk(lines: Sequence[Line], role: Role) -> Iterator[Block]:
    """The paragraphs among lines with no blank line between them."""
    if not lines or _preformatted(lines):
        return
    if len(lines) == 2 and _RULE.match(lines[1].text):
        yield from _one(Role.HEADING, lines[:1])
        return
    if any(line.text.lstrip().startswith(">>>") for line in lines):
        return
    width = max([len(line.text) for line in lines])
    waiting: list[Line] = []
    item = False
    for line in lines:
        marker = _ITEM.match(line.text)
        if _literal(line.text):
            yield from _finish(waiting, role, item)
            waiting, item = [], False
        elif marker and (not waiting or item or len(line.text) <= MOST_WRAPPED):
            yield from _finish(waiting, role, item)
            waiting, item = [line.cut(marker.end())], True
        elif waiting and not _wrapped(waiting[-1], line, width):
            yield from _finish(waiting, role, item)
            waiting, item = [line], False
        else:
            waiting.append(line)
    yield from _finish(waiting, role, item)


def _finish(lines: Sequence[Line], role: Role, item: bool) -> Iterator[Block]:
    if not lines:
        return
    if item:
        role = Role.ITEM
    elif role is Role.BODY and len(lines) == 1 and _is_heading(lines[0].text):
        role = Role.HEADING
    yield from _one(role, lines)


def _one(role: Role, lines: Sequence[Line]) -> Iterator[Block]:
    if any(_WORDS.search(line.text) for line in lines):
        yield from block_of(role, lines)


def _preformatted(lines: Sequence[Line]) -> bool:
    """Whether all lines are indented like an example, or one of a few lines is drawn with characters."""
    return all(line.text.startswith(("    ", "\t")) for line in lines) and not (_ITEM.match(lines[0].text))


def _literal(text: str) -> bool:
    """Whether a line is not prose: a rule, a row of a table, a quote from a mail, code."""
    return bool(_RULE.match(text) or _QUOTE.match(text) or _TABLE.search(text[:2000]) or looks_like_code(text))


def _wrapped(line: Line, following: Line, width: int) -> bool:
    """Whether a line was full, so that the following line continues its paragraph."""
    start = following.text.lstrip()
    if start[:1].islower():
        return True
    if width > MOST_WRAPPED or following.indent > line.indent + 3:
        return False
    word = len(start.split(maxsplit=1)[0])
    return len(line.text) + word >= max(width - 14, 30)


def _is_heading(text: str) -> bool:
    """Whether a single line resembles a title more than a sentence."""
    words = text.split()
    return len(words) <= 8 and not _FINAL.search(text) and text.strip()[:1].isupper()
