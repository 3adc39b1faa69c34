"""Trajectories survive their files, and the published ones replay to their stated texts."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unidiff import PatchedFile, PatchSet

from reviser.core.canvas import Canvas
from reviser.core.errors import BadTrajectory
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.trajectory import Trajectory, dump_trajectories, load_trajectories
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Rollout, ScriptedPolicy, seed
from reviser.decoding.sampler import Sampler
from reviser.session.replay import Replay, replay, unified_diff


def test_published_trajectories_replay_to_their_texts_outside_the_prompt(
    published: list[Trajectory], gpt2: Gpt2Tokenizer
) -> None:
    assert len(published) == 10
    for trajectory in published:
        done = replay(trajectory, gpt2)
        assert done.matches is True
        assert done.final_text == trajectory.final_text
        assert done.start_text == trajectory.prompt
        assert all(frame.step.cursor >= trajectory.prefix_tokens for frame in done.frames)
        assert len(done.frames) == len(trajectory.action_ids) - trajectory.prefix_tokens


def test_edits_of_a_replay_make_its_text(published: list[Trajectory], gpt2: Gpt2Tokenizer) -> None:
    done = replay(published[1], gpt2)
    text = done.start_text
    for frame in done.frames:
        for edit in frame.edits:
            text = edit.apply_to(text)
        assert "\ufffd" not in text
    assert text == done.final_text


def test_a_file_written_is_the_file_read(published: list[Trajectory]) -> None:
    again = load_trajectories("again.json", dump_trajectories(published))
    assert again == published
    assert again[0].others == {"example": 1}


def test_recording_a_run_and_replaying_it(gpt2: Gpt2Tokenizer) -> None:
    vocabulary = Vocabulary.gpt2()
    prefix, suffix, middle = (gpt2.encode(text) for text in ("Once", " the end 👩‍💻.", " upon 漢"))
    canvas, history = seed(vocabulary, prefix, suffix)
    script = [*middle, vocabulary.first_move_id + 1, *gpt2.encode(" a"), vocabulary.stop_id]
    rollout = Rollout(ScriptedPolicy(vocabulary, script), canvas, history, Sampler.greedy())
    list(rollout)
    recorded = Trajectory.record(rollout, gpt2, model="script")
    (loaded,) = load_trajectories("run.json", dump_trajectories([recorded]))
    assert loaded == recorded
    done = replay(loaded, gpt2)
    assert done.matches is True
    assert done.cursor == recorded.cursor == canvas.cursor
    assert (done.start_text, loaded.prompt, loaded.suffix) == ("Once the end 👩‍💻.", "Once", " the end 👩‍💻.")
    assert {"format", "reviser"} <= loaded.versions.keys()


def test_a_history_may_begin_with_its_marker() -> None:
    trajectory = Trajectory.from_dict({"action_ids": [50258, 11, 50260]})
    assert trajectory.action_ids == (11, 50260)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (3, "JSON object"),
        ({}, "action_ids"),
        ({"action_ids": "abc"}, "action_ids"),
        ({"action_ids": [1.5]}, "action_ids"),
        ({"action_ids": [True]}, "action_ids"),
        ({"action_ids": [1], "prefix_tokens": -1}, "prefix_tokens"),
        ({"action_ids": [1], "prefix_tokens": 2}, "1 action,"),
        ({"action_ids": [1], "final_text": 7}, "final_text"),
        ({"action_ids": [1], "vocabulary": {"name": "x"}}, "vocabulary"),
        ({"action_ids": [1], "vocabulary": "klingon"}, "vocabulary"),
    ],
)
def test_malformed_trajectories_are_refused_in_a_sentence(data: object, complaint: str) -> None:
    with pytest.raises(BadTrajectory, match=complaint):
        Trajectory.from_dict(data)


@pytest.mark.parametrize(
    ("ids", "complaint"),
    [
        ([11, 50281, 50260], "marker"),
        ([11, 50283, 50260], "reserved"),
        ([11, 99999], "outside the vocabulary"),
        ([11, 50262, 50262, 50260], "leave the editable text"),
        ([11, 50260, 11], "stopped"),
        ([11, 50260, 11, 11, 11], "stopped"),
        ([50262, 11], "prompt cannot be written"),
    ],
)
def test_trajectories_that_cannot_be_carried_out(ids: list[int], complaint: str, gpt2: Gpt2Tokenizer) -> None:
    with pytest.raises(BadTrajectory, match=complaint):
        replay(Trajectory.from_dict({"action_ids": ids, "prefix_tokens": 1}), gpt2)


def test_only_a_closing_move_one_boundary_too_far_is_forgiven(gpt2: Gpt2Tokenizer) -> None:
    def cursor_after(*ids: int) -> int:
        data = {"action_ids": [11, 12, *ids], "prefix_tokens": 2}
        return replay(Trajectory.from_dict(data), gpt2).cursor

    back_two, back_four = 50264, 50266
    assert cursor_after(13, back_two, 50260) == 2
    for ids in [(13, back_two), (13, back_two, 13, 50260), (13, back_four, 50260), (50262, 50260)]:
        with pytest.raises(BadTrajectory, match="leave the editable text"):
            cursor_after(*ids)


def test_another_tokenizer_is_noticed(gpt2: Gpt2Tokenizer) -> None:
    other = Vocabulary(base_size=100, name="other")
    with pytest.raises(BadTrajectory, match="another tokenizer"):
        Replay(Trajectory((1,), vocabulary=other), gpt2)


texts = st.text(st.sampled_from("ab\n\r\u2028漢"), max_size=12)


@given(texts, texts)
def test_unified_diff_is_read_by_unidiff(before: str, after: str) -> None:
    diff = unified_diff(before, after, "a/x", "b/x")
    patches = PatchSet(diff)
    assert len(patches) == (before != after)
    if patches:
        assert apply_hunks(before, patches[0]) == after


def apply_hunks(before: str, patch: PatchedFile) -> str:
    """Carry out a parsed diff."""
    source = [line for line in re.split("(?<=\n)", before) if line]
    result: list[str] = []
    taken = 0
    for hunk in patch:
        start = hunk.source_start - (hunk.source_length > 0)
        result += source[taken:start]
        taken = start + hunk.source_length
        lines = [*hunk, None]
        for line, follower in itertools.pairwise(lines):
            if line.is_added or line.is_context:
                cut = follower is not None and follower.line_type == "\\"
                result.append(line.value.removesuffix("\n") if cut else line.value)
    return "".join(result + source[taken:])


@settings(max_examples=40, deadline=None)
@given(texts, texts)
def test_unified_diff_is_applied_by_patch(before: str, after: str) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("the patch command is not installed")
    diff = unified_diff(before, after, "a/x", "b/x")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "x")
        target.write_bytes(before.encode())
        if diff:
            command = [patch, "--quiet", "--binary", str(target)]
            subprocess.run(command, input=diff.encode(), check=True)
        result = target.read_bytes() if target.exists() else b""
    assert result == after.encode()


def test_canvas_of_a_replay_is_protected(published: list[Trajectory], gpt2: Gpt2Tokenizer) -> None:
    run = Replay(published[0], gpt2)
    assert isinstance(run.canvas, Canvas)
    assert (run.canvas.prefix, run.canvas.undoable) == (35, 0)


def test_json_has_the_published_fields(published: list[Trajectory]) -> None:
    data = json.loads(dump_trajectories(published))[0]
    assert {"action_ids", "prefix_tokens", "prompt", "final_text", "model", "versions"} - data.keys() == {"versions"}
