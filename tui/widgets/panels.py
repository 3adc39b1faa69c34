"""The panels of a run beside its text: log, options, branches, statistics, and the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Static

from reviser.core.counts import counted
from tui.runs.run import DraftRun
from tui.runs.statistics import Statistics
from tui.runs.tree import ActionOption, Node
from tui.widgets.bars import TabBar
from tui.widgets.rows import Rows

_BLOCKS = "▁▂▃▄▅▆▇█"


def percent(probability: float | None) -> str:
    """A probability as a percentage; empty if it is unknown."""
    if probability is None:
        return ""
    return "<1%" if 0 < probability < 0.01 else f"{probability:.0%}"


def log_lines(run: DraftRun) -> list[tuple[str, str]]:
    """The description and probability of each step of the branch that is shown."""
    lines = [("   0  Start", "")]
    for node in run.path[1:]:
        if node.taken is not None:
            lines.append((f"{node.depth:4}  {node.taken.label}", percent(node.taken.probability)))
    return lines


def option_lines(node: Node) -> list[tuple[str, str]]:
    """The candidates of a step, the chosen one marked, each with a bar for its probability."""
    if node.taken is None:
        return []
    lines = []
    for option in node.taken.options:
        mark = "●" if option.id == node.taken.id else " "
        bar = "▪" * round(option.probability * 8)
        lines.append((f"{mark} {option.label}", f"{bar} {percent(option.probability):>4}"))
    return lines


@dataclass(frozen=True)
class Branch:
    """A sequence of steps without a fork; `end` is its last."""

    label: str
    steps: str
    end: Node
    shown: bool


def branches(run: DraftRun) -> list[Branch]:
    """The tree of a run, one entry for each sequence between forks."""
    found: list[Branch] = []
    on_path = set(map(id, run.path))
    pending = [(run.root, 0)]
    while pending:
        first, level = pending.pop()
        end = first
        while len(end.children) == 1:
            end = end.children[0]
        count = end.depth - first.depth + (first.parent is not None)
        name = "Start" if first.taken is None else f"{first.depth} {first.taken.label}"
        indent = "  " * (level - 1) + "└ " if level else ""
        shown = id(first) in on_path
        found.append(Branch(f"{'●' if shown else '○'} {indent}{name}", counted(count, "step"), end, shown))
        pending.extend((child, level + 1) for child in reversed(end.children))
    return found


def figures(statistics: Statistics, width: int) -> str:
    """The statistics as text, with one small chart."""
    lines = [("Actions", f"{statistics.actions}")]
    if statistics.actions_per_token is not None:
        lines.append(("Actions per token", f"{statistics.actions_per_token:.2f}"))
    lines.append(("Moves", f"{statistics.kinds['move']} ({statistics.moves:.0%})"))
    for kind, count in sorted(statistics.kinds.items()):
        if kind not in ("insert", "move", "stop"):
            lines.append((kind.replace("_", " ").capitalize(), str(count)))
    lines.append(("Characters written", str(statistics.written)))
    if statistics.actions_per_second is not None:
        lines.append(("Actions a second", f"{statistics.actions_per_second:.1f}"))
    lines.append(("Branches", str(statistics.branches)))
    size = max(len(name) for name, _ in lines)
    told = "\n".join(f"{name:<{size}}  {value}" for name, value in lines)
    parts = statistics.insertion_map(max(width, 8))
    if not parts:
        return told
    picture = "".join(_BLOCKS[min(int(part * 8), 7)] for part in parts)
    return f"{told}\n\nWhen each part was written\n{picture}\nfrom its start to its end; low is early"


class Figures(Static, can_focus=True):
    """A text that can have the focus, so that keys still reach the panel."""


class SidePanel(Vertical):
    """The log, options, branches and statistics of the run, one at a time."""

    NAMES = ("Log", "Options", "Branches", "Figures")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Previous panel", show=False),
        Binding("right", "turn(1)", "Next panel", show=False),
    ]

    @dataclass
    class GoTo(Message):
        node: Node

    @dataclass
    class Take(Message):
        option: ActionOption

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._run: DraftRun | None = None
        self._branches: list[Branch] = []

    def compose(self) -> ComposeResult:
        yield TabBar(self.NAMES)
        with ContentSwitcher(initial="Log"):
            yield Rows("No run yet: F5 continues the text.", id="Log")
            yield Rows("No other options are known here.", id="Options")
            yield Rows("No run yet.", id="Branches")
            yield Figures("", id="Figures", markup=False)

    @property
    def active(self) -> str:
        return self.query_one(ContentSwitcher).current or "Log"

    def activate(self, name: str) -> None:
        had_focus = self.has_focus_within
        self.query_one(ContentSwitcher).current = name
        self.query_one(TabBar).fill(self.NAMES, self.NAMES.index(name))
        self.update_from(self._run)
        if had_focus:
            self.focus_content()

    def action_turn(self, by: int) -> None:
        """Show the next view."""
        index = (self.NAMES.index(self.active) + by) % len(self.NAMES)
        self.activate(self.NAMES[index])

    def focus_content(self) -> None:
        self.screen.set_focus(self.query_one(f"#{self.active}"))

    def update_from(self, run: DraftRun | None) -> None:
        """Show the state of the run; only the visible view is filled."""
        self._run = run
        name = self.active
        if name == "Figures":
            told = "No run yet." if run is None else figures(Statistics.of(run), self.size.width - 4)
            self.query_one("#Figures", Figures).update(told)
            return
        rows = self.query_one(f"#{name}", Rows)
        if run is None:
            rows.fill([], 0)
        elif name == "Log":
            rows.fill(log_lines(run), run.current.depth, run.current.depth)
        elif name == "Options":
            taken = run.current.taken
            options = taken.options if taken is not None else ()
            same = [index for index, option in enumerate(options) if taken and option.id == taken.id]
            rows.fill(option_lines(run.current), same[0] if same else 0)
        else:
            self._branches = branches(run)
            here = [index for index, branch in enumerate(self._branches) if branch.shown]
            rows.fill([(b.label, b.steps) for b in self._branches], here[-1] if here else 0)

    def on_resize(self) -> None:
        """Draw the chart again: its width is that of the panel, which is known late."""
        if self.active == "Figures":
            self.update_from(self._run)

    def on_tab_bar_picked(self, event: TabBar.Picked) -> None:
        event.stop()
        self.activate(self.NAMES[event.index])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Show the step chosen in the log."""
        event.stop()
        if self._run is not None and event.rows.id == "Log":
            self.post_message(self.GoTo(self._run.path[event.index]))

    def on_rows_taken(self, event: Rows.Taken) -> None:
        event.stop()
        if self._run is None:
            return
        if event.rows.id == "Branches":
            self.post_message(self.GoTo(self._branches[event.index].end))
        elif event.rows.id == "Options" and self._run.current.taken is not None:
            self.post_message(self.Take(self._run.current.taken.options[event.index]))


class Timeline(Widget, can_focus=True):
    """A slider from the first step of the run to its last."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"timeline--past", "timeline--future", "timeline--move", "timeline--here"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "scrub(-1)", "Back", show=False),
        Binding("right", "scrub(1)", "On", show=False),
        Binding("shift+left,pageup", "scrub(-10)", "Ten back", show=False),
        Binding("shift+right,pagedown", "scrub(10)", "Ten on", show=False),
        Binding("home", "scrub(-1000000)", "To the start", show=False),
        Binding("end", "scrub(1000000)", "To the end", show=False),
        Binding("space", "app.pause", "Play", show=False),
        Binding("enter,escape", "app.focus_editor", "Stay here", show=False),
    ]

    @dataclass
    class Scrubbed(Message):
        depth: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.run: DraftRun | None = None

    def update_from(self, run: DraftRun | None) -> None:
        self.run = run
        self.refresh()

    def _bar(self) -> tuple[int, int]:
        """The first column and the width of the bar."""
        total = len(str(len(self.run.path) - 1)) if self.run else 1
        return 2 * total + 4, max(4, self.size.width - 2 * total - 5)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        if self.run is None or y:
            return Strip.blank(width, base)
        run, steps = self.run, len(self.run.path) - 1
        past, future, move, here = (
            self.get_component_rich_style(f"timeline--{name}") for name in ("past", "future", "move", "here")
        )
        size = len(str(steps))
        start, room = self._bar()
        at = round(run.current.depth / steps * (room - 1)) if steps else 0
        segments = [Segment(f" {run.current.depth:>{size}}/{steps} ".ljust(start), base)]
        for column in range(room):
            if column == at:
                segments.append(Segment("●", here))
            elif self._has_move(column, room, steps):
                segments.append(Segment("╌", move if column < at else future))
            else:
                segments.append(Segment("━", past if column < at else future))
        return Strip(segments).adjust_cell_length(width, base)

    def _has_move(self, column: int, room: int, steps: int) -> bool:
        assert self.run is not None
        first = column * steps // room
        last = max((column + 1) * steps // room, first + 1)
        nodes = self.run.path[first + 1 : last + 1]
        return any(node.taken is not None and node.taken.kind == "move" for node in nodes)

    def action_scrub(self, by: int) -> None:
        if self.run is not None:
            self.post_message(self.Scrubbed(self.run.current.depth + by))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._scrub_to(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self._scrub_to(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def _scrub_to(self, x: int) -> None:
        if self.run is not None:
            start, room = self._bar()
            share = (x - start) / max(room - 1, 1)
            self.post_message(self.Scrubbed(round(share * (len(self.run.path) - 1))))
