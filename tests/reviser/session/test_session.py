"""A session's edits make its document, whatever the window, the gap, the undoing or the space before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from reviser.core.text import TextEdit
from reviser.decoding.sampler import Sampler
from reviser.session.frames import Frame
from reviser.session.session import Generation, Session
from tests.toys import ToyTokenizer, quick_toy_policy

TOKENIZER = ToyTokenizer()
POLICY = quick_toy_policy()


def session(text: str, window: int = 1024) -> Session:
    return Session(POLICY, TOKENIZER, text, window=window)


def apply(text: str, edits: tuple[TextEdit, ...]) -> str:
    for edit in edits:
        assert text[edit.start.chars : edit.end.chars] == edit.removed
        before = text[: edit.start.chars]
        assert edit.start.utf8 == len(before.encode())
        assert edit.start.lines == before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
        text = edit.apply_to(text)
    return text


def follow(text: str, run: Generation) -> tuple[str, list[Frame]]:
    """Apply a run's edits to `text` as an editor would, checking every step."""
    if run.opening:
        text = apply(text, (run.opening,))
    frames = []
    for frame in run:
        text = apply(text, frame.edits)
        assert text == run.text
        assert 0 <= frame.cursor.chars <= len(text)
        frames.append(frame)
    return text, frames


pieces = ["a", " ", "\n", "\r\n", "é", "漢", "👩‍💻", "The cat sat.", ". ", " the mat"]
documents = st.lists(st.sampled_from(pieces), max_size=30).map("".join)


@settings(max_examples=60, deadline=None)
@given(documents, st.integers(0, 9), st.sampled_from([12, 1024]))
def test_continuing_appends_and_keeps_the_rest(text: str, seed: int, window: int) -> None:
    document = session(text, window)
    run = document.continue_(Sampler(seed=seed), max_actions=25)
    after, _ = follow(text, run)
    ending = next((end for end in ("\r\n", "\n", "\r") if text.endswith(end)), "")
    kept = text.removesuffix(ending)
    assert after.startswith(kept)
    assert after.endswith(ending)
    assert document.text == after == kept + after[len(kept) : len(after) - len(ending)] + ending


@settings(max_examples=60, deadline=None)
@given(documents, st.data(), st.sampled_from([12, 1024]))
def test_infilling_writes_between_two_places_and_nowhere_else(text: str, data: st.DataObject, window: int) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    run = session(text, window).infill(start, end, Sampler(seed=1), max_actions=20)
    after, _ = follow(text, run)
    assert after.startswith(text[:start])
    assert after.endswith(text[end:])
    assert len(after) >= len(text) - (end - start)


@settings(max_examples=40, deadline=None)
@given(documents, st.data())
def test_taking_back_step_by_step_and_rejecting_give_the_old_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    document = session(text)
    run = document.infill(start, end, Sampler(seed=2), max_actions=12)
    written, frames = follow(text, run)
    taken = data.draw(st.integers(0, len(frames)))
    for _ in range(taken):
        written = apply(written, run.take_back())
        assert written == run.text
    edit = run.reject()
    assert (apply(written, (edit,)) if edit else written) == text
    assert run.text == document.text == text


def test_a_step_taken_back_can_go_another_way() -> None:
    document = session("The cat")
    run = document.continue_(Sampler(seed=0), max_actions=10)
    next(run)
    run.take_back()
    frame = run.take(TOKENIZER.encode(" sat")[0])
    assert frame.label == 'Insert " sat"'
    assert document.text == "The cat sat"
    assert run.rollout.actions_taken == 1


def test_the_space_at_the_end_is_the_models_to_write() -> None:
    run = session("The cat ").continue_(Sampler(seed=0))
    assert (run.window.prefix, run.window.trailing_space) == ("The cat", " ")
    assert run.text == "The cat "
    (edit,) = run.take(TOKENIZER.encode(" sat")[0]).edits
    assert (edit.removed, edit.inserted, run.text) == ("", "sat", "The cat sat")
    (edit,) = run.take(TOKENIZER.encode(".")[0]).edits
    assert run.text == "The cat sat."
    bare = session("The cat ").continue_(Sampler(seed=0))
    bare.take(TOKENIZER.encode("s")[0])
    assert bare.text == "The cat s"


def test_cancelling_stops_before_the_next_action() -> None:
    run = session("The cat").continue_(Sampler(seed=0), max_actions=50)
    next(run)
    run.cancel()
    assert list(run) == []
    assert run.rollout.ending == "cancelled"


def test_one_more_character_costs_a_few_tokens_not_the_whole_context() -> None:
    policy = quick_toy_policy(context=1024, canvas_length=1024)
    document = Session(policy, TOKENIZER, "The cat sat on the mat.\n" * 80)
    list(document.continue_(Sampler(seed=0), max_actions=3))
    first = policy.evaluated
    assert first > 500
    for typed in "x", "y", " ":
        before = policy.evaluated
        document.text = document.text.rstrip("\n") + typed
        list(document.continue_(Sampler(seed=0), max_actions=3))
        assert policy.evaluated - before < 12


def test_the_window_of_a_long_document_starts_at_a_line_and_stays() -> None:
    policy = quick_toy_policy(context=256, canvas_length=256)
    line = "The cat sat on the mat.\n"
    document = Session(policy, TOKENIZER, line * 2000, window=100)
    run = document.continue_(Sampler(seed=0), max_actions=5)
    assert run.window.before.endswith("\n")
    assert (run.window.before + run.window.prefix).startswith(line * 1990)
    assert 40 < len(TOKENIZER.encode(run.window.prefix)) <= 100
    list(run)
    document.text = line * 2000 + "The cat"
    again = document.continue_(Sampler(seed=0), max_actions=5)
    assert again.window.before == run.window.before


def test_a_document_changed_before_the_window_is_seen() -> None:
    document = session("The cat sat on the mat.\n" * 50, window=40)
    document.continue_(Sampler(seed=0), max_actions=2)
    document.text = "Short now."
    run = document.continue_(Sampler(seed=0), max_actions=2)
    assert (run.window.before, run.window.prefix) == ("", "Short now.")


def test_an_infill_sees_both_sides() -> None:
    text = "The cat sat.\n" * 40 + "HERE" + " on the mat.\n" * 40
    at = text.index("HERE")
    run = session(text, window=80).infill(at, at + 4, Sampler(seed=0), max_actions=3)
    canvas = run.rollout.canvas
    assert run.window.prefix.endswith("The cat sat.\n")
    assert run.window.suffix.startswith(" on the mat.\n")
    assert run.window.suffix.endswith("\n")
    assert 0 < canvas.suffix < canvas.prefix
    assert run.window.before + run.window.prefix + "HERE" + run.window.suffix + run.window.after == text


@pytest.mark.parametrize("place", [(-1, 0), (3, 2), (0, 99)])
def test_places_outside_the_text_are_refused(place: tuple[int, int]) -> None:
    with pytest.raises(ReviserError, match="no place"):
        session("The cat").infill(*place)
