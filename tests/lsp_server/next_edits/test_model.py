"""Next edits with a model that has learned them, and what the worker keeps of what it has read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lsp_server.next_edits.parts import NormalText
from lsp_server.worker.readers import follow
from lsp_server.worker.tasks import Event, FollowingTask, ModelKey, decode_order, encode_task
from reviser.decoding.policy import ModelPolicy
from reviser.editor.reader import EditorReader
from reviser.next_edits.judgement import MODEL, NextEditJudgement, judgement_for
from reviser.session.engine import load_engine
from tests.lsp_server.next_edits.conftest import EDITED, FIRST, SETTINGS, TEXT, open_and_edit, settle, stands
from tests.lsp_server.toy_editor import toy_editor

MADE = ((FIRST, "e-mail", "email"),)
TASK = FollowingTask(1, ModelKey(), EDITED, "markdown", MADE, (), (), 0.0, 0, len(EDITED) + 1, asks_model=True)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> EditorReader:
    """The embedded model, as if it had learned next edits and a judgement had been fitted for it."""
    engine = load_engine()
    assert isinstance(engine.policy, ModelPolicy)
    learned = ModelPolicy(engine.policy.decoder, replace(engine.policy.vocabulary, next_edits=True), digest="it")
    fitted = NextEditJudgement({MODEL: 0.1}, 0.0, 0.5, "it")
    found = {"": judgement_for(), "it": fitted}
    monkeypatch.setattr("reviser.next_edits.following.judgement_for", lambda digest="": found[digest])
    return EditorReader(replace(engine, policy=learned))


def told(task: FollowingTask, reader: EditorReader | None, *, waits: bool = True) -> list[Event]:
    events: list[Event] = []
    follow(task, reader, events.append, lambda: waits)
    return events


def test_a_model_judges_what_the_text_repeats_and_is_not_asked_twice(reader: EditorReader) -> None:
    found, done = told(TASK, reader)
    assert done.ending == "stop"
    repeats = [one for one in found.suggestions() if one.reason.startswith("You changed")]
    assert [(one.old, one.new) for one in repeats] == [("e-mail", "email")] * 5
    # The odds of the model count, so they are not as sure as each other.
    assert len({one.confidence for one in repeats}) == 5
    follower = reader._follower
    assert follower is not None
    assert follower.reader is not None
    before = follower.reader.read
    again, _ = told(TASK, reader)
    assert again == found
    assert follower.reader.read - before < before / 2


def test_a_model_reads_a_part_and_no_more(reader: EditorReader) -> None:
    middle = EDITED.index("We write")
    found, _ = told(replace(TASK, first=0, last=middle), reader)
    assert found.spans == [[0, middle]]
    assert all(one.start < middle for one in found.suggestions())
    assert [one for one in found.suggestions() if one.new == "email"]


def test_a_cancelled_task_ends(reader: EditorReader) -> None:
    assert [(one.kind, one.ending) for one in told(TASK, reader, waits=False)] == [("done", "cancelled")]


def test_a_model_that_has_not_learned_them_says_nothing() -> None:
    assert [one.kind for one in told(TASK, EditorReader(load_engine()))] == ["done"]


def test_the_text_alone_needs_no_model_and_is_judged_once() -> None:
    task = replace(TASK, asks_model=False, confidence=0.3)
    found, _ = told(task, None)
    assert [one.old for one in found.suggestions()] == ["e-mail"] * 5
    assert told(replace(task, id=2), None)[0].changes is found.changes
    assert decode_order(encode_task(task)) == task


def test_offers_stay_where_the_model_says_nothing(model: Path) -> None:
    """The server asks the model too, which has learned nothing of this."""
    first = "from lsp_server.next_edits import following; following.weighs_a_model = lambda: True"
    with toy_editor(model, SETTINGS | {"completion": {"enabled": False}}, first=first) as editor:
        assert len(open_and_edit(editor, TEXT + "More text, a line of it.\n\n" * 600)) == 5
        left = settle(editor)
        assert len(left) == 5
        assert all(stands(editor, one) for one in left)


def test_offsets_without_carriage_returns_lead_back() -> None:
    raw = "a\r\nb\r\n\r\nc"
    part = NormalText(raw)
    assert part.text == "a\nb\n\nc"
    for offset in range(len(part.text) + 1):
        assert part.normal(part.raw(offset)) == offset
    assert [part.raw(part.text.index(letter)) for letter in "abc"] == [raw.index(letter) for letter in "abc"]
