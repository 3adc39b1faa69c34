"""Random edits of awkward text, between suggestions, cancellations and live runs: both texts stay equal."""

from __future__ import annotations

import contextlib
import random
import time
from pathlib import Path

import pytest

from tests.lsp_server.processes import children, lives
from tests.lsp_server.toy_editor import URI, Refused, ToyEditor, toy_editor, until

PIECES = [
    "a", "The cat", " ", "é", "e\u0301", "\u0301", "漢字", "😀", "𝕏𝕐", "👩\u200d🚀", "\u2028", "\u2029",
    "\x85", "\f", "\n", "\r", "\r\n", "\n\r", "\t", "\ufeff", "\ud83d", "long " * 40,
]  # fmt: skip
MANNERS = ["check", "silent", "careless"]
COMMANDS = [
    "reviser.infill", "reviser.continue", "reviser.reject",
    "reviser.revise", "reviser.revise", "reviser.rejectChange", "reviser.rejectAllChanges",
]  # fmt: skip


class Fuzz:
    """One editor at the mercy of a random number generator."""

    def __init__(self, editor: ToyEditor, seed: int) -> None:
        self.editor = editor
        self.random = random.Random(seed)
        self.open_requests: list[int] = []
        self.checks = 0

    def run(self, edits: int) -> None:
        for number in range(edits):
            if self.random.random() < 0.005:
                self.restart()
            self.edit()
            # While the model writes, its user goes on at a speed that lets it.
            runs = self.editor.runs()
            if runs and runs[-1]["state"] in ("loading", "writing"):
                time.sleep(0.004)
            chance = self.random.random()
            if chance < 0.02:
                self.ask()
            elif chance < 0.03 and self.open_requests:
                self.editor.cancel(self.random.choice(self.open_requests))
            elif chance < 0.04:
                self.write()
                time.sleep(self.random.choice((0, 0.01, 0.05)))
            elif chance < 0.042:
                self.editor.command("reviser.stop")
            elif chance < 0.045:
                self.editor.manner = self.random.choice(MANNERS)
            if number % 20 == 0:
                self.check()
        self.check()
        for request in self.open_requests:
            self.take(request)

    def places(self) -> list[int]:
        """Two offsets in order, not inside a line ending, near each other."""
        text = self.editor.text
        low = self.random.randint(0, len(text))
        high = min(low + self.random.choice((0, 0, 0, 1, 2, 9, 60)), len(text))
        return [offset - (text[max(offset - 1, 0) : offset + 1] == "\r\n") for offset in (low, high)]

    def edit(self) -> None:
        with self.editor.lock:
            low, high = self.places()
            new = "".join(self.random.choices(PIECES, k=self.random.choice((0, 1, 1, 2, 5))))
            if len(self.editor.text) > 2000:
                new = ""
            self.editor.edit(low, high, new)

    def restart(self) -> None:
        """Close the document and open another, perhaps an empty one."""
        with self.editor.lock:
            self.editor.close()
            self.editor.open("".join(self.random.choices(PIECES, k=self.random.choice((0, 3, 100)))))

    def ask(self) -> None:
        with self.editor.lock:
            low, _ = self.places()
            invoked = self.random.random() < 0.3
            self.open_requests.append(self.editor.begin_ghost_text(low, invoked=invoked))

    def write(self) -> None:
        with self.editor.lock:
            low, high = self.places()
            where = {"range": self.editor.range(low, high)}
            name = self.random.choice(COMMANDS)
            placed = name in ("reviser.infill", "reviser.revise", "reviser.rejectChange")
            arguments = [{"uri": URI} | (where if placed else {})]
            self.open_requests.append(
                self.editor.begin_request("workspace/executeCommand", {"command": name, "arguments": arguments})
            )

    def take(self, request: int) -> None:
        """Every request is answered, if only with an error that the protocol has."""
        with contextlib.suppress(Refused):
            self.editor.answer(request)

    def check(self) -> None:
        """A run may be writing: the server's text is compared with the editor's of the same version."""
        answer = self.editor.request("reviser/text", {"uri": URI})
        assert answer["text"] == self.editor.history[answer["version"]]
        self.editor.history = {answer["version"]: answer["text"]}
        self.checks += 1


def fuzz(model: Path, edits: int, seed: int, encoding: str, *, shared: bool = True) -> None:
    settings = {
        "sharedEngine": shared,
        "completion": {"maxActionsInvoked": 12},
        "live": {"editsPerSecond": 500, "maxActions": 100},
    }
    with toy_editor(model, settings, encoding=encoding) as editor:
        editor.open("It was")
        assert editor.ghost_text()
        editor.close()
        editor.open("")
        test = Fuzz(editor, seed)
        test.run(edits)
        assert test.checks > edits // 20
        states = {run["state"] for run in editor.runs()}
        assert states >= {"loading", "writing", "stopped"}
        assert not [run for run in editor.runs() if "the model failed" in (run["reason"] or "")]
        assert len(editor.edits) > edits // 200
        assert any(news["changes"] for news in editor.notifications("reviser/changes"))
        engines = children(editor.process.pid)
        assert shared or engines
        assert editor.exit() == 0
        until(lambda: shared or not any(map(lives, engines)))
        assert not editor.stderr


@pytest.mark.usefixtures("lasting_editor")
@pytest.mark.parametrize(
    ("edits", "encoding"),
    [pytest.param(10_000, "utf-16", marks=pytest.mark.slow), (3_000, "utf-16"), (2_000, "utf-8"), (2_000, "utf-32")],
)
def test_the_mirror_is_the_editors_text(reviser_model: Path, edits: int, encoding: str) -> None:
    fuzz(reviser_model, edits, seed=1, encoding=encoding)


def test_a_server_with_its_own_engine_leaves_nothing_behind(reviser_model: Path) -> None:
    fuzz(reviser_model, 2_000, seed=2, encoding="utf-16", shared=False)
