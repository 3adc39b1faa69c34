"""Names in sentences: how many the proofreader "corrects" although only the sentence tells what they are.

    python -m benchmarks names packages.txt people.txt … [--count 500] [--confidence 0.5] [--found FILE] [--write PAGE]

Each file has one name a line. The stem of its name says which sentences the names are put into: `packages`, `products`,
`people` or `places`. Of each file `--count` names are drawn, and each name stands in one sentence, which is proofread
as a document of its own. Names of packages are drawn among those with small letters alone, as only these could be
words. A name counts as changed if a change touches it.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from benchmarks.report.provenance import write_page
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, read_utf8, write_atomically
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format
from reviser.session.engine import load_engine

SENTENCES: Final = {
    "packages": (
        "We use {} for the server.",
        "It can be installed with {} or by hand.",
        "The {} library is small and fast.",
        "If you have questions about {}, open an issue.",
        "Support for {} was added last year.",
        "It was tested with {} and a few other tools.",
        "Unlike {}, it needs no configuration.",
        "You can find more in the documentation of {}.",
        "There are few people who fix {} issues.",
        "Before you start, clone {} and build it.",
        "Tools such as {} read the same files.",
        "This is a port of {} to another language.",
    ),
    "products": (
        "We wrote the first version with {}.",
        "{} opens these files as well.",
        "Open the folder in {} and wait a moment.",
        "The team moved from {} to something simpler.",
        "You need an account for {}, which is free.",
        "It looks the same in {} and on paper.",
        "Most users come from {} these days.",
        "{} was updated in March.",
    ),
    "people": (
        "{} wrote the first chapter of it.",
        "The idea came from {} in a letter.",
        "I asked {} to read the draft.",
        "Thanks to {} for the report.",
        "In the evening {} called her brother.",
        "The book by {} is out of print.",
        "She met {} and his wife at the station.",
        "The talk that {} gave was short.",
    ),
    "places": (
        "We went to {} by train.",
        "The office in {} is closed on Monday.",
        "{} is a quiet town in winter.",
        "They moved from {} to the coast.",
        "The road to {} was closed because of snow.",
        "He was born near {} and lived there for years.",
        "The weather in {} was better than here.",
        "People from {} came to see it.",
    ),
}
"""Sentences for each sort of names; the name stands in place of the braces."""

_AT_ONCE: Final = 100
_SMALL = re.compile(r"[a-z]+(?:[-.][a-z]+)*")


@dataclass(frozen=True, kw_only=True)
class NamesOptions:
    """Options of the command: lists of names, and output files."""

    lists: Annotated[tuple[Path, ...], Argument(f"files of names, called {', '.join(SENTENCES)}", metavar="LISTS")]
    count: Annotated[int, Option("names of each list", least=1)] = 500
    confidence: Annotated[float, Option("the dial", least=0)] = 0.5
    seed: Annotated[int, Option("of the drawing")] = 1
    found: Annotated[Path | None, Option("write the changed names to this file")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


class NamedSentence(NamedTuple):
    """A sentence with a name from `start` to `end`."""

    text: str
    start: int
    end: int

    def touched(self, changes: Sequence[Suggestion]) -> Suggestion | None:
        """The first change that touches the name; None if it stays."""
        return next((one for one in changes if one.old and one.start < self.end and self.start < one.end), None)


def run(chosen: NamesOptions) -> None:
    """Proofreads the sentences and prints the figures."""
    for path in (chosen.write, chosen.found):
        if path:
            check_output(path)
    drawn = {path.stem: drawn_from(path, chosen.count, chosen.seed) for path in chosen.lists}
    engine = load_engine()
    proofreader = Proofreader(engine.policy, engine.tokenizer, confidence=chosen.confidence)
    rows, lines = [], []
    for kind, sentences in drawn.items():
        changed = [(one, change) for one, change in _changed(proofreader, sentences)]
        lines += [f"{kind}\t{one.text}\t{change.says}\t{change.confidence:.2f}\n" for one, change in changed]
        rows.append((kind, f"{len(sentences):,}", str(len(changed))))
    total = sum(map(len, drawn.values()))
    rows.append(("all", f"{total:,}", str(len(lines))))
    text = Table(("names", "drawn", "changed"), tuple(rows)).markdown()
    print(text, end="")
    if chosen.found:
        write_atomically(chosen.found, "".join(lines).encode())
    if chosen.write:
        command = f"python -m benchmarks names {shlex.join(chosen.words)}"
        for path in chosen.lists:
            command = command.replace(str(path), path.name)
        write_page(chosen.write, "Names in sentences", command, text, Model="the embedded one", Seed=chosen.seed)


def drawn_from(path: Path, count: int, seed: int) -> list[NamedSentence]:
    """Sentences with names that are drawn from a list."""
    templates = SENTENCES.get(path.stem)
    if templates is None:
        raise ReviserError(f"{path} is called like none of {', '.join(SENTENCES)}")
    names = [line.strip() for line in read_utf8(path).splitlines() if line.strip()]
    if path.stem == "packages":
        names = [name for name in names if _SMALL.fullmatch(name)]
    chance = random.Random(seed)
    found = []
    for name in chance.sample(names, min(count, len(names))):
        before, after = chance.choice(templates).split("{}")
        found.append(NamedSentence(before + name + after, len(before), len(before) + len(name)))
    return found


def _changed(
    proofreader: Proofreader, sentences: Sequence[NamedSentence]
) -> Iterator[tuple[NamedSentence, Suggestion]]:
    """The sentences whose names are changed, with the change."""
    for at in range(0, len(sentences), _AT_ONCE):
        some = sentences[at : at + _AT_ONCE]
        read = proofreader.proofread_all([Draft(one.text, Format.MARKDOWN) for one in some])
        for one, done in zip(some, read, strict=True):
            if (change := one.touched(done.changes)) is not None:
                yield one, change
