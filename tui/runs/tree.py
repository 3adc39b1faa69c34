"""The tree of a run's steps: what each changed, the actions it was chosen from, and where new ones come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from reviser.core.edits import Edit, with_all

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.trajectory import Trajectory

# How many other steps a move takes as long as.
_DWELL = 4


@dataclass(frozen=True, slots=True)
class ActionOption:
    """An action that could be taken, and how likely it was."""

    id: int
    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class TakenAction:
    """The action of a step, and the likeliest ones it was chosen from."""

    id: int
    label: str
    kind: str
    probability: float | None
    options: tuple[ActionOption, ...] = ()


def seconds_shown(taken: TakenAction | None, speed: int) -> float:
    """How long a step stays before the next one comes, at a speed; a move longer, so that the eye can follow it."""
    return (_DWELL if taken is not None and taken.kind == "move" else 1) / speed


@dataclass(eq=False, slots=True)
class Node:
    """A step: what it changed in the region, and where the model's cursor was after it, from the region's start."""

    parent: Node | None
    cursor: int
    # Made one after the other; none at the root.
    edits: tuple[Edit, ...] = ()
    taken: TakenAction | None = None
    ending: str | None = None
    depth: int = 0
    children: list[Node] = field(default_factory=list)
    shown_at: float = float("-inf")
    # Where the model begins afresh, as at the root and at each line to be revised: how it begins.
    seed: Seed | None = None

    def after(self, edits: tuple[Edit, ...], cursor: int, taken: TakenAction) -> Node:
        """The node one step on; it becomes a child when a run takes it in."""
        return Node(self, cursor, edits, taken, depth=self.depth + 1)

    def lineage(self) -> list[Node]:
        """The nodes from the root to this one."""
        nodes = []
        node: Node | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def edits_from_root(self) -> list[Edit]:
        """What was changed from the root to here."""
        return [edit for node in self.lineage() for edit in node.edits]

    def text_from(self, original: str) -> str:
        """What the region holds after this step, if it held `original` at the root."""
        return with_all(original, self.edits_from_root())

    def chosen_child(self) -> Node | None:
        """The step that was taken last from here."""
        return self.children[-1] if self.children else None


@dataclass(frozen=True, slots=True)
class Seed:
    """How a run is recorded: the run before its first step, or what makes a trajectory of the steps up to one; and
    the tokenizer."""

    trajectory: Trajectory | Callable[[Node], Trajectory]
    tokenizer: Tokenizer


@dataclass(frozen=True, slots=True)
class Produced:
    """A new step, or why there is none: the run is over after `node`, or the source failed."""

    node: Node | None = None
    ending: str | None = None
    failure: str | None = None


class StepSource(Protocol):
    """Where new steps come from; one that `branches` can go another way from a step."""

    speed: int
    branches: bool

    @property
    def busy(self) -> bool: ...
    @property
    def status(self) -> str: ...
    def extend(self, node: Node, option: ActionOption | None = None, *, once: bool = False) -> None:
        """Begin to produce steps after `node`, the first one as the option says."""

    def stop(self) -> None: ...
    def collect(self) -> list[Produced]: ...


def walk(root: Node) -> Iterator[Node]:
    """All nodes of a tree, the oldest branch first."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))
