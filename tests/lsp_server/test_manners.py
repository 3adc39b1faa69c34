"""How the server behaves towards editors that err, vanish, or want to know what it does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import reviser, start
from tests.lsp_server.processes import children
from tests.lsp_server.toy_editor import URI, Refused, ToyEditor, toy_editor, until


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"7", -32600),
        (b"[]", -32600),
        (b'{"id": 1}', -32600),
    ],
)
def test_what_is_no_message_is_answered_as_such(editor: ToyEditor, body: bytes, code: int) -> None:
    editor.answers.pop(None, None)  # type: ignore[call-overload]
    editor.send_bytes(body)
    editor.wait(lambda: None in editor.answers)
    assert editor.answers[None]["error"]["code"] == code  # type: ignore[index]
    assert editor.command("reviser.status")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/inlineCompletion", {}),
        ("textDocument/inlineCompletion", None),
        ("textDocument/completion", {"textDocument": {"uri": 3}, "position": "here"}),
        ("textDocument/inlineCompletion", {"textDocument": {"uri": "file:///unknown"},
         "position": {"line": 0, "character": 0}, "context": {"triggerKind": 1}}),
        ("textDocument/codeAction", {"textDocument": {"uri": "file:///unknown"},
         "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
         "context": {"diagnostics": []}}),
        ("workspace/executeCommand", {"command": "reviser.dance"}),
        ("workspace/executeCommand", {"command": "reviser.continue"}),
        ("workspace/executeCommand", {"command": "reviser.continue", "arguments": [3]}),
        ("workspace/executeCommand", {"command": "reviser.continue", "arguments": [{"uri": []}]}),
        ("workspace/executeCommand", {"command": "reviser.infill", "arguments": [{"uri": URI}]}),
        ("workspace/executeCommand", {"command": "reviser.undo", "arguments": [{"uri": URI}]}),
        ("workspace/executeCommand",
         {"command": "reviser.setModel", "arguments": [{"model": "no such model"}]}),
        ("reviser/text", {"uri": "file:///unknown"}),
        ("reviser/text", None),
        ("reviser/nonsense", {}),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_of_the_protocol(editor: ToyEditor, method: str, params: Any) -> None:
    editor.open("It was")
    with pytest.raises(Refused) as refused:
        editor.request(method, params)
    assert refused.value.code in (-32602, -32601, -32603)
    assert editor.mirror() == "It was"


POSITION = '"position" must be an object with the numbers "line" and "character", not '


@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [
        ("continue", [], 'say which document is meant: there is no "uri"'),
        ("continue", [{"position": None}], 'say which document is meant: there is no "uri"'),
        ("continue", [{"uri": "file:///x"}], 'the document "file:///x" is not open'),
        ("continue", [{"uri": ["x"]}], '"uri" must be a string, not ["x"]'),
        ("continue", [3], "the commands of Reviser take one object, not 3"),
        ("continue", [{}, {}], "the commands of Reviser take one object, not 2 arguments"),
        ("infill", [{"uri": URI, "position": "here"}], POSITION + '"here"'),
        ("infill", [{"uri": URI, "position": {"line": 0}}], POSITION + '{"line": 0}'),
        ("infill", [{"uri": URI, "position": {"line": -1, "character": 0}}],
         POSITION + '{"line": -1, "character": 0}'),
        ("revise", [{"uri": URI, "range": 3}],
         '"range" must be an object with the positions "start" and "end", not 3'),
        ("setEnabled", [{"uri": URI, "enabled": "no"}], '"enabled" must be true or false, not "no"'),
        ("setModel", [{"model": 7}], '"model" must be a string, not 7'),
        ("undo", [{"runId": 7}], '"runId" must be a string, not 7'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_argument_is_said_plainly(
    editor: ToyEditor, command: str, arguments: list[Any], sentence: str
) -> None:
    editor.open("It was")
    with pytest.raises(Refused) as refused:
        editor.request("workspace/executeCommand", {"command": f"reviser.{command}", "arguments": arguments})
    assert str(refused.value) == f"-32602: {sentence}"


def test_changes_of_unknown_documents_do_no_harm(editor: ToyEditor) -> None:
    editor.open("It was")
    place = {"line": 0, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": "x"}
    for uri in ("file:///unknown", URI + "x"):
        editor.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
        )
        editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    editor.notify("textDocument/didChange", {"nonsense": True})
    editor.notify("textDocument/didOpen", 7)
    assert editor.mirror() == "It was"


def test_a_closed_document_is_unknown_and_its_run_ends(editor: ToyEditor) -> None:
    editor.open("It was")
    editor.command("reviser.continue", uri=URI)
    editor.close()
    with pytest.raises(Refused):
        editor.mirror()
    until(lambda: editor.command("reviser.status")["runId"] is None)
    editor.open("It is")
    assert editor.mirror() == "It is" == editor.text


def test_a_run_whose_document_is_closed_says_that_it_ends_and_computes_no_more(slow_model: Path) -> None:
    """Its next edit would be as long off as the first was; neither the news nor the model's end waits for that."""
    closed = []
    with toy_editor(slow_model, {"live": {"maxActions": 900, "editsPerSecond": 0.3}}) as editor:

        def close() -> None:
            closed.append(time.monotonic())
            editor.close()

        editor.open("It was")
        editor.before_apply = close
        began = time.monotonic()
        editor.command("reviser.continue", uri=URI)
        end = editor.wait_for_end()
        assert (end["uri"], end["state"]) == (URI, "stopped")
        assert end["reason"] == "the document was closed"
        # A task is counted when the model has left it.
        until(lambda: editor.command("reviser.status")["evaluated"])
        assert time.monotonic() - closed[0] < (closed[0] - began) / 2
        assert [run["state"] for run in editor.runs()].count("stopped") == 1
        editor.open("It is")
        assert editor.mirror() == "It is" == editor.text


def test_a_whole_new_text_replaces_the_old(editor: ToyEditor) -> None:
    editor.open("It was")
    with editor.lock:
        editor.texts[URI], editor.versions[URI] = "It is\r\n", 2
        document = {"uri": URI, "version": 2}
        editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": "It is\r\n"}]})
    assert editor.mirror() == "It is\r\n"


def test_huge_lines_and_texts_are_served(editor: ToyEditor) -> None:
    editor.set(live={"maxActions": 60})
    editor.open("It was a quiet day. " * 25_000 + "The cat sat ")
    editor.edit(100_000, 100_000, "😀")
    assert editor.mirror() == editor.text
    assert editor.ghost_text(invoked=False)
    editor.command("reviser.continue", uri=URI)
    assert editor.wait_for_end()["state"] == "finished"
    assert editor.mirror() == editor.text


def test_requests_before_and_after_their_time_are_refused(model: Path) -> None:
    editor = ToyEditor(model)
    try:
        with pytest.raises(Refused) as refused:
            editor.command("reviser.status")
        assert refused.value.code == -32002
        with pytest.raises(Refused) as refused:
            editor.request("shutdown", None)
        assert refused.value.code == -32002
        editor.notify("textDocument/didOpen", {})
        editor.initialize()
        with pytest.raises(Refused, match="already") as refused:
            editor.initialize()
        assert refused.value.code == -32600
        assert editor.command("reviser.status")
        editor.request("shutdown", None)
        with pytest.raises(Refused) as refused:
            editor.command("reviser.status")
        assert refused.value.code == -32600
        editor.notify("exit", None)
        assert editor.process.wait(30) == 0
    finally:
        editor.process.kill()


def test_exit_without_shutdown_is_a_failure(model: Path) -> None:
    with toy_editor(model) as editor:
        editor.notify("exit", None)
        assert editor.process.wait(30) == 1


def test_logs_go_to_the_editor_and_to_a_file(model: Path, tmp_path: Path) -> None:
    log = tmp_path / "lsp.log"
    with toy_editor(model, {"colour": 3}, arguments=("--log-file", str(log))) as editor:
        editor.command("reviser.status")
        messages = [m["message"] for m in editor.notifications("window/logMessage")]
        assert "there is no setting colour" in messages
        assert "there is no setting colour" in log.read_text()
        assert not editor.stderr


def test_traces_are_sent_to_those_who_ask(editor: ToyEditor) -> None:
    editor.open("It was")
    editor.ghost_text()
    assert not editor.notifications("$/logTrace")
    editor.notify("$/setTrace", {"value": "messages"})
    editor.ghost_text()
    assert "suggestions for version 1" in editor.notifications("$/logTrace")[-1]["message"]
    editor.notify("$/setTrace", {"value": "off"})


def test_a_run_is_cancelled_from_its_progress(editor: ToyEditor) -> None:
    editor.set(live={"maxActions": 900, "editsPerSecond": 50})
    editor.open("It was")
    editor.command("reviser.continue", uri=URI)
    editor.wait(lambda: editor.notifications("$/progress"))
    begun = editor.notifications("$/progress")[0]
    assert begun["value"]["cancellable"]
    editor.notify("window/workDoneProgress/cancel", {"token": begun["token"]})
    end = editor.wait_for_end()
    assert (end["state"], end["reason"]) == ("stopped", "you cancelled it")
    editor.wait(lambda: editor.notifications("$/progress")[-1]["value"]["kind"] == "end")
    assert editor.mirror() == editor.text


def test_stopping_leaves_what_is_written(editor: ToyEditor) -> None:
    editor.set(live={"maxActions": 900, "editsPerSecond": 50})
    editor.open("It was")
    editor.command("reviser.continue", uri=URI)
    editor.wait(lambda: len(editor.edits) > 1)
    stopped = editor.command("reviser.stop")
    written = editor.text
    assert stopped["state"] == "stopped"
    assert len(written) > len("It was")
    assert editor.mirror() == editor.text == written
    assert editor.command("reviser.stop") is None
    editor.command("reviser.reject", runId=stopped["runId"])
    assert editor.text == "It was" == editor.mirror()


def test_a_new_run_ends_the_one_before(editor: ToyEditor) -> None:
    editor.set(live={"maxActions": 900, "editsPerSecond": 50})
    editor.open("It was\nIt is")
    first = editor.command("reviser.infill", uri=URI, position={"line": 0, "character": 6})
    editor.wait(lambda: editor.edits)
    second = editor.command("reviser.continue", uri=URI)
    editor.wait_for_end()
    states = {run["runId"]: run["state"] for run in editor.runs()}
    assert states == {first["runId"]: "stopped", second["runId"]: "finished"}
    editor.command("reviser.undo", uri=URI)
    editor.command("reviser.undo", uri=URI)
    assert editor.text == "It was\nIt is" == editor.mirror()


def test_a_file_with_windows_line_endings_keeps_them(editor: ToyEditor) -> None:
    editor.open("It was\r\nlate\r\n")
    for seed in range(10):  # until a run writes a line break
        editor.set(seed=seed)
        editor.command("reviser.continue", uri=URI)
        editor.wait_for_end()
        if "\n" in editor.text[14:-2]:
            break
        editor.command("reviser.undo", uri=URI)
    assert editor.text.startswith("It was\r\nlate")
    assert editor.text.endswith("\r\n")
    assert "\n" in editor.text[14:-2]
    assert editor.text.count("\n") == editor.text.count("\r\n") == editor.text.count("\r")
    assert editor.mirror() == editor.text


def test_an_editor_with_few_capabilities_gets_no_more_than_it_can(model: Path) -> None:
    editor = ToyEditor(model)
    try:
        editor.initialize({"workspace": {}})
        editor.open("It was")
        with pytest.raises(Refused, match="applyEdit"):
            editor.command("reviser.continue", uri=URI)
        editor.command("reviser.status")
        assert {m["method"] for m in editor.received} <= {"window/logMessage"}
    finally:
        editor.process.kill()


def test_a_model_that_cannot_be_loaded_is_said_once_and_to_whoever_starts_a_run(
    editor: ToyEditor, tmp_path: Path
) -> None:
    editor.set(model=str(tmp_path / "none"))
    editor.open("It was")
    assert editor.ghost_text() == []
    editor.type(" a")
    assert editor.ghost_text() == []
    said = [m["message"] for m in editor.notifications("window/logMessage")]
    assert len([message for message in said if "there is no model" in message]) == 1
    assert len(editor.notifications("window/showMessage")) == 1
    editor.command("reviser.continue", uri=URI)
    end = editor.wait_for_end()
    assert end["state"] == "stopped"
    assert "there is no model" in end["reason"]
    assert end["said"]
    editor.wait(lambda: len(editor.notifications("window/showMessage")) == 2)
    told = {message["message"] for message in editor.notifications("window/showMessage")}
    assert told == {f"Reviser: {end['reason']}"}


@pytest.mark.parametrize("damaged", [False, True])
def test_a_model_that_cannot_be_loaded_is_a_sentence_in_the_log(
    full_model: Path, tmp_path: Path, damaged: bool
) -> None:
    """Also while it is being loaded ahead of time, whether it is missing or damaged."""
    folder = tmp_path / "model"
    if damaged:
        shutil.copytree(full_model, folder)
        (weights,) = folder.glob("*.safetensors")
        weights.write_bytes(b"{" + bytes(100))
    with toy_editor(folder) as editor:
        editor.open("It was")
        assert editor.ghost_text(invoked=False) == []
        editor.type(" a")
        assert editor.ghost_text() == []
        logged = [m for m in editor.notifications("window/logMessage") if m["type"] == 1]
        assert len(logged) == 1
        assert "\n" not in logged[0]["message"]
        assert editor.exit() == 0
        assert not editor.stderr


def test_another_model_can_be_chosen(editor: ToyEditor, model: Path, tmp_path: Path) -> None:
    from tests.lsp_server.models import save_tiny_model

    editor.open("It was a quiet day.")
    first = editor.ghost_text()
    other = save_tiny_model(tmp_path / "other", seed=5)
    status = editor.command("reviser.setModel", model=str(other))
    assert status["model"] == str(other)
    assert editor.ghost_text() != first
    editor.command("reviser.setModel")
    assert editor.ghost_text() == first


def test_code_actions_fit_the_place(editor: ToyEditor) -> None:
    def titles(start: int, end: int, kind: int = 1, **context: Any) -> list[str]:
        actions = editor.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": URI},
                "range": editor.range(start, end),
                "context": {"diagnostics": [], "triggerKind": kind} | context,
            },
        )
        return [action["title"].removeprefix("Reviser: ") for action in actions or []]

    editor.open("It was a quiet day.")
    assert titles(3, 3) == ["revise this paragraph", "write here", "continue at the end"]
    assert titles(3, 6) == ["revise the selection", "write the selection anew", "continue at the end"]
    assert titles(3, 6, only=["refactor"])
    assert not titles(3, 6, only=["quickfix"])
    assert not titles(3, 6, kind=2)
    editor.set(live={"maxActions": 900, "editsPerSecond": 10})
    editor.command("reviser.continue", uri=URI)
    assert titles(3, 3) == ["stop"]
    editor.wait(lambda: editor.edits)
    editor.command("reviser.stop")
    assert titles(3, 3, kind=2) == ["accept", "reject"]
    editor.command("reviser.accept", uri=URI)
    assert not titles(3, 3, kind=2)


def test_an_engine_that_dies_is_started_again(model: Path) -> None:
    with toy_editor(model, {"live": {"maxActions": 900, "editsPerSecond": 20}}) as editor:
        editor.open("It was")
        assert editor.ghost_text()
        (engine,) = children(editor.process.pid)
        editor.command("reviser.continue", uri=URI)
        os.kill(engine, signal.SIGKILL)
        assert editor.wait_for_end()["state"] in ("stopped", "finished")
        assert editor.mirror() == editor.text
        editor.type(" and")
        assert editor.ghost_text()
        assert children(editor.process.pid) != [engine]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port))
    except ConnectionRefusedError:
        return None


INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    }
)


def test_it_counts_what_the_model_reads_and_what_it_knew(editor: ToyEditor) -> None:
    def counts() -> dict[str, int]:
        status = editor.command("reviser.status")
        return {name: status[name] for name in ("evaluated", "before", "reused")}

    def growth(offset: int) -> tuple[int, ...]:
        """What a request adds; one that says nothing new asks the model again about the same text."""
        old = counts()
        editor.ghost_text(offset, invoked=False)
        new = until(lambda: (now := counts())["before"] > old["before"] and now)
        return tuple(new[name] - old[name] for name in old)

    words = " the cat sat on the mat" * 10
    editor.set(completion={"maxActions": 1})
    editor.open(words)
    evaluated, before, reused = growth(len(words))
    # The start marker and fifty-nine words: the last one may not be finished, so it is written again.
    assert before % 60 == 0
    assert evaluated > before - reused
    editor.type(" it")
    evaluated, before, reused = growth(len(editor.text))
    assert (before % 61, before - reused) == (0, 1)
    assert evaluated > 1
    # What follows the cursor is read too, but is not counted as text before it.
    editor.type("\n\nthe day")
    evaluated, before, reused = growth(len(words))
    assert evaluated > 0
    assert before == reused


def test_it_listens_on_a_port_for_debugging() -> None:
    port = free_port()
    server = start("lsp", "--tcp", str(port))
    try:
        with until(lambda: connected(port)) as connection:
            body = INITIALIZE.encode()
            connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert b"Content-Length" in connection.recv(100)
    finally:
        server.kill()
        server.wait()


def test_it_listens_as_a_web_socket_for_debugging() -> None:
    from websockets.sync.client import connect

    port = free_port()
    server = start("lsp", "--ws", str(port))
    try:
        until(lambda: connected(port)).close()
        with connect(f"ws://127.0.0.1:{port}") as connection:
            connection.send(INITIALIZE)
            answer = json.loads(connection.recv())
        assert answer["result"]["serverInfo"]["name"] == "reviser"
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (["lsp", "--tcp", "80", "--ws", "81"], "choose one"),
        (["lsp", "--tcp", "here"], "is not an address"),
        (["lsp", "--log-file", "/no/such/folder/x.log"], "there is no folder"),
    ],
)
def test_mistakes_on_the_command_line_are_said_plainly(arguments: list[str], about: str) -> None:
    result = reviser(*arguments)
    assert result.returncode == 2
    assert about in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_shared_engine_that_cannot_listen_leaves_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "text").write_text("kept")
    for place, about in {
        "none/deep/s.sock": "there is no folder",
        "text": "is not a socket",
        f"{'s' * 120}": "cannot listen",
    }.items():
        result = reviser("serve", "--socket", tmp_path / place)
        assert result.returncode == 2
        assert about in result.stderr
        assert result.stderr.startswith("reviser: ")
        assert result.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == [tmp_path / "text"]
    assert (tmp_path / "text").read_text() == "kept"


def test_an_address_that_is_taken_is_said_plainly() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = reviser("lsp", "--tcp", port)
    assert result.returncode == 2
    assert result.stderr.startswith(f"reviser: cannot listen on 127.0.0.1:{port}: ")
    assert result.stderr.count("\n") == 1


def test_a_shared_engine_refuses_a_folder_that_others_can_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    result = reviser("serve", "--socket", tmp_path / "s.sock")
    assert result.returncode == 2
    assert "open to others" in result.stderr
