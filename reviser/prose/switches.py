"""Comments that switch the proofreader off and on: `<!-- reviser: off -->`, `% reviser: ignore-next-line`.

A comment says `off`, `on` or `ignore-next-line`, and behind that what it is about: nothing for everything, else names
of kinds of mistakes or of rules ("off spelling, article"). What is off stays so up to the comment that says `on` for
the same, or for everything, else to the end of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from reviser.prose.formats import Format
from reviser.prose.source import Span

_WORDS = r"reviser:[ \t]*(?P<does>off|on|ignore-next-line)\b(?P<what>[^\r\n]*?)"
_MARKUP: Final = rf"<!--[ \t]*{_WORDS}[ \t]*-->"
_BRACED: Final = rf"\{{/\*[ \t]*{_WORDS}[ \t]*\*/\}}"
_BLOCK: Final = rf"/\*+[ \t]*{_WORDS}[ \t]*\*/"
_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\r\n]*$.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


def _line(*marks: str) -> str:
    """The pattern of a comment that goes from a mark to the end of its line."""
    return rf"(?:{'|'.join(marks)})[ \t]*{_WORDS}[ \t]*$"


_HASH: Final = [_line("#+")]
_SLASHES: Final = [_line("//+"), _BLOCK]
_COMMENTS: Final[dict[Format, list[str]]] = {
    Format.MARKDOWN: [_MARKUP],
    Format.HTML: [_MARKUP],
    Format.MDX: [_MARKUP, _BRACED],
    Format.RST: [_line(r"^[ \t]*\.\.")],
    Format.LATEX: [_line(r"(?<!\\)%+")],
    Format.LUA: [_line("--+")],
    Format.CSS: [_BLOCK],
    Format.PHP: [*_SLASHES, *_HASH],
    **dict.fromkeys((Format.PYTHON, Format.RUBY, Format.SHELL, Format.YAML, Format.TOML), _HASH),
    **dict.fromkeys((Format.JAVASCRIPT, Format.TYPESCRIPT, Format.TSX, Format.C, Format.CPP, Format.CSHARP), _SLASHES),
    **dict.fromkeys((Format.JAVA, Format.KOTLIN, Format.SCALA, Format.SWIFT, Format.GO, Format.RUST), _SLASHES),
}
_NAME = re.compile(r"[\w'’]+(?:[-\w'’]*[\w'’])?")


class Switch(NamedTuple):
    """A range of a document where the proofreader is off for some `names`, or for everything if there are none.

    `comment` is the range of the comment that says so.
    """

    span: Span
    names: frozenset[str]
    comment: Span

    def holds(self, start: int, end: int, names: Iterable[str]) -> bool:
        """Whether a change of a range of the document, of a kind and by rules with these names, is switched off."""
        if not any(span.start <= end and start <= span.end for span in (self.span, self.comment)):
            return False
        return not self.names or not self.names.isdisjoint(names)


@lru_cache(maxsize=64)
def switches_in(text: str, format: Format) -> tuple[Switch, ...]:
    """The switches of a document, in the order of their comments."""
    patterns = _COMMENTS.get(format)
    if not patterns or "reviser:" not in text:
        return ()
    comments = sorted(
        (found for pattern in patterns for found in re.finditer(pattern, text, re.MULTILINE)), key=re.Match.start
    )
    fences = [found.span() for found in _FENCE.finditer(text)] if format in (Format.MARKDOWN, Format.MDX) else []
    told = [one for one in comments if not _is_shown(text, one, fences)]
    return tuple(_switched(text, told))


def name_of(text: str) -> str:
    """The name of a kind or of a rule as comments write it: in small letters, with hyphens for spaces."""
    return re.sub(r"[\s_]+", "-", text.strip().lower())


def _is_shown(text: str, comment: re.Match[str], fences: list[tuple[int, int]]) -> bool:
    """Whether a comment is an example in code."""
    in_code = text[max(comment.start() - 1, 0) : comment.start()] == "`"
    return in_code or any(start < comment.start() < end for start, end in fences)


def _switched(text: str, comments: Iterable[re.Match[str]]) -> Iterator[Switch]:
    open_: dict[frozenset[str], Span] = {}
    for comment in comments:
        names = frozenset(map(name_of, _NAME.findall(comment["what"])))
        span = Span(*comment.span())
        if comment["does"] == "ignore-next-line":
            yield Switch(_next_line(text, span.end), names, span)
        elif comment["does"] == "off":
            open_.setdefault(names, span)
        else:
            for other in [one for one in open_ if not names or one == names]:
                began = open_.pop(other)
                yield Switch(Span(began.end, span.start), other, began)
    for names, began in open_.items():
        yield Switch(Span(began.end, len(text)), names, began)


def _next_line(text: str, place: int) -> Span:
    """The range of the first line with text below a place."""
    found = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*([^\r\n]*)").match(text, place)
    return Span(*found.span(1)) if found else Span(len(text), len(text))
