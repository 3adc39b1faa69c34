"""Markdown: paragraphs, headings, list items and table cells are prose; code, targets, maths and markers are not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviser.prose.readers.extra import load
from reviser.prose.source import Block, Line, Role, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# These rules of the inline parser find what is not prose as a whole.
_OPAQUE = [
    "escape",
    "backticks",
    "strikethrough",
    "emphasis",
    "autolink",
    "html_inline",
    "entity",
    "math_inline",
    "math_single",
    "footnote_inline",
    "footnote_ref",
]
_LABELLED = ("link", "image")

_ROLES = {
    "heading_open": Role.HEADING,
    "list_item_open": Role.ITEM,
    "dt_open": Role.HEADING,
    "dd_open": Role.BODY,
    "th_open": Role.CELL,
    "td_open": Role.CELL,
    "blockquote_open": Role.QUOTE,
    "footnote_reference_open": Role.NOTE,
}
_TASK = re.compile(r"\[[ xX]\]\s+")
_ATTRIBUTES = re.compile(r"\{[:#.][^{}]*\}\s*\Z")
_MODULE = re.compile(r"(?:import|export)\b")
_FENCE_OF_COLONS = re.compile(r":::|!!!|\?\?\?|%%%|<<|@import")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)")
_CODE_TAGS = frozenset(["code", "kbd", "samp", "var", "tt", "pre", "script", "style", "svg", "math"])
_ROW_PREFIX = re.compile(r"[\s>]*(?:(?:[-+*]|\d+[.)])\s+)*[\s>]*")


# Where the lines of a paragraph are: the place in its content, the place in the source, the text.
_Placed = list[tuple[int, int, str]]


@dataclass
class _Inline:
    """The content of an inline token, and the ranges that the parser's rules found in it."""

    content: str
    spans: list[Span]


def blocks(lines: Sequence[Line], *, mdx: bool = False) -> Iterator[Block]:
    """The prose of a Markdown document."""
    recorder = _recorders.get()
    env: dict[str, object] = {}
    tokens = recorder.parser.parse("\n".join([line.text for line in lines]), env)
    roles: list[Role | None] = []
    scope: Span | None = None
    row = _Row()
    for token in tokens:
        if token.level == 0 and token.map and token.nesting >= 0:
            scope = _extent(lines, token.map)
        if token.nesting == 1:
            roles.append(_ROLES.get(token.type))
        elif token.nesting == -1:
            roles.pop()
        if token.type == "inline" and token.map and token.content:
            inline = recorder.read(token, env)
            placed = row.place(token, lines) if _is_cell(roles) else _place(token, lines)
            if placed and not (mdx and _MODULE.match(token.content)):
                role = Role.CAPTION if _is_image(token) else _role(roles)
                block = _block(inline, placed, role)
                block.scope = scope
                block.shape = f"{token.level} {block.role} {_shape(token.children or [])}"
                yield block


def _extent(lines: Sequence[Line], extent: Sequence[int]) -> Span:
    last = min(extent[1], len(lines)) - 1
    return Span(lines[extent[0]].start, lines[last].start + len(lines[last].text))


def _is_cell(roles: Sequence[Role | None]) -> bool:
    return bool(roles) and roles[-1] is Role.CELL


def _role(roles: Sequence[Role | None]) -> Role:
    return next((role for role in reversed(roles) if role), Role.BODY)


def _is_image(token: Token) -> bool:
    """Whether a paragraph consists of an image, whose text is its caption."""
    kinds = {child.type for child in token.children or []}
    return kinds in ({"image"}, {"link_open", "image", "link_close"})


def _shape(tokens: Sequence[Token]) -> str:
    """The kinds of inline elements in a paragraph; the amount of text between them does not count."""
    kinds = [token.type for token in tokens if token.type not in ("text", "softbreak")]
    return " ".join(kinds)


def _place(token: Token, lines: Sequence[Line]) -> _Placed | None:
    """The place of a token's content in the source; None if it cannot be found."""
    assert token.map
    placed: _Placed = []
    offset = 0
    for number, content in enumerate(token.content.split("\n"), token.map[0]):
        text = content.strip()
        if number >= len(lines):
            return None
        column = _column(lines[number].text, text, token)
        if column is None:
            return None
        left = len(content) - len(content.lstrip())
        placed.append((offset + left, lines[number].start + column, text))
        offset += len(content) + 1
    return placed


def _column(line: str, text: str, token: Token) -> int | None:
    """The column of `text`, from which the parser has removed all markers, in its line."""
    shown = line.replace("\0", "\ufffd")
    bare = shown.rstrip()
    if bare.endswith(text):
        return len(bare) - len(text)
    # A heading can end with its marker, too.
    start = bare.find("#")
    start += len(bare[start:]) - len(bare[start:].lstrip("#"))
    start += len(bare[start:]) - len(bare[start:].lstrip())
    return start if start > 0 and bare.startswith(text, start) else None


class _Row:
    """The cells of a table row, found one by one, each after the one before."""

    def __init__(self) -> None:
        self._line = -1
        self._column = 0

    def place(self, token: Token, lines: Sequence[Line]) -> _Placed | None:
        assert token.map
        number = token.map[0]
        if number >= len(lines):
            return None
        line, text = lines[number].text.replace("\0", "\ufffd"), token.content.strip()
        if number != self._line:
            prefix = _ROW_PREFIX.match(line)
            self._line, self._column = number, prefix.end() if prefix else 0
        while self._column < len(line) and (line[self._column] == "|" or line[self._column].isspace()):
            self._column += 1
        if not line.startswith(text, self._column) or "\\|" in line:
            self._column = len(line)
            return None
        start = self._column
        self._column += len(text)
        return [(len(token.content) - len(token.content.lstrip()), lines[number].start + start, text)]


def _block(inline: _Inline, placed: _Placed, role: Role) -> Block:
    """The block of an inline token, with the ranges that the parser found converted to places in the source."""
    segments = [Span(start, start + len(text)) for _, start, text in placed]
    protected = []
    index = 0
    for span in sorted(inline.spans):
        while index + 1 < len(placed) and placed[index + 1][0] <= span.start:
            index += 1
        first = last = index
        while last + 1 < len(placed) and placed[last + 1][0] < span.end:
            last += 1
        start = placed[first][1] + span.start - placed[first][0]
        end = placed[last][1] + span.end - placed[last][0]
        if span.end > placed[last][0] + len(placed[last][2]) and last + 1 < len(placed):
            end = placed[last + 1][1]  # a break that must stay, with all that is around it
        protected.append(Span(start, end))
    first_text = placed[0][2]
    task = _TASK.match(first_text) if role is Role.ITEM else None
    if task:
        protected.append(Span(placed[0][1], placed[0][1] + task.end()))
    attributes = _ATTRIBUTES.search(placed[-1][2][-200:])
    if attributes:
        protected.append(Span(segments[-1].end - len(attributes.group()), segments[-1].end))
    for (_, start, text), segment in zip(placed, segments, strict=True):
        if _FENCE_OF_COLONS.match(text) and role is not Role.CELL:
            protected.append(Span(start, segment.end))
    return Block(role, segments, sorted(protected))


class _Recorder:
    """Records where the rules of the inline parser match, because tokens do not tell."""

    def __init__(self, parser: MarkdownIt) -> None:
        self.parser = parser
        self._spans: list[Span] = []
        self._content = ""

    def read(self, token: Token, env: dict[str, object]) -> _Inline:
        """The content of a token, parsed; the token also gets its children."""
        self._spans, self._content = [], token.content
        token.children = []
        self.parser.inline.parse(token.content, self.parser, env, token.children)
        return _Inline(token.content, [*self._spans, *_code_tags(token.content, self._spans)])

    def watch(self, name: str, rule: Callable[[StateInline, bool], bool]) -> None:
        """Record the matches of the parser's rule with this name."""
        labelled = name in _LABELLED

        def watched(state: StateInline, silent: bool) -> bool:
            start = state.pos
            found = rule(state, silent)
            if found and not silent and state.src is self._content:
                self._spans += self._around_label(state, start) if labelled else [Span(start, state.pos)]
            return found

        self.parser.inline.ruler.at(name, watched)

    def watch_breaks(self, rule: Callable[[StateInline, bool], bool]) -> None:
        """Record hard line breaks."""

        def watched(state: StateInline, silent: bool) -> bool:
            start = state.pos
            found = rule(state, silent)
            hard = state.tokens and state.tokens[-1].type == "hardbreak"
            if found and not silent and hard and state.src is self._content:
                first = start
                while first and self._content[first - 1] == " ":
                    first -= 1
                self._spans.append(Span(first, start + 1))
            return found

        self.parser.inline.ruler.at("newline", watched)

    def _around_label(self, state: StateInline, start: int) -> list[Span]:
        """The range of a link or image without its label, or all of it if the label is also the name of the target."""
        source, end = self._content, state.pos
        image = source[start] == "!"
        place, most = state.pos, state.posMax
        state.posMax = len(source)
        label_end = self.parser.helpers.parseLinkLabel(state, start + image, not image)
        state.pos, state.posMax = place, most
        behind = source[label_end + 1 : label_end + 3]
        named = not behind or behind[0] not in "([" or behind == "[]" or label_end + 1 >= end
        if label_end < 0 or named:
            return [Span(start, end)]
        spans = [Span(start, start + 1 + image), Span(label_end, end)]
        if image and re.search(r"[\\`*_\[\]<>&$]", source[start + 2 : label_end]):
            return [Span(start, end)]
        return spans


def _code_tags(content: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The ranges between the HTML tags that mark code."""
    opened: tuple[str, int] | None = None
    for start, end in sorted(spans):
        tag = _TAG.match(content, start, end)
        if tag and opened is None and tag.group(2).lower() in _CODE_TAGS and not tag.group(1):
            opened = tag.group(2).lower(), start
        elif tag and opened and tag.group(1) and tag.group(2).lower() == opened[0]:
            yield Span(opened[1], end)
            opened = None


class _Recorders(threading.local):
    """One recorder per thread, made on first use, because making one is slow."""

    recorder: _Recorder | None = None

    def get(self) -> _Recorder:
        self.recorder = self.recorder or _recorder()
        return self.recorder


_recorders = _Recorders()


def _recorder() -> _Recorder:
    markdown_it = load("markdown_it", "prose")
    plugins = {
        name: load(f"mdit_py_plugins.{name}", "prose")
        for name in ("front_matter", "footnote", "deflist", "dollarmath", "amsmath")
    }
    parser = markdown_it.MarkdownIt("commonmark", {"maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    parser.use(plugins["front_matter"].front_matter_plugin)
    parser.use(plugins["footnote"].footnote_plugin)
    parser.use(plugins["deflist"].deflist_plugin)
    parser.use(plugins["dollarmath"].dollarmath_plugin, allow_space=False, allow_digits=False)
    parser.use(plugins["amsmath"].amsmath_plugin)
    # The recorder reads the inline content itself, and notes stay where they were written.
    parser.core.ruler.enableOnly(["normalize", "block"])
    recorder = _Recorder(parser)
    rules = {rule.name: rule.fn for rule in parser.inline.ruler.__rules__}
    for name in (*_OPAQUE, *_LABELLED):
        if name in rules:
            recorder.watch(name, rules[name])
    recorder.watch_breaks(rules["newline"])
    return recorder
