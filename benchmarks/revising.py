"""How well a model revises: the edits of people, beside copying the text as it is.

python -m benchmarks.revising EDITS [MODEL …] [--rewriter MODEL] [--limit N] [--json] [--write FILE]

A model is shown each text before its edit, between its neighbours, and revises it greedily. Measured are
exact matches with what the person wrote, SARI (which words were rightly added, kept and deleted) and GLEU
(n-grams of the person's text, less those of the old text that should be gone). Over-editing is how
often it changes a text that the person had finished: the text after the edit.

A rewriter is a model that only writes from left to right. One that was trained on edits (`--objective ar` with a
share of them) is given the text and its neighbours, and writes the whole text anew. Any other is shown a few edits, "Before: …" and "After: …", and the
text to revise as the last "Before:", and writes what follows the last "After:" greedily, up to the end of the line.
One of five examples shows a finished text, unchanged. Examples come from other edits (--examples), or from EDITS, where
they are then left out.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import provenance
from benchmarks.tables import Table
from reviser.errors import ReviserError
from training.edits import Edit, read_edits

if TYPE_CHECKING:
    from reviser.checkpoints import Checkpoint

MAX_ACTIONS = 128
NEIGHBOUR_TOKENS = 64
RESAMPLES = 1000
SEED = 0
SHOTS = 5
# One of so many examples shows a text that needs no change, about as often as in training.
_FINISHED_EVERY = 5
_EXAMPLE_CHARACTERS = 240
ORDERS = (1, 2, 3, 4)
_WORD = re.compile(r"\w+|[^\w\s]")


# Measures ----------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    """Words and marks, each on its own."""
    return _WORD.findall(text)


def _ngrams(text: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(text[at:] for at in range(order)), strict=False))


def sari(source: str, output: str, references: Sequence[str]) -> float:
    """SARI (Xu et al. 2016), 0 to 1; where there is nothing to add, keep or delete, that part is right."""
    given, made = words(source), words(output)
    wanted = [words(reference) for reference in references]
    parts = [_sari_of_order(given, made, wanted, order) for order in ORDERS]
    return float(np.mean(parts))


def _sari_of_order(
    given: list[str], made: list[str], wanted: list[list[str]], order: int
) -> tuple[float, float, float]:
    old, new = (_ngrams(text, order) for text in (given, made))
    right: Counter[tuple[str, ...]] = Counter()
    for text in wanted:
        right += _ngrams(text, order)
    # Counts are compared with those of all references together.
    old_all, new_all = (
        Counter({gram: count * len(wanted) for gram, count in grams.items()})
        for grams in (old, new)
    )
    kept, to_keep = old_all & new_all, old_all & right
    rightly_kept = kept & right
    keep = _harmonic(
        _mean_share(rightly_kept, kept),
        rightly_kept.total() / to_keep.total() if to_keep else 1.0,
    )
    deleted = old_all - new_all
    delete = _mean_share(deleted - right, deleted)
    added, to_add = set(new) - set(old), set(right) - set(old)
    rightly_added = len(added & set(right))
    add = _harmonic(
        rightly_added / len(added) if added else 1.0,
        rightly_added / len(to_add) if to_add else 1.0,
    )
    return keep, delete, add


def _mean_share(part: Counter[tuple[str, ...]], whole: Counter[tuple[str, ...]]) -> float:
    if not whole:
        return 1.0
    return sum(part[gram] / count for gram, count in whole.items()) / len(whole)


def _harmonic(precision: float, recall: float) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def gleu(sources: Sequence[str], outputs: Sequence[str], references: Sequence[str]) -> float:
    """GLEU (Napoles et al. 2015) of all texts together, with one reference each, 0 to 1."""
    matched, possible = np.zeros(len(ORDERS)), np.zeros(len(ORDERS))
    made_length = wanted_length = 0
    for source, output, reference in zip(sources, outputs, references, strict=True):
        given, made, wanted = words(source), words(output), words(reference)
        made_length += len(made)
        wanted_length += len(wanted)
        for place, order in enumerate(ORDERS):
            old, new, right = (_ngrams(text, order) for text in (given, made, wanted))
            wrong = Counter({gram: count for gram, count in old.items() if gram not in right})
            good, bad = (new & right).total(), (new & wrong).total()
            matched[place] += max(good - bad, 0)
            possible[place] += max(len(made) - order + 1, 0)
    if not matched.all() or not made_length:
        return 0.0
    brevity = min(0.0, 1 - wanted_length / made_length)
    return math.exp(brevity + float(np.log(matched / possible).mean()))


# Models ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Revision:
    """What a model made of a text."""

    text: str
    actions: int
    ending: str


def revise_all(checkpoint: Checkpoint, edits: Sequence[Edit], rows: int) -> list[Revision]:
    """Every edit's text before, revised greedily between its neighbours."""
    from reviser import batch
    from reviser.decoding import seed
    from reviser.tokenizer import decode

    vocabulary, tokenizer = checkpoint.vocabulary, checkpoint.tokenizer
    if not vocabulary.revises:
        raise ReviserError("this model was not trained to revise")
    parts = [[tokenizer.encode(part) for part in edit.parts] for edit in edits]
    lefts = [left[-NEIGHBOUR_TOKENS:] for left, _, _, _ in parts]
    rights = [right[:NEIGHBOUR_TOKENS] for _, _, _, right in parts]
    drafts = [before for _, before, _, _ in parts]
    runs = batch.generate(
        checkpoint.model,
        vocabulary,
        lefts,
        seeds=range(len(edits)),
        suffixes=rights,
        drafts=drafts,
        temperature=0,
        max_actions=MAX_ACTIONS,
        rows=rows,
    )
    made = []
    for left, draft, right, run in zip(lefts, drafts, rights, runs, strict=True):
        canvas, _ = seed(vocabulary, left, right, draft=draft)
        for id in run.ids:
            canvas.apply(canvas.action(id))
        text = decode(tokenizer, canvas.between(canvas.low, canvas.high))
        made.append(Revision(text, len(run.ids), run.ending))
    return made


# Rewriters ---------------------------------------------------------------------------------------


def split_examples(edits: Sequence[Edit], count: int) -> tuple[list[Edit], list[Edit]]:
    """The first few edits that are short enough to be shown, and the others."""
    places = [
        place
        for place, edit in enumerate(edits)
        if edit.before != edit.after and len(edit.before) + len(edit.after) <= _EXAMPLE_CHARACTERS
    ][:count]
    if len(places) < count:
        raise ReviserError(f"there are no {count} short edits to show as examples")
    chosen = set(places)
    rest = [edit for place, edit in enumerate(edits) if place not in chosen]
    return [edits[place] for place in places], rest


def few_shot_prompt(examples: Sequence[Edit], text: str) -> str:
    """Examples of edits, and a text to be rewritten likewise; every text stands on one line."""
    shown = []
    for number, edit in enumerate(examples, start=1):
        before = edit.after if number % _FINISHED_EVERY == 0 else edit.before
        shown.append(f"Before: {_on_one_line(before)}\nAfter: {_on_one_line(edit.after)}\n\n")
    return "".join(shown) + f"Before: {_on_one_line(text)}\nAfter:"


def _on_one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def answer_of(written: str) -> str:
    """The text that a rewriter meant: up to the end of the line, without the space after the colon."""
    return written.partition("\n")[0].removeprefix(" ").replace("\\n", "\n")


def rewrite_all(
    checkpoint: Checkpoint, texts: Sequence[str], examples: Sequence[Edit], rows: int
) -> list[Revision]:
    """Every text rewritten from left to right, greedily, after a few examples."""
    from reviser import batch
    from reviser.tokenizer import decode

    tokenizer, old = checkpoint.tokenizer, checkpoint.vocabulary
    vocabulary = replace(old, kinds=old.kinds & {"insert", "stop"})
    tokens = [id for id in range(old.base_size) if id not in old.never_inserted]
    line_ends = [id for id in tokens if b"\n" in tokenizer.token_bytes(id)]
    sizes = [len(tokenizer.encode(text)) for text in texts]
    # A rewritten text is seldom half as long again.
    most = max(sizes) * 3 // 2 + 32
    context = checkpoint.model.config.context
    prompts = [
        tokenizer.encode(_fitting_prompt(checkpoint, examples, text, context - most))
        for text in texts
    ]
    runs = batch.generate(
        checkpoint.model,
        vocabulary,
        prompts,
        seeds=range(len(texts)),
        temperature=0,
        max_actions=most,
        rows=rows,
        ends=line_ends,
    )
    made = []
    for run in runs:
        written = decode(tokenizer, [id for id in run.ids if id != vocabulary.stop_id])
        made.append(Revision(answer_of(written), len(run.ids), run.ending))
    return made


def trained_to_rewrite(checkpoint: Checkpoint) -> bool:
    """Whether a model from left to right has learnt from edits, so that it needs no examples."""
    told = checkpoint.metadata.get("mixture", {})
    return "move" not in checkpoint.vocabulary.kinds and bool(told.get("edits"))


def rewrite_all_as_trained(
    checkpoint: Checkpoint, edits: Sequence[Edit], rows: int
) -> list[Revision]:
    """Every edit's text before, written anew as in the samples of `training.rewriting`."""
    from reviser import batch
    from reviser.tokenizer import decode
    from training.rewriting import rewriting_prompt

    vocabulary, tokenizer = checkpoint.vocabulary, checkpoint.tokenizer
    parts = [[tokenizer.encode(part) for part in edit.parts] for edit in edits]
    prompts = [
        rewriting_prompt(vocabulary, right[:NEIGHBOUR_TOKENS], before)
        for _, before, _, right in parts
    ]
    most = max(len(before) for _, before, _, _ in parts) * 3 // 2 + 32
    begun = [False] * len(edits)

    def turns(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        """The prompt, which holds markers and so is no text, before the model's only turn."""
        told = [([], 0) if begun[run] else (prompts[run], most) for run in runs]
        for run in runs:
            begun[run] = True
        return told

    runs = batch.generate(
        checkpoint.model,
        vocabulary,
        [left[-NEIGHBOUR_TOKENS:] for left, _, _, _ in parts],
        seeds=range(len(edits)),
        temperature=0,
        max_actions=max(map(len, prompts)) + most,
        rows=rows,
        turns=turns,
    )
    made = []
    for run, prompt in zip(runs, prompts, strict=True):
        written = run.ids[len(prompt) :]
        text = decode(tokenizer, [id for id in written if id != vocabulary.stop_id])
        made.append(Revision(text, len(written), run.ending))
    return made


def _fitting_prompt(checkpoint: Checkpoint, examples: Sequence[Edit], text: str, room: int) -> str:
    """The prompt with as many of the examples as the model's context has room for."""
    for first in range(len(examples)):
        prompt = few_shot_prompt(examples[first:], text)
        if len(checkpoint.tokenizer.encode(prompt)) < room:
            return prompt
    return few_shot_prompt((), text)


# Reports -----------------------------------------------------------------------------------------


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
    changed: float
    left_alone: float
    stopped: float
    actions: float


def report(
    name: str, edits: Sequence[Edit], made: Sequence[Revision], finished: Sequence[Revision]
) -> Report:
    """`made` are the revisions of the texts before their edits, `finished` those of the texts after."""
    outputs = [revision.text for revision in made]
    exact = np.array([out == edit.after for out, edit in zip(outputs, edits, strict=True)], float)
    scores = np.array(
        [sari(edit.before, out, [edit.after]) for out, edit in zip(outputs, edits, strict=True)]
    )
    alone = [revision.text == edit.after for revision, edit in zip(finished, edits, strict=True)]
    return Report(
        name=name,
        edits=len(edits),
        exact=float(exact.mean()),
        exact_interval=_interval(exact),
        sari=float(scores.mean()),
        sari_interval=_interval(scores),
        gleu=gleu([edit.before for edit in edits], outputs, [edit.after for edit in edits]),
        changed=float(
            np.mean([out != edit.before for out, edit in zip(outputs, edits, strict=True)])
        ),
        left_alone=float(np.mean(alone)),
        stopped=float(np.mean([revision.ending == "stop" for revision in made])),
        actions=float(np.mean([revision.actions for revision in made])),
    )


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    random = np.random.default_rng(SEED)
    means = values[random.integers(0, len(values), size=(RESAMPLES, len(values)))].mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def copied(edits: Sequence[Edit]) -> Report:
    """The report of changing nothing."""
    made = [Revision(edit.before, 1, "stop") for edit in edits]
    finished = [Revision(edit.after, 1, "stop") for edit in edits]
    return report("copying", edits, made, finished)


def table(reports: Iterable[Report]) -> str:
    columns = ("", "exact", "95 %", "SARI", "95 %", "GLEU", "changed", "left alone", "actions")
    rows = tuple(
        (
            entry.name,
            f"{entry.exact:.1%}",
            "{:.1%} to {:.1%}".format(*entry.exact_interval),
            f"{100 * entry.sari:.1f}",
            "{:.1f} to {:.1f}".format(*(100 * bound for bound in entry.sari_interval)),
            f"{100 * entry.gleu:.1f}",
            f"{entry.changed:.1%}",
            f"{entry.left_alone:.1%}",
            f"{entry.actions:.1f}",
        )
        for entry in reports
    )
    return Table(columns, rows).markdown()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.revising", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("edits", help="JSON lines with before and after, or a unified diff")
    parser.add_argument("models", nargs="*", help="models that were trained to revise")
    parser.add_argument(
        "--rewriter", action="append", default=[], help="a model that is prompted to rewrite"
    )
    parser.add_argument("--shots", type=int, default=SHOTS, help=f"examples it sees ({SHOTS})")
    parser.add_argument("--examples", help="edits to take the examples from, not those measured")
    parser.add_argument("--limit", type=int, help="edits to take")
    parser.add_argument("--rows", type=int, default=256, help="texts at a time (256)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--write", type=Path, help="also write the result to this Markdown file")
    given = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(given)
    try:
        examples, edits = _examples_and_edits(chosen)
        if not edits:
            raise ReviserError("there are no edits to measure")
        reports = [copied(edits), *(_measured(name, edits, chosen.rows) for name in chosen.models)]
        reports += [_rewritten(name, edits, examples, chosen.rows) for name in chosen.rewriter]
    except ReviserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps([asdict(entry) for entry in reports]) if chosen.json else table(reports))
    if chosen.write:
        name = Path(chosen.edits).name
        words = [name if word == chosen.edits else word for word in given]
        facts = provenance(
            f"python -m benchmarks.revising {shlex.join(words)}",
            Data=f"{name}, {len(edits):,} edits",
            Decoding=f"greedy, {MAX_ACTIONS} actions at the most; rewriters write as long as the texts need",
            Intervals=f"{RESAMPLES:,} bootstrap resamples of the edits, seed {SEED}",
        )
        chosen.write.write_text(f"# How well models revise\n\n{facts}\n{table(reports)}")
    return 0


def _examples_and_edits(chosen: argparse.Namespace) -> tuple[list[Edit], list[Edit]]:
    """What rewriters are shown, and what is measured."""
    edits = read_edits(chosen.edits)
    if not chosen.rewriter or not chosen.shots:
        return [], list(islice(edits, chosen.limit))
    if chosen.examples:
        examples, _ = split_examples(list(islice(read_edits(chosen.examples), 1000)), chosen.shots)
        return examples, list(islice(edits, chosen.limit))
    examples, rest = split_examples(list(edits), chosen.shots)
    return examples, rest[: chosen.limit]


def _loaded(source: str) -> Checkpoint:
    from benchmarks.loading import default_device, home_checkpoint

    checkpoint = home_checkpoint(source, default_device())
    if checkpoint is None:
        raise ReviserError(f"there is no model {source}")
    return checkpoint


def _measured(source: str, edits: Sequence[Edit], rows: int) -> Report:
    from benchmarks.loading import short_name

    checkpoint = _loaded(source)
    made = revise_all(checkpoint, edits, rows)
    done = revise_all(checkpoint, _finished(edits), rows)
    return report(short_name(source), edits, made, done)


def _finished(edits: Sequence[Edit]) -> list[Edit]:
    """The texts after their edits, to be left alone."""
    return [Edit(edit.after, edit.after, edit.left, edit.right) for edit in edits]


def _rewritten(source: str, edits: Sequence[Edit], examples: Sequence[Edit], rows: int) -> Report:
    from benchmarks.loading import short_name

    checkpoint = _loaded(source)
    finished = _finished(edits)
    if trained_to_rewrite(checkpoint):
        made, done = (
            rewrite_all_as_trained(checkpoint, shown, rows) for shown in (edits, finished)
        )
        return report(f"{short_name(source)}, rewriting", edits, made, done)
    made, done = (
        rewrite_all(checkpoint, [edit.before for edit in shown], examples, rows)
        for shown in (edits, finished)
    )
    return report(f"{short_name(source)}, prompted to rewrite", edits, made, done)


if __name__ == "__main__":
    sys.exit(main())
