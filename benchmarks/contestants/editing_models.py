"""Texts revised by models: by actions, or written anew from left to right by a model that can do no more.

A reviser is shown a text between its neighbours as a draft, and revises it greedily. A model that was never shown
drafts, and has no Delete, is shown the text as though it had just written it: it may move, insert and stop.

A rewriter only writes from left to right. One that was trained on edits (`--objective ar` with a share of them) is
given the text and its neighbours, and writes the whole text anew. Any other is shown a few edits, "Before: …" and
"After: …", and the text to revise as the last "Before:", and writes what follows the last "After:" greedily, up to the
end of the line. One of five examples shows a finished text, unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer, decode
from reviser.decoding.batch.sampling import GREEDY
from reviser.decoding.batch.scheduler import Turns, generate
from reviser.decoding.rollout import seed
from training.edits.files import Edit
from training.edits.rewrite_samples import rewriting_prompt

if TYPE_CHECKING:
    from reviser.checkpoints import Checkpoint

MAX_ACTIONS = 128
NEIGHBOUR_TOKENS = 64
# One of so many examples shows a text that needs no change, about as often as in training.
_FINISHED_EVERY = 5
_EXAMPLE_CHARACTERS = 240


@dataclass(frozen=True)
class Revision:
    """What a model made of a text."""

    text: str
    actions: int
    ending: str


def revise_all(checkpoint: Checkpoint, edits: Sequence[Edit], rows: int) -> list[Revision]:
    """Every edit's text before, revised greedily between its neighbours, `rows` texts at a time."""
    vocabulary, tokenizer = checkpoint.vocabulary, checkpoint.tokenizer
    if "move" not in vocabulary.kinds:
        raise ReviserError("a model that does not move cannot revise, but it may be a --rewriter")
    parts = [[tokenizer.encode(part) for part in edit.parts] for edit in edits]
    lefts = [left[-NEIGHBOUR_TOKENS:] for left, _, _, _ in parts]
    rights = [right[:NEIGHBOUR_TOKENS] for _, _, _, right in parts]
    drafts = [before for _, before, _, _ in parts]
    knows_drafts = vocabulary.revises
    # What was never a draft to a model counts as its own actions.
    written = [[] if knows_drafts else draft for draft in drafts]
    runs = generate(
        checkpoint.model,
        vocabulary,
        lefts,
        seeds=range(len(edits)),
        suffixes=rights,
        drafts=drafts if knows_drafts else None,
        sampling=GREEDY,
        max_actions=MAX_ACTIONS + max(map(len, written), default=0),
        rows=rows,
        turns=None if knows_drafts else _one_turn(written, [MAX_ACTIONS] * len(written)),
    )
    made = []
    for left, draft, right, own, run in zip(lefts, drafts, rights, written, runs, strict=True):
        canvas, _ = seed(vocabulary, left, right, draft=draft if knows_drafts else None)
        for id in run.ids:
            canvas.apply(canvas.action(id))
        text = decode(tokenizer, canvas.between(canvas.low, canvas.high))
        made.append(Revision(text, len(run.ids) - len(own), run.ending))
    return made


def _one_turn(given: Sequence[Sequence[int]], actions: Sequence[int]) -> Turns:
    """Ids that come first in each run, whatever they are; then the model has its only turn of so many actions."""
    begun = [False] * len(given)

    def turns(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        told: list[tuple[list[int], int]] = []
        for run in runs:
            told.append(([], 0) if begun[run] else ([*given[run]], actions[run]))
            begun[run] = True
        return told

    return turns


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
    tokenizer, old = checkpoint.tokenizer, checkpoint.vocabulary
    vocabulary = replace(old, kinds=old.kinds & {"insert", "stop"})
    tokens = [id for id in range(old.base_size) if id not in old.never_inserted]
    line_ends = [id for id in tokens if b"\n" in tokenizer.token_bytes(id)]
    most = [_most_tokens(len(tokenizer.encode(text))) for text in texts]
    context = checkpoint.model.config.context
    prompts = [
        _fitting_prompt(tokenizer, examples, text, context - room)
        for text, room in zip(texts, most, strict=True)
    ]
    runs = generate(
        checkpoint.model,
        vocabulary,
        prompts,
        seeds=range(len(texts)),
        sampling=GREEDY,
        max_actions=max(most),
        rows=rows,
        ends=line_ends,
        turns=_one_turn([()] * len(texts), most),
    )
    made = []
    for run in runs:
        written = decode(tokenizer, [id for id in run.ids if id != vocabulary.stop_id])
        made.append(Revision(answer_of(written), len(run.ids), run.ending))
    return made


def trained_to_rewrite(checkpoint: Checkpoint) -> bool:
    """Whether a model from left to right has learnt from edits, so that it needs no examples."""
    mixture = checkpoint.metadata.get("mixture")
    from_edits = isinstance(mixture, dict) and bool(mixture.get("edits"))
    return "move" not in checkpoint.vocabulary.kinds and from_edits


def rewrite_all_as_trained(
    checkpoint: Checkpoint, edits: Sequence[Edit], rows: int
) -> list[Revision]:
    """Every edit's text before, written anew as in the samples of `training.edits.rewrite_samples`."""
    vocabulary, tokenizer = checkpoint.vocabulary, checkpoint.tokenizer
    parts = [[tokenizer.encode(part) for part in edit.parts] for edit in edits]
    prompts = [
        rewriting_prompt(vocabulary, right[:NEIGHBOUR_TOKENS], before)
        for _, before, _, right in parts
    ]
    most = [_most_tokens(len(before)) for _, before, _, _ in parts]
    runs = generate(
        checkpoint.model,
        vocabulary,
        [left[-NEIGHBOUR_TOKENS:] for left, _, _, _ in parts],
        seeds=range(len(edits)),
        sampling=GREEDY,
        max_actions=max(map(len, prompts)) + max(most),
        rows=rows,
        turns=_one_turn(prompts, most),
    )
    made = []
    for run, prompt in zip(runs, prompts, strict=True):
        written = run.ids[len(prompt) :]
        text = decode(tokenizer, [id for id in written if id != vocabulary.stop_id])
        made.append(Revision(text, len(written), run.ending))
    return made


def _most_tokens(size: int) -> int:
    """How long a rewritten text may become: it is seldom half as long again."""
    return size * 3 // 2 + 32


def _fitting_prompt(
    tokenizer: Tokenizer, examples: Sequence[Edit], text: str, room: int
) -> list[int]:
    """The prompt with as many of the examples as there is room for."""
    for first in range(len(examples)):
        prompt = tokenizer.encode(few_shot_prompt(examples[first:], text))
        if len(prompt) < room:
            return prompt
    return tokenizer.encode(few_shot_prompt((), text))
