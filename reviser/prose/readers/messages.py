"""Mails and commit messages: the author's text is prose; headers, quotes, comments and trailers are not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviser.prose.readers import plain
from reviser.prose.source import Block, Line, Role

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*:(?:\s|\Z)|From \S")
_ENCODED = re.compile(r"content-transfer-encoding:\s*(?:base64|quoted-printable)|content-type:\s*(?!text/plain)", re.I)
_ATTRIBUTION = re.compile(
    r"(?:On|Am|Le|El)\b.*(?:wrote|schrieb|écrit|escribió)\s*:\s*\Z|-{2,}\s*(?:Original|Forwarded) ", re.I
)
_QUOTED = re.compile(r"\s{0,3}(?:>|[A-Za-z]{1,3}>)")

_SCISSORS = re.compile(r"[#;]\s*-+\s*>8\s*-+")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?::\s|\s#)|\(cherry picked from commit ")
_KNOWN_TRAILER = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)*-by: |(?:Fixes|Closes|Change-Id|Link|Cc|BREAKING CHANGE): ")
_AUTOMATIC = re.compile(r"(?:Merge|Revert)\b.*(?:branch|tag|pull request|commit|remote|[\"'])")
_PREFIX = re.compile(r"(?:(?:fixup|squash|amend|reword)! )+|(?:[\w./-]+(?:\([^()]*\))?!?: )+|\[[^\[\]]*\]\s*")


def mail(lines: Sequence[Line]) -> Iterator[Block]:
    """The prose of a mail, without headers and quoted text."""
    start = 0
    if lines and _HEADER.match(lines[0].text):
        start = next((n for n, line in enumerate(lines) if line.blank), len(lines))
        if any(_ENCODED.match(line.text) for line in lines[:start]):
            return
    body: list[Line] = []
    for line in lines[start:]:
        if line.text in ("-- ", "--") or line.text.startswith("diff --git "):
            break
        own = not (_QUOTED.match(line.text) or _ATTRIBUTION.match(line.text))
        body.append(line if own else line.cut(len(line.text)))
    yield from plain.blocks(body)


def commit(lines: Sequence[Line]) -> Iterator[Block]:
    """The prose of a commit message: its subject and body, without git's comments and trailers."""
    body: list[Line] = []
    for line in lines:
        if _SCISSORS.match(line.text) or line.text.startswith("diff --git "):
            break
        kept = line.text.startswith("#") or _KNOWN_TRAILER.match(line.text)
        body.append(line.cut(len(line.text)) if kept else line)
    first = next((n for n, line in enumerate(body) if not line.blank), len(body))
    if first == len(body):
        return
    yield from _subject(body[first])
    yield from plain.blocks(_without_trailers(body[first + 1 :]))


def _subject(line: Line) -> Iterator[Block]:
    span = line.prose
    if not _AUTOMATIC.match(line.text):
        prefix = _PREFIX.match(line.text.lstrip())
        if prefix and prefix.end():
            span = line.cut(line.text.index(prefix.group()) + prefix.end()).prose
        if span.start < span.end:
            yield Block(Role.HEADING, [span])


def _without_trailers(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without the last paragraph, if it consists of trailers."""
    end = len(lines)
    while end and lines[end - 1].blank:
        end -= 1
    start = end
    while start and not lines[start - 1].blank:
        start -= 1
    last = lines[start:end]
    trailers = last and all(_TRAILER.match(line.text) or line.indent for line in last)
    return lines[:start] if trailers and not last[0].indent else lines[:end]
