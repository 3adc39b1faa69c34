"""The tree of a run's steps: what each changed, the actions it was chosen from, and the source of new steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from reviser.core.edits import Edit, with_all

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.trajectory import Trajectory

# A move is shown as long as this number of other steps.
_DWELL = 4


@dataclass(frozen=True, slots=True)
class ActionOption:
    """An action that could be taken, and its probability."""

    id: int
    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class TakenAction:
    """The action of a step, and the likeliest candidates."""

    id: int
    label: str
    kind: str
    probability: float | None
    options: tuple[ActionOption, ...] = ()


def seconds_shown(taken: TakenAction | None, speed: int) -> float:
    """Seconds before the next step at a speed in actions per second; longer after a move, for the eye to follow."""
    return (_DWELL if taken is not None and taken.kind == "move" else 1) / speed


@dataclass(eq=False, slots=True)
class Node:
    """A step in the tree: its edits of the region, and the model's cursor after it, counted from the region's start."""

    parent: Node | None
    cursor: int
    # Made one after the other; none at the root.
    edits: tuple[Edit, ...] = ()
    taken: TakenAction | None = None
    ending: str | None = None
    depth: int = 0
    children: list[Node] = field(default_factory=list)
    shown_at: float = float("-inf")
    # Set where the model begins anew, as at the root and at each line to be revised.
    seed: Seed | None = None

    def after(self, edits: tuple[Edit, ...], cursor: int, taken: TakenAction) -> Node:
        """A node that follows this one; it becomes a child when a run adds it."""
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
        """All edits from the root to this node."""
        return [edit for node in self.lineage() for edit in node.edits]

    def text_from(self, original: str) -> str:
        """The region's text after this step, if it was `original` at the root."""
        return with_all(original, self.edits_from_root())

    def chosen_child(self) -> Node | None:
        """The child that was shown last; None if there is none."""
        return self.children[-1] if self.children else None


@dataclass(frozen=True, slots=True)
class Seed:
    """The data for recording a run: the trajectory before its first step, or a function from a node to the trajectory
    up to it; and the tokenizer.
    """

    trajectory: Trajectory | Callable[[Node], Trajectory]
    tokenizer: Tokenizer


@dataclass(frozen=True, slots=True)
class StepResult:
    """A new step; or why there is none: the `ending` of the run after `node`, or the `failure` of the source."""

    node: Node | None = None
    ending: str | None = None
    failure: str | None = None


class StepSource(Protocol):
    """A source of new steps; one that `branches` can produce alternatives to a step."""

    speed: int
    branches: bool

    @property
    def busy(self) -> bool: ...
    @property
    def status(self) -> str: ...
    def extend(self, node: Node, option: ActionOption | None = None, *, once: bool = False) -> None:
        """Begin to produce steps after `node`; `option` is the first one's action, `once` stops after it."""

    def stop(self) -> None: ...
    def collect(self) -> list[StepResult]: ...


def walk(root: Node) -> Iterator[Node]:
    """All nodes of a tree, the oldest branch first."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))
