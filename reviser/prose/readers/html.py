"""HTML: the displayed text is prose; tags, comments, scripts, code and text in other languages than English are not.

Tags and comments end where browsers say that they do. The parser of the standard library is not used: it takes
quadratic time for tags without an end, and does not say where in the source a piece of text stands.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reviser.prose.paragraphs import text_of
from reviser.prose.source import Block, Role, Span, Written, names

_VALUE = r"\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+"
_ATTRIBUTE = re.compile(rf"([^\s/>=]++)(?:\s*+=\s*+({_VALUE}))?+")
# Possessive throughout, so that a tag without an end is read once.
_TAG = re.compile(rf"<(?P<closing>/?)(?P<name>[A-Za-z][^\s/>]*+)(?:[\s/=]++|{_ATTRIBUTE.pattern})*+>")
_OPENS_TAG = re.compile(r"</?[A-Za-z]")
_PIECE = re.compile(r"(?P<space>\s+)|(?P<entity>&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{1,31});)|&\w*|[^\s&]+")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_FINAL: Final = (".", "!", "?", "…", ":", ";")
_MOST_WORDS_OF_LABEL: Final = 8
_DEEPEST_MATCH: Final = 64


# Elements within a sentence; all others, unknown ones too, end it.
_INLINE = names(
    """a abbr acronym audio b bdi bdo big br canvas cite code data del dfn em embed font i iframe img input ins kbd link
    mark math meta meter nobr object output picture progress q rb rp rt ruby s samp script slot small source span
    strike strong style sub sup svg template time track tt u var video wbr"""
)
_WITHOUT_CONTENT = names("area base br col embed hr img input link meta param source track wbr")
# Their content is text to the parser, up to their own end.
_OF_TEXT = names("iframe noembed noframes script style textarea title xmp")
# Their text belongs to the sentence and stays; or it does not belong to it, as with what was struck out; or a picture
# is in its place.
_KEPT = names("code kbd listing plaintext pre samp sub sup tt var")
_UNREAD = names("datalist del noembed noframes rp rt s script strike style template textarea xmp")
_PICTURES = names("audio canvas embed iframe img input math meter object progress svg video")
_ROLES = {
    **dict.fromkeys(["h1", "h2", "h3", "h4", "h5", "h6", "title", "legend", "summary", "dt"], Role.HEADING),
    **dict.fromkeys(["button", "label", "option", "td", "th"], Role.CELL),
    **dict.fromkeys(["caption", "figcaption"], Role.CAPTION),
    **dict.fromkeys(["article", "body", "dd", "main"], Role.BODY),
    "li": Role.ITEM,
    "blockquote": Role.QUOTE,
}
_ENDS_PARAGRAPH = names(
    """address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3
    h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary table ul"""
)
# What an element that begins ends without a word, and what such a search does not go beyond.
_ENDS = {
    **dict.fromkeys(_ENDS_PARAGRAPH, (names("p"), names("button table td th"))),
    "li": (names("li"), names("dir menu ol ul")),
    **dict.fromkeys(["dd", "dt"], (names("dd dt"), names("dl"))),
    **dict.fromkeys(["td", "th"], (names("td th"), names("table tr"))),
    "tr": (names("tr"), names("table")),
    "option": (names("option"), names("datalist select")),
}


def blocks(text: str) -> Iterator[Block]:
    """The prose of a page, or of a part of one."""
    return _Page(text).blocks()


class _Element(NamedTuple):
    """An open element, and the properties of text in it."""

    name: str
    role: Role = Role.BODY
    in_paragraph: bool = False
    is_picture: bool = False
    unread: bool = False
    code: bool = False
    translated: bool = True
    english: bool = True

    @property
    def kept(self) -> bool:
        """Whether text in it must stay as it is."""
        return self.code or not self.translated or not self.english


_OUTSIDE = _Element("")


@dataclass
class _Page:
    """Parses a page from its start to its end."""

    text: str
    _open: list[_Element] = field(default_factory=list)
    _names: Counter[str] = field(default_factory=Counter)
    _missing: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._sentence = _Sentence(self.text)

    def blocks(self) -> Iterator[Block]:
        self._is_xml = self.text.lstrip("\ufeff\r\n\t ").startswith("<?xml")
        place = 0
        while place < len(self.text):
            found = self.text.find("<", place)
            found = len(self.text) if found < 0 else found
            self._read(place, found)
            tag = _TAG.match(self.text, found)
            if tag is None:
                place = self._end_of_other(found)
                continue
            if self._breaks(tag["name"].lower()):
                yield from self._finished()
            place = self._take(tag)
            if self._sentence.line_breaks > 1:
                yield from self._finished()
        yield from self._finished()

    def _finished(self) -> Iterator[Block]:
        """The paragraph that ends here, if there is one; the next one begins."""
        done, self._sentence = self._sentence, _Sentence(self.text)
        return done.finished()

    @property
    def _here(self) -> _Element:
        return self._open[-1] if self._open else _OUTSIDE

    def _breaks(self, name: str) -> bool:
        """Whether a tag ends the paragraph around it."""
        return name not in _INLINE and not self._here.is_picture

    def _end_of_other(self, place: int) -> int:
        """The end of a construct that begins with `<` and is no tag: a comment, an instruction, or the character
        alone."""
        text = self.text
        if text.startswith("<!--", place):
            if text.startswith((">", "->"), place + 4):
                return text.index(">", place) + 1
            return self._after("-->", place + 4)
        if text.startswith(("<?", "<%"), place):
            closing = f"{text[place + 1]}>"
            end = self._after(closing, place + 2)
            if end < len(text) or text.endswith(closing):
                return end
        if text.startswith(("<!", "<?", "</"), place):
            return self._after(">", place + 2)
        if _OPENS_TAG.match(text, place):
            return len(text)  # a tag without an end
        self._read(place, place + 1)
        return place + 1

    def _after(self, closing: str, place: int) -> int:
        """The offset after the next occurrence of `closing`, or the end of the page."""
        found = -1 if closing in self._missing else self.text.find(closing, place)
        if found < 0:
            self._missing.add(closing)
            return len(self.text)
        return found + len(closing)

    def _take(self, tag: re.Match[str]) -> int:
        """Process a tag, and the text of an element that holds only text; returns the offset after it."""
        name, end = tag["name"].lower(), tag.end()
        if tag["closing"]:
            self._close(name)
            return end
        if name == "br":
            self._sentence.break_line()
        self._end_open_ones(name)
        here = self._here
        if name in _PICTURES and not here.is_picture and not here.unread:
            self._sentence.add(tag.start(), end, f"<{name}>", kept=True)
        ended = tag[0].endswith("/>") and (self._is_xml or here.is_picture)
        if name in _WITHOUT_CONTENT or ended:
            return end
        element = self._element(name, tag[0])
        self._open.append(element)
        self._names[name] += 1
        if name in _OF_TEXT:
            closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self.text, end)
            found = closing.start() if closing else len(self.text)
            self._read(end, found)
            return found
        return end

    def _element(self, name: str, tag: str) -> _Element:
        """The properties of an element: inherited ones, unless its name or attributes override them."""
        outer = self._here
        attributes = _attributes(tag)
        language = attributes.get("lang", attributes.get("xml:lang"))
        translate = attributes.get("translate")
        role = _ROLES.get(name, outer.role)
        return _Element(
            name,
            # A paragraph in an item is a part of it.
            outer.role if role is Role.BODY and name not in ("body", "dd") else role,
            name == "p" or (name in _INLINE and outer.in_paragraph),
            outer.is_picture or name in _PICTURES,
            outer.unread or name in _UNREAD or name in _PICTURES,
            outer.code or name in _KEPT,
            outer.translated if translate is None else translate.lower() != "no",
            outer.english if language is None else re.match(r"(?:en\b|\Z)", language, re.IGNORECASE) is not None,
        )

    def _end_open_ones(self, name: str) -> None:
        """Close the elements whose end tag may be omitted before a new element."""
        names, limits = _ENDS.get(name, (frozenset[str](), frozenset[str]()))
        if any(self._names[one] for one in names):
            self._pop_to(names, limits, len(self._open) - _DEEPEST_MATCH)

    def _close(self, name: str) -> None:
        """Close an element; an end tag without a start tag is ignored."""
        if not self._names[name]:
            return
        if name in _INLINE:
            self._pop_to(frozenset([name]), None, len(self._open) - _DEEPEST_MATCH)
        else:
            self._pop_to(frozenset([name]), frozenset(), 0)

    def _pop_to(self, names: frozenset[str], limits: frozenset[str] | None, least: int) -> None:
        """Close the innermost element with one of these names and all inside it, unless an element of `limits` is in
        between (by default, any but elements within sentences)."""
        for number in range(len(self._open) - 1, max(least, 0) - 1, -1):
            name = self._open[number].name
            if name in names:
                for gone in self._open[number:]:
                    self._names[gone.name] -= 1
                del self._open[number:]
                return
            if name in limits if limits is not None else name not in _INLINE:
                return

    def _read(self, start: int, end: int) -> None:
        """Process text, up to the next tag."""
        here = self._here
        if start >= end or here.unread:
            return
        self._sentence.begin(here)
        for piece in _PIECE.finditer(self.text, start, end):
            if piece["space"]:
                self._sentence.has_space = True
            elif piece["entity"]:
                self._sentence.add_entity(*piece.span(), kept=here.kept)
            else:
                # A sign that begins no entity must not become the beginning of one.
                self._sentence.add(*piece.span(), kept=here.kept or piece[0][0] == "&")


@dataclass
class _Sentence:
    """A paragraph in progress: the text between two tags that end paragraphs."""

    text: str
    block: Block = field(default_factory=lambda: Block(Role.BODY, []))
    has_space: bool = False
    line_breaks: int = 0
    _element: _Element = _OUTSIDE
    _has_prose: bool = False
    _was_kept: bool = False
    _end_of_words: int = 0

    def begin(self, element: _Element) -> None:
        """Note the element of the text that follows; the first one decides the paragraph's role."""
        if not self.block.segments:
            self._element = element

    def break_line(self) -> None:
        self.has_space = True
        self.line_breaks += 1

    def add_entity(self, start: int, end: int, *, kept: bool) -> None:
        source = self.text[start:end]
        reading = html.unescape(source)
        if reading == source:
            self.add(start, end, kept=True)
        elif reading.isspace():
            self.has_space = True
        elif not all(unicodedata.category(one) in ("Cf", "Cc") for one in reading):
            self.add(start, end, reading, kept=kept or len(reading) > 1)

    def add(self, start: int, end: int, reading: str = "", *, kept: bool) -> None:
        """Add characters; `reading` is their text if it differs from the source."""
        block = self.block
        is_picture = reading[:1] == "<" and len(reading) > 1
        if is_picture and not block.segments:
            return
        last = block.segments[-1] if block.segments else None
        between = self.text[last.end : start] if last else ""
        if last is None or between not in ("", " "):
            self._join(last, start, between)
            block.segments.append(Span(start, end))
        else:
            block.segments[-1] = Span(last.start, end)
        if reading:
            block.written.append(Written(start, self.text[start:end], reading))
        if kept:
            from_last = self._was_kept and last is not None and between in ("", " ")
            block.protected.append(Span(last.end if from_last and last else start, end))
        elif not self._has_prose:
            self._has_prose = bool(_LETTERS.search(reading or self.text[start:end]))
        self._was_kept, self.has_space, self.line_breaks = kept, False, 0
        if not is_picture:
            self._end_of_words = len(block.segments)

    def _join(self, last: Span | None, start: int, between: str) -> None:
        """Join the next segment to the last one; what is between them must stay, unless it is only a line break."""
        if last is None:
            return
        if not self.has_space:
            self.block.tight.add(len(self.block.segments))
        if between.strip(" \t\r\n\f"):
            self.block.protected.append(Span(last.end, start))

    def finished(self) -> Iterator[Block]:
        """The paragraph, if it has text, without pictures at its end."""
        block = self.block
        if not self._has_prose:
            return
        del block.segments[self._end_of_words :]
        last = block.segments[-1].end
        block.scope = Span(block.segments[0].start, last)
        block.protected = [span for span in block.protected if span.start < last]
        block.written = [one for one in block.written if one.start < last]
        block.role = self._role()
        yield block

    def _role(self) -> Role:
        """The role of the paragraph; a few words without a final mark are a label rather than a sentence."""
        role = self._element.role
        text = text_of(self.text, self.block).rstrip("\"'”’»)]")
        if role is not Role.BODY or text.endswith(_FINAL):
            return role
        few = len(text.split(maxsplit=_MOST_WORDS_OF_LABEL)) <= _MOST_WORDS_OF_LABEL
        return role if self._element.in_paragraph and not few else Role.HEADING


def _attributes(tag: str) -> dict[str, str]:
    """The attributes of a tag that can tell its language, by name."""
    small = tag.lower()
    if "lang" not in small and "translate" not in small:
        return {}
    start = re.compile(r"<[^\s/>]*").match(tag)
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(tag[:-1], start.end() if start else 0):
        found.setdefault(name.lower(), html.unescape(value.strip("\"'")))
    return found
