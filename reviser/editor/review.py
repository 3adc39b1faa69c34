"""The review of a run's changes: each is accepted or rejected separately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText
from reviser.editor.region import Patch, Region


@dataclass(eq=False)
class ReviewItem:
    """A change under review, and the decision about it."""

    old: str
    new: str
    patch: Patch
    accepted: bool | None = None

    @property
    def open(self) -> bool:
        """Whether it is undecided; typing into it decides too."""
        return self.accepted is None and self.patch.open


class Review:
    """The changes of a run in a draft's region, from the first to the last; one of them is the current one."""

    def __init__(self, draft: EditedText, region: Region, changes: Sequence[Edit]) -> None:
        patches = draft.part_region(changes)
        self.items = [ReviewItem(change.old, change.new, patch) for change, patch in zip(changes, patches, strict=True)]
        self._draft = draft
        self._region = region
        self._at = 0

    @property
    def active(self) -> bool:
        """Whether there are undecided changes."""
        return self._region.open and any(item.open for item in self.items)

    @property
    def open_items(self) -> list[ReviewItem]:
        return [item for item in self.items if item.open]

    @property
    def current(self) -> ReviewItem:
        """The current change: the next undecided one, from the last that was current."""
        behind = [item for item in self.items[self._at :] if item.open]
        return (behind or self.open_items or self.items)[0]

    @property
    def number(self) -> int:
        """The position of the current change among all, from 1."""
        return self.items.index(self.current) + 1

    def look(self, by: int) -> None:
        """Go to the next or previous undecided change; after the last comes the first."""
        if found := self.open_items:
            self._at = self.items.index(found[(found.index(self.current) + by) % len(found)])

    def decide(self, accepted: bool) -> None:
        """Accept or reject the current change, and go to the next."""
        if self.active:
            item = self.current
            self._at = self.items.index(item)
            if len(self.open_items) == 1:
                self.decide_rest(accepted)
            else:
                self._decide(item, accepted)

    def decide_rest(self, accepted: bool) -> None:
        """Accept or reject all undecided changes; rejecting them is one undo step."""
        if not accepted:
            self._draft.settle_region()
        for item in self.open_items:
            self._decide(item, accepted)

    def _decide(self, item: ReviewItem, accepted: bool) -> None:
        item.accepted = accepted
        if not accepted:
            self._draft.write_patch(item.patch, item.old)

    def repeat(self, decisions: Iterable[bool | None]) -> None:
        """Apply earlier decisions."""
        for item, accepted in zip(self.items, decisions, strict=True):
            if accepted is not None:
                self._decide(item, accepted)

    @property
    def decisions(self) -> tuple[bool | None, ...]:
        return tuple(item.accepted for item in self.items)
