"""Whether badly spelt English is proofread, and other languages are left alone.

    python -m benchmarks languages [--model MODEL] [--write PAGE]

The sentences of six languages come along; half of each set was not in view when the limits were chosen.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from benchmarks.proofreading.languages.sets import (
    FOREIGN,
    Half,
    foreign_paragraphs,
    foreign_sentences,
    misspelt_sentences,
)
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.edits import Edit
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.changes import changes
from reviser.proofreading.document import Draft
from reviser.proofreading.language.foreign import foreign_in
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.prose import Format, paragraphs
from reviser.session.engine import load_engine


@dataclass(frozen=True, kw_only=True)
class LanguagesOptions:
    """The model, and where the page goes."""

    model: Annotated[str | None, Option("name or folder of a model; by default the embedded one")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


class LeftAlone(NamedTuple):
    """How many sentences of another language were told from English, and what was changed in them."""

    sentences: int
    told: int
    changed: int
    paragraphs: int
    changed_paragraphs: int


class Corrected(NamedTuple):
    """How many badly spelt sentences were taken for English, and which changes were made of those that were meant."""

    sentences: int
    told: int
    changed: int
    meant: int
    made: int
    right: int


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(LanguagesOptions, run, arguments, prog="python -m benchmarks languages", about=__doc__)


def run(chosen: LanguagesOptions) -> None:
    """Proofread all sentences, and tell."""
    if chosen.write:
        check_output(chosen.write)
    engine = load_engine(chosen.model)
    text = page(Proofreader(engine.policy, engine.tokenizer))
    print(text, end="")
    if chosen.write:
        command = f"python -m benchmarks languages {shlex.join(chosen.words)}"
        head = provenance(command, Model=engine.name)
        write_atomically(chosen.write, f"# Other languages\n\n{head}\n{text}".encode())


def is_foreign(text: str) -> bool:
    """Whether more than half of a text is taken for another language."""
    found = [
        end - start
        for paragraph in paragraphs(text, Format.PLAIN)
        for start, end in foreign_in(paragraph, dictionary())
    ]
    return 2 * sum(found) > len(text)


def left_alone(reader: Proofreader, language: str, half: Half) -> LeftAlone:
    """What becomes of the sentences of another language, alone and in paragraphs."""
    alone, together = foreign_sentences(language, half), foreign_paragraphs(language, half)
    return LeftAlone(
        len(alone),
        sum(map(is_foreign, alone)),
        _changed(alone, proofread(reader, alone)),
        len(together),
        _changed(together, proofread(reader, together)),
    )


def corrected(reader: Proofreader, half: Half) -> Corrected:
    """What becomes of badly spelt English."""
    given = misspelt_sentences(half)
    typed = [one.typed for one in given]
    done = proofread(reader, typed)
    wanted = [_edits(one.typed, one.meant) for one in given]
    made = [_edits(before, after) for before, after in zip(typed, done, strict=True)]
    return Corrected(
        len(given),
        sum(not is_foreign(text) for text in typed),
        _changed(typed, done),
        sum(map(len, wanted)),
        sum(map(len, made)),
        sum(len(one & other) for one, other in zip(wanted, made, strict=True)),
    )


def _edits(before: str, after: str) -> set[Edit]:
    return {one.edit for one in changes(before, after)}


def proofread(reader: Proofreader, texts: Sequence[str]) -> list[str]:
    """Texts after proofreading, each by itself."""
    return [one.text for one in reader.proofread_all([Draft(text) for text in texts])]


def _changed(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(one != other for one, other in zip(before, after, strict=True))


def page(reader: Proofreader) -> str:
    """Both tables."""
    others = Table(
        ("language", "half", "sentences", "told", "changed", "paragraphs", "changed"),
        tuple(
            (name, half, *map(str, left_alone(reader, language, half)))
            for language, name in FOREIGN.items()
            for half in Half
        ),
        names=2,
    )
    english = Table(
        ("half", "sentences", "taken for English", "changed", "changes meant", "made", "as meant"),
        tuple((half, *map(str, corrected(reader, half))) for half in Half),
    )
    return (
        "What was seen was in view when the limits were chosen, what was held out was not.\n\n"
        f"## Left alone\n\n{others.markdown()}\nTold are sentences that are known to be in another language.\n\n"
        f"## Badly spelt English\n\n{english.markdown()}"
    )
