"""Does a model take the end of a wrapped line for the end of a sentence?

    python -m benchmarks wrapping TEXTS [--model MODEL] [--passages 500] [--columns 70] [--write FILE]

TEXTS are held-out documents, read and wrapped as `training.data.shards` does it. Of each document one paragraph is cut at the
end of a line in the middle of a sentence, where the next word starts with a small letter. The model's likeliest
continuation is looked at up to its first visible character, beside that of the same passage in one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.sampler import Sampler
from reviser.session.engine import Engine, load_engine
from training.data.shards import line_wrapper
from training.data.sources import documents

# As many lines stand before the cut, so that it can be seen that they are wrapped.
LINES = 3
FATES = ("goes on", "new sentence", "new paragraph", "ends")
_ACTIONS = 8


def passages_of(texts: Iterable[str], columns: int) -> Iterator[list[str]]:
    """The lines before a cut in the middle of a sentence, from each document that has such a place."""
    wrapper = line_wrapper(columns)
    for text in texts:
        found = (_cut(wrapper.wrap(paragraph)) for paragraph in text.split("\n"))
        yield from islice((lines for lines in found if lines), 1)


def _cut(lines: Sequence[str]) -> list[str]:
    for number in range(LINES, len(lines)):
        before, after = lines[number - 1], lines[number]
        if before[-1].isalpha() and after[0].islower():
            return list(lines[:number])
    return []


def fate_of(engine: Engine, prompt: str) -> str:
    """What the likeliest continuation of `prompt` begins with."""
    run = engine.session(prompt).continue_(Sampler.greedy(), max_actions=_ACTIONS)
    for _ in run:
        if visible := run.written.lstrip():
            break
    else:
        return "ends"
    if run.written.removesuffix(visible).count("\n") > 1:
        return "new paragraph"
    return "new sentence" if visible[0].isupper() else "goes on"


def table(found: dict[str, Counter[str]]) -> str:
    rows = (
        (name, *(f"{fates[fate] / fates.total():.1%}" for fate in FATES))
        for name, fates in found.items()
    )
    return Table(("lines", *FATES), tuple(rows)).markdown()


def measure(engine: Engine, passages: Sequence[list[str]], columns: int) -> dict[str, Counter[str]]:
    """How often passages go on in each way, wrapped and in one line."""
    ways = {f"wrapped at {columns} columns": "\n", "in one line": " "}
    return {
        name: Counter(fate_of(engine, between.join(lines)) for lines in passages)
        for name, between in ways.items()
    }


@dataclass(frozen=True, kw_only=True)
class WrappingOptions:
    """Which texts are wrapped and cut."""

    texts: Annotated[str, Argument("held-out documents: JSON lines or plain, also compressed")]
    model: Annotated[str | None, Option("as for reviser continue --model")] = None
    passages: Annotated[int, Option("most passages")] = 500
    columns: Annotated[int, Option("columns of a wrapped line")] = 70
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        WrappingOptions,
        run,
        arguments,
        prog="python -m benchmarks wrapping",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: WrappingOptions) -> None:
    print(wrapped_and_not(chosen))


def wrapped_and_not(chosen: WrappingOptions) -> str:
    if chosen.passages < 1 or chosen.columns < 20:
        raise ReviserError("take at least one passage, and lines of at least 20 columns")
    passages = list(islice(passages_of(documents(chosen.texts), chosen.columns), chosen.passages))
    if not passages:
        raise ReviserError(f"{chosen.texts} has no paragraph to wrap and cut")
    engine = load_engine(chosen.model)
    text = table(measure(engine, passages, chosen.columns))
    if chosen.write:
        facts = provenance(
            f"python -m benchmarks wrapping {Path(chosen.texts).name} "
            f"--passages {chosen.passages} --columns {chosen.columns}",
            Model=engine.name,
            Data=f"{len(passages)} passages, one of a document",
            Sampling="greedy",
        )
        write_atomically(
            chosen.write,
            f"# Wrapped lines\n\n{facts}\nHow the likeliest continuation begins where a passage is cut at the end of a line, in the "
            "middle of a sentence. Only one that goes on is\nright, but for names, which count as a new sentence."
            f"\n\n{text}".encode(),
        )
    return text
