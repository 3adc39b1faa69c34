"""What the server and the worker say to each other arrives as it was sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.runs.live_runs import WrittenText
from lsp_server.worker.process import generations
from lsp_server.worker.tasks import Event, ModelKey, WritingTask, decode_event, decode_order, encode_event, encode_task
from reviser.core.edits import Edit
from reviser.decoding.stepping_back import CheckedRollout
from reviser.session.engine import load_engine
from reviser.session.session import Session
from tests.lsp_server.models import save_tiny_model
from tests.toys import ToyTokenizer, quick_toy_policy

TEXT = st.text("ab \r\n😀\ud800", max_size=6)


def task(text: str, start: int, end: int, *, revises: bool) -> WritingTask:
    return WritingTask(1, ModelKey(), "a", text, start, end, 9, 0.0, 0, 0, revises=revises)


@given(st.lists(st.builds(Edit, st.integers(0, 9), TEXT, TEXT)), TEXT)
def test_events_and_orders_arrive_as_they_were_sent(edits: list[Edit], text: str) -> None:
    event = Event(7, "step", edits=tuple(edits), cursor=3, label=text)
    line = encode_event(event)
    assert decode_event(line) == event
    assert line.count(b"\n") == 1
    order = task(text, 0, len(text), revises=True)
    assert decode_order(encode_task(order)) == order


@pytest.mark.parametrize("checks", [True, False])
def test_steps_back_are_checked_if_the_task_says_so(checks: bool, tmp_path: Path) -> None:
    engine = load_engine(save_tiny_model(tmp_path / "tiny"))
    wanted = replace(task("It was late. ", 13, 13, revises=False), checks_steps_back=checks)
    [(run, _, _)] = generations(engine.session(wanted.text), wanted)
    assert isinstance(run.rollout, CheckedRollout) is checks


def test_what_is_written_is_put_together_of_edits() -> None:
    written = WrittenText(task("one two.", 4, 7, revises=False))
    written.begin(1)
    steps = [(Edit(1, "", "2"),), (), (Edit(0, " 2", ""), Edit(0, "", " 3"))]
    found = [written.follow(Event(1, "step", edits=edits)) for edits in steps]
    assert found == [" 2", " 2", " 3"]


def test_each_passage_of_a_revision_begins_with_what_stood_there() -> None:
    written = WrittenText(task("> one\ntwo", 2, 9, revises=True))
    steps = [(0, 3, Edit(3, "", "s")), (0, 3, Edit(0, "o", "O")), (4, 7, Edit(0, "t", "T"))]
    found = [written.follow(Event(1, "step", edits=(edit,), first=first, last=last)) for first, last, edit in steps]
    assert found == ["ones", "Ones", "Two"]


def test_a_run_closes_a_code_fence_at_the_end_of_a_document_alone() -> None:
    """Further up, what it does not see may close it."""
    text = "Run it:\n\n```\nmake"
    asked = replace(task(text, len(text), len(text), revises=False), max_actions=24, temperature=0.7)
    for ends in (True, False):
        session = Session(quick_toy_policy(), ToyTokenizer(), text)
        ((run, _, _),) = generations(session, replace(asked, ends_document=ends))
        list(run)
        assert run.written.endswith("\n```") == ends
