"""Edits as trajectories: what they replay to, how few actions they take, and where they are read from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.cli.options import run_with
from reviser.core.actions import Action, Delete, Insert, Move, Replace, SpanDelete
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from tests.training.edits.revising import revising_actions
from training.data.edit_files import Revision, diff_edits, read_edits
from training.data.randomness import KeyedRandom
from training.edits.alignment import EditOperators, align, find_hunks
from training.edits.edits import run
from training.samples.mixture import Order

main = partial(run_with, run)

EDITS = os.environ.get("REVISER_EDITS")

BASE = 5
KINDS = ("insert", "move", "stop", "delete")
VOCABULARIES = {
    extra: Vocabulary(BASE, extensions=extra, kinds=frozenset({*KINDS, *extra}))
    for extra in ((), ("span_delete",), ("replace",), ("span_delete", "replace"))
}
texts = st.lists(st.integers(0, BASE - 1), max_size=40)
# Texts that share much, as the two sides of an edit do.
changes = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), texts), max_size=4)


def changed(text: list[int], steps: list[tuple[int, int, list[int]]]) -> list[int]:
    made = list(text)
    for at, removed, inserted in steps:
        made[at : at + removed] = inserted[:8]
    return made


@settings(deadline=None)
@given(
    texts,
    st.one_of(texts, changes),
    st.sampled_from([*VOCABULARIES]),
    st.sampled_from(Order),
    st.integers(0, 40),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_replaying_gives_the_text_after(
    before: list[int],
    change: list[int] | list[tuple[int, int, list[int]]],
    extra: tuple[str, ...],
    order: Order,
    cursor: int,
    left: int,
    right: int,
) -> None:
    is_text = all(isinstance(part, int) for part in change)
    after = change if is_text else changed(before, change)  # type: ignore[arg-type]
    vocabulary, start = VOCABULARIES[extra], min(cursor, len(before))
    actions = revising_actions(vocabulary, before, after, cursor=start, order=order, random=KeyedRandom(7))
    # Every action has an id, and none leaves the text for its protected neighbours.
    canvas = Canvas(vocabulary, [4] * left + before + [4] * right, cursor=left + start, prefix=left, suffix=right)
    for action in actions:
        canvas.apply(canvas.action(vocabulary.id(action, canvas.cursor)))
    assert canvas.tokens == [4] * left + after + [4] * right
    assert (actions == []) == (before == after)


@pytest.mark.slow
@settings(deadline=None)
@given(texts, changes, st.integers(1, 60))
def test_large_texts_are_aligned_in_parts(
    before: list[int], steps: list[tuple[int, int, list[int]]], cells: int
) -> None:
    after = changed(before, steps)
    old, new = (np.array(text, dtype=np.int32) for text in (before, after))
    end = (0, 0)
    for first, last, new_first, new_last in find_hunks(old, new, 0, False, False, cells).tolist():
        assert before[end[0] : first] == after[end[1] : new_first]
        assert (first, new_first) >= end
        end = (last, new_last)
    assert before[end[0] :] == after[end[1] :]


def test_a_few_words_changed_in_a_long_text_stay_a_few() -> None:
    random = np.random.default_rng(0)
    before = random.integers(0, 1000, size=9000).tolist()
    after = changed(before, [(8000, 2, [3]), (4000, 0, [1, 2]), (10, 5, [])])
    hunks = align(before, after, 0, EditOperators())
    assert [(row[1] - row[0], row[3] - row[2]) for row in hunks.tolist()] == [(5, 0), (0, 2), (2, 1)]


def test_a_stray_common_word_is_no_anchor() -> None:
    (hunk,) = align([1, 2, 3, 4, 9], [5, 6, 3, 7, 8, 9], 5, EditOperators()).tolist()
    assert hunk == [0, 4, 0, 5]


def test_actions_of_a_small_edit() -> None:
    plain, rich = VOCABULARIES[()], VOCABULARIES["span_delete", "replace"]
    before, after = [0, 1, 2, 3, 4], [0, 4, 2, 3, 4]
    assert revising_actions(plain, before, after) == [Move(-2), Move(-1), Delete(), Insert(4)]
    assert revising_actions(rich, before, after) == [Move(-2), Move(-1), Replace(4)]
    assert revising_actions(rich, [0] * 7, [1], cursor=7) == [SpanDelete(4), SpanDelete(2), Replace(1)]


def replays(vocabulary: Vocabulary, before: list[int], after: list[int], actions: list[Action]) -> bool:
    """Whether the actions turn `before` into `after` on a canvas."""
    canvas = Canvas(vocabulary, before)
    for action in actions:
        canvas.apply(action)
    return canvas.tokens == after


def test_orders_visit_the_same_changes() -> None:
    before = list(range(5)) * 20
    after = changed(before, [(80, 1, []), (40, 0, [0, 0]), (5, 1, [2])])
    firsts = {}
    for order in Order:
        actions = revising_actions(VOCABULARIES[()], before, after, order=order, random=KeyedRandom(3))
        assert replays(VOCABULARIES[()], before, after, actions)
        firsts[order] = sum(a.delta for a in actions[:5] if isinstance(a, Move))
    assert firsts[Order.FORWARD] < firsts[Order.BACKWARD] == firsts[Order.NEAREST]
    with pytest.raises(ReviserError, match="random"):
        revising_actions(VOCABULARIES[()], before, after, order=Order.RANDOM)


def test_a_vocabulary_without_delete_only_inserts() -> None:
    paper = Vocabulary(BASE, kinds=PAPER_KINDS)
    assert revising_actions(paper, [0, 1], [0, 2, 1]) == [Move(-1), Insert(2)]
    with pytest.raises(ReviserError, match="Delete"):
        revising_actions(paper, [0, 1], [0])


def test_close_to_the_fewest_actions_there_are() -> None:
    """On small texts, where every sequence can be tried, few edits take more than need be."""
    random = np.random.default_rng(5)
    excess = []
    for extra, _ in product(VOCABULARIES, range(20)):
        before = random.integers(0, BASE, size=5).tolist()
        after = changed(before, [(int(random.integers(6)), int(random.integers(3)), [1])])
        best = _fewest_by_search(VOCABULARIES[extra], before, after)
        orders = (Order.FORWARD, Order.BACKWARD, Order.NEAREST)
        tries = [revising_actions(VOCABULARIES[extra], before, after, order=order) for order in orders]
        excess.append(min(map(len, tries)) - best)
    assert min(excess) >= 0
    assert np.mean(excess) < 0.25


def _fewest_by_search(vocabulary: Vocabulary, before: list[int], after: list[int]) -> int:
    actions: list[Action] = [Move(1), Move(-1), Move(2), Move(-2), Move(4), Move(-4), Delete()]
    actions += [SpanDelete(2), SpanDelete(4), *map(Insert, set(after)), *map(Replace, set(after))]
    usable = [a for a in actions if a.kind in vocabulary.kinds]
    queue = deque([(tuple(before), len(before), 0)])
    seen = {queue[0][:2]}
    while queue:
        tokens, cursor, depth = queue.popleft()
        if list(tokens) == after:
            return depth
        for action in usable:
            canvas = Canvas(vocabulary, tokens, cursor=cursor, max_length=7)
            try:
                canvas.apply(action)
            except InvalidAction:
                continue
            state = (tuple(canvas.tokens), canvas.cursor)
            if state not in seen:
                seen.add(state)
                queue.append((*state, depth + 1))
    raise AssertionError("unreachable")


LOG = """\
commit 0123456789abcdef
Author: A Person <a@example.org>

    Say it better

    --- this is not a diff

diff --git a/notes.md b/notes.md
index 1111111..2222222 100644
--- a/notes.md
+++ b/notes.md
@@ -1,5 +1,6 @@ Heading
 Before it.
-The cat sat
+The cat sat down
 on the mat.
-Bye.
\\ No newline at end of file
+Good
+bye.
\\ No newline at end of file

commit fedcba9876543210

    Begin

diff --git a/notes.md b/notes.md
new file mode 100644
--- /dev/null
+++ b/notes.md
@@ -0,0 +1,2 @@
+Before it.
+The cat sat
"""


def test_a_log_of_diffs_gives_its_hunks() -> None:
    first, second = diff_edits(LOG)
    assert first == Revision(
        "The cat sat\non the mat.\nBye.", "The cat sat down\non the mat.\nGood\nbye.", "Before it."
    )
    assert first.parts[0] == "Before it.\n"
    assert second == Revision("", "Before it.\nThe cat sat")


def test_git_log_can_be_piped_in(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        settings = ["-c", "user.name=a", "-c", "user.email=a@b"]
        run = subprocess.run(["git", *settings, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return run.stdout

    git("init", "-q")
    note = tmp_path / "note.md"
    for text in ("One.\nTwo.\nThree.\n", "One.\nTwo and a half.\nThree.\n"):
        note.write_text(text)
        git("add", "note.md")
        git("commit", "-q", "-m", "Write")
    (tmp_path / "latin.txt").write_bytes("na\xefve\n".encode("latin-1"))
    git("add", "latin.txt")
    git("commit", "-q", "-m", "Another encoding")
    out = tmp_path / "edits.jsonl"
    log = subprocess.run(["git", "log", "-p"], cwd=tmp_path, check=True, capture_output=True).stdout
    command = [sys.executable, "-m", "training", "edits", "-", "--out", str(out)]
    done = subprocess.run(command, input=log, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"2 edits")
    assert next(read_edits(str(out))) == Revision("Two.", "Two and a half.", "One.", "Three.")


def test_bad_files_are_refused_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents = {
        "lines.jsonl": (json.dumps({"before": "a"}).encode(), "before and after"),
        "broken.diff": (b"--- a\n+++ b\n@@ -1,3 +1,1 @@\n a\n", "unified diff"),
        "binary": (b"\xff\xfe\x00", "UTF-8"),
    }
    for name, (content, said) in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert main([str(path)]) == 2
        assert said in capsys.readouterr().err
    assert main([str(tmp_path / "missing")]) == 2


@pytest.mark.slow
@pytest.mark.skipif(not EDITS, reason="REVISER_EDITS names no file of edits")
def test_every_edit_of_a_large_file_replays(gpt2: Gpt2Tokenizer) -> None:
    choices = [
        Vocabulary(gpt2.size, gpt2.markers, extra, frozenset({*KINDS, *extra}), gpt2.name) for extra in VOCABULARIES
    ]
    for number, edit in enumerate(read_edits(str(EDITS))):
        before, after = gpt2.encode(edit.before), gpt2.encode(edit.after)
        order = list(Order)[number % 4]
        vocabulary = choices[number // 4 % 4]
        actions = revising_actions(vocabulary, before, after, order=order, random=KeyedRandom(number))
        assert replays(vocabulary, before, after, actions)
