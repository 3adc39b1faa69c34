"""What it costs to make real edits: actions, beside a whole rewrite and a unified diff, in one tokenizer.

python -m benchmarks edits EDITS [--tokenizer gpt2] [--write docs/results/edit-cost.md]

Everything is counted in ids that a model would have to produce, its stop included. A text to be edited
has to be read in any case, so reading is not counted. The actions are those of the alignment oracle
(`training.edits.edits`): what a model that knows the edit would do at best.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, load_tokenizer
from reviser.session.replay import unified_diff
from training.edits.alignment import common_tokens
from training.edits.edits import fewest_actions, replays, vocabularies
from training.edits.files import Edit, read_edits

RESAMPLES = 1000
SEED = 0
LENGTHS = (0, 20, 40, 80, 160)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")

REWRITE = "whole rewrite"
DIFF, LEAN, SENTENCES = (
    "unified diff, 3 lines of context",
    "unified diff, no context or file names",
    "the same, one sentence a line",
)


def written_diff(edit: Edit, *, context: bool, sentences: bool = False) -> str:
    """The unified diff of an edit as a model would write it.

    Without `context`, it has neither context lines nor file names, as little as a patch can do with.
    """
    before, after = (_document(edit, text, sentences) for text in (edit.before, edit.after))
    if context:
        return unified_diff(before, after, "a/text.md", "b/text.md")
    lines = unified_diff(before, after, "", "", context=0).splitlines(keepends=True)
    return "".join(lines[2:])


def _document(edit: Edit, text: str, sentences: bool) -> str:
    lines = _SENTENCE_END.sub("\n", text) if sentences else text
    return "".join(f"{part}\n" for part in (edit.left, lines, edit.right) if part)


def costs(edit: Edit, tokenizer: Tokenizer) -> tuple[dict[str, int], int, int, Counter[str]]:
    """Ids to produce for an edit by each means; tokens edited and in the text; kinds of the actions."""
    before, after = (tokenizer.encode(text) for text in (edit.before, edit.after))
    made: dict[str, int] = {}
    kinds: Counter[str] = Counter()
    for title, vocabulary in vocabularies(tokenizer).items():
        actions = fewest_actions(vocabulary, before, after)
        if not replays(vocabulary, before, after, actions):
            raise ReviserError(f"the actions of an edit do not make it: {edit}")
        made[title] = len(actions) + 1
        kinds.update(f"{title}: {action.kind}" for action in actions)
    made[REWRITE] = len(after) + 1
    for title, lean, sentences in ((DIFF, False, False), (LEAN, True, False), (SENTENCES, True, True)):
        text = written_diff(edit, context=not lean, sentences=sentences)
        made[title] = len(tokenizer.encode(text)) + 1
    edited = len(before) + len(after) - 2 * common_tokens(before, after)
    return made, edited, len(after), kinds


class Figures(TypedDict):
    """What edits cost by one means, in ids."""

    mean: float
    median: float
    per_edited_token: float
    interval: tuple[float, float]
    shorter_than_rewrite: float


# One of its keys is a word of Python.
LengthRow = TypedDict(
    "LengthRow", {"from": int, "to": int | None, "edits": int, "edited": float, "means": dict[str, float]}
)


class EditCosts(TypedDict):
    """What edits cost by every means, as JSON holds it."""

    edits: int
    edited_tokens: int
    mean_length: float
    means: dict[str, Figures]
    by_length: list[LengthRow]
    kinds: dict[str, int]


def measure(edits: Iterable[Edit], tokenizer: Tokenizer) -> EditCosts:
    rows = [row for edit in edits if (row := costs(edit, tokenizer))[1]]
    if not rows:
        raise ReviserError("there are no edits to measure")
    titles = list(rows[0][0])
    made = np.array([[row[0][title] for title in titles] for row in rows], dtype=np.int64)
    edited, lengths = (np.array([row[at] for row in rows], dtype=np.int64) for at in (1, 2))
    kinds: Counter[str] = Counter()
    for row in rows:
        kinds += row[3]
    return {
        "edits": len(rows),
        "edited_tokens": int(edited.sum()),
        "mean_length": float(lengths.mean()),
        "means": {
            title: _figures(made[:, at], made[:, titles.index(REWRITE)], edited) for at, title in enumerate(titles)
        },
        "by_length": list(_by_length(made, titles, edited, lengths)),
        "kinds": dict(kinds),
    }


def _figures(made: NDArray[np.int64], rewrite: NDArray[np.int64], edited: NDArray[np.int64]) -> Figures:
    return {
        "mean": float(made.mean()),
        "median": float(np.median(made)),
        "per_edited_token": float(made.sum() / edited.sum()),
        "interval": _interval(made, edited),
        "shorter_than_rewrite": float((made < rewrite).mean()),
    }


def _interval(made: NDArray[np.int64], edited: NDArray[np.int64]) -> tuple[float, float]:
    """The middle 95 % of the ratio of sums, over edits drawn anew."""
    random = np.random.default_rng(SEED)
    drawn = random.integers(0, len(made), size=(RESAMPLES, len(made)))
    low, high = np.percentile(made[drawn].sum(1) / edited[drawn].sum(1), [2.5, 97.5])
    return float(low), float(high)


def _by_length(
    made: NDArray[np.int64], titles: list[str], edited: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Iterator[LengthRow]:
    for low, high in zip(LENGTHS, (*LENGTHS[1:], 1 << 60), strict=True):
        chosen = (lengths >= low) & (lengths < high)
        if chosen.any():
            means = made[chosen].mean(0).tolist()
            yield {
                "from": low,
                "to": high if high < 1 << 60 else None,
                "edits": int(chosen.sum()),
                "edited": float(edited[chosen].mean()),
                "means": dict(zip(titles, means, strict=True)),
            }


def report(result: EditCosts) -> str:
    means = result["means"]
    rewrite, lean = means[REWRITE]["mean"], means[LEAN]["mean"]
    main = Table(
        ("means", "ids an edit", "median", "ids per edited token", "95 %", "fewer than a rewrite"),
        tuple(
            (
                title,
                f"{row['mean']:.1f}",
                f"{row['median']:.0f}",
                f"{row['per_edited_token']:.2f}",
                "{:.2f} to {:.2f}".format(*row["interval"]),
                "" if title == REWRITE else f"{row['shorter_than_rewrite']:.1%}",
            )
            for title, row in means.items()
        ),
    )
    titles = list(means)
    few, many = titles[0], titles[3]
    shown = (few, many, REWRITE, LEAN, SENTENCES)
    lengths = Table(
        ("tokens of the text", "edits", "edited tokens", *shown),
        tuple(
            (
                f"{row['from']} to {row['to'] - 1}" if row["to"] else f"{row['from']} or more",
                f"{row['edits']:,}",
                f"{row['edited']:.1f}",
                *(f"{row['means'][title]:.1f}" for title in shown),
            )
            for row in result["by_length"]
        ),
    )
    return (
        f"{result['edits']:,} edits, texts of {result['mean_length']:.1f} tokens on average, "
        f"{result['edited_tokens'] / result['edits']:.1f} of them edited (removed or added, by the longest "
        f"common subsequence). All counts include the stop.\n\n{main.markdown()}\n"
        f"With Delete alone an edit takes {rewrite / means[few]['mean']:.1f} times fewer ids than a whole rewrite and "
        f"{lean / means[few]['mean']:.1f} times fewer than a unified diff without context; with SpanDelete and "
        f"Replace, {rewrite / means[many]['mean']:.1f} and {lean / means[many]['mean']:.1f} times.\n\n"
        f"By length of the revised text, ids an edit:\n\n{lengths.markdown()}\n"
        f"What the actions are:\n\n{_kinds_table(result, (few, many)).markdown()}"
    )


def _kinds_table(result: EditCosts, titles: Sequence[str]) -> Table:
    kinds = ("insert", "delete", "span_delete", "replace", "move")
    counts = {(title, kind): result["kinds"].get(f"{title}: {kind}", 0) for title in titles for kind in kinds}
    totals = {title: sum(counts[title, kind] for kind in kinds) for title in titles}
    return Table(
        ("means", *kinds),
        tuple((title, *(f"{counts[title, kind] / totals[title]:.1%}" for kind in kinds)) for title in titles),
    )


@dataclass(frozen=True, kw_only=True)
class EditCostOptions:
    """Which edits are counted, and in whose tokens."""

    edits: Annotated[str, Argument("JSON lines with before and after, or a unified diff")]
    tokenizer: Annotated[str, Option("gpt2, or the path of a tokenizer.json")] = "gpt2"
    limit: Annotated[int | None, Option("edits to take")] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        EditCostOptions, run, arguments, prog="python -m benchmarks edits", about=(__doc__ or "").splitlines()[0]
    )


def run(chosen: EditCostOptions) -> None:
    tokenizer = load_tokenizer(chosen.tokenizer)
    result = measure(islice(read_edits(chosen.edits), chosen.limit), tokenizer)
    print(json.dumps(result) if chosen.json else report(result))
    if chosen.write:
        name = Path(chosen.edits).name
        facts = provenance(
            f"python -m benchmarks edits {name} --write {chosen.write}",
            Tokenizer=tokenizer.name,
            Data=f"{name}, {result['edits']:,} revisions of prose from the histories of documentation",
            Intervals=f"{RESAMPLES:,} bootstrap resamples of the edits, seed {SEED}",
        )
        chosen.write.write_text(f"# What an edit costs\n\n{facts}\n{_INTRODUCTION}\n{report(result)}")


_INTRODUCTION = """\
How many ids a model has to produce to make an edit that a person made: as actions, by writing the whole text
again, or by writing a unified diff. The actions are those of the alignment oracle, so they say what is possible;
a trained model may take more. Each was carried out on a canvas and gave the revised text.
"""
