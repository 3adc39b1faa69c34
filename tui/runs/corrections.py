"""Revising runs by proofreading: each change is a step, and the model's thread finds them passage by passage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviser.core.edits import Edit
from reviser.editor.excerpts import excerpt
from reviser.editor.lists import Lists, TextSource
from reviser.proofreading.suggestion import Suggestion
from tui.runs.tree import ActionOption, Node, Seed, StepResult, TakenAction, seconds_shown
from tui.runs.writer import StepProducer, Writer
from tui.settings import TuiSettings

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.proofreading.suggestion import Suggestion


class CorrectionSteps(StepProducer):
    """A `StepSource` for one run: each step is a correction that proofreading makes in a part of a text."""

    branches = False

    def __init__(
        self,
        writer: Writer,
        text: str,
        start: int,
        end: int,
        root: Node,
        settings: TuiSettings,
        source: TextSource,
        lists: Lists,
    ) -> None:
        """Revise the text between `start` and `end`; `source` determines which words and places stay."""
        super().__init__(writer, settings.speed)
        self._text = text
        self._start, self._end = start, end
        self._settings = settings
        self._source = source
        self._lists = lists
        # The rest belongs to the thread.
        self._made = [root]
        self._changes: list[Suggestion] = []
        self._coming: Iterator[Node] | None = None

    # In the thread

    def _write(self, number: int, node: Node, option: ActionOption | None, once: bool) -> None:
        while number == self._number and number != self._halted:
            made = self._after(node)
            if made is None:
                self._produced.append((number, StepResult(node, "stop")))
                return
            self._produced.append((number, StepResult(made)))
            node = made
            if once:
                return
            if self.speed:
                self._wake.wait(seconds_shown(made.taken, self.speed))

    def _after(self, node: Node) -> Node | None:
        """The step after one; None after the last."""
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
        """Yields a step for each change."""
        from reviser.editor.reader import EditorReader
        from reviser.proofreading.document import Draft
        from reviser.prose import Format, Span, format_of

        engine = self._writer.engine()
        confidence = self._lists.settings(self._source).dial(self._settings.confidence)
        text, start, end = self._text, self._start, self._end
        file = self._source.file
        format = format_of(str(file), text) if file is not None else Format.PLAIN
        format = Format.PLAIN if format is Format.UNKNOWN else format
        low, high = excerpt(text, start, format)
        low, high = min(low, start), max(high, end)
        words = self._lists.words(self._source)
        name, ignored = self._lists.places(self._source)
        draft = Draft(text[low:high], format, words, Span(start - low, end - low), self._lists.rules(self._source))

        self._made[0].seed = Seed(self._recorded, engine.tokenizer)
        node, growth = self._made[0], 0
        for made in EditorReader(engine).revise(draft, confidence, name, ignored, lambda: True):
            change = made.change.moved(low - start)
            self._changes.append(change)
            edit = Edit(change.start + growth, change.old, change.new)
            growth += edit.growth
            taken = TakenAction(0, f"{change.says} ({change.kind})", "change", change.confidence)
            node = node.after((edit,), edit.start + len(edit.new), taken)
            self._reading = False
            yield node

    def _recorded(self, leaf: Node) -> Trajectory:
        """The actions of the model that lead to the text after a step."""
        from reviser.proofreading.recording import recorded

        engine = self._writer.engine()
        return recorded(
            self._text[self._start : self._end],
            self._changes[: leaf.depth],
            engine.tokenizer,
            engine.policy.vocabulary,
            engine.name,
        )
