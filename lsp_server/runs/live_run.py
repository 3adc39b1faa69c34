"""The state of a live run: the region of the document that it writes, and which text in it is the model's.

The run writes one region, or revises the passages of it one by one. An edit on its way to the editor is expected
back as a change; any change that comes is therefore either that edit, or the user's. The user's changes elsewhere
move the region; one inside it ends the run. Nothing here talks to a model or to an editor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from lsp_server.documents.hunks import Hunk, Hunks, hunks_between, joined
from reviser.core.edits import Edit, minimal_change

Kind = Literal["continue", "infill", "revise"]
State = Literal["loading", "writing", "finished", "stopped", "accepted", "rejected"]
Origin = Literal["ours", "elsewhere", "inside"]

_ANY_ENDING = re.compile(r"\r\n|\r|\n")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass
class RunRegion:
    """A part of a document: `text` stands at offset `start`."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def explain(self, change: Edit, wanted: str) -> int | None:
        """The offset of the region after `change`, if the change leaves `wanted` in it; else None.

        Editors may report several edits as one change, so a change that extends beyond the region is accepted if the
        region can be found in its result.
        """
        text, start, low, high = self.text, self.start, change.start, change.end
        if text == wanted and high <= start and (high < start or text):
            return start + change.growth
        if text == wanted and (low > self.end or (low == self.end and not change.new)):
            return start
        if high < start or low > self.end:
            return None
        # The result of the change, with the untouched ends of the region.
        left = text[: max(low - start, 0)] + change.new + text[max(high - start, 0) :]
        if low >= start and high <= self.end:
            found = 0 if left == wanted else -1
        elif low >= start:
            found = 0 if left.startswith(wanted) else -1
        elif high <= self.end:
            found = len(left) - len(wanted) if left.endswith(wanted) else -1
        else:
            found = left.find(wanted) if wanted and left.count(wanted) == 1 else -1
        return None if found < 0 else min(start, low) + found


@dataclass
class Ownership:
    """The characters that a run wrote, as spans that shrink and split where the user edits them.

    `anchor` is where the first span began, even if nothing of it is left; `replaced` is what stood there before.
    """

    anchor: int
    spans: list[tuple[int, int]] = field(default_factory=list)
    replaced: str = ""

    def follow(self, change: Edit) -> None:
        low, high, growth = change.start, change.end, change.growth
        if high <= self.anchor:
            self.anchor += growth
        elif low < self.anchor:
            self.anchor = low
        spans: list[tuple[int, int]] = []
        for start, end in self.spans:
            if high <= start:
                spans.append((start + growth, end + growth))
            elif low >= end:
                spans.append((start, end))
            else:
                spans += [(start, low), (high + growth, end + growth)]
        self.spans = [(start, end) for start, end in spans if start < end]


@dataclass(frozen=True)
class RevisedPassage:
    """Characters `first` to `last` of a region's original text, the text in their place now, and the cursor in it."""

    first: int
    last: int
    text: str
    cursor: int = field(compare=False)


class LiveRun:
    """One run: its region, the part of it that the editor shows, and the original text."""

    def __init__(self, id: str, uri: str, region: RunRegion, *, ending: str = "\n", kind: Kind = "infill") -> None:
        self.id = id
        self.uri = uri
        self.kind = kind
        self.region = region
        self.original = region.text
        self.fresh: tuple[int, int] | None = None
        self.state: State = "loading"
        self.reason = ""
        self.failed = False
        self.actions = 0
        self.whole = False
        self.refusals = 0
        self.hunks = Hunks([], 0, 0, "")
        self._ending = ending
        self._written: list[RevisedPassage] = []
        self._shown: list[RevisedPassage] = []
        self._pending: list[RevisedPassage] | None = None
        self._sent: Edit | None = None
        self._sent_at = region.start
        self._owned: Ownership | None = None

    @property
    def running(self) -> bool:
        return self.state in ("loading", "writing")

    @property
    def wrote(self) -> bool:
        """Whether the editor shows any text of the run."""
        return self.region.text != self.original

    @property
    def label(self) -> str:
        """The name of its edits in the editor."""
        return f"Reviser run {self.id}"

    @property
    def cursor(self) -> int:
        """The model's offset in the region, after the text that the editor shows next."""
        if not self._written:
            return len(self.original)
        *before, passage = self._next()
        rest = len(self.original) - passage.first
        return len(self._text(before)) - rest + passage.cursor

    @property
    def awaits_echo(self) -> bool:
        """Whether an edit was sent that the editor has not yet reported as a change."""
        return self._pending is not None

    def take_in(self, trailing_space: int, text: str) -> None:
        """Let the region begin `trailing_space` characters earlier, for the model to write these again."""
        start = max(self.region.start - trailing_space, 0)
        # The user may have removed the space while the model was being loaded.
        if text[start : self.region.start].isspace():
            self.region = RunRegion(start, text[start : self.region.end])
            self.original = self.region.text

    def advance(self, written: str, cursor: int, passage: tuple[int, int] | None = None) -> None:
        """Record what the model has written in place of a passage of the original, or of all of it."""
        first, last = passage or (0, len(self.original))
        if self._written and self._written[-1].first == first:
            self._written.pop()
        reached = len(self._as_shown(written[:cursor]))
        self._written.append(RevisedPassage(first, last, self._as_shown(written), reached))
        self.actions += 1
        if self.state == "loading":
            self.state = "writing"

    def _as_shown(self, written: str) -> str:
        """`written` with the document's own line endings, and without characters that editors cannot hold."""
        known = self.original if self.kind == "revise" else ""
        plain = _CONTROL.sub(lambda found: found[0] if found[0] in known else "", written)
        return _ANY_ENDING.sub(self._ending, plain)

    def _text(self, passages: list[RevisedPassage]) -> str:
        """The text of the region with these passages."""
        parts, end = [], 0
        for passage in passages:
            parts += [self.original[end : passage.first], passage.text]
            end = passage.last
        return "".join([*parts, self.original[end:]])

    def _next(self) -> list[RevisedPassage]:
        """The passages that the editor shows next: one edit is about one passage, and leaves the text between two."""
        count = len(self._shown)
        if count and self._shown[-1] != self._written[count - 1]:
            return self._written[:count]
        for index, passage in enumerate(self._written[count:], start=count + 1):
            if passage.text != self.original[passage.first : passage.last]:
                return self._written[:index]
        return self._written

    def next_change(self, text: str) -> Edit | None:
        """The one edit that brings a document of this text up to date, or nearer to it; None if it is up to date."""
        return minimal_change(text, self.region.start, self.region.text, self._text(self._next()))

    def sent(self, change: Edit) -> None:
        """Record that the next edit has been sent to the editor."""
        self._pending = list(self._next())
        self._sent = change
        self._sent_at = self.region.start

    def lost(self) -> None:
        """Record that the edit that was sent will not be carried out."""
        self._pending = None

    def expects(self, change: Edit) -> bool:
        """Whether a change is the result of the edit that was sent."""
        return (
            self._owned is None
            and self._pending is not None
            and self.region.explain(change, self._text(self._pending)) is not None
        )

    def follow(self, change: Edit) -> Origin:
        """Apply a change of the document to the run; returns where it comes from."""
        if self._owned is not None:
            self._owned.follow(change)
            self.hunks.follow(change)
            return "elsewhere"
        region = self.region
        astray = self._is_astray(change)
        if self._pending is not None and not astray:
            wanted = self._text(self._pending)
            start = region.explain(change, wanted)
            if start is not None:
                self.fresh = _inserted(region.text, wanted)
                self.region = RunRegion(start, wanted)
                self._shown, self._pending = self._pending, None
                return "ours"
        start = region.explain(change, region.text)
        if start is not None and not astray:
            region.start = start
            return "elsewhere"
        typed = "you typed where the model was writing"
        self.halt("stopped", "the editor made an edit in the wrong place" if astray else typed)
        self._own()
        self.follow(change)
        return "inside"

    def _is_astray(self, change: Edit) -> bool:
        """Whether a change is the edit that was sent, made where the region no longer is."""
        sent = self._sent
        return (
            self._pending is not None
            and sent is not None
            and self.region.start != self._sent_at
            and (change.start, change.new) == (sent.start, sent.new)
        )

    def halt(self, state: State, reason: str = "") -> None:
        """End the run; what the editor shows stays as it is."""
        if self.running:
            self.state, self.reason = state, reason

    def settle(self) -> None:
        """Declare the run settled: no edit is under way, and its text is the user's to edit from now on."""
        self._pending = None
        if self._owned is None:
            self._own()

    def _own(self) -> None:
        region = self.region
        self._owned = Ownership(region.start)
        if self.wrote:
            self._owned = Ownership(region.start, [(region.start, region.end)], self.original)
        if self.kind == "revise":
            self.hunks = Hunks(joined(self._hunks()), region.start, region.end, self.original)
            for number, hunk in enumerate(self.hunks, start=1):
                hunk.id = f"{self.id}.{number}"
                inside = replace(hunk, start=hunk.start - region.start)
                hunk.hidden = inside.shows_old(region.text, 0, len(region.text))

    def _hunks(self) -> Iterator[Hunk]:
        """The differences between the original text and the text that the editor shows of the run."""
        shift = self.region.start
        for passage in self._shown:
            before = self.original[passage.first : passage.last]
            yield from hunks_between(passage.first + shift, before, passage.text)
            shift += len(passage.text) - len(before)

    @property
    def left(self) -> bool:
        """Whether no text of the run is left in the document."""
        return self._owned is not None and not self._owned.spans

    def restoration(self, text: str) -> Edit | None:
        """The one edit that removes the run's text from a document and keeps the user's."""
        if self._owned is None:
            return minimal_change(text, self.region.start, self.region.text, self.original)
        spans, replaced = self._owned.spans, self._owned.replaced
        if not spans:
            return Edit(self._owned.anchor, "", replaced) if replaced else None
        first, last = spans[0][0], spans[-1][1]
        kept = "".join(text[end:start] for (_, end), (start, _) in pairwise(spans))
        return minimal_change(text, first, text[first:last], replaced + kept)


def _inserted(old: str, new: str) -> tuple[int, int]:
    """The start and end of the part of `new` that differs from `old`."""
    change = minimal_change(old, 0, old, new)
    return (0, 0) if change is None else (change.start, change.start + len(change.new))
