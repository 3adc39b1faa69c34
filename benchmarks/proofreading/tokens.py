"""The conversion of tokenised sentences to plain text, and of corrected plain text back to tokens.

The sets are tokenised ("do n't", " ,") but a proofreader reads plain text. The scores need its corrections as
tokens, with the original tokens wherever the text is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Style:
    """The tokenisation of a set: whether hyphens, slashes and the halves of "cannot" and "gonna" are tokens."""

    hyphens: bool = False
    halves: bool = True


@dataclass(frozen=True)
class Plain:
    """A sentence as plain text, and the span of each token in it."""

    text: str
    spans: tuple[tuple[int, int], ...]


_TYPED = {"``": '"', "''": '"', "&raspsquo;": "'", "-LRB-": "(", "-RRB-": ")"}
_ENDINGS = re.compile(r"n't|'(?:s|m|re|ve|ll|d)", re.IGNORECASE)
_STOPS = re.compile(r"[.,;:!?…]+|[)\]}”»]")
_OPENINGS = frozenset("([{“«£$€")
_NUMBER = re.compile(r"\d.*")
_QUOTES = {'"', "'"}
_HALVES = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta")}
_IN_DOUBT = re.compile(r"[-/\"'–—]|``|''|&raspsquo;")


def detokenise(tokens: Sequence[str], style: Style, written: Sequence[bool] | None = None) -> Plain:
    """The sentence as plain text.

    Commas, full stops, brackets and contractions are joined to their words. Where a rule can only guess
    (hyphens, slashes, quotation marks, "can not"), the original text decides if it is known: `written` says for
    each pair of neighbours whether there was no space between them.
    """
    typed = [_TYPED.get(token, token) for token in tokens]
    joins = _joins(tokens, typed, style)
    for at, joined in enumerate(written or ()):
        pair = tokens[at : at + 2]
        if any(map(_IN_DOUBT.fullmatch, pair)) or tuple(map(str.lower, pair)) in _HALVES:
            joins[at] = joined
    text, spans = "", []
    for at, token in enumerate(typed):
        text += "" if at == 0 or joins[at - 1] else " "
        spans.append((len(text), len(text) + len(token)))
        text += token
    return Plain(text, tuple(spans))


def _joins(tokens: Sequence[str], typed: Sequence[str], style: Style) -> list[bool]:
    """For each pair of neighbours, whether they are joined without a space."""
    opens = _opening_quotes(tokens, typed)
    return [_joined(typed, opens, at, style) for at in range(len(typed) - 1)]


def _joined(typed: Sequence[str], opens: Sequence[bool], at: int, style: Style) -> bool:
    left, right = typed[at], typed[at + 1]
    if right in _QUOTES or left in _QUOTES:
        before = left in _QUOTES and opens[at]
        after = right in _QUOTES and not opens[at + 1]
        return before or after or (left in _QUOTES and _STOPS.fullmatch(right) is not None)
    if _ENDINGS.fullmatch(right) or _STOPS.fullmatch(right) or left in _OPENINGS:
        return True
    if (left.lower(), right.lower()) in _HALVES:
        return style.halves
    if right == "%" and _NUMBER.fullmatch(left):
        return True
    if style.hyphens and (left in ("-", "/") or right in ("-", "/")):
        mark = at if left in ("-", "/") else at + 1
        around = typed[max(mark - 1, 0) : mark + 2]
        return len(around) == 3 and around[0][-1:].isalnum() and around[2][:1].isalnum()
    return False


def _opening_quotes(tokens: Sequence[str], typed: Sequence[str]) -> list[bool]:
    """For each token, whether it is an opening quotation mark."""
    opens, inside = [False] * len(tokens), set[str]()
    for at, (token, shown) in enumerate(zip(tokens, typed, strict=True)):
        if shown not in _QUOTES:
            if shown.count('"') % 2:  # as in: he said:"Go
                inside ^= {'"'}
            continue
        if token == "``":
            opens[at] = True
        elif token == "''":
            opens[at] = False
        elif shown in inside:
            inside.discard(shown)
            continue
        else:
            opens[at] = shown == '"' or not _possessive(typed, at)
        (inside.add if opens[at] else inside.discard)(shown)
    return opens


def _possessive(typed: Sequence[str], at: int) -> bool:
    """Whether the apostrophe at `at` is a possessive, not a closing quotation mark."""
    return at > 0 and (typed[at - 1][-1:] in "sSxz" or "'" not in typed[at + 1 :])


def retokenise(tokens: Sequence[str], plain: Plain, corrected: str, style: Style) -> Tokens:
    """The tokens of a corrected sentence: the given ones where it is unchanged, new ones elsewhere."""
    old, new = plain.text.split(), corrected.split()
    if old == new:
        return tuple(tokens)
    groups = _tokens_of_chunks(plain)
    found: list[str] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, low, high, start, end in matcher.get_opcodes():
        ids = [id for group in groups[low:high] for id in group]
        if tag == "equal":
            found += [tokens[id] for id in ids]
            continue
        region = _Region(
            given=[tokens[id] for id in ids],
            old=" ".join(old[low:high]),
            spans=_moved([plain.spans[id] for id in ids]),
            new=" ".join(new[start:end]),
            ends_sentence=end == len(new),
            style=style,
        )
        found += region.retokenised("``" in tokens)
    return tuple(found)


def _moved(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans relative to the start of the first."""
    return [(start - spans[0][0], end - spans[0][0]) for start, end in spans]


def _tokens_of_chunks(plain: Plain) -> list[list[int]]:
    """The indices of the tokens in each run of text without spaces."""
    groups: list[list[int]] = []
    last = -1
    for id, (start, end) in enumerate(plain.spans):
        if start != last:
            groups.append([])
        groups[-1].append(id)
        last = end
    return groups


@dataclass(frozen=True)
class _Region:
    """A changed part: its old tokens, their text and spans in it, and the new text."""

    given: list[str]
    old: str
    spans: list[tuple[int, int]]
    new: str
    ends_sentence: bool
    style: Style

    def retokenised(self, curly: bool) -> list[str]:
        fresh = tokenise(self.new, self.style, ends_sentence=self.ends_sentence)
        edges = _edges(fresh, self.new)
        head = self._kept_in_front(edges)
        tail = self._kept_behind(edges, head)
        first, last = head, len(self.given) - tail
        start = self.spans[head - 1][1] if head else 0
        stop = len(self.new) - (len(self.old) - self.spans[last][0] if tail else 0)
        middle = tokenise(self.new[start:stop], self.style, ends_sentence=self.ends_sentence and not tail)
        shown = [self.old[slice(*span)] for span in self.spans[first:last]]
        return [*self.given[:first], *_reuse(self.given[first:last], shown, middle, curly), *self.given[last:]]

    def _kept_in_front(self, edges: set[int]) -> int:
        """The number of old tokens with which the new text begins, up to the end of one of its own tokens."""
        common = _alike(self.old, self.new)
        ends = [end for _, end in self.spans]
        return max((n for n, end in enumerate(ends, 1) if end <= common and end in edges), default=0)

    def _kept_behind(self, edges: set[int], head: int) -> int:
        """The number of old tokens with which the new text ends, from the start of one of its own tokens."""
        longer = len(self.new) - len(self.old)
        common = _alike(self.old[::-1], self.new[::-1])
        taken = self.spans[head - 1][1] if head else 0
        starts = [start for start, _ in self.spans[head:]]
        return max(
            (
                len(starts) - n
                for n, start in enumerate(starts)
                if len(self.old) - start <= common and start + longer >= taken and start + longer in edges
            ),
            default=0,
        )


def _alike(one: str, other: str) -> int:
    """The length of the common prefix of two texts."""
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _edges(tokens: Sequence[str], text: str) -> set[int]:
    """The offsets in the text at which tokens begin or end."""
    edges, at = set(), 0
    for token in tokens:
        start = text.index(token, at)
        at = start + len(token)
        edges |= {start, at}
    return edges


def _reuse(given: list[str], shown: list[str], fresh: list[str], curly: bool) -> list[str]:
    """The new tokens, with the given spelling for those that were there before."""
    found: list[str] = []
    for tag, low, high, start, end in SequenceMatcher(None, shown, fresh, autojunk=False).get_opcodes():
        found += given[low:high] if tag == "equal" else _quoted(fresh[start:end], curly)
    return found


def _quoted(tokens: list[str], curly: bool) -> list[str]:
    """Converts quotation marks to Treebank tokens in sentences that use them."""
    if not curly:
        return tokens
    return [
        ("``" if after[:1].isalnum() else "''") if token == '"' else token for token, after in pairwise([*tokens, ""])
    ]


_ABBREVIATION = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|a\.m|p\.m|[A-Za-z](?:\.[A-Za-z])*)\.", re.IGNORECASE
)
_LEADING = re.compile(r"\.{2,}|-{2,}|[\"“”‘«(\[{£$€#]|'(?!(?:s|m|re|ve|ll|d|t)\b)|[,;:!?](?=.)", re.IGNORECASE)
_TRAILING = re.compile(r"(?:\.{2,}|-{2,}|[\"“”»)\]},;:!?…%]|['’]|(?<=.)\.)$")
_CLITIC = re.compile(r"(?<=.)(?:n't|'(?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_INFIX = re.compile(r"(?<=[^\W_])(-)(?=[^\W_])|(?<=[^\W\d_])(/)(?=[^\W\d_])")
_TOGETHER = re.compile(r"(can)(not)|(gon)(na)|(wan)(na)|(got)(ta)", re.IGNORECASE)


def tokenise(text: str, style: Style, *, ends_sentence: bool) -> list[str]:
    """Tokenises new text in the set's style; only punctuation around words and contractions are split off."""
    chunks = text.split()
    return [
        token
        for number, chunk in enumerate(chunks, 1)
        for token in _tokenise_chunk(chunk, style, ends_sentence and number == len(chunks))
    ]


def _tokenise_chunk(chunk: str, style: Style, last: bool) -> list[str]:
    head: list[str] = []
    tail: list[str] = []
    while match := _LEADING.match(chunk):
        head.append(match[0])
        chunk = chunk[match.end() :]
    while match := _TRAILING.search(chunk):
        abbreviated = match[0] == "." and _ABBREVIATION.fullmatch(chunk)
        if abbreviated and not (last and not tail):
            break
        tail.insert(0, match[0])
        chunk = chunk[: match.start()]
    if match := _CLITIC.search(chunk):
        tail.insert(0, match[0])
        chunk = chunk[: match.start()]
    words = [chunk]
    if style.halves and (match := _TOGETHER.fullmatch(chunk)):
        words = [part for part in match.groups() if part]
    elif style.hyphens:
        words = [part for part in _INFIX.split(chunk) if part]
    return [*head, *filter(None, words), *tail]
