"""What the tests of training data share: replaying histories, drawing tasks, and a small corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary
from training.data.boundaries import CLAUSE_END, SENTENCE_END, SPACE_AFTER, WORD_START, Classes
from training.data.corpus import Corpus
from training.samples.obfuscation import ELABORATED, LOCAL, PAPER, PLAIN, STRUCTURED, Task

BASE = 40
EXTENSIONS = ("swap", "span_delete", "span_move", "span_copy", "replace")
PAPER_VOCABULARY = Vocabulary(BASE, kinds=frozenset({"insert", "move", "stop"}))
DELETING_VOCABULARY = Vocabulary(BASE, kinds=frozenset({"insert", "move", "stop", "delete"}))
RICH_VOCABULARY = Vocabulary(BASE, extensions=EXTENSIONS)


def some_classes(size: int = BASE) -> Classes:
    """Classes in about the shares that they have in prose."""
    kinds = np.array([0, WORD_START, WORD_START | CLAUSE_END, WORD_START | SENTENCE_END, SPACE_AFTER])
    drawn = np.random.default_rng(0).choice(kinds, size=size, p=[0.3, 0.5, 0.08, 0.07, 0.05])
    return drawn.astype(np.uint8)


def small_corpus(documents: int = 200, seed: int = 0) -> Corpus:
    random = np.random.default_rng(seed)
    sizes = random.lognormal(5.3, 0.9, size=documents).astype(int) + 4
    return Corpus.of([random.integers(0, BASE, size=n).tolist() for n in sizes], some_classes())


@st.composite
def texts_and_tasks(
    draw: st.DrawFn, kinds: Sequence[int] = (PLAIN, PAPER, STRUCTURED, LOCAL, ELABORATED)
) -> tuple[list[int], Task]:
    text = draw(st.lists(st.integers(0, BASE - 1), min_size=1, max_size=90))
    first, last = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    given_ends = draw(st.booleans())
    kind = draw(st.sampled_from(kinds))
    task = Task(
        kind,
        first,
        len(text) - last if given_ends else 0,
        draw(st.sampled_from([0.3, 0.8, 0.95, 1.0])),
        draw(st.sampled_from([0.0, 3.0, 25.0])),
        draw(st.sampled_from([(5, 3, 2), (1, 0, 0), (0, 4, 1)])),
        draw(st.lists(st.sampled_from([0, 0, 1, 7]), min_size=len(text), max_size=len(text))),
    )
    return text, task


def written(vocabulary: Vocabulary, ids: Sequence[int], task: Task) -> list[int]:
    """The text that a history writes; a canvas refuses what is not valid."""
    assert ids[0] == vocabulary.start_id
    given = task.prefix + task.suffix
    seeds = 1 + given + len(vocabulary.moves(-task.suffix))
    canvas = Canvas(vocabulary)
    for id in ids[1:seeds]:
        canvas.apply(canvas.action(id))
    assert canvas.length == given
    canvas.protect(task.prefix, task.suffix, canvas.cursor)
    for id in ids[seeds:]:
        canvas.apply(canvas.action(id))
    assert canvas.stopped
    return canvas.tokens


def seeds_of(vocabulary: Vocabulary, task: Task) -> int:
    """How many ids of a history are given."""
    return 1 + task.prefix + task.suffix + len(vocabulary.moves(-task.suffix))
