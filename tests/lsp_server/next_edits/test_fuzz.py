"""Random edits, with offers taken, refused and undone between them: every offer's old text stands where it says."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.next_edits.conftest import offers, settle, stands
from tests.lsp_server.proofreading.conftest import PUSH, checking_editor
from tests.lsp_server.toy_editor import CODECS, URI, ToyEditor

WORDS = ["e-mail", "E-mail", "user", "Users", "web site", "very quiet", "the", "it", "😀", "e\u0301", "𝕏漢", "`user`"]
RENAMED = {"e-mail": "email", "user": "customer", "web site": "website", "very ": "", "it": "they"}
BREAKS = [" ", " ", " ", ". ", ", ", "\n\n", "\r\n", "\r\n\r\n", "\n- ", "\u2028"]


class _TextOfVersion:
    """The text of a version, and its parts by positions as an editor counts them."""

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\r\n|\r|\n", text))]
        self._codec, self._size = CODECS[encoding]

    def part(self, range: dict[str, Any]) -> str:
        start, end = (self._offset(range[key]) for key in ("start", "end"))
        return self._text[start:end]

    def _offset(self, position: dict[str, int]) -> int:
        line = self._text[self._starts[position["line"]] :].encode(self._codec)
        before = line[: position["character"] * self._size].decode(self._codec)
        return self._starts[position["line"]] + len(before)


class RandomWriter:
    """Somebody who changes words here and there, and does the same again; his editor compares all that it is told."""

    def __init__(self, editor: ToyEditor, seed: int) -> None:
        self.editor = editor
        self.random = random.Random(seed)
        self.done: list[tuple[int, str, str]] = []
        self.read = 0
        self.compared = 0

    def passage(self, words: int) -> str:
        return "".join(self.random.choice(WORDS) + self.random.choice(BREAKS) for _ in range(words))

    def step(self) -> None:
        chance, text = self.random.random(), self.editor.text
        if chance < 0.03 or not text:
            self.restart()
        elif chance < 0.05:
            self.replace(self.place(), "", self.passage(self.random.choice((1, 2, 60))))
        elif chance < 0.08 and self.done:
            start, old, new = self.done.pop()
            if text.startswith(new, start):
                self.replace(start, new, old)
        elif chance < 0.5:
            old = self.random.choice([*RENAMED])
            places = [at for at in range(len(text)) if text.startswith(old, at)]
            if places:
                self.replace(self.random.choice(places), old, RENAMED[old])
        else:
            start = self.place()
            gone = self.random.choice((0, 0, 1, 4, 400 if len(text) > 3000 else 0))
            old = text[start : start + gone]
            if not old.endswith("\r"):
                self.replace(start, old, "".join(self.random.choices(["a", "e", " ", "-", "x"], k=2)))

    def restart(self) -> None:
        """Close the document and open another."""
        self.done.clear()
        self.compare()
        if URI in self.editor.texts:
            self.editor.close()
        self.editor.open(self.passage(self.random.choice((0, 300))), "markdown")
        # What comes from here on is about the new one.
        self.editor.mirror()
        self.editor.received.clear()
        self.read = 0

    def place(self) -> int:
        """Somewhere, but not inside of a line ending."""
        text = self.editor.text
        at = self.random.randint(0, len(text))
        return at - (text[max(at - 1, 0) : at + 1] == "\r\n")

    def replace(self, start: int, old: str, new: str) -> None:
        self.editor.edit(start, start + len(old), new)
        self.done.append((start, old, new))

    def decide(self) -> None:
        """Take or refuse one of the offers in the present text."""
        found = settle(self.editor)
        assert all(stands(self.editor, one) for one in found)
        if found:
            one = self.random.choice(found)
            names = ["reviser.acceptNextEdit", "reviser.acceptAllNextEdits", "reviser.refuseNextEdit"]
            self.editor.command(self.random.choice(names), uri=URI, range=one["range"])
        assert self.editor.mirror() == self.editor.text

    def compare(self) -> None:
        """Compare all messages that have come with the text of their version."""
        received = self.editor.received
        news = received[self.read : len(received)]
        self.read += len(news)
        for one in news:
            params: Any = one.get("params")
            if one.get("method") == "reviser/nextEdits":
                told = [(edit["range"], edit["old"]) for edit in params["edits"]]
            elif one.get("method") == "textDocument/publishDiagnostics":
                items = params["diagnostics"]
                told = [(item["range"], item["data"]["old"]) for item in items if item["data"]["old"].strip()]
            else:
                continue
            text = _TextOfVersion(self.editor.history[params["version"]], self.editor.encoding)
            for range, old in told:
                assert text.part(range) == old
                self.compared += 1


@pytest.mark.parametrize(("edits", "encoding"), [(200, "utf-8"), pytest.param(5_000, "utf-16", marks=pytest.mark.slow)])
def test_every_offers_old_text_stands_where_it_says(model: Path, edits: int, encoding: str) -> None:
    on = {"enabled": True, "delayMs": 0, "confidence": 0.02}
    with checking_editor(model, PUSH, encoding=encoding, enabled=False) as editor:
        editor.set(nextEdits=on)
        writer = RandomWriter(editor, edits)
        writer.restart()
        seen = 0
        for number in range(edits):
            with editor.lock:
                writer.step()
            if number % 10 == 0:
                writer.decide()
                seen += bool(offers(editor))
                writer.compare()
        assert seen > edits // 100
        assert writer.compared > edits
        assert editor.mirror() == editor.text
        assert not editor.stderr
        assert editor.exit() == 0
