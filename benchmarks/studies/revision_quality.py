"""How well models revise: the edits of people, beside copying the text as it is.

    python -m benchmarks revising EDITS [MODEL …] [--rewriter MODEL] [--keep FOLDER] [--write FILE]

A model (a folder or a name, or NAME=FOLDER to call it so) is shown each text before its edit, between its
neighbours, and revises it greedily; `benchmarks.contestants.editing_models` says how. Measured are exact matches with what the person
wrote, SARI (which words were rightly added, kept and deleted) and GLEU (n-grams of the person's text, less those of the old
text that should be gone). Over-editing is how often it changes a text that the person had finished: the text after the
edit.

Rewriters write the text anew from left to right, prompted with a few edits if they were not trained to. Examples come from
other edits (--examples), or from EDITS, where they are then left out.

With --keep, every model's figures and texts stay in a folder, and what is there is not measured again: models can be
measured one by one, on another machine, and the page that --write makes has them all.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from benchmarks.measures.sari import Floats, gleu_counts, gleu_of, sari
from benchmarks.report.provenance import surroundings
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.edits.files import Edit, read_edits

if TYPE_CHECKING:
    from benchmarks.contestants.editing_models import Revision
    from reviser.checkpoints import Checkpoint

RESAMPLES = 1000
SEED = 0
SHOTS = 5
COPYING = "copying"
# What must be the same for figures to stand in one table.
_SAME = ("data", "edits", "shots", "max_actions", "neighbour_tokens")


# Figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """One way of revising, over all edits; intervals hold the middle 95 % of resamples."""

    name: str
    edits: int
    exact: float
    exact_interval: tuple[float, float]
    sari: float
    sari_interval: tuple[float, float]
    gleu: float
    gleu_interval: tuple[float, float]
    changed: float
    left_alone: float
    left_alone_interval: tuple[float, float]
    stopped: float
    actions: float


@dataclass(frozen=True)
class Conditions:
    """On what, how and where a model was measured, and what it was made by."""

    data: str = ""
    edits: int = 0
    shots: int = 0
    max_actions: int = 0
    neighbour_tokens: int = 0
    seconds: float = 0.0
    Hardware: str = ""
    Date: str = ""
    Commit: str = ""
    Python: str = ""
    training: str | None = None
    limits: str | None = None


@dataclass(frozen=True)
class Measured:
    """A report, what its intervals and comparisons rest on (a number for each edit), and how it came about."""

    report: Report
    exact: list[float]
    sari: list[float]
    left_alone: list[float]
    facts: Conditions

    @classmethod
    def read(cls, path: Path) -> Measured:
        try:
            data = json.loads(read_utf8(path))
            for name, value in data["report"].items():
                if name.endswith("interval"):
                    data["report"][name] = tuple(value)
            report, facts = Report(**data["report"]), Conditions(**data["facts"])
            return cls(**data | {"report": report, "facts": facts})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReviserError(f"{path} does not hold a model's figures") from None


def kept_in(folder: Path) -> list[Measured]:
    """All figures in a folder."""
    return in_order(Measured.read(path) for path in folder.glob("*.json"))


def kept_of(folder: Path, edits: Sequence[Edit], skip: int) -> list[Measured]:
    """The figures of all models in a folder on some of the edits alone: on these, which come after the first few."""
    from benchmarks.contestants.editing_models import Revision

    found = []
    for path in folder.glob("*.json"):
        whole = Measured.read(path)
        texts = path.with_suffix(".texts.jsonl")
        lines = [json.loads(line) for line in read_utf8(texts).splitlines()]
        lines = lines[skip : skip + len(edits)]
        if [line["before"] for line in lines] != [edit.before for edit in edits]:
            raise ReviserError(f"{texts} is about other edits")
        made, done = ([Revision(**line[key]) for line in lines] for key in ("made", "finished"))
        found.append(measured(whole.report.name, edits, made, done, whole.facts))
    return in_order(found)


def in_order(found: Iterable[Measured]) -> list[Measured]:
    """Copying first, the others in the order of their names."""
    return sorted(found, key=lambda entry: (entry.report.name != COPYING, entry.report.name))


def resamples(count: int) -> Floats:
    """How often each of `count` edits is drawn, in each of the resamples: the same for all that is measured."""
    random = np.random.default_rng(SEED)
    drawn = (random.integers(0, count, count) for _ in range(RESAMPLES))
    return np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)


def interval(of: Floats) -> tuple[float, float]:
    """The middle 95 % of what resamples give."""
    low, high = np.percentile(of, [2.5, 97.5])
    return float(low), float(high)


def measured(
    name: str,
    edits: Sequence[Edit],
    made: Sequence[Revision],
    finished: Sequence[Revision],
    facts: Conditions,
) -> Measured:
    """`made` are the revisions of the texts before their edits, `finished` those of the texts after."""
    outputs = [revision.text for revision in made]
    befores, afters = [edit.before for edit in edits], [edit.after for edit in edits]
    exact, kept = _equal(outputs, afters), _equal(outputs, befores)
    alone = _equal([revision.text for revision in finished], afters)
    scores = np.array(
        [sari(*texts[:2], texts[2:]) for texts in zip(befores, outputs, afters, strict=True)]
    )
    counts = gleu_counts(befores, outputs, afters)
    drawn = resamples(len(edits))
    told = Report(
        name=name,
        edits=len(edits),
        exact=float(exact.mean()),
        exact_interval=interval(drawn @ exact / len(edits)),
        sari=float(scores.mean()),
        sari_interval=interval(drawn @ scores / len(edits)),
        gleu=float(gleu_of(counts.sum(0))),
        gleu_interval=interval(gleu_of(drawn @ counts)),
        changed=float(1 - kept.mean()),
        left_alone=float(alone.mean()),
        left_alone_interval=interval(drawn @ alone / len(edits)),
        stopped=float(np.mean([revision.ending == "stop" for revision in made])),
        actions=float(np.mean([revision.actions for revision in made])),
    )
    return Measured(told, exact.tolist(), scores.round(5).tolist(), alone.tolist(), facts)


def _equal(some: Sequence[str], others: Sequence[str]) -> Floats:
    return np.array([float(one == other) for one, other in zip(some, others, strict=True)])


def finished_texts(edits: Sequence[Edit]) -> list[Edit]:
    """The texts after their edits, to be left alone."""
    return [Edit(edit.after, edit.after, edit.left, edit.right) for edit in edits]


# Measuring ---------------------------------------------------------------------------------------


class Evaluation:
    """Edits, the examples that rewriters see, and where what was found is kept."""

    def __init__(
        self,
        data: str,
        edits: Sequence[Edit],
        examples: Sequence[Edit],
        rows: int,
        keep: Path | None,
    ) -> None:
        from benchmarks.contestants.editing_models import MAX_ACTIONS, NEIGHBOUR_TOKENS

        self.edits = edits
        self._examples = examples
        self._rows = rows
        self._keep = keep
        self._facts = Conditions(
            data=data,
            edits=len(edits),
            shots=len(examples),
            max_actions=MAX_ACTIONS,
            neighbour_tokens=NEIGHBOUR_TOKENS,
        )
        self._found: dict[str, Measured] = {}
        for kept in kept_in(keep) if keep is not None else ():
            self._check(kept)
            self._found[kept.report.name] = kept

    def _check(self, kept: Measured) -> None:
        for name in _SAME:
            # Examples are nothing to those who are shown none.
            theirs, ours = getattr(kept.facts, name), getattr(self._facts, name)
            unasked = name == "shots" and 0 in (theirs, ours)
            if theirs != ours and not unasked:
                raise ReviserError(
                    f"{kept.report.name} was measured otherwise: its {name.replace('_', ' ')} is "
                    f"{theirs}, not {ours}"
                )

    def results(self) -> list[Measured]:
        """All that is known."""
        return in_order(self._found.values())

    def copy(self) -> None:
        """Change nothing."""
        from benchmarks.contestants.editing_models import Revision

        def unchanged(checkpoint: None, edits: Sequence[Edit]) -> list[Revision]:
            return [Revision(edit.before, 1, "stop") for edit in edits]

        if COPYING not in self._found:
            self._take(COPYING, unchanged, None, self._facts)

    def revise(self, word: str) -> None:
        """Measure a model that revises."""
        from benchmarks.contestants.editing_models import revise_all

        name, source = _named(word)
        if name in self._found:
            return
        checkpoint = _loaded(source)
        limits = None if checkpoint.vocabulary.revises else "no Delete, no drafts in training"
        self._take(
            name,
            lambda given, edits: revise_all(given, edits, self._rows),
            checkpoint,
            replace(self._facts, limits=limits),
        )

    def rewrite(self, word: str) -> None:
        """Measure a model that writes texts anew."""
        from benchmarks.contestants.editing_models import (
            rewrite_all,
            rewrite_all_as_trained,
            trained_to_rewrite,
        )

        name, source = _named(word)
        if {f"{name}, rewriting", f"{name}, prompted to rewrite"} & self._found.keys():
            return
        checkpoint = _loaded(source)
        if trained_to_rewrite(checkpoint):
            self._take(
                f"{name}, rewriting",
                lambda given, edits: rewrite_all_as_trained(given, edits, self._rows),
                checkpoint,
                replace(self._facts, shots=0),
            )
        else:
            self._take(
                f"{name}, prompted to rewrite",
                lambda given, edits: rewrite_all(
                    given, [edit.before for edit in edits], self._examples, self._rows
                ),
                checkpoint,
                self._facts,
            )

    def _take(
        self,
        name: str,
        revise: Callable[[Any, Sequence[Edit]], list[Revision]],
        checkpoint: Checkpoint | None,
        facts: Conditions,
    ) -> None:
        began = time.perf_counter()
        made, done = (
            revise(checkpoint, shown) for shown in (self.edits, finished_texts(self.edits))
        )
        seconds = time.perf_counter() - began
        place = surroundings()
        command = None if checkpoint is None else checkpoint.metadata.get("command")
        facts = replace(
            facts,
            seconds=round(seconds, 2),
            training=command if isinstance(command, str) else None,
            Hardware=place["Hardware"],
            Date=place["Date"],
            Commit=place["Commit"],
            Python=place["Python"],
        )
        found = measured(name, self.edits, made, done, facts)
        self._found[name] = found
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            file = self._keep / f"{name.replace(' ', '-').replace(',', '')}.json"
            rows = (
                json.dumps(
                    asdict(edit) | {"made": asdict(one), "finished": asdict(other)},
                    ensure_ascii=False,
                )
                for edit, one, other in zip(self.edits, made, done, strict=True)
            )
            write_atomically(
                file.with_suffix(".texts.jsonl"), "".join(f"{row}\n" for row in rows).encode()
            )
            write_atomically(file, json.dumps(asdict(found)).encode())


def _named(word: str) -> tuple[str, str]:
    """What a model is called, and where it is: NAME=FOLDER, or one word for both."""
    from reviser.scoring.loading import short_name

    name, equals, source = word.partition("=")
    return (name, source) if equals and name and source else (short_name(word), word)


def _loaded(source: str) -> Checkpoint:
    from reviser.scoring.loading import default_device, home_checkpoint

    checkpoint = home_checkpoint(source, default_device())
    if checkpoint is None:
        raise ReviserError(f"there is no model {source}")
    return checkpoint


# Pages -------------------------------------------------------------------------------------------


def table(reports: Iterable[Report]) -> str:
    columns = (
        "", "exact", "95 %", "SARI", "95 %", "GLEU", "95 %", "changed", "left alone", "95 %", "actions",
    )  # fmt: skip
    rows = tuple(
        (
            entry.name,
            f"{entry.exact:.1%}",
            "{:.1%} to {:.1%}".format(*entry.exact_interval),
            f"{100 * entry.sari:.1f}",
            "{:.1f} to {:.1f}".format(*(100 * bound for bound in entry.sari_interval)),
            f"{100 * entry.gleu:.1f}",
            "{:.1f} to {:.1f}".format(*(100 * bound for bound in entry.gleu_interval)),
            f"{entry.changed:.1%}",
            f"{entry.left_alone:.1%}",
            "{:.1%} to {:.1%}".format(*entry.left_alone_interval),
            f"{entry.actions:.1f}",
        )
        for entry in reports
    )
    return Table(columns, rows).markdown()


def told(found: Sequence[Measured], *, as_json: bool) -> str:
    """The figures as a command prints them."""
    reports = [entry.report for entry in found]
    return json.dumps([asdict(entry) for entry in reports]) if as_json else table(reports)


def head(command: str, found: Sequence[Measured]) -> str:
    """How the figures were obtained: where and when each was, which need not be here and now."""
    places: dict[str, list[str]] = {}
    for entry in found:
        facts = entry.facts
        place = f"{facts.Hardware}; {facts.Date}, commit {facts.Commit}, Python {facts.Python}"
        places.setdefault(place, []).append(entry.report.name)
    facts = found[0].facts
    shots = max(entry.facts.shots for entry in found)
    lines = [f"Command: `{command}`"]
    lines += [f"Measured ({'; '.join(names)}): {place}" for place, names in places.items()]
    lines += [
        f"Data: {facts.data}, {facts.edits:,} edits",
        f"Decoding: greedy, {facts.max_actions} actions at the most, {facts.neighbour_tokens} tokens of each "
        "neighbour; rewriters write as long as the texts need"
        + (f", after {shots} examples where they are prompted" if shots else ""),
        f"Intervals: 95 %, {RESAMPLES:,} bootstrap resamples of the edits, seed {SEED}",
    ]
    return "".join(f"- {line}\n" for line in lines)


def made_by(found: Sequence[Measured]) -> str:
    """The command that made each model, where it says so, and what it lacks."""
    lines = []
    for entry in found:
        told = [f"`{entry.facts.training}`"] if entry.facts.training else []
        told += [entry.facts.limits] if entry.facts.limits else []
        if told:
            lines.append(f"- {entry.report.name}: {'; '.join(told)}\n")
    return f"## How they were made\n\n{''.join(lines)}" if lines else ""


EXPLAINED = """\
Exact: the share of texts that became just what the person made of them. Left alone: the share of finished texts that were not
changed. Actions: of one revision, Stop included; tokens, where a text is written anew.
"""


def page(title: str, command: str, found: Sequence[Measured]) -> str:
    """A whole results file."""
    parts = (
        f"# {title}\n\n{head(command, found)}",
        table(entry.report for entry in found),
        EXPLAINED,
        made_by(found),
    )
    return "\n".join(filter(None, parts))


# Command -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RevisingOptions:
    """Which models make which edits."""

    edits: Annotated[str, Argument("JSON lines with before and after, or a unified diff")]
    models: Annotated[
        tuple[str, ...], Argument("models that revise: a folder, or NAME=FOLDER")
    ] = ()
    rewriter: Annotated[tuple[str, ...], Option("a model that writes from left to right")] = ()
    shots: Annotated[int, Option("examples in its prompt")] = SHOTS
    examples: Annotated[
        str | None, Option("edits to take the examples from, not those measured")
    ] = None
    limit: Annotated[int | None, Option("edits to take")] = None
    rows: Annotated[int, Option("texts at a time")] = 256
    keep: Annotated[
        Path | None,
        Option("folder that keeps figures; models with figures there are not measured again"),
    ] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    title: Annotated[str, Option("of the Markdown file")] = "How well models revise"
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        RevisingOptions,
        run,
        arguments,
        prog="python -m benchmarks revising",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: RevisingOptions) -> None:
    found = _found(chosen)
    print(told(found, as_json=chosen.json))
    if chosen.write:
        elsewhere = (chosen.edits, chosen.examples)
        words = [Path(word).name if word in elsewhere else word for word in chosen.words]
        command = f"python -m benchmarks revising {shlex.join(words)}"
        write_atomically(chosen.write, page(chosen.title, command, found).encode())


def _found(chosen: RevisingOptions) -> list[Measured]:
    examples, edits = _examples_and_edits(chosen)
    if not edits:
        raise ReviserError("there are no edits to measure")
    evaluation = Evaluation(Path(chosen.edits).name, edits, examples, chosen.rows, chosen.keep)
    evaluation.copy()
    for word in chosen.models:
        evaluation.revise(word)
    for word in chosen.rewriter:
        evaluation.rewrite(word)
    return evaluation.results()


def _examples_and_edits(chosen: RevisingOptions) -> tuple[list[Edit], list[Edit]]:
    """What rewriters are shown, and what is measured."""
    from benchmarks.contestants.editing_models import split_examples

    edits = read_edits(chosen.edits)
    if not chosen.rewriter or not chosen.shots:
        return [], list(islice(edits, chosen.limit))
    if chosen.examples:
        examples, _ = split_examples(list(islice(read_edits(chosen.examples), 1000)), chosen.shots)
        return examples, list(islice(edits, chosen.limit))
    examples, rest = split_examples(list(edits), chosen.shots)
    return examples, rest[: chosen.limit]
