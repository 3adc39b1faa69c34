"""Requests that wait: those that nobody wants any more are answered without being carried out."""

from __future__ import annotations

import json
from typing import Any

from tests.lsp_server.toy_editor import PATIENCE, URI, ToyEditor, toy_editor

CANCELLED = -32800
MANY = 10_000
SHUTDOWN = {"id": 999, "method": "shutdown"}


def framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def request(id: int) -> dict[str, Any]:
    """One that takes a while."""
    context = {"diagnostics": [], "triggerKind": 1}
    here = {"line": 0, "character": 0}
    params = {"textDocument": {"uri": URI}, "range": {"start": here, "end": here}, "context": context}
    return {"id": id, "method": "textDocument/codeAction", "params": params}


def send(editor: ToyEditor, messages: list[dict[str, Any]]) -> None:
    assert editor.process.stdin
    # Without the editor's lock, for it reads answers meanwhile.
    editor.process.stdin.write(b"".join(map(framed, messages)))
    editor.process.stdin.flush()


def refused(editor: ToyEditor, ids: range) -> list[int]:
    """The requests that were answered with an error; all are answered."""
    editor.wait(lambda: editor.answers.keys() >= set(ids))
    errors = {id: editor.answers[id]["error"] for id in ids if "error" in editor.answers[id]}
    assert {error["code"] for error in errors.values()} <= {CANCELLED}
    return list(errors)


def end(editor: ToyEditor) -> None:
    """See that the server has been asked to shut down, and does."""
    assert editor.answer(999) is None
    editor.notify("exit", None)
    assert editor.process.wait(PATIENCE) == 0


def test_requests_that_wait_do_not_hold_shutdown(model: Any) -> None:
    with toy_editor(model) as editor:
        editor.open("It was a quiet day. " * 20)
        ids = range(1000, 1000 + MANY)
        send(editor, [*map(request, ids), SHUTDOWN])
        assert len(refused(editor, ids)) > MANY / 2
        end(editor)


def test_a_few_messages_and_a_shutdown_at_once_are_carried_out(model: Any) -> None:
    """As of a script that writes all it has to say and then reads."""
    with toy_editor(model) as editor:
        editor.open("It was")
        ids = range(1000, 1020)
        send(editor, [*map(request, ids), SHUTDOWN])
        assert refused(editor, ids) == []
        end(editor)


def test_a_request_that_is_cancelled_while_it_waits_is_not_carried_out(editor: ToyEditor) -> None:
    editor.open("It was a quiet day. " * 20)
    ids = range(100_000, 100_200)
    cancels = [{"method": "$/cancelRequest", "params": {"id": id}} for id in ids]
    last = ids.stop
    send(editor, [*map(request, ids), *cancels, request(last)])
    assert len(refused(editor, ids)) > len(ids) / 2
    # One with the number of a request that was over before is as any other.
    send(editor, [*cancels[:1], request(ids.start)])
    editor.answers.clear()
    assert refused(editor, range(ids.start, ids.start + 1)) == []
