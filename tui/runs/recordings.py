"""Trajectory files: reading them as runs, and exporting runs as trajectories, pages and patches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from reviser.core.counts import counted
from reviser.core.edits import within
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.core.tokenizer import Tokenizer
from reviser.core.trajectory import Trajectory, dump_trajectories, load_trajectories
from reviser.editor.edited_text import EditedText
from reviser.session.replay import Replay, Replayed, replay, unified_diff
from reviser.viewer import ViewerTrajectory, render_page
from tui.runs.labels import full_label
from tui.runs.run import DraftRun
from tui.runs.tree import Node, Seed, TakenAction

# The field of a saved run with the probability of each step; other readers ignore it.
_PROBABILITIES = "probabilities"


def read_recordings(path: Path) -> list[Trajectory]:
    """The trajectories in a file."""
    return load_trajectories(path, read_utf8(path))


def describe(trajectory: Trajectory, number: int) -> str:
    """A trajectory in one line: its name, length and first words."""
    example = trajectory.others.get("example")
    parts = [trajectory.model, None if example is None else f"example {example}"]
    name = ", ".join(part for part in parts if part) or f"run {number + 1}"
    steps = len(trajectory.action_ids) - trajectory.seed_actions
    start = " ".join((trajectory.prompt or "").split())
    return f"{name} · {counted(steps, 'step')} · {start[:60]}"


def recorded_run(trajectory: Trajectory, tokenizer: Tokenizer) -> DraftRun:
    """A trajectory as a run on a draft of its own, at its start."""
    told = Replay(trajectory, tokenizer)
    text, canvas = told.start_text, told.canvas
    start, end = (told.text.position(place).chars for place in (canvas.low, canvas.high))
    cursor = told.text.position(canvas.cursor).chars - start
    draft = EditedText(text)
    seed = replace(
        trajectory,
        action_ids=trajectory.action_ids[: trajectory.seed_actions],
        final_text=None,
        cursor=None,
        others={key: value for key, value in trajectory.others.items() if key != _PROBABILITIES},
    )
    run = DraftRun(
        draft,
        draft.open_region(start, end),
        Node(None, cursor, seed=Seed(seed, tokenizer)),
        revising=trajectory.draft_tokens is not None,
    )
    known = trajectory.others.get(_PROBABILITIES)
    probabilities = known if isinstance(known, list) else []
    for index, frame in enumerate(told.frames()):
        edits = within([edit.change for edit in frame.edits], start, end)
        end += sum(edit.growth for edit in edits)
        step = frame.step
        probability = probabilities[index] if index < len(probabilities) else None
        taken = TakenAction(step.id, full_label(frame, canvas.tokens), step.action.kind, probability)
        run.add_recorded(run.tip.after(edits, frame.cursor.chars - start, taken))
    run.tip.ending = "stop" if canvas.stopped else "end"
    return run


def trajectories_of(leaf: Node) -> Iterator[tuple[Trajectory, list[TakenAction]]]:
    """The branch that ends with `leaf`, one trajectory with its steps for each time the model began anew."""
    lineage = leaf.lineage()
    if lineage[0].seed is None:
        raise ReviserError("the run has no steps yet")
    begins = [node.depth for node in lineage if node.seed is not None]
    for first, last in pairwise([*begins, len(lineage)]):
        seed = lineage[first].seed
        steps = [node.taken for node in lineage[first + 1 : last + 1] if node.taken is not None]
        if seed is not None and callable(seed.trajectory):
            # One step may be several actions.
            yield seed.trajectory(leaf), []
        elif seed is not None and (steps or first == 0):
            yield _recorded(seed, steps), steps


def _recorded(begun: Seed, steps: Sequence[TakenAction]) -> Trajectory:
    seed = begun.trajectory
    assert not callable(seed)
    others = dict(seed.others)
    if any(taken.probability is not None for taken in steps):
        others[_PROBABILITIES] = [None if taken.probability is None else round(taken.probability, 4) for taken in steps]
    ids = seed.action_ids + tuple(taken.id for taken in steps)
    bare = replace(seed, action_ids=ids, final_text=None, cursor=None, others=others)
    done = replay(bare, begun.tokenizer)
    return replace(bare, final_text=done.final_text, cursor=done.cursor)


def save_run(run: DraftRun, path: Path) -> int:
    """Write all branches of a run to a trajectory file, the one shown first; returns how many there are."""
    trajectories = [each for leaf in run.leaves() for each, _ in trajectories_of(leaf)]
    write_atomically(path, dump_trajectories(trajectories).encode("utf-8"))
    return len(trajectories)


def export_page(run: DraftRun, path: Path) -> None:
    """Write a page that plays all branches of a run."""
    if run.seed is None:
        raise ReviserError("the run has no steps yet")
    tokenizer = run.seed.tokenizer
    shown = [
        _with_probabilities(replay(trajectory, tokenizer), steps)
        for leaf in run.leaves()
        for trajectory, steps in trajectories_of(leaf)
    ]
    write_atomically(path, render_page(shown).encode("utf-8"))


def _with_probabilities(done: Replayed, taken: Sequence[TakenAction]) -> ViewerTrajectory:
    page = done.for_viewer()
    if not taken:
        return page
    steps = tuple(replace(step, probability=each.probability) for step, each in zip(page.steps, taken, strict=True))
    return replace(page, steps=steps)


def export_diff(run: DraftRun, path: Path, name: str, newline: str = "\n") -> None:
    """Write the run's changes to its text, whose file has these line endings, as a patch."""
    text, region = run.draft.text, run.region
    if region.open and not region.settled:
        before = region.without(text)
    elif run.seed is not None:
        before, text = run.began_in, run.ended_in
    else:
        raise ReviserError("the run has no steps yet")
    before, after = (side.replace("\n", newline) for side in (before, text))
    patch = unified_diff(before, after, f"a/{name}", f"b/{name}")
    write_atomically(path, patch.encode("utf-8"))
