"""The reading of a document: the paragraphs that may be changed, and the structure that may not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from reviser.prose.formats import Format
from reviser.prose.paragraphs import Paragraph, merge, paragraph_of, text_of
from reviser.prose.parts import overlong_words, parts_of
from reviser.prose.readers import code, html, latex, markdown, messages, plain, rst
from reviser.prose.source import Block, Line, Span, split_lines
from reviser.prose.words import OVERLONG, fixed_words

_MARK = "\ufeff"


class DocumentStructure(NamedTuple):
    """A digest of a document without its prose, and the fixed words in the prose."""

    digest: bytes
    fixed: list[str]

    def kept_by(self, other: DocumentStructure) -> bool:
        """Whether `other` has the same digest and still has all fixed words."""
        remaining = iter(other.fixed)
        return self.digest == other.digest and all(word in remaining for word in self.fixed)


def paragraphs(text: str, format: Format) -> list[Paragraph]:
    """The prose of a document that may be changed, in order; a very long paragraph is divided."""
    return [part for block in _blocks(text, format) for part in parts_of(paragraph_of(text, block, format))]


def unread(text: str, format: Format) -> list[Span]:
    """The ranges of a document's prose that are not read: words of more than a thousand characters."""
    if not OVERLONG.search(text):
        return []
    return [
        span
        for block in _blocks(text, format)
        for span in overlong_words(paragraph_of(text, block, format))
        if not any(low <= span.start and span.end <= high for low, high in block.protected)
    ]


def structure_of(text: str, format: Format) -> DocumentStructure:
    """The structure of a document: everything that is not prose, and the places of prose."""
    blocks = _blocks(text, format)
    proses = [text_of(text, block) for block in blocks]
    fixed = [prose[start:end] for prose in proses for start, end in fixed_words(prose, format)]
    return DocumentStructure(_digest(text, blocks), fixed)


def structure_digest(text: str, format: Format) -> bytes:
    """A digest of a document without its prose."""
    return _digest(text, _blocks(text, format))


def _digest(text: str, blocks: list[Block]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    place = 0

    def keep(literal: str) -> None:
        digest.update(literal.encode("utf-8", "surrogatepass") + b"\xff")

    for block in blocks:
        keep(block.shape)
        protected = merge(block.protected)
        index = 0
        for start, end in block.segments:
            keep(text[place:start])
            place = start
            while index < len(protected) and protected[index].start < end:
                span = protected[index]
                if span.start > place:
                    digest.update(b"\xfe")
                left, place = max(span.start, place), max(min(span.end, end), place)
                keep(text[left:place])
                if span.end > end:
                    break
                index += 1
            if place < end:
                digest.update(b"\xfe")
            place = end
    keep(text[place:])
    return digest.digest()


def _blocks(text: str, format: Format) -> list[Block]:
    """The blocks of a document in order, without overlaps."""
    found = sorted((block for block in _read(text, format) if block.segments), key=lambda block: block.segments[0])
    blocks: list[Block] = []
    for block in found:
        if not blocks or block.segments[0].start >= blocks[-1].segments[-1].end:
            blocks.append(block)
    return blocks


def _read(text: str, format: Format) -> Iterator[Block]:
    """The blocks as the reader of the format finds them."""
    if format is Format.UNKNOWN:
        return iter(())
    if reader := _READERS.get(format):
        return reader(text)
    lines = split_lines(text, 1 if text.startswith(_MARK) else 0)
    if reader_of_lines := _READERS_OF_LINES.get(format):
        return reader_of_lines(lines)
    return code.blocks(lines, format)


_READERS: Mapping[Format, Callable[[str], Iterator[Block]]] = {Format.HTML: html.blocks, Format.LATEX: latex.blocks}
_READERS_OF_LINES: Mapping[Format, Callable[[list[Line]], Iterator[Block]]] = {
    Format.PLAIN: plain.document,
    Format.MAIL: messages.mail,
    Format.COMMIT: messages.commit,
    Format.MARKDOWN: markdown.blocks,
    Format.MDX: partial(markdown.blocks, mdx=True),
    Format.RST: rst.blocks,
}
