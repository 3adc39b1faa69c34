"""Where texts with known verdicts come from: public sets, pairs of texts before and after correction, and finished
texts.

A verdict says of one change, made alone, whether it is right. On BEA-2019 an annotator must have made the same
edit, by ERRANT. On JFLEG and on pairs it must bring the text nearer to a corrected one, in words and marks. In a
finished text every change is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from benchmarks.proofreading.errant_score import check_installed, made_edits
from benchmarks.proofreading.sets import AnnotatedSentence, ProofSet
from benchmarks.proofreading.tokens import Style, retokenise
from reviser.core.errors import ReviserError
from reviser.proofreading.changes import changes
from reviser.proofreading.suggestion import Suggestion
from training.data.edit_files import read_edits
from training.data.sources import documents

PIECE = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_LONGEST = 600
"""Characters of a finished text or of a pair, at the most: longer ones are no passages."""


@dataclass(frozen=True)
class SourceText:
    """A text to be read, with what is known of it.

    `wanted` is how many corrections it needs, where that is known. Of `references` any is a corrected text;
    a text without them is finished. `annotated` is a sentence whose edits are known by their places.
    """

    text: str
    wanted: int | None
    references: tuple[str, ...] = ()
    annotated: tuple[AnnotatedSentence, Style] | None = None

    def is_right(self, proposal: Suggestion) -> bool:
        """Whether a change of this text is right if it is made alone."""
        made = self.text[: proposal.start] + proposal.new + self.text[proposal.end :]
        if self.annotated is not None:
            return _is_annotated(*self.annotated, made)
        before, after = PIECE.findall(self.text), PIECE.findall(made)
        return any(distance(after, wanted) < distance(before, wanted) for wanted in map(PIECE.findall, self.references))


@dataclass(frozen=True)
class NamedTexts:
    """Texts under a name. What is `restricted` may be measured on, and nothing that is given away is fitted to it."""

    name: str
    texts: tuple[SourceText, ...]
    restricted: bool = False
    sort: str = field(default="pairs")


def _is_annotated(sentence: AnnotatedSentence, style: Style, made: str) -> bool:
    edits = set(made_edits(sentence.tokens, retokenise(sentence.tokens, sentence.plain, made, style)))
    return bool(edits) and any(
        edits <= {(edit.start, edit.end, edit.corrections[0]) for edit in several} for several in sentence.annotations
    )


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Words and marks that are put in, left out or exchanged between two texts."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    row = list(range(len(other) + 1))
    for number, piece in enumerate(one, 1):
        last, row[0] = row[0], number
        for at, wanted in enumerate(other, 1):
            last, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, last + (piece != wanted))
    return row[-1]


def public_source(set: ProofSet, limit: int | None) -> NamedTexts:
    """A public set, of which only dev sets are for choosing."""
    if set.score == "errant":
        check_installed()
        texts = [
            SourceText(
                sentence.plain.text,
                max(sum(edit.kind != "UNK" for edit in several) for several in sentence.annotations),
                annotated=(sentence, set.style),
            )
            for sentence in set.sentences[:limit]
        ]
    else:
        texts = [
            SourceText(plain, None, tuple(references))
            for plain, references in zip(set.sources[:limit], set.reference_texts[:limit], strict=True)
        ]
    return NamedTexts(set.name, tuple(texts), restricted=True, sort=set.score)


def pairs_source(path: str, limit: int | None) -> NamedTexts:
    """A file of texts before and after correction; those that are long or rewritten for the most part are left out."""
    found = (
        SourceText(before, len(changes(before, after)), (after,))
        for edit in read_edits(path)
        for before, after in [(_in_line(edit.before), _in_line(edit.after))]
        if _is_passage(before) and _is_corrected(before, after)
    )
    return NamedTexts(name_of(path), _taken(found, limit, path))


def finished_source(path: str, column: str, limit: int | None) -> NamedTexts:
    """The texts of a file, which are to be left alone."""
    found = (SourceText(text, 0) for text in map(_in_line, documents(path, column)) if _is_passage(text))
    return NamedTexts(f"{name_of(path)}-finished", _taken(found, limit, path), sort="finished")


def name_of(path: str) -> str:
    """What a file of texts is called: its name without its endings."""
    return Path(path).name.split(".")[0]


def _taken(texts: Iterator[SourceText], limit: int | None, path: str) -> tuple[SourceText, ...]:
    taken = tuple(islice(texts, limit))
    if not taken:
        raise ReviserError(f"{path} has no texts to proofread")
    return taken


def _in_line(text: str) -> str:
    return " ".join(text.split())


def _is_passage(text: str) -> bool:
    return 0 < len(text) <= _LONGEST


def _is_corrected(before: str, after: str) -> bool:
    """Whether one text is a correction of the other and not another text: two in three words and marks stay."""
    one, other = PIECE.findall(before), PIECE.findall(after)
    return 3 * distance(one, other) <= max(len(one), len(other))
