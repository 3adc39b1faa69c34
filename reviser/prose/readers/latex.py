"""LaTeX: the text between commands is prose; commands, their arguments, maths and comments are not.

TeX has no grammar but what commands define, so this reads its characters as TeX does, and takes no
argument for prose of which it does not know that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from reviser.prose.source import Block, Line, Role, Span, names, split_lines

_TOKEN = re.compile(r"\\(?:[a-zA-Z@]+\*?|\r\n|[\s\S]|\Z)|%[^\r\n]*|\$\$?|[{}~^_&#\[\]]|[^\\%${}~^_&#\[\]]+")
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
_GAP = re.compile(r"[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)?")
_NAME = re.compile(r"\{([^{}\r\n]*)\}")
_THEOREM = re.compile(r"\\(?:newtheorem|declaretheorem|newtheoremstyle)\*?(?:\[[^\]]*\])?\{([^{}]+)\}")
_LINE_END = re.compile(r"[\r\n]|\Z")
_VERBATIM_OPTIONS = re.compile(r"\[[^\]\r\n]*\]|\{[a-zA-Z0-9+#]*\}(?=[^\sa-zA-Z.,;:)])")
_VERBATIM_ENVIRONMENT = re.compile(r"(?:verbatim|lstlisting|minted|Verbatim|comment|filecontents|alltt)\*?")
_LETTERS = re.compile(r"[^\W\d_]{2,}")

# Commands whose last argument is part of the paragraph around them, and how many others come before it.
_TEXTS = {
    **dict.fromkeys(
        names(
            """emph textbf textit textsc textsl textsf textrm textmd textup textnormal underline uline text mbox enquote
    textquote footnote footnotetext sidenote marginpar marginnote thanks hl st so"""
        ),
        0,
    ),
    "textcolor": 1,
    "href": 1,
    "colorbox": 1,
    "foreignlanguage": 1,
}
# Commands whose last argument is a paragraph of its own.
_OWN = {
    **dict.fromkeys(
        names(
            """part chapter section subsection subsubsection paragraph subparagraph title subtitle frametitle
    framesubtitle addchap addsec"""
        ),
        Role.HEADING,
    ),
    **dict.fromkeys(["caption", "subcaption", "captionof"], Role.CAPTION),
    "abstract": Role.BODY,
}
_IN_PREAMBLE = frozenset(["title", "subtitle"])
_BREAKS = names(
    "par item bibitem newpage clearpage maketitle tableofcontents noindent indent bigskip medskip smallskip"
)
# Commands that print nothing where they stand.
_UNSEEN = frozenset(
    ["label", "index", "glossary", "nocite", "centering", "raggedright", "vspace", "hspace", "pagestyle"]
)
_VERBATIM = frozenset(["verb", "verb*", "lstinline", "mintinline", "Verb", "Verb*", "path", "url", "nolinkurl"])
_DEFINITIONS = frozenset(["def", "gdef", "edef", "xdef", "let", "futurelet"])

_PROSE_ENVIRONMENTS = {
    **dict.fromkeys(
        names(
            """document abstract center flushleft flushright minipage frame block alertblock exampleblock columns column
    theorem lemma proposition corollary definition proof remark example claim conjecture exercise solution
    note assumption notation spacing onehalfspacing doublespacing multicols appendix appendices
    acknowledgements acknowledgments keywords figure figure* table table* wrapfigure subfigure letter
    landscape"""
        ),
        Role.BODY,
    ),
    **dict.fromkeys(["itemize", "enumerate", "description", "list", "compactitem", "compactenum"], Role.ITEM),
    **dict.fromkeys(["quote", "quotation", "verse", "displayquote"], Role.QUOTE),
}
_MATHS = names(
    """math displaymath equation align alignat aligned gather multline eqnarray flalign subequations split cases
    array matrix pmatrix bmatrix"""
)


class _Kind(Enum):
    TEXT = auto()
    KEPT = auto()  # in a paragraph, and not to be changed
    SKIPPED = auto()  # not in the paragraph, which goes on behind it
    BREAK = auto()  # between paragraphs


class _Piece(NamedTuple):
    kind: _Kind
    start: int
    end: int
    role: Role


def blocks(text: str) -> Iterator[Block]:
    """The prose of a document, or of a part of one, in LaTeX."""
    waiting: list[_Piece] = []
    for piece in _Reader(text).pieces():
        if piece.kind is _Kind.BREAK or (waiting and piece.role is not waiting[-1].role):
            yield from _paragraphs(text, waiting)
            waiting = []
        if piece.kind is not _Kind.BREAK:
            waiting.append(piece)
    yield from _paragraphs(text, waiting)


def _paragraphs(text: str, pieces: Sequence[_Piece]) -> Iterator[Block]:
    """The paragraphs among related pieces, separated by blank lines."""
    waiting: list[_Piece] = []
    for kind, start, end, role in pieces:
        if kind is not _Kind.TEXT:
            waiting.append(_Piece(kind, start, end, role))
            continue
        place = start
        for gap in _BLANK_LINE.finditer(text, start, end):
            waiting.append(_Piece(kind, place, gap.start(), role))
            yield from _paragraph(text, waiting)
            waiting, place = [], gap.end()
        waiting.append(_Piece(kind, place, end, role))
    yield from _paragraph(text, waiting)


def _paragraph(text: str, pieces: Sequence[_Piece]) -> Iterator[Block]:
    if not any(kind is _Kind.TEXT and _LETTERS.search(text, a, b) for kind, a, b, _ in pieces):
        return
    block = Block(pieces[0].role, [])
    run: list[_Piece] = []
    for piece in [*pieces, _Piece(_Kind.SKIPPED, 0, 0, pieces[0].role)]:
        if piece.kind is not _Kind.SKIPPED:
            run.append(piece)
            continue
        if run:
            lines = _lines_between(text, run[0].start, run[-1].end)
            found = [line.prose for line in lines if not line.blank]
            if found and block.segments:
                # What is skipped, such as a comment, may join two words: it stays where it is.
                block.protected.append(Span(block.segments[-1].end, found[0].start))
            block.segments += found
        run = []
    block.protected += [Span(a, b) for kind, a, b, _ in pieces if kind is _Kind.KEPT]
    block.protected.sort()
    if block.segments:
        block.scope = Span(block.segments[0].start, block.segments[-1].end)
        yield block


def _lines_between(text: str, start: int, end: int) -> list[Line]:
    return [Line(line.text, start + line.start) for line in split_lines(text[start:end])]


@dataclass
class _Reader:
    """Parses a text once and separates its prose from the rest."""

    text: str
    _tokens: list[tuple[int, int]] = field(default_factory=list)
    _closing: dict[int, int] = field(default_factory=dict)
    _found: list[_Piece] = field(default_factory=list)
    _role: Role = Role.BODY
    _restored: dict[int, Role] = field(default_factory=dict)
    _environments: list[Role] = field(default_factory=list)
    _missing: dict[str, int] = field(default_factory=dict)
    _preamble: bool = False

    def pieces(self) -> list[_Piece]:
        self._tokenise()
        self._preamble = "\\begin{document}" in self.text
        own = dict.fromkeys(_THEOREM.findall(self.text), Role.BODY)
        self._prose_environments = {**own, **_PROSE_ENVIRONMENTS}
        index = 0
        while index < len(self._tokens):
            index = self._read(index)
        return self._found

    def _tokenise(self) -> None:
        """Divide the text into tokens, with verbatim parts as one, and pair its braces."""
        place, opened = 0, []
        text = self.text
        while place < len(text):
            found = _TOKEN.match(text, place)
            assert found
            end = found.end()
            word = found.group()
            if word[0] == "\\" and word[1:] in _VERBATIM:
                end = self._verbatim_end(end)
            elif word == "\\begin":
                end = self._verbatim_environment_end(end)
            elif word == "{":
                opened.append(len(self._tokens))
            elif word == "}" and opened:
                self._closing[opened.pop()] = len(self._tokens)
            self._tokens.append((place, end))
            place = end

    def _verbatim_end(self, place: int) -> int:
        """The end of what `\\verb` or its like holds, which is in its line."""
        text = self.text
        line_end = _LINE_END.search(text, place)
        assert line_end
        options = _VERBATIM_OPTIONS.match(text, place)
        place = options.end() if options else place
        mark = text[place : place + 1]
        if not mark or mark.isspace() or place >= line_end.start():
            return place
        end = text.find("}" if mark == "{" else mark, place + 1, line_end.start())
        return end + 1 if end >= 0 else line_end.start()

    def _verbatim_environment_end(self, place: int) -> int:
        name = _NAME.match(self.text, place)
        if name and _VERBATIM_ENVIRONMENT.fullmatch(name.group(1)):
            closing = f"\\end{{{name.group(1)}}}"
            end = self.text.find(closing, name.end())
            return end + len(closing) if end >= 0 else len(self.text)
        return place

    def _read(self, index: int) -> int:
        """Process the token at `index` and what belongs to it; returns the index of the next token."""
        start, end = self._tokens[index]
        word = self.text[start:end]
        if word.startswith("\\begin"):
            return self._begin(index)
        if word.startswith("\\end") and word == "\\end":
            return self._end(index)
        if self._preamble and word[1:] not in _IN_PREAMBLE and self._role is not Role.HEADING:
            self._add(_Kind.BREAK, start, end)
        elif word[0] == "%":
            self._add(_Kind.SKIPPED, start, end)
        elif word[0] == "$" or word in ("\\(", "\\["):
            return self._maths(index, word)
        elif word[0] == "\\":
            return self._command(index, word[1:])
        elif index in self._restored:
            self._role = self._restored[index]
            self._add(_Kind.BREAK, start, end)
        elif word[0] in "{}~^_&#":
            self._add(_Kind.KEPT, start, end)
        else:
            self._add(_Kind.TEXT, start, end)
        return index + 1

    def _add(self, kind: _Kind, start: int, end: int) -> None:
        self._found.append(_Piece(kind, start, end, self._role))

    def _maths(self, index: int, opening: str) -> int:
        closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening, opening)
        start = self._tokens[index][0]
        # What was looked for in vain up to there is not looked for again.
        looked = self._missing.get(closing, 0)
        for number in range(max(index + 1, looked), len(self._tokens) if index >= looked else 0):
            first, last = self._tokens[number]
            if self.text[first:last] == closing:
                self._add(_Kind.KEPT, start, last)
                return number + 1
            self._missing[closing] = number
            if _BLANK_LINE.search(self.text, first, last):
                break
        self._add(_Kind.KEPT, start, self._tokens[index][1])
        return index + 1

    def _command(self, index: int, name: str) -> int:
        bare = name.removesuffix("*")
        start, end = self._tokens[index]
        if bare in _DEFINITIONS:
            return self._definition(index)
        if bare in _BREAKS:
            after = self._arguments(index + 1, braces=0)
            self._add(_Kind.BREAK, start, self._end_of(after))
            return after
        if bare in _TEXTS or bare in _OWN:
            others = _TEXTS.get(bare, 1 if bare == "captionof" else 0)
            after = self._arguments(index + 1, braces=others)
            opened = self._brace_at(after)
            if opened is not None:
                kind = _Kind.BREAK if bare in _OWN else _Kind.KEPT
                if bare in _OWN:
                    self._restored[self._closing[opened]] = self._role
                    self._add(kind, start, self._tokens[opened][1])
                    self._role = _OWN[bare]
                else:
                    self._add(kind, start, self._tokens[opened][1])
                return opened + 1
        after = self._arguments(index + 1)
        kind = _Kind.SKIPPED if bare in _UNSEEN else _Kind.KEPT
        self._add(kind, start, max(end, self._end_of(after)))
        return after

    def _end_of(self, index: int) -> int:
        """The offset at which the token before `index` ends."""
        return self._tokens[index - 1][1]

    def _brace_at(self, index: int) -> int | None:
        """The index of the brace that opens at `index`, after blanks at most; None if there is none or it is not
        closed."""
        if index < len(self._tokens):
            start, end = self._tokens[index]
            gap = _GAP.match(self.text, start)
            if gap and gap.end() >= end and self.text[start:end].isspace():
                index += 1
        return index if index in self._closing else None

    def _arguments(self, index: int, braces: int = 9) -> int:
        """The index of the token after the arguments at `index`, of which at most `braces` are in braces."""
        while index < len(self._tokens):
            start = self._tokens[index][0]
            if self.text[start] == "[":
                after = self._optional(index)
                if after is None:
                    break
                index = after
            elif index in self._closing and braces:
                index, braces = self._closing[index] + 1, braces - 1
            else:
                break
        return index

    def _optional(self, index: int) -> int | None:
        """The index of the token after an argument in brackets; None if it is not closed soon."""
        number = index + 1
        while number < min(len(self._tokens), index + 200):
            first, last = self._tokens[number]
            if self.text[first] == "]":
                return number + 1
            if self.text[first] == "}" or _BLANK_LINE.search(self.text, first, last):
                return None
            number = self._closing.get(number, number) + 1
        return None

    def _definition(self, index: int) -> int:
        """The index after a definition: after its first group, or at the end of its line."""
        start = self._tokens[index][0]
        for number in range(index + 1, min(len(self._tokens), index + 40)):
            if number in self._closing:
                after = self._closing[number] + 1
                self._add(_Kind.BREAK, start, self._end_of(after))
                return after
            first, last = self._tokens[number]
            if "\n" in self.text[first:last] or "\r" in self.text[first:last]:
                break
        self._add(_Kind.KEPT, start, self._tokens[index][1])
        return index + 1

    def _begin(self, index: int) -> int:
        start, end = self._tokens[index]
        name = _NAME.match(self.text, start + len("\\begin"))
        if end > start + len("\\begin") or not name:  # verbatim, or broken
            self._add(_Kind.BREAK, start, end)
            return index + 1
        environment = name.group(1)
        if environment.removesuffix("*") in _MATHS:
            after = self._matching_end(index, environment)
            self._add(_Kind.BREAK if self._preamble else _Kind.KEPT, start, self._end_of(after))
            return after
        role = self._prose_environments.get(environment)
        if role is None:
            after = self._matching_end(index, environment)
            self._add(_Kind.BREAK, start, self._end_of(after))
            return after
        if environment == "document":
            self._preamble = False
        after = self._arguments(index + 1)
        self._add(_Kind.BREAK, start, self._end_of(after))
        self._environments.append(self._role)
        self._role = role
        return after

    def _end(self, index: int) -> int:
        start, _ = self._tokens[index]
        name = _NAME.match(self.text, start + len("\\end"))
        after = self._arguments(index + 1, braces=1)
        if name and name.group(1) == "document":
            self._add(_Kind.BREAK, start, len(self.text))
            return len(self._tokens)
        self._add(_Kind.BREAK, start, self._end_of(after))
        if self._environments:
            self._role = self._environments.pop()
        return after

    def _matching_end(self, index: int, environment: str) -> int:
        """The index of the token after the end of an environment, or of the document."""
        opening, closing = f"\\begin{{{environment}}}", f"\\end{{{environment}}}"
        depth = 0
        for number in range(index, len(self._tokens)):
            start = self._tokens[number][0]
            if self.text.startswith(opening, start):
                depth += 1
            elif self.text.startswith(closing, start):
                depth -= 1
                if not depth:
                    return self._arguments(number + 1, braces=1)
        return len(self._tokens)
