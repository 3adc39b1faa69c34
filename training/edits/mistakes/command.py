"""`python -m training mistakes`: the table of mistakes for a corpus, and passages with mistakes to look at or measure on.

python -m training mistakes table TABLE.npz --data shards/ --tokenizer tokenizer.json
python -m training mistakes make TABLE.npz --data shards/ --tokenizer tokenizer.json --count 20
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviser.cli.arguments import Parser
from reviser.cli.entry import complain
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer, decode, load_tokenizer
from training.data.corpus import Corpus
from training.edits.mistakes.kinds import Recipe
from training.edits.mistakes.source import MadeUpMistakes
from training.edits.mistakes.table import load_table, make_table, save_table
from training.samples.mixture import Mixture

_LEARNED = frozenset({"insert", "move", "stop", "delete"})


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        _table(chosen) if chosen.command == "table" else _make(chosen)
    except ReviserError as error:
        return complain(error)
    return 0


def _parser() -> Parser:
    parser = Parser(prog="python -m training mistakes", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("table", help="collect what each word may be written for")
    table.add_argument("--tokens", type=int, default=16_000_000, help="of the corpus to count in")
    make = commands.add_parser("make", help="make passages with mistakes, as JSON lines of edits")
    make.add_argument("--count", type=int, default=20, help="passages (20)")
    make.add_argument("--out", type=Path, help="file to write; standard output by default")
    make.add_argument("--recipe", type=Path, help="JSON file: how often each kind of mistake")
    make.add_argument(
        "--single", action="store_true", help="one mistake a passage, and tell its kind"
    )
    make.add_argument("--seed", type=int, default=0)
    for command in (table, make):
        command.add_argument("table", type=Path, help="file of the table (.npz)")
        command.add_argument("--data", type=Path, required=True, help="token shards")
        command.add_argument("--tokenizer", required=True, help="the tokenizer.json of the shards")
    return parser


def _table(chosen: argparse.Namespace) -> None:
    table = make_table(
        Corpus.open(chosen.data), load_tokenizer(chosen.tokenizer), most=chosen.tokens
    )
    save_table(chosen.table, table)
    print(f"{len(table.keys):,} words and phrases, {len(table.kinds):,} ways to write them")


def _make(chosen: argparse.Namespace) -> None:
    corpus = Corpus.open(chosen.data)
    vocabulary = dataclasses.replace(corpus.vocabulary(), kinds=_LEARNED)
    recipe = Recipe.load(chosen.recipe) if chosen.recipe else Recipe()
    if chosen.single:
        # Every passage has at least one mistake.
        recipe = dataclasses.replace(recipe, clean=0.0, rates=(0.0,), left=0.0, right=0.0)
    source = MadeUpMistakes(
        corpus, load_table(chosen.table), vocabulary, Mixture(), recipe, chosen.seed
    )
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
        f"{len(rows):,} passages in {spent:.1f} s, {sum(made.values()):,} mistakes: {made}",
        file=sys.stderr,
    )


def _rows(
    source: MadeUpMistakes, tokenizer: Tokenizer, count: int, single: bool
) -> Iterator[dict[str, str]]:
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
