"""reStructuredText: paragraphs, titles, list items and notes are prose; roles, targets and directives are not."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from reviser.prose.readers import trees
from reviser.prose.source import Block, Line, Role, Span, names

# Directives whose content is text like any other, and the role of that text.
_TEXTS = {
    **dict.fromkeys(
        names(
            """admonition attention caution container danger deprecated error epigraph hint important note seealso
    sidebar tip todo topic versionadded versionchanged warning"""
        ),
        Role.NOTE,
    ),
    "figure": Role.CAPTION,
}
# Directives whose text begins in the line of their name.
_INLINE_TEXTS = frozenset(
    ["attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip", "todo", "warning"]
)
_ROLES = {
    "title": Role.HEADING,
    "term": Role.HEADING,
    "list_item": Role.ITEM,
    "definition": Role.BODY,
    "block_quote": Role.QUOTE,
    "footnote": Role.NOTE,
    "field_body": Role.ITEM,
}
_PLAIN = frozenset(["text", "paragraph", "title", "term", "::"])
_TABLE = re.compile(r"\s*(?:\+[-=+]{2,}|[=-]{2,}(?: +[=-]+)+|={3,}|\|.*\|)\s*\Z")
_EXPLICIT = (b".. ", b"__ ")
_MARKUP = re.compile(r"\s*(?:\.\.|__)(?:\s|\Z)")
_DIRECTIVE = re.compile(r"\s*\.\. +(?:([\w:-]+?)::|_|\|)")
_BEFORE_MARKUP = "'\"([{<-/:“‘«–—"
_AFTER_MARKUP = "'\")]}>-/\\:.,;!?”’»–—…"
_LABEL = re.compile(r"`([^`<>\\]+)( <[^<>]+>`__?)\Z")


def blocks(lines: Sequence[Line]) -> Iterator[Block]:
    """The prose of a document in reStructuredText."""
    tree = trees.Tree("rst", lines)
    opaque = _opaque(lines)
    for child in tree.root.children:
        for block in _blocks(tree, child, Role.BODY):
            if not any(_is_in(opaque, start) for start, _ in block.segments):
                block.scope = tree.span(child.start_byte, child.end_byte)
                yield block


def _opaque(lines: Sequence[Line]) -> list[Span]:
    """The literal blocks, and the directives without text, as docutils sees them.

    The grammar misses them where a blank line is missing.
    """
    found: list[Span] = []
    depth: int | None = None
    for line in lines:
        end = line.start + len(line.text)
        if depth is not None and (line.blank or line.indent > depth):
            found[-1] = Span(found[-1].start, end)
            continue
        depth = None
        directive = _DIRECTIVE.match(line.text)
        if directive and directive.group(1) not in _TEXTS:
            depth = line.indent
            found.append(Span(line.start, end))
        elif not directive and line.text.rstrip().endswith("::"):
            depth = line.indent
            found.append(Span(end, end))
    return found


def _is_in(spans: Sequence[Span], place: int) -> bool:
    after = bisect_right(spans, (place, place))
    return any(start <= place < end for start, end in spans[max(after - 1, 0) : after + 1])


def _blocks(tree: trees.Tree, top: Any, role: Role) -> Iterator[Block]:
    waiting: list[tuple[Any, Role]] = [(top, role)]
    while waiting:
        node, role = waiting.pop()
        # A directive right under a paragraph is one to docutils, but a line or a term to the grammar.
        if tree.data.startswith(_EXPLICIT, node.start_byte) and node.type in ("list_item", "term"):
            continue
        if node.type in ("paragraph", "title", "term"):
            yield from _paragraph(tree, node, _ROLES.get(node.type, role))
        elif node.type == "directive":
            yield from _directive(tree, node)
        elif node.type not in ("comment", "target", "substitution_definition", "options", "ERROR"):
            inner = _ROLES.get(node.type, role)
            waiting += [(child, inner) for child in reversed(node.children)]


def _paragraph(tree: trees.Tree, node: Any, role: Role) -> Iterator[Block]:
    end = next((c.start_byte for c in node.children if c.type == "literal_block"), node.end_byte)
    pieces = tree.pieces(node.start_byte, end)
    if any(_TABLE.match(piece.text) or _MARKUP.match(piece.text) for piece in pieces):
        return
    block = Block(role, [piece.prose for piece in pieces if not piece.blank])
    block.protected = sorted(span for child in node.children for span in _protected(tree, child))
    block.shape = " ".join([_shape(tree, child) for child in node.children if child.type not in _PLAIN])
    # Two colons at the end of a paragraph make what follows literal; the grammar wants it to be there.
    block.shape += f" literal={bool(pieces) and pieces[-1].text.rstrip().endswith('::')}"
    if role is Role.HEADING and node.type == "title":
        # A title that is longer than the line under it is a mistake.
        under = next((c for c in node.parent.children if c.type == "adornment"), None)
        if under is not None:
            fits = node.end_byte - node.start_byte <= under.end_byte - under.start_byte
            block.shape += f" fits={fits}"
    if block.segments:
        yield block


def _shape(tree: trees.Tree, node: Any) -> str:
    """The kind of markup, and whether docutils accepts it between its neighbours; the grammar is less strict."""
    start = node.start_byte
    before = tree.data[max(start - 4, 0) : start].decode("utf-8", "ignore")[-1:]
    after = tree.data[node.end_byte : node.end_byte + 4].decode("utf-8", "ignore")[:1]
    starts = not before or before.isspace() or before in _BEFORE_MARKUP
    ends = not after or after.isspace() or after in _AFTER_MARKUP
    return f"{node.type}{starts:d}{ends:d}"


def _protected(tree: trees.Tree, node: Any) -> Iterator[Span]:
    """The protected ranges of a paragraph: whole roles and references, but only the markers of emphasis."""
    if node.type == "text":
        return
    span = tree.span(node.start_byte, node.end_byte)
    width = {"emphasis": 1, "strong": 2}.get(node.type, 0)
    if width:
        yield Span(span.start, span.start + width)
        yield Span(span.end - width, span.end)
        return
    label = _LABEL.match(tree.text_of(node)) if node.type == "reference" else None
    if label:
        yield Span(span.start, span.start + 1)
        yield Span(span.end - len(label.group(2)), span.end)
        return
    yield span


def _directive(tree: trees.Tree, node: Any) -> Iterator[Block]:
    """The text in a directive, parsed like a document of its own."""
    name = next((tree.text_of(child) for child in node.children if child.type == "type"), "")
    body = next((child for child in node.children if child.type == "body"), None)
    if name not in _TEXTS or body is None:
        return
    content = [child for child in body.children if child.type == "content"]
    pieces: list[Line] = []
    arguments = [child for child in body.children if child.type == "arguments"]
    if name in _INLINE_TEXTS and arguments:
        pieces = tree.pieces(arguments[0].start_byte, arguments[0].end_byte)
    for child in content:
        pieces += tree.lines_of(child)
    if pieces:
        inner = trees.Tree("rst", _dedented(pieces))
        for child in inner.root.children:
            yield from _blocks(inner, child, _TEXTS[name])


def _dedented(lines: Sequence[Line]) -> list[Line]:
    """The lines without their common indentation, except for the first, which may start after it."""
    depth = min([line.indent for line in lines[1:] if not line.blank], default=lines[0].indent)
    return [line.cut(min(depth, line.indent)) for line in lines]
