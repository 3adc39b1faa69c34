"""A run as a tree of steps: played, scrubbed through, branched, and shown in its region of a draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reviser.core.edits import with_all
from reviser.core.hunks import changed_words
from reviser.editor.edited_text import EditedText, Selection
from reviser.editor.provenance import Provenance
from reviser.editor.region import Region
from reviser.editor.review import Review
from tui.runs.tree import ActionOption, Node, Seed, StepResult, StepSource, seconds_shown, walk

State = Literal["waiting", "playing", "paused", "closed"]

# Steps per second of a recording at full speed, slow enough to be seen.
_FULL_SPEED = 60
# Up to this many steps are shown by their own edits; further away, only what differs is changed, at once.
_FEW_STEPS = 16
TRAIL_SECONDS = 0.7
# Seconds for which new and removed text is highlighted.
FADE_SECONDS = 2.4


@dataclass(frozen=True, slots=True)
class Trail:
    """A recent move of the model's cursor that is still drawn."""

    start: int
    end: int
    at: float


@dataclass(eq=False, slots=True)
class ErasedText:
    """Text that a step removed, and its offset in the region."""

    at: int
    text: str
    author: Node


class DraftRun:
    """A run in a draft's region. `current` is the step shown, on the path from the root to `tip`."""

    def __init__(
        self,
        draft: EditedText,
        region: Region,
        root: Node,
        source: StepSource | None = None,
        *,
        revising: bool = False,
        clears: bool = False,
    ) -> None:
        """Create a run. One that is `revising` ends with a review of its changes; one that `clears` begins with an
        empty region.
        """
        self.draft = draft
        self.region = region
        self.root = root
        self.current = root
        self.path = [root]
        self.state: State = "waiting"
        self.failure: str | None = None
        self.trails: list[Trail] = []
        # The region's text at the root, and at the step that is shown.
        self.original = "" if clears else draft.buffer.slice(region.start, region.end)
        self.text = self.original
        # The step whose text the region holds; None if the user has decided on changes since.
        self._written: Node | None = root
        # The steps that wrote the region's characters.
        self.authors: Provenance[Node] = Provenance(len(self.original))
        self.erased: list[ErasedText] = []
        self.seconds = 0.0
        self.revising = revising
        self.review: Review | None = None
        # The decisions at each step that was reviewed.
        self._decided: dict[Node, tuple[bool | None, ...]] = {}
        self._source = source
        self._speed = 0
        self._last = 0.0
        self.began_in = draft.text
        self._place = region.start, region.end
        self._outcome: str | None = None
        if revising:
            region.part = self._part
        draft.write_region(self.original)

    @property
    def seed(self) -> Seed | None:
        """The recording data at the root; None until the source has begun."""
        return self.root.seed

    @property
    def recorded(self) -> bool:
        """Whether all steps come from a file."""
        return self._source is None

    @property
    def branching(self) -> bool:
        """Whether the model can branch off from a step."""
        return self._source is not None and self._source.branches

    @property
    def tip(self) -> Node:
        return self.path[-1]

    @property
    def open(self) -> bool:
        return self.state != "closed" and self.region.open and not self.region.mixed

    @property
    def writing(self) -> bool:
        """Whether steps are being shown or awaited."""
        return self.state == "playing"

    @property
    def ending(self) -> str | None:
        """The reason why the run is over at the step shown; None if it can go on."""
        return self.current.ending if self.current is self.tip else None

    @property
    def status(self) -> str:
        """What the source is doing before steps arrive."""
        return self._source.status if self._source is not None else ""

    @property
    def speed(self) -> int:
        return self._speed

    @speed.setter
    def speed(self, speed: int) -> None:
        self._speed = speed
        if self._source is not None:
            self._source.speed = speed

    # Playing

    def play(self, now: float) -> None:
        """Play the known steps, then new ones."""
        if self.open:
            if self.ending is None:
                self._leave_review()
            self.state = "playing"
            self._last = now
            self._ask_for_more()

    def pause(self) -> None:
        if self.state == "playing":
            self.state = "paused"
            self._stop_source()

    def step(self, now: float) -> None:
        """Show the next step."""
        if not self.open:
            return
        self.pause()
        self.state = "paused"
        if self.current is not self.tip:
            self._show(self.path[self.current.depth + 1], now)
            self._write()
        elif self._source is not None and self.tip.ending is None and not self._source.busy:
            self._leave_review()
            self._source.extend(self.tip, once=True)
        self._review_at_end()

    def go_to(self, node: Node, now: float) -> None:
        """Show the state after a step of any branch, and pause there."""
        if not self.open:
            return
        self.pause()
        self.state = "paused"
        if node.depth >= len(self.path) or self.path[node.depth] is not node:
            self.path = node.lineage()
            while (following := self.tip.chosen_child()) is not None:
                self.path.append(following)
        self._show(node, now)
        self._write()
        self._review_at_end()

    def scrub(self, depth: int, now: float) -> None:
        """Show the state after `depth` steps."""
        self.go_to(self.path[max(0, min(depth, len(self.path) - 1))], now)

    def rewrite(self, now: float) -> bool:
        """Start another branch of the model from the state shown; False if that is not possible."""
        stopped = self.current.ending == "stop" and self.current.parent is not None
        return self._branch(self.current.parent if stopped else self.current, None, now)

    def choose(self, option: ActionOption, now: float) -> bool:
        """Take another option in place of the current step and continue from there; False if that is not possible."""
        parent = self.current.parent
        if parent is None or not self.open:
            return False
        for child in parent.children:
            if child.taken is not None and child.taken.id == option.id:
                self.go_to(child, now)
                return True
        return self._branch(parent, option, now)

    def _branch(self, node: Node | None, option: ActionOption | None, now: float) -> bool:
        if node is None or self._source is None or not self.branching or not self.open:
            return False
        self._stop_source()
        self._leave_review()
        self.path = node.lineage()
        self._show(node, now)
        self._write()
        self.state = "playing"
        self._last = now
        self._source.extend(node, option)
        return True

    def tick(self, now: float) -> bool:
        """Show the steps that are due; returns whether anything has changed."""
        if self.notice():
            return True
        before, state = self.current, self.state
        count = len(self.path)
        if self.open and self._source is not None:
            for produced in self._source.collect():
                self._take_in(produced, now)
        if self.state == "playing":
            counts = self.current is self.tip and not self.status
            self.seconds += now - self._last if counts else 0.0
            self._advance(now)
        if self.open and self.current is not before:
            self._write()
        self._review_at_end()
        self.erased = [gone for gone in self.erased if now - gone.author.shown_at < FADE_SECONDS]
        self.trails = [trail for trail in self.trails if now - trail.at < TRAIL_SECONDS]
        return (before, state, count) != (self.current, self.state, len(self.path))

    def notice(self) -> bool:
        """End the run if the user's typing has closed its region; returns whether it did."""
        ended = self.state != "closed" and not self.open
        if ended:
            self._end()
        return ended

    def _take_in(self, produced: StepResult, now: float) -> None:
        if produced.failure is not None:
            self.failure = produced.failure
            self.state = "paused"
            return
        node = produced.node
        if node is not None and produced.ending is not None:
            node.ending = produced.ending
        elif node is not None and node.parent is self.tip:
            node.parent.children.append(node)
            self.path.append(node)
            # A step that comes late, after the run was stopped, does not disturb a review.
            if self.current is node.parent and self.review is None:
                self._show(node, now)

    def _advance(self, now: float) -> None:
        """Show the known steps that are due; at the tip, request more or end."""
        pace = self._speed or _FULL_SPEED
        while self.current is not self.tip and now - self._last >= (due := self._stays(pace)):
            self._last += due
            self._show(self.path[self.current.depth + 1], now)
        if self.current is self.tip:
            self._last = now
            self._ask_for_more()

    def _stays(self, pace: int) -> float:
        return seconds_shown(self.current.taken if self._speed else None, pace)

    def _ask_for_more(self) -> None:
        if self.current is not self.tip:
            return
        if self.tip.ending is not None or self._source is None:
            self.state = "paused"
        elif not self._source.busy:
            self._source.extend(self.tip)

    def _stop_source(self) -> None:
        if self._source is not None:
            self._source.stop()

    # Reviewing

    @property
    def reviewable(self) -> bool:
        """Whether there are changes that can be reviewed now."""
        if self.review is not None and self.review.active:
            return True
        changed = self.text != self.original
        return self.revising and self.open and not self.writing and changed

    def begin_review(self) -> Review | None:
        """Begin a review of the changes up to the step shown; None if there are none.

        The selection is cleared: the next key is about the changes and must not replace them all.
        """
        if self.review is None and self.reviewable:
            self.draft.select(Selection.at(self.draft.selection.cursor))
            self._review_changes()
        return self.review

    def _part(self) -> None:
        """Stop, because the user types into the region, and split it, so that changes that were not touched can still
        be decided.
        """
        self.pause()
        if self.review is None and self.reviewable:
            self._review_changes()

    def _review_changes(self) -> None:
        changes = changed_words(self.original, self.current.edits_from_root())
        self.review = Review(self.draft, self.region, changes)
        if known := self._decided.get(self.current):
            self.review.repeat(known)
        self.end_review()

    def end_review(self) -> None:
        """End the run when all changes are decided; the accepted ones are kept."""
        if self.review is not None and not self.review.active:
            self.review = None
            self.keep()

    def _review_at_end(self) -> None:
        if self.ending is not None:
            self.begin_review()

    def _leave_review(self) -> None:
        if self.review is not None:
            self._decided[self.current] = self.review.decisions
            self.review = None
            self._written = None
            self.draft.join_region()

    # Ending

    def keep(self) -> None:
        """End the run and keep what is shown."""
        region = self.region
        if region.open:
            if not region.mixed:
                self._outcome = self.draft.buffer.slice(region.start, region.end)
            self.draft.close_region()
        self._end()

    def discard(self) -> None:
        """End the run and restore the original; undo brings the run's text back."""
        if self.tip is self.root:
            self.draft.reject_region()
        elif self.region.open:
            self.draft.discard_region()
        self._end()

    def _end(self) -> None:
        self._stop_source()
        self.state = "closed"
        self.trails.clear()
        self.erased.clear()

    # Showing

    def _show(self, node: Node, now: float) -> None:
        previous = self.current
        self._leave_review()
        if node.parent is previous:
            self._follow(node)
            if node.taken is not None and node.taken.kind == "move":
                self.trails.append(Trail(previous.cursor, node.cursor, now))
        elif node is not previous:
            self._retrace(node)
        node.shown_at = now
        self.current = node

    def _write(self) -> None:
        """Set the region to the step shown: by the edits of nearby steps, or all at once from further away."""
        last, reached = self._written, self.current.depth
        near = last is not None and last.depth <= reached <= last.depth + _FEW_STEPS
        if last is not None and near and self.path[last.depth] is last:
            for node in self.path[last.depth + 1 : reached + 1]:
                for edit in node.edits:
                    self.draft.change_region(edit)
        else:
            self.draft.write_region(self.text)
        self._written = self.current

    def _follow(self, node: Node) -> None:
        for edit in node.edits:
            self.authors.follow(edit, node)
            left = [gone for gone in self.erased if gone.at <= edit.start]
            right = [gone for gone in self.erased if gone.at > edit.start]
            for gone in right:
                gone.at = edit.follow(gone.at)
            here = [ErasedText(edit.start, edit.old, node)] if edit.old else []
            self.erased = [*left, *here, *right]
        self.text = with_all(self.text, node.edits)

    def _retrace(self, node: Node) -> None:
        self.text = self.original
        self.authors = Provenance(len(self.original))
        self.erased = []
        for each in node.lineage():
            self._follow(each)

    # Results

    @property
    def ended_in(self) -> str:
        """The text in which the run began, with the part of it that was kept and without the user's own edits."""
        start, end = self._place
        kept = self.text if self._outcome is None else self._outcome
        return self.began_in[:start] + kept + self.began_in[end:]

    def add_recorded(self, node: Node) -> None:
        """Append a known step to the path."""
        self.tip.children.append(node)
        self.path.append(node)

    def leaves(self) -> list[Node]:
        """The last steps of all branches, the one shown first."""
        return [self.tip, *(node for node in walk(self.root) if not node.children and node is not self.tip)]
