"""Source code: comments and docstrings are prose, except for directives, licences and code inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviser.prose.formats import Format
from reviser.prose.readers import plain, trees
from reviser.prose.source import Block, Line, Role, Span, names


@dataclass(frozen=True)
class _Language:
    grammar: str
    entry: str = "language"
    alone: bool = True
    """Whether a comment can be read without the code around it."""


_LANGUAGES = {
    Format.PYTHON: _Language("python"),
    Format.JAVASCRIPT: _Language("javascript"),
    Format.TYPESCRIPT: _Language("typescript", "language_typescript"),
    Format.TSX: _Language("typescript", "language_tsx"),
    Format.C: _Language("c"),
    Format.CPP: _Language("cpp"),
    Format.CSHARP: _Language("c_sharp"),
    Format.JAVA: _Language("java"),
    Format.KOTLIN: _Language("kotlin"),
    Format.SCALA: _Language("scala"),
    Format.SWIFT: _Language("swift"),
    Format.GO: _Language("go"),
    Format.RUST: _Language("rust"),
    Format.RUBY: _Language("ruby"),
    Format.PHP: _Language("php", "language_php", alone=False),
    Format.LUA: _Language("lua"),
    Format.SHELL: _Language("bash"),
    Format.CSS: _Language("css"),
    Format.YAML: _Language("yaml", alone=False),
    Format.TOML: _Language("toml"),
}
_COMMENTS = frozenset(["comment", "line_comment", "block_comment", "multiline_comment"])

_LINE_MARKER = re.compile(r"(?:///?[/!]?|//!|#+[:|]?|---?)(?!\[)[ \t]?")
_BLOCK_START = re.compile(r"/\*+!?<?|<!--+|--\[=*\[")
_BLOCK_END = re.compile(r"\s*(?:\*+/|--+>|\]=*\](?:--)?)\Z")
_STAR = re.compile(r"\s*\*(?!/)[ \t]?")
_DOCSTRING = re.compile(r"([rRuU]{0,1})(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(r"\\.?")
_OTHER_LINE_ENDS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")

_DIRECTIVE = re.compile(
    r"\s*(?:!|-\*-|type:|noqa\b|nosec\b|pylint:|pragma\b|fmt:|isort:|mypy:|ruff:|pyright:|flake8:|yapf:|doctest:|"
    r"e[sx]lint|jshint|jslint|global\s|globals\s|prettier-|biome-|@?ts-(?:ignore|expect|nocheck|check)|@flow|@jsx|@license|"
    r"istanbul|c8 |v8 ignore|webpack|sourceMappingURL|go:|nolint|\+build|line\s|export\s|clang-|NOLINT|cppcheck|"
    r"lint:|IWYU|rubocop:|frozen_string_literal|encoding[:=]|coding[:=]|vim?:|ex:|emacs|shellcheck\b|cspell|spell-?checker|"
    r"codespell|language=|#?region\b|#?endregion\b|swiftlint:|swift-|MARK:|ktlint|detekt|noinspection|yamllint|yaml-language-server|"
    r"stylelint|hadolint|syntax=|cython:|distutils:|cov:|LCOV|GCOV|sphinx|phpcs:|phpstan|@(?:codeCoverage|psalm|phpstan)|"
    r"\[(?:if|endif))"
)
_TAG_ALONE = re.compile(r"\s*</?[A-Za-z]\w*(?:\s[^<>]*)?/?>\s*\Z")
_LICENCE = re.compile(r"SPDX-License|Copyright\b|\(c\) \d{4}|©|Licensed under|All rights reserved", re.I)

# What a documentation comment says about a parameter or the like starts with names, which stay.
_TAG = re.compile(
    r"\s*(?:[@\\](?:param|arg|argument|property|prop|tparam|throws|exception|raises|typedef|template)\b"
    r"(?:\s*\[[a-z,]+\])?(?:\s+\{[^{}]*\})?(?:\s+\[?[\w.$=\[\]]+)?(?:\s+-(?=\s))?"
    r"|[@\\](?:returns?|result|brief|details|deprecated|since|todo|note|warning|remarks?|summary|description|attention|pre|post)\b"
    r"(?:\s+\{[^{}]*\})?"
    r"|:(?:param|parameter|arg|argument|key|keyword|raises?|except|exception|var|ivar|cvar|returns?|yields?|meta)\b[^:\n]{0,80}:)\s*"
)
# In the sections of a docstring the names of parameters are indented.
_NAMED = re.compile(r"\s+\*{0,2}[A-Za-z_][\w.]*(?:,\s*\*{0,2}[A-Za-z_]\w*)*\s?(?:\([^()\n]{1,80}\))?:\s+")
_OTHER_TAG = re.compile(r"\s*(?:[@\\][A-Za-z]|:[a-z]+(?:\s[^:\n]*)?:(?:\s|\Z)|\.\. )")
_EXAMPLE = re.compile(r"\s*[@\\](?:example|code|verbatim|snippet|see|usage)\b")
_SECTION = re.compile(
    r"\s*(?:Args|Arguments|Attributes|Examples?|Parameters|Params|Raises|Returns?|Yields?|Throws|Notes?|References|"
    r"See Also|Todo|Warns|Warnings?|Keyword Args|Other Parameters|Methods|Safety|Panics|Errors|Usage):?\s*\Z"
)
_NUMPY_NAME = re.compile(r"\s*\*{0,2}\w+(?:, \*{0,2}\w+)* : \S|\s*\w+\s*\Z")
_TODO = re.compile(r"\s*(?:TODO|FIXME|XXX|HACK|BUG|NOTE|OPTIMIZE|SAFETY|WARNING)\b(?:\([^()]*\))?:?\s*")


def blocks(lines: Sequence[Line], format: Format) -> Iterator[Block]:
    """The prose in source code."""
    if not lines:
        return
    language = _LANGUAGES[format]
    tree = trees.Tree(language.grammar, lines, language.entry)
    for comment in [*_comments(tree, lines), *(_docstrings(tree) if format is Format.PYTHON else ())]:
        scope = comment.span if language.alone else None
        for block in _prose(comment):
            block.scope = scope
            yield block


@dataclass
class _Comment:
    """The text of a comment, line by line without markers, with its places in the source."""

    lines: list[Line]
    span: Span
    block: bool = False
    """Whether one pair of markers surrounds the whole comment, so that a directive at its start concerns all of it."""
    indented: bool = False
    """Whether indentation has no meaning, as in docstrings."""


def _comments(tree: trees.Tree, lines: Sequence[Line]) -> Iterator[_Comment]:
    group: list[Line] = []
    place = (-2, -1, "")
    for node in tree.walk(_COMMENTS):
        pieces = tree.pieces(node.start_byte, node.end_byte)
        if len(pieces) > 1 and not pieces[-1].text:
            pieces.pop()  # the line's ending is the node's last character in some grammars
        block = _BLOCK_START.match(pieces[0].text)
        if block:
            yield from _group(group)
            group, place = [], (-2, -1, "")
            yield from _block_comment(pieces, block.end())
            continue
        number, column = tree.place(node.start_byte)
        marker = _LINE_MARKER.match(pieces[0].text)
        if len(pieces) != 1 or not marker:
            continue
        own_line = not lines[number].text[:column].strip()
        here = (number, column, marker.group().rstrip())
        if not (own_line and group and place == (number - 1, *here[1:])):
            yield from _group(group)
            group = []
        group.append(pieces[0])
        place = here if own_line else (-2, -1, "")
    yield from _group(group)


def _group(comments: Sequence[Line]) -> Iterator[_Comment]:
    """The comment that consists of several lines, each with its own marker."""
    if comments:
        contents = []
        for line in comments:
            marker = _LINE_MARKER.match(line.text)
            contents.append(line.cut(marker.end() if marker else 0))
        last = comments[-1]
        yield _Comment(contents, Span(comments[0].start, last.start + len(last.text)))


def _block_comment(pieces: Sequence[Line], width: int) -> Iterator[_Comment]:
    closing = _BLOCK_END.search(pieces[-1].text)
    if not closing:
        return
    last = pieces[-1]
    span = Span(pieces[0].start, last.start + len(last.text))
    if len(pieces) == 1:
        yield _Comment([pieces[0].cut(min(width, closing.start()), closing.start())], span, block=True)
        return
    inner = [*pieces[1:-1], last.cut(0, closing.start())]
    contents = [pieces[0].cut(width)]
    for line in inner:
        star = _STAR.match(line.text)
        contents.append(line.cut(star.end() if star else 0))
    starred = sum(1 for line in inner if _STAR.match(line.text))
    yield _Comment(_dedented(contents) if not starred else contents, span, block=True)


def _docstrings(tree: trees.Tree) -> Iterator[_Comment]:
    """The docstrings of modules, classes and functions in Python."""
    bodies = [tree.root]
    while bodies:
        body = bodies.pop()
        statements = [child for child in body.named_children if child.type != "comment"]
        if statements and body.type in ("module", "block"):
            yield from _docstring(tree, statements[0])
        for child in statements:
            if child.is_error:
                continue
            if child.type in ("class_definition", "function_definition"):
                inner = child.child_by_field_name("body")
                if inner is not None:
                    bodies.append(inner)
            elif child.type in _NESTING:
                bodies.append(child)


_NESTING = names(
    """decorated_definition if_statement else_clause elif_clause try_statement except_clause finally_clause
    with_statement for_statement while_statement block match_statement case_clause"""
)


def _docstring(tree: trees.Tree, statement: Any) -> Iterator[_Comment]:
    if statement.type != "expression_statement" or statement.parent.type not in ("module", "block"):
        return
    owner = statement.parent.parent
    if owner is not None and owner.type not in ("class_definition", "function_definition"):
        return
    string = statement.named_children[0] if statement.named_children else None
    if string is None or string.type != "string" or statement.named_child_count != 1:
        return
    pieces = tree.pieces(string.start_byte, string.end_byte)
    opening = _DOCSTRING.match(pieces[0].text)
    if not opening or not pieces[-1].text.endswith(opening.group(2)):
        return
    width, end = opening.end(), len(pieces[-1].text) - len(opening.group(2))
    last = pieces[-1]
    span = Span(pieces[0].start, last.start + len(last.text))
    if len(pieces) == 1:
        if end >= width:
            yield _Comment([last.cut(width, end)], span, indented=True)
        return
    contents = [pieces[0].cut(width), *pieces[1:-1], last.cut(0, end)]
    yield _Comment(_dedented(contents), span, indented=True)


def _dedented(lines: Sequence[Line]) -> list[Line]:
    """The lines without the common indentation of all but the first."""
    depth = min([line.indent for line in lines[1:] if not line.blank], default=0)
    return [lines[0], *(line.cut(min(depth, len(line.text))) for line in lines[1:])]


def _prose(comment: _Comment) -> Iterator[Block]:
    """The paragraphs of a comment, without directives and code."""
    lines = comment.lines
    whole = "\n".join([line.text for line in lines])
    if _LICENCE.search(whole) or _OTHER_LINE_ENDS.search(whole) or "\0" in whole:
        return
    waiting: list[Line] = []
    example = -1
    for number, whole_line in enumerate(lines):
        line = whole_line
        if example >= 0 and (line.blank or line.indent > example):
            continue
        example = -1
        if _DIRECTIVE.match(line.text):
            if number == 0 and comment.block:
                return
            line = line.cut(len(line.text))
        if _TAG_ALONE.match(line.text):
            line = line.cut(len(line.text))
        if _EXAMPLE.match(line.text) or line.text.lstrip().startswith(".. "):
            example = line.indent
            waiting.append(line.cut(len(line.text)))
            continue
        if line.text.rstrip().endswith("::"):
            example = line.indent
        tag = _TAG.match(line.text) or _NAMED.match(line.text) or _TODO.match(line.text)
        if tag:
            yield from _chunk(waiting, comment)
            waiting = [line.cut(tag.end())]
            continue
        if _OTHER_TAG.match(line.text) or _SECTION.match(line.text) or _numpy_name(lines, number):
            yield from _chunk(waiting, comment)
            waiting = []
            continue
        waiting.append(line)
    yield from _chunk(waiting, comment)


def _numpy_name(lines: Sequence[Line], number: int) -> bool:
    """Whether a line names a parameter, with an indented description after it (the NumPy style)."""
    line = lines[number]
    following = lines[number + 1] if number + 1 < len(lines) else None
    return bool(following and not following.blank and following.indent > line.indent and _NUMPY_NAME.match(line.text))


def _chunk(lines: Sequence[Line], comment: _Comment) -> Iterator[Block]:
    if comment.indented:
        lines = [line.cut(line.indent) for line in lines]
    # A segment ends where its line does, also behind a marker that is no part of it.
    by_end = {line.prose.end: line for line in lines}
    for block in plain.blocks(lines, role=Role.COMMENT):
        block.protected = list(_escapes(by_end, block))
        yield block


def _escapes(lines: Mapping[int, Line], block: Block) -> Iterator[Span]:
    """The ranges of escapes: a backslash with the next character, or with the end of the line."""
    for number, segment in enumerate(block.segments):
        line = lines[segment.end]
        for found in _ESCAPE.finditer(line.text):
            start = line.start + found.start()
            if segment.start <= start < segment.end:
                joined = start + 1 >= segment.end and number + 1 < len(block.segments)
                end = block.segments[number + 1].start if joined else line.start + found.end()
                yield Span(start, end)
