"""What the server and the worker say to each other arrives as it was sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lsp_server.runs.live_runs import Written
from lsp_server.worker.tasks import (
    Event,
    ModelKey,
    Task,
    decode_event,
    decode_order,
    encode_event,
    encode_task,
)
from reviser.core.edits import Change

TEXT = st.text("ab \r\n😀\ud800", max_size=6)


def task(text: str, start: int, end: int, *, revises: bool) -> Task:
    return Task(1, ModelKey(), "a", text, start, end, 9, 0.0, 0, 0, revises=revises)


@given(st.lists(st.builds(Change, st.integers(0, 9), TEXT, TEXT)), TEXT)
def test_events_and_orders_arrive_as_they_were_sent(edits: list[Change], text: str) -> None:
    event = Event(7, "step", edits=tuple(edits), cursor=3, label=text)
    line = encode_event(event)
    assert decode_event(line) == event
    assert line.count(b"\n") == 1
    order = task(text, 0, len(text), revises=True)
    assert decode_order(encode_task(order)) == order


def test_what_is_written_is_put_together_of_edits() -> None:
    written = Written(task("one two.", 4, 7, revises=False))
    written.begin(1)
    steps = [(Change(1, "", "2"),), (), (Change(0, " 2", ""), Change(0, "", " 3"))]
    found = [written.follow(Event(1, "step", edits=edits)) for edits in steps]
    assert found == [" 2", " 2", " 3"]


def test_each_passage_of_a_revision_begins_with_what_stood_there() -> None:
    written = Written(task("> one\ntwo", 2, 9, revises=True))
    steps = [(0, 3, Change(3, "", "s")), (0, 3, Change(0, "o", "O")), (4, 7, Change(0, "t", "T"))]
    found = [
        written.follow(Event(1, "step", edits=(edit,), first=first, last=last))
        for first, last, edit in steps
    ]
    assert found == ["ones", "Ones", "Two"]
