"""Weights by which unknown words are corrected, fitted on misspellings that are put into good texts.

    python -m benchmarks spelling TEXTS [--count 600] [--seed 1] [--write PAGE]

TEXTS are texts that the model has not seen. Passages of them are taken. In some, words are misspelt, as the list of
the package `codespell` has them or by slips, two words are joined, or an apostrophe is left out. The others stay as
they are, with the names and terms that they have. The model judges all unknown words. The weights of
`reviser.proofreading.spelling.speller` are fitted on every other word. The page shows the rest, with these weights
and with those that the program has, and of all words those that are corrected without a reading.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import numpy as np

from benchmarks.proofreading.calibration.choices import PENALTY, Choice, Floats, fitted, loss, shares
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.core.tokenizer import Tokenizer
from reviser.proofreading.project.words import Words as Terms
from reviser.proofreading.reading import Passage
from reviser.proofreading.spelling.choosing import Place
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.speller import (
    OVERTYPED,
    READ,
    Speller,
    UnknownWords,
    Weights,
    chances,
    features,
    speller_for,
)
from reviser.prose import Format, paragraphs
from reviser.session.engine import load_engine
from training.data.randomness import Random
from training.data.sources import documents
from training.edits.mistakes.spelling import misspelt
from training.edits.mistakes.table import listed_misspellings

DIALS: Final = (0.25, 0.5, 0.8, 0.9)
_LONGEST: Final = 260
_SHORTEST: Final = 60
_OF_EACH: Final = 6
_AT_ONCE: Final = 32
_MISSPELT: Final = 0.6
_LISTED: Final = 0.6
_TWICE: Final = 0.15
_JOINED: Final = 0.12
_MISTAKES: Final = (1, 1, 2, 3, 4)
_WORD = re.compile(r"(?<![\w'-])[a-z]{3,}(?![\w'-])")
_PAIR = re.compile(r"(?<![\w'-])[a-z]{1,5} [a-z]{2,6}(?![\w'-])|(?<![\w'-])[a-z]+n't")


@dataclass(frozen=True, kw_only=True)
class SpellingOptions:
    """Which texts the weights are fitted on, and where the page goes."""

    texts: Annotated[str, Argument("texts that the model has not seen: JSON lines, or a text file")]
    model: Annotated[str | None, Option("a folder or a name", default="the bundled one")] = None
    count: Annotated[int, Option("unknown words to fit on and to measure on")] = 600
    seed: Annotated[int, Option("of the passages and the misspellings")] = 1
    threads: Annotated[int | None, Option("threads of the model")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


@dataclass(frozen=True)
class Judged:
    """An unknown word as the model judged it, and what was meant; None if it was not misspelt.

    `plain` is what it plainly stands for, if anything.
    """

    place: Place
    meant: str | None
    plain: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(SpellingOptions, run, arguments, prog="python -m benchmarks spelling", about=__doc__)


def run(chosen: SpellingOptions) -> None:
    """Make misspellings, let the model judge them, fit, and tell."""
    if chosen.write:
        check_output(chosen.write)
    engine = load_engine(chosen.model, threads=chosen.threads)
    speller = speller_for(engine.policy, engine.tokenizer)
    if speller is None:
        raise ReviserError("this model was not trained to proofread by overtyping")
    made = passages(chosen.texts, random.Random(chosen.seed), Random(chosen.seed))
    found = [*islice(judged(speller, engine.tokenizer, made), chosen.count)]
    if not any(one.meant for one in found[::2]):
        raise ReviserError(f"{chosen.texts} has no passages to misspell words in")
    text = page(found)
    print(text, end="")
    if chosen.write:
        command = f"python -m benchmarks spelling {shlex.join(chosen.words)}"
        command = command.replace(chosen.texts, Path(chosen.texts).name)
        head = provenance(
            command,
            Data=f"{Path(chosen.texts).name}, seed {chosen.seed}",
            Model=f"weights {getattr(engine.policy, 'digest', '')}",
        )
        write_atomically(chosen.write, f"# Unknown words\n\n{head}\n{text}".encode())


# Passages ------------------------------------------------------------------------------------------


def passages(source: str, draw: random.Random, slips: Random) -> Iterator[tuple[str, dict[int, str]]]:
    """Passages of texts, and what was meant by the words that were misspelt in them, by their places."""
    texts = [*documents(source)]
    draw.shuffle(texts)
    listed = listed_misspellings()
    for text in texts:
        found = [one.text for one in paragraphs(text[:20000], Format.PLAIN)]
        found = [one for one in found if len(one) > _SHORTEST]
        draw.shuffle(found)
        for one in found[:_OF_EACH]:
            passage = one if len(one) <= _LONGEST else one[: one.rfind(" ", 0, _LONGEST)]
            yield _with_mistakes(passage, draw, slips, listed)


def _with_mistakes(
    text: str, draw: random.Random, slips: Random, listed: dict[str, list[str]]
) -> tuple[str, dict[int, str]]:
    """A passage with some words misspelt, or none."""
    if draw.random() >= _MISSPELT:
        return text, {}
    places = [*_WORD.finditer(text)]
    places += [one for one in _PAIR.finditer(text) if draw.random() < _JOINED]
    draw.shuffle(places)
    most = draw.choice(_MISTAKES)
    made: dict[tuple[int, int], str] = {}
    for found in places:
        wrong = _wrong(found[0], draw, slips, listed)
        apart = all(end <= found.start() or found.end() <= start for start, end in made)
        if len(made) < most and apart and wrong != found[0] and not dictionary().knows(wrong):
            made[found.span()] = wrong
    meant, pieces, done, place = {}, [], 0, 0
    for (start, end), wrong in sorted(made.items()):
        pieces += [text[done:start], wrong]
        place += start - done
        meant[place] = text[start:end]
        place, done = place + len(wrong), end
    return "".join([*pieces, text[done:]]), meant


def _wrong(word: str, draw: random.Random, slips: Random, listed: dict[str, list[str]]) -> str:
    if not word.isalpha():
        return word.replace(" ", "").replace("'", "")
    known = listed.get(word)
    wrong = draw.choice(known) if known and draw.random() < _LISTED else misspelt(word, slips)
    return misspelt(wrong, slips) if draw.random() < _TWICE else wrong


def judged(speller: Speller, tokenizer: Tokenizer, made: Iterator[tuple[str, dict[int, str]]]) -> Iterator[Judged]:
    """The unknown words of passages that the model is not certain of, judged thoroughly."""
    while some := [*islice(made, _AT_ONCE)]:
        strange, meanings = [], []
        for text, meant in some:
            read = paragraphs(text, Format.PLAIN)
            if len(read) != 1 or read[0].text != text:
                continue
            unknown = speller.unknown(read[0], Terms(), frozenset())
            tokens = tokenizer.encode(text) if unknown else []
            if b"".join(map(tokenizer.token_bytes, tokens)) == text.encode():
                strange.append(UnknownWords(Passage(tokens), text, unknown))
                meanings.append(meant)
        found = speller.judged(strange, thoroughly=True)
        for one, places, meant in zip(strange, found, meanings, strict=True):
            for word, place in zip(one.unknown, places, strict=True):
                if place.is_judged and place.readings:
                    plain = speller.plainly(word)
                    yield Judged(place, meant.get(word.start), plain.new if plain else None)


# The fit -------------------------------------------------------------------------------------------


def choice(one: Judged, *, read: bool) -> Choice:
    """What is to be chosen for a word; if what was meant is no candidate, the word itself."""
    rows: list[Weights] = []
    right = None
    for number, row in enumerate(features(one.place)[:-1]):
        if read and number not in one.place.readings:
            continue
        if one.place.candidates[number].text == one.meant:
            right = len(rows)
        rows.append(row)
    rows.append(features(one.place)[-1])
    values: Floats = np.array(rows)
    if not read:
        values[:, Weights._fields.index("reading")] = 0
    return Choice(values, len(rows) - 1 if right is None else right)


def page(found: Sequence[Judged]) -> str:
    """The weights, and what they do to the other half of the words."""
    misspelt_words = sum(one.meant is not None for one in found[1::2])
    parts = [
        f"Of {len(found)} unknown words every other one was fitted on, with a penalty of {PENALTY:g}. The tables show the other {len(found[1::2])}, of "
        f"which {misspelt_words} are misspelt. Words that the model is certain to keep are not among them. A change is right if it is "
        "what was meant; all changes of words that were not misspelt count as wrong, although some are mistakes of the texts.\n"
    ]
    for name, read, shipped in (
        ("By overtyping", False, OVERTYPED),
        ("By overtyping and from left to right", True, READ),
    ):
        free = [read or field != "reading" for field in Weights._fields]
        weights = fitted([choice(one, read=read) for one in found[::2]], free)
        others = [choice(one, read=read) for one in found[1::2]]
        rows = [
            _row(label, others, np.array(values), misspelt_words)
            for label, values in (("fitted here", weights), ("shipped", shipped))
        ]
        dials = [f"right at {dial:g}" for dial in DIALS]
        table = Table(("weights", "loss", *dials), tuple(rows))
        listed = Table(
            ("weights", *Weights._fields),
            (
                ("fitted here", *(f"{value:.2f}" for value in weights)),
                ("shipped", *(f"{value:.2f}" for value in shipped)),
            ),
        )
        parts.append(f"## {name}\n\n{table.markdown()}\n{listed.markdown()}")
    return "\n".join([*parts, _plainly(found)])


def _plainly(found: Sequence[Judged]) -> str:
    """What is corrected without a reading, beside what the reading says of it."""
    plain = [one for one in found if one.plain is not None]
    read = [best_of(one.place) for one in plain]
    same = sum(one.plain == text for one, (text, _) in zip(plain, read, strict=True))
    cells = (
        f"{len(found)}",
        f"{len(plain)}",
        f"{sum(one.plain == one.meant for one in plain)}",
        f"{sum(one.meant is None for one in plain)}",
        *(
            f"{sum(one.plain == text and sure >= dial for one, (text, sure) in zip(plain, read, strict=True))}"
            for dial in DIALS
        ),
        f"{len(plain) - same}",
    )
    names = (
        *("unknown words", "plain", "right", "not misspelt"),
        *(f"the reading says so at {dial:g}" for dial in DIALS),
        "the reading prefers another",
    )
    return f"## Without a reading\n\n{Table(names, (cells,)).markdown()}"


def best_of(place: Place) -> tuple[str, float]:
    """The likeliest candidate by the shipped weights, and its probability."""
    *others, _ = chances(place)
    best = max(range(len(others)), key=others.__getitem__)
    return place.candidates[best].text, others[best]


def _row(name: str, choices: Sequence[Choice], weights: Floats, wanted: int) -> tuple[str, ...]:
    cells = []
    for dial in DIALS:
        made = right = 0
        for one in choices:
            *others, _ = shares(one.features, weights)
            best = int(np.argmax(others))
            if others[best] >= dial:
                made += 1
                right += best == one.right
        cells.append(f"{right} of {made} made, {wanted} wanted")
    return (name, f"{loss(choices, weights):.3f}", *cells)
