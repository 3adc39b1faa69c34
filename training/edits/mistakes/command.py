"""`python -m training mistakes`: the table of mistakes for a corpus, and passages with mistakes to look at or
measure on.

python -m training mistakes table TABLE.npz --data shards/ --tokenizer tokenizer.json
python -m training mistakes make TABLE.npz --data shards/ --tokenizer tokenizer.json --count 20
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer, decode, load_tokenizer
from training.data.corpus import Corpus
from training.edits.mistakes.kinds import Recipe
from training.edits.mistakes.source import MadeUpMistakes
from training.edits.mistakes.table import load_table, make_table, save_table
from training.samples.mixture import Mixture

_LEARNED = frozenset({"insert", "move", "stop", "delete"})


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of `table`: the corpus from which the table is collected."""

    table: Annotated[Path, Argument("file of the table (.npz)")]
    data: Annotated[Path, Option("token shards")]
    tokenizer: Annotated[str, Option("the tokenizer.json of the shards")]
    tokens: Annotated[int, Option("tokens of the corpus to count in")] = 16_000_000


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """Options of `make`: the table and the passages to make."""

    table: Annotated[Path, Argument("file of the table (.npz)")]
    data: Annotated[Path, Option("token shards")]
    tokenizer: Annotated[str, Option("the tokenizer.json of the shards")]
    count: Annotated[int, Option("passages")] = 20
    out: Annotated[Path | None, Option("file to write; standard output by default")] = None
    recipe: Annotated[Path | None, Option("JSON file: how often each kind of mistake")] = None
    single: Annotated[bool, Option("one mistake a passage, and tell its kind")] = False
    seed: Annotated[int, Option("random seed of the mistakes")] = 0


def _table(chosen: TableOptions) -> None:
    table = make_table(Corpus.open(chosen.data), load_tokenizer(chosen.tokenizer), most=chosen.tokens)
    save_table(chosen.table, table)
    print(f"{len(table.keys):,} words and phrases, {len(table.kinds):,} ways to write them")


def _make(chosen: MakeOptions) -> None:
    corpus = Corpus.open(chosen.data)
    vocabulary = dataclasses.replace(corpus.vocabulary(), kinds=_LEARNED)
    recipe = Recipe.load(chosen.recipe) if chosen.recipe else Recipe()
    if chosen.single:
        # Every passage has at least one mistake.
        recipe = dataclasses.replace(recipe, clean=0.0, rates=(0.0,), left=0.0, right=0.0)
    source = MadeUpMistakes(corpus, load_table(chosen.table), vocabulary, Mixture(), recipe, chosen.seed)
    began = time.perf_counter()
    rows = [
        json.dumps(row, ensure_ascii=False)
        for row in _rows(source, load_tokenizer(chosen.tokenizer), chosen.count, chosen.single)
    ]
    spent = time.perf_counter() - began
    if chosen.out:
        write_atomically(chosen.out, "".join(f"{row}\n" for row in rows).encode())
    else:
        print("\n".join(rows))
    made = {name: count for name, count in source.counts.items() if count}
    print(
        f"{counted(len(rows), 'passage')} in {spent:.1f} s, {counted(sum(made.values()), 'mistake')}: {made}",
        file=sys.stderr,
    )


def _rows(source: MadeUpMistakes, tokenizer: Tokenizer, count: int, single: bool) -> Iterator[dict[str, str]]:
    for number in range(count):
        earlier = source.counts
        left, before, after, right = next(source.parts(number, number + 1))
        row = {"before": decode(tokenizer, before), "after": decode(tokenizer, after)}
        if single:
            now = source.counts
            row["kind"] = next((kind for kind in now if now[kind] > earlier[kind]), "")
        else:
            row |= {"left": decode(tokenizer, left), "right": decode(tokenizer, right)}
        yield row


COMMANDS = {
    "table": (_table, "collect what each word may be written for"),
    "make": (_make, "make passages with mistakes, as JSON lines of edits"),
}
