"""Revising by proofreading: each change is a step, and the model's thread finds them passage by passage."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from reviser.core.errors import ReviserError
from reviser.proofreading.editing.excerpts import excerpt
from reviser.proofreading.editing.findings import Finding
from reviser.proofreading.editing.lists import Lists, Source
from tui.runs.tree import Node, Option, Produced, Seed, Taken
from tui.runs.writer import Writer
from tui.settings import Settings

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.proofreading.proofreader import Change


class Corrections:
    """The changes that proofreading makes in a part of a text, for one run; a source for `Run`."""

    branches = False

    def __init__(
        self,
        writer: Writer,
        text: str,
        start: int,
        end: int,
        root: Node,
        settings: Settings,
        source: Source,
        lists: Lists,
    ) -> None:
        """Revise what stands between `start` and `end`; `source` says which words and places stay."""
        self.speed = settings.speed
        self._writer = writer
        self._text = text
        self._start, self._end = start, end
        self._settings = settings
        self._source = source
        self._lists = lists
        self._produced: deque[tuple[int, Produced]] = deque()
        # Each call of `extend` has a number; steps with an old one come again when they are asked for.
        self._number = 0
        self._halted = 0
        self._busy = False
        self._reading = False
        self._wake = threading.Event()
        # The rest belongs to the thread.
        self._made = [root]
        self._changes: list[Change] = []
        self._coming: Iterator[Node] | None = None

    @property
    def busy(self) -> bool:
        return self._busy

    @property
    def status(self) -> str:
        return self._writer.status or ("reading the text" if self._reading else "")

    def extend(self, node: Node, option: Option | None = None, *, once: bool = False) -> None:
        self._number += 1
        self._busy = True
        self._reading = True
        self._wake.clear()
        self._writer.submit(partial(self._produce, self._number, node, once))

    def stop(self) -> None:
        """Produce no more; what is being read still is, and waits to be asked for."""
        self._halted = self._number
        self._busy = False
        self._reading = False
        self._wake.set()

    def collect(self) -> list[Produced]:
        found = []
        while self._produced:
            number, produced = self._produced.popleft()
            if number == self._number:
                found.append(produced)
        return found

    # In the thread

    def _produce(self, number: int, node: Node, once: bool) -> None:
        try:
            self._write(number, node, once)
        except ReviserError as error:
            self._produced.append((number, Produced(failure=str(error))))
        except Exception as error:
            # A thread that dies in silence would leave the run waiting for ever.
            reason = f"the model failed: {type(error).__name__}: {error}"
            self._produced.append((number, Produced(failure=reason)))
        if number == self._number:
            self._busy = False
            self._reading = False

    def _write(self, number: int, node: Node, once: bool) -> None:
        while number == self._number and number != self._halted:
            made = self._after(node)
            if made is None:
                self._produced.append((number, Produced(node, "stop")))
                return
            self._produced.append((number, Produced(made)))
            node = made
            if once:
                return
            if self.speed:
                self._wake.wait(1 / self.speed)

    def _after(self, node: Node) -> Node | None:
        """The step after one; None if that was the last."""
        following = node.depth + 1
        if following == len(self._made):
            if self._coming is None:
                self._coming = self._nodes()
            made = next(self._coming, None)
            if made is None:
                return None
            self._made.append(made)
        return self._made[following]

    def _nodes(self) -> Iterator[Node]:
        """A step for each change."""
        from reviser.proofreading.editing.revising import revise
        from reviser.proofreading.project.ignoring import Place
        from reviser.proofreading.proofreader import Draft, Proofreader, with_changes
        from reviser.prose import Format, Span, format_of
        from reviser.session.session import check_revises

        engine = self._writer.engine()
        check_revises(engine.policy.vocabulary)
        reader = Proofreader(engine.policy, engine.tokenizer, confidence=self._settings.confidence)
        text, start, end = self._text, self._start, self._end
        file = self._source.file
        format = format_of(str(file), text) if file is not None else Format.PLAIN
        format = Format.PLAIN if format is Format.UNKNOWN else format
        low, high = excerpt(text, start, format)
        low, high = min(low, start), max(high, end)
        words = self._lists.words(self._source)
        name, ignored = self._lists.places(self._source)
        draft = Draft(text[low:high], format, words, Span(start - low, end - low))

        def wanted(change: Change) -> bool:
            place = Place.of(name, draft.text, change.start, change.old, change.new)
            return place not in ignored

        self._made[0].seed = Seed(self._recorded, engine.tokenizer)
        node, growth = self._made[0], 0
        for made in revise(draft, reader.proofread, wanted):
            change = replace(made.change, start=made.change.start + low - start)
            self._changes.append(change)
            written = with_changes(text[start:end], self._changes)
            cursor = change.start + growth + len(change.new)
            growth += len(change.new) - len(change.old)
            told = Finding.of(change)
            node = node.after(
                written, cursor, Taken(0, f"{told.says} ({told.kind})", "change", told.confidence)
            )
            self._reading = False
            yield node

    def _recorded(self, leaf: Node) -> Trajectory:
        """What was done up to a step, in the actions of the model."""
        from reviser.proofreading.recording import recorded

        engine = self._writer.engine()
        return recorded(
            self._text[self._start : self._end],
            self._changes[: leaf.depth],
            engine.tokenizer,
            engine.policy.vocabulary,
            engine.name,
        )
