"""The editor under test: a real app without a terminal, and a tiny model with random weights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np
from textual import events
from textual.pilot import Pilot

from reviser.core.actions import Stop
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import decode
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.model.scoring import Scores
from reviser.session.engine import Engine
from tests.toys import ToyTokenizer, quick_decoder, quick_toy_policy, toy_model
from tests.training.edits.revising import revising_actions
from tui.app import EditorApp
from tui.settings import TuiSettings

Script = Callable[[EditorApp, Pilot[None]], Awaitable[None]]

# With next to no chance, a model revises by actions and takes the likeliest.
QUICK = TuiSettings(seed=5, max_actions=30, speed=0, proofread=False, next_edits=False, revise_temperature=0.02)


def toy_engine(say: Callable[[str], None]) -> Engine:
    say("making a toy")
    return Engine("toy", quick_toy_policy(seed=1, context=256, canvas_length=256), ToyTokenizer())


def revising_engine(say: Callable[[str], None]) -> Engine:
    """A tiny random model that may delete: it changes everything, and nothing for the better."""
    vocabulary = Vocabulary(ToyTokenizer.size, kinds=PAPER_KINDS | {"delete"}, name="toy")
    model = toy_model(seed=1, context=256, canvas_length=256)
    policy = ModelPolicy(quick_decoder(model), vocabulary, max_length=256)
    return Engine("toy", policy, ToyTokenizer())


class Corrector:
    """A policy that knows what each line of a text should say, and goes there the shortest way.

    It knows a line by what it says, since it may see no more of the text than the lines around it.
    """

    context = 4000
    max_length = None

    def __init__(self, text: str, wanted: str, *, extensions: tuple[str, ...] = ()) -> None:
        lines, better = text.split("\n"), wanted.split("\n")
        pairs = {*zip(lines, better, strict=True), *zip(better, better, strict=True)}
        self._better = dict(pairs)
        assert len(self._better) == len(pairs), "equal lines should become equal lines"
        self._tokenizer = ToyTokenizer()
        kinds = PAPER_KINDS | {"delete"} | set(extensions)
        self.vocabulary = Vocabulary(ToyTokenizer.size, extensions=extensions, kinds=kinds, name="toy")

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        tokens = canvas.tokens
        before = decode(self._tokenizer, tokens[: canvas.low]).split("\n")[-1]
        behind = decode(self._tokenizer, tokens[canvas.high :]).split("\n")[0]
        line = before + self._draft(history, before, behind) + behind
        return self._towards(self._better[line].removeprefix(before).removesuffix(behind), canvas)

    def _draft(self, history: Sequence[int], before: str, behind: str) -> str:
        """What was to be revised: the most behind its marker, inserts perhaps among it, that makes a known line."""
        ids = list(history)[list(history).index(self.vocabulary.draft_id) + 1 :]
        tokens = list(takewhile(lambda id: id < self.vocabulary.base_size, ids))
        drafts = [decode(self._tokenizer, tokens[:end]) for end in range(len(tokens) + 1)]
        known = [draft for draft in drafts if before + draft + behind in self._better]
        assert known, f"none of its lines: {before!r} {drafts[-1]!r} {behind!r}"
        return known[-1]

    def _towards(self, wanted: str, canvas: Canvas) -> Scores:
        way = revising_actions(
            self.vocabulary,
            canvas.tokens[canvas.low : canvas.high],
            self._tokenizer.encode(wanted),
            cursor=canvas.cursor - canvas.low,
        )
        scores = np.full(self.vocabulary.size, -5.0, dtype=np.float32)
        scores[self.vocabulary.id((way or [Stop()])[0])] = 5.0
        return scores

    def load(self, say: Callable[[str], None]) -> Engine:
        return Engine("corrector", self, self._tokenizer)


class Translator(Corrector):
    """A policy that makes of each draft it is given what a function makes of it."""

    def __init__(self, translate: Callable[[str], str]) -> None:
        super().__init__("", "")
        self._translate = translate

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        draft = canvas.tokens[canvas.low : canvas.high]
        given = list(history)[list(history).index(self.vocabulary.draft_id) + 1 :]
        if given == list(draft):  # nothing is done yet
            self._wanted = self._translate(decode(self._tokenizer, draft))
        return self._towards(self._wanted, canvas)


def editor(folder: Path, text: str | None = None, settings: TuiSettings = QUICK, **options: object) -> EditorApp:
    """An editor on a file of `text` in `folder`, or on nothing."""
    files = []
    if text is not None:
        files = [folder / "file.txt"]
        files[0].write_bytes(text.encode())
    given = {"load": toy_engine, "journals": folder / "journals"} | options
    return EditorApp(files, settings, **given)  # type: ignore[arg-type]


def drive(app: EditorApp, script: Script, size: tuple[int, int] = (80, 24)) -> None:
    """Run the app and do to it what the script says."""

    async def main() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(app, pilot)

    asyncio.run(main())


async def strike(app: EditorApp, pilot: Pilot[None], *keys: str) -> None:
    """Press keys as fast as they can be taken, and wait once for all of them."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))
    # Keys pass through the app to the editor; what follows them the same way comes after them.
    done = asyncio.Event()
    behind = events.Callback(callback=done.set)
    app.post_message(events.Callback(callback=lambda: app.editor.post_message(behind)))
    await done.wait()
    await pilot.pause()


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Wait for something that the model or a dialog will bring about."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it did not happen"
        await pilot.pause(0.01)


async def run_to_the_end(app: EditorApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: app.sheet.run is not None and not app.sheet.run.writing)


def notes(app: EditorApp) -> str:
    """What the editor has said in passing."""
    return " | ".join(message for message, _ in app.desk.status_line.messages)
