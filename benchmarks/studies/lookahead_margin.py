"""How likely must a change be: what several margins find, and what they leave alone.

    python -m benchmarks margin EDITS MODEL [--margins 0 0.1 0.3 1] [--beside FOLDER] [--known EDITS]
        [--cache FILE] [--write FILE]

The model revises each text as the editors do at a temperature above 0: it looks ahead greedily, and makes a change that is
at least `margin` times as likely as leaving the text (`reviser.decoding.lookahead`). What it finds does not depend on that value, so
every text is read once for all of them; 0 makes every change. --beside is a folder of `python -m benchmarks revising`: what other models
made of the same texts stands in the table too. What was found once is in a cache, and not looked for again.

--known names the edits that the model learned from. Many edits of documentation do the same thing in different
texts; the page then says how many exact matches put the same words in place of the same words as one of those.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.progress import track

from benchmarks.contestants.editing_models import MAX_ACTIONS, NEIGHBOUR_TOKENS, Revision
from benchmarks.protocol.runs import Cache, default_cache, key_of
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from benchmarks.studies.revision_quality import (
    EXPLAINED,
    RESAMPLES,
    SEED,
    Conditions,
    Measured,
    finished_texts,
    kept_of,
    measured,
    table,
    told,
)
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import decode
from reviser.decoding.lookahead import HORIZON, MOST_MARGIN, LookaheadStep, best_end, look_ahead
from reviser.decoding.rollout import seed
from reviser.scoring.loading import fingerprint
from reviser.session.engine import Engine, load_engine
from reviser.session.session import check_revises
from training.edits.files import Edit, read_edits

DEGREES = (0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0)
_WORDS = re.compile(r"\w+|[^\w\s]|\s+")

_LEARNED = (
    "An edit does what was learned where one that the model learned from puts the same words in place of the same\n"
    "words, in another text. Exact matches of both kinds:"
)

Substitutions = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LookaheadTrace:
    """What a model would do to a text: each action, and the text before it and at last after them all."""

    steps: list[LookaheadStep]
    texts: list[str]

    def to_dict(self) -> dict[str, object]:
        return {"steps": [[*asdict(one).values()] for one in self.steps], "texts": self.texts}

    @classmethod
    def from_dict(cls, data: Any) -> LookaheadTrace:
        return cls([LookaheadStep(*one) for one in data["steps"]], data["texts"])

    def revision(self, margin: float, horizon: int = HORIZON) -> Revision:
        """The text that a run with this margin leaves."""
        for start in range(0, len(self.steps), horizon) if margin else ():
            end = best_end(self.steps[start : start + horizon], margin)
            if end is not None:
                return Revision(self.texts[start + end], start + end + 1, "stop")
        stopped = self.steps[-1].kind == "stop"
        return Revision(self.texts[-1], len(self.steps), "stop" if stopped else "limit")


def trace(engine: Engine, edit: Edit) -> LookaheadTrace:
    """What a model would do to a text before its edit, between its neighbours."""
    vocabulary, tokenizer = engine.policy.vocabulary, engine.tokenizer
    left, before, _, right = (tokenizer.encode(part) for part in edit.parts)
    canvas, history = seed(
        vocabulary, left[-NEIGHBOUR_TOKENS:], right[:NEIGHBOUR_TOKENS], draft=before
    )
    ahead = look_ahead(engine.policy, history, canvas, context=engine.policy.context)
    steps, texts = [], [edit.before]
    for id, step, _ in islice(ahead, MAX_ACTIONS):
        steps.append(step)
        canvas.apply(canvas.action(id))
        texts.append(decode(tokenizer, canvas.between(canvas.low, canvas.high)))
    return LookaheadTrace(steps, texts)


@cache
def _engine(model: str, threads: int | None) -> Engine:
    return load_engine(model, threads=threads)


def _trace_of(model: str, threads: int | None, edit: Edit) -> LookaheadTrace:
    return trace(_engine(model, threads), edit)


def trace_all(
    model: str, texts: Sequence[Edit], cache: Cache, processes: int
) -> list[LookaheadTrace]:
    """What a model would do to each text; what is in the cache is not looked for again."""
    check_revises(_engine(model, 1 if processes > 1 else None).policy.vocabulary)
    weights = fingerprint(model)
    keys = [key_of_thoughts(weights, edit) for edit in texts]
    rest = {key: edit for key, edit in zip(keys, texts, strict=True) if cache.get(key) is None}
    found, console = _each(model, list(rest.values()), processes), Console(stderr=True)
    for key, trace_ in zip(
        rest, track(found, "looking ahead", total=len(rest), console=console), strict=True
    ):
        cache.put(key, trace_.to_dict())
    return [LookaheadTrace.from_dict(cache.get(key)) for key in keys]


def key_of_thoughts(weights: str, edit: Edit) -> str:
    return key_of(
        kind="lookahead",
        weights=weights,
        parts=[edit.left, edit.before, edit.right],
        actions=MAX_ACTIONS,
        neighbours=NEIGHBOUR_TOKENS,
    )


def _each(model: str, texts: Sequence[Edit], processes: int) -> Iterator[LookaheadTrace]:
    if processes == 1:
        yield from (_trace_of(model, None, edit) for edit in texts)
        return
    # Started anew, not forked: torch's threads do not come along into a fork, which then waits for them for ever.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        count = len(texts)
        yield from pool.map(_trace_of, [model] * count, [1] * count, texts, chunksize=4)


def substitutions(edit: Edit) -> Substitutions:
    """What an edit puts in place of what, wherever that stands in the text."""
    before, after = _WORDS.findall(edit.before), _WORDS.findall(edit.after)
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(
        ("".join(before[i:j]).strip(), "".join(after[k:n]).strip())
        for kind, i, j, k, n in steps
        if kind != "equal"
    )


def known_among(edits: Sequence[Edit], learned_from: str) -> list[bool]:
    """Of each edit, whether one of those that were learned from does the same."""
    wanted = {substitutions(edit) for edit in edits}
    seen: set[Substitutions] = set()
    console = Console(stderr=True)
    for edit in track(read_edits(learned_from), "comparing", total=None, console=console):
        made = substitutions(edit)
        if made in wanted:
            seen.add(made)
    return [made in seen for made in map(substitutions, edits)]


def familiar(known: Sequence[bool], exact: dict[float, list[bool]]) -> str:
    """How many exact matches are of edits that do what was learned, and how many of others."""
    count = sum(known)
    of_others = len(known) - count
    rows = []
    for degree, matches in exact.items():
        alike = sum(a and b for a, b in zip(matches, known, strict=True))
        others = sum(matches) - alike
        rows.append((f"margin {degree:g}", f"{sum(matches):,}", f"{alike:,}", f"{others:,}"))
    columns = ("", "exact", f"of {count:,} that do what was learned", f"of {of_others:,} others")
    return Table(columns, tuple(rows)).markdown()


def page(
    command: str, found: Sequence[Measured], facts: Mapping[str, object], learned: str | None = None
) -> str:
    right = [
        f"- {entry.report.name}: {entry.report.exact / entry.report.changed:.0%}\n"
        for entry in found
        if entry.report.changed
    ]
    return (
        "# Margins for changes\n\n"
        + provenance(command, **facts)
        + "\n"
        + table(entry.report for entry in found)
        + f"\n{EXPLAINED}\n"
        "Of the texts that were changed, so many became just what the person made of them:\n\n"
        + "".join(right)
        + (f"\n{_LEARNED}\n\n{learned}" if learned else "")
    )


@dataclass(frozen=True, kw_only=True)
class MarginOptions:
    """Which model makes which edits, at which margins."""

    edits: Annotated[str, Argument("JSON lines with before and after, or a unified diff")]
    model: Annotated[str, Argument("a model that revises: a folder or a name")]
    margins: Annotated[tuple[float, ...], Option("values to measure", together=True)] = DEGREES
    skip: Annotated[int, Option("edits to leave out at the start")] = 0
    limit: Annotated[int | None, Option("edits to take after those")] = None
    beside: Annotated[Path | None, Option("what python -m benchmarks revising --keep kept")] = None
    known: Annotated[str | None, Option("edits that the model learned from")] = None
    cache: Annotated[Path | None, Option("file of what was found before")] = None
    processes: Annotated[int, Option("texts at a time")] = 1
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        MarginOptions,
        run,
        arguments,
        prog="python -m benchmarks margin",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: MarginOptions) -> None:
    if not all(0 <= degree <= MOST_MARGIN for degree in chosen.margins):
        raise ReviserError(f"--margins lie between 0 and {MOST_MARGIN:.0f}")
    edits, found, exact = _found(chosen)
    learned = familiar(known_among(edits, chosen.known), exact) if chosen.known else None
    print(told(found, as_json=chosen.json))
    if learned and not chosen.json:
        print(learned)
    if chosen.write:
        command = f"python -m benchmarks margin {shlex.join(chosen.words)}"
        for file in filter(None, (chosen.edits, chosen.known)):
            command = command.replace(file, Path(file).name)
        facts = {
            "Data": f"{Path(chosen.edits).name}, {len(edits):,} edits after the first {chosen.skip:,}",
            "Model": f"{chosen.model}; other rows are what `python -m benchmarks revising` kept, of the same edits",
            "Decoding": f"greedy, {MAX_ACTIONS} actions at the most, {NEIGHBOUR_TOKENS} tokens of each neighbour",
            "Intervals": f"95 %, {RESAMPLES:,} bootstrap resamples of the edits, seed {SEED}",
        }
        write_atomically(chosen.write, page(command, found, facts, learned).encode())


def _found(
    chosen: MarginOptions,
) -> tuple[list[Edit], list[Measured], dict[float, list[bool]]]:
    """The edits, what the table says, and for each degree which of the edits it makes exactly."""
    edits = list(islice(read_edits(chosen.edits), chosen.skip, None))[: chosen.limit]
    if not edits:
        raise ReviserError("there are no edits to measure")
    # Each text before its edit, then the same text finished, so that the cache grows edit by edit.
    pairs = zip(edits, finished_texts(edits), strict=True)
    texts = [one for pair in pairs for one in pair]
    with Cache(chosen.cache or default_cache()) as cache:
        both = trace_all(chosen.model, texts, cache, chosen.processes)
    before, after = both[::2], both[1::2]
    found = kept_of(chosen.beside, edits, chosen.skip) if chosen.beside else []
    exact = {}
    for degree in chosen.margins:
        made, done = ([one.revision(degree) for one in traces] for traces in (before, after))
        found.append(measured(f"margin {degree:g}", edits, made, done, Conditions()))
        pairs_made = zip(made, edits, strict=True)
        exact[degree] = [revision.text == edit.after for revision, edit in pairs_made]
    return edits, found, exact
