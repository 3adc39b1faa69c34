"""The model's thread: it loads the model once, writes for one run at a time, and never blocks the screen."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from reviser.core.edits import within
from reviser.core.errors import ReviserError
from tui.runs.jobs import JobThread
from tui.runs.labels import full_label, option_label
from tui.runs.tree import ActionOption, Node, Seed, StepResult, TakenAction, seconds_shown
from tui.settings import TuiSettings

if TYPE_CHECKING:
    from reviser.decoding.sampler import Sampler
    from reviser.session.engine import Engine
    from reviser.session.frames import Frame
    from reviser.session.session import Generation, Session

_OPTIONS = 12
_SEEDS = 1 << 32

Task = Literal["continue", "infill", "revise"]
Loader = Callable[[Callable[[str], None]], "Engine"]


def load_model(settings: TuiSettings, say: Callable[[str], None]) -> Engine:
    """The engine that the settings name, local or behind a server; `say` is called with progress messages."""
    say(f"loading {settings.model or 'the model'}")
    from reviser.session.engine import load_engine

    return load_engine(settings.model, threads=settings.threads)


class Writer(JobThread):
    """The thread that holds the engine."""

    def __init__(self, load: Loader) -> None:
        super().__init__("writer")
        self.status = ""
        # The engine once it is loaded.
        self.loaded: Engine | None = None
        self._load = load

    def engine(self) -> Engine:
        """The engine, loaded on first use; only for the thread itself."""
        if self.loaded is None:
            try:
                self.loaded = self._load(self._say)
            finally:
                self.status = ""
        return self.loaded

    @property
    def model_name(self) -> str | None:
        return None if self.loaded is None else self.loaded.name

    def _say(self, status: str) -> None:
        self.status = status


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """A part of a run for which the model reads its text anew: all of it, or one line to be revised.

    It begins with the state after `begin`. The model writes between the first `head` and the last `tail` characters of
    the region, which it does not change.
    """

    begin: Node
    number: int
    head: int = 0
    tail: int = 0


class StepProducer:
    """A `StepSource` whose steps are made in the model's thread and collected by the app; subclasses make them."""

    def __init__(self, writer: Writer, speed: int) -> None:
        self.speed = speed
        self._writer = writer
        self._produced: deque[tuple[int, StepResult]] = deque()
        # Each call of `extend` has a number; steps with an old number are dropped.
        self._number = 0
        self._halted = 0
        self._busy = False
        self._reading = False
        self._wake = threading.Event()

    @property
    def busy(self) -> bool:
        return self._busy

    @property
    def status(self) -> str:
        return self._writer.status or ("reading the text" if self._reading else "")

    def extend(self, node: Node, option: ActionOption | None = None, *, once: bool = False) -> None:
        self._number += 1
        self._busy = True
        self._reading = True
        self._wake.clear()
        self._writer.submit(partial(self._produce, self._number, node, option, once))

    def stop(self) -> None:
        """Stop producing; a step that is being computed still arrives."""
        self._halted = self._number
        self._busy = False
        self._reading = False
        self._wake.set()

    def collect(self) -> list[StepResult]:
        found = []
        while self._produced:
            number, produced = self._produced.popleft()
            if number == self._number:
                found.append(produced)
        return found

    # In the thread

    def _produce(self, number: int, node: Node, option: ActionOption | None, once: bool) -> None:
        try:
            self._write(number, node, option, once)
        except ReviserError as error:
            self._fail(number, str(error))
        except Exception as error:
            # A thread that dies in silence would leave the run waiting for ever.
            self._fail(number, f"the model failed: {type(error).__name__}: {error}")
        if number == self._number:
            self._busy = False
            self._reading = False

    def _fail(self, number: int, reason: str) -> None:
        self._produced.append((number, StepResult(failure=reason)))

    def _write(self, number: int, node: Node, option: ActionOption | None, once: bool) -> None:
        """Make the steps after a node, until the call of `extend` with this number is over."""
        raise NotImplementedError


class GenerationSteps(StepProducer):
    """A `StepSource` for one run: each step is an action of the model."""

    branches = True

    def __init__(
        self, writer: Writer, task: Task, text: str, start: int, end: int, root: Node, settings: TuiSettings
    ) -> None:
        """Write in place of `start` to `end`, or revise the text there."""
        super().__init__(writer, settings.speed)
        self._task = task
        self._text = text
        self._start, self._end = start, end
        self._settings = settings
        self._root = root
        # What the region holds at the root.
        self._original = text[start:end] if task == "revise" else ""
        # The rest belongs to the thread.
        self._session: Session | None = None
        self._passages: list[tuple[int, int]] = [(start, end)]
        self._segments: dict[Node, Segment] = {}
        self._segment: Segment | None = None
        self._generation: Generation | None = None
        self._origin = 0
        self._trailing_space = 0
        self._at = root

    def _write(self, number: int, node: Node, option: ActionOption | None, once: bool) -> None:
        if not self._wanted(number):
            return
        generation = self._return_to(node)
        tried = frozenset(child.taken.id for child in node.children if child.taken is not None)
        while self._wanted(number):
            made = self._take(generation, option) if option else self._next(generation, tried)
            if made is None and (following := self._following()) is not None:
                generation = self._enter(following)
                continue
            if made is None:
                ending = str(generation.rollout.ending)
                self._produced.append((number, StepResult(self._at, ending)))
                return
            self._reading = False
            self._produced.append((number, StepResult(made)))
            option, tried = None, frozenset()
            if once:
                return
            if self.speed:
                self._wake.wait(seconds_shown(made.taken, self.speed))

    def _wanted(self, number: int) -> bool:
        return number == self._number and number != self._halted

    def _begin(self) -> Segment:
        """The first segment of the run."""
        if not self._segments:
            self._session = self._writer.engine().session(self._text)
            if self._task == "revise" and self._session.policy.vocabulary.overtypes:
                raise ReviserError("this model revises by proofreading alone, which takes a revise_temperature of 0")
            if self._task == "revise":
                self._passages = self._session.passages(self._start, self._end)
            self._segments[self._root] = self._segment_at(self._root, 0)
        return self._segments[self._root]

    def _segment_at(self, begin: Node, number: int) -> Segment:
        if self._task != "revise":
            return Segment(begin, number)
        # Passages are revised in order, so the text behind this one is unchanged.
        first, last = self._passages[number]
        length = len(begin.text_from(self._original))
        return Segment(begin, number, length - (self._end - first), self._end - last)

    def _following(self) -> Segment | None:
        """The segment after the present one, which is over; None after the last."""
        assert self._segment is not None
        if self._segment.number + 1 == len(self._passages):
            return None
        if self._at not in self._segments:
            self._segments[self._at] = self._segment_at(self._at, self._segment.number + 1)
        return self._segments[self._at]

    def _enter(self, segment: Segment) -> Generation:
        """Begin a segment, or return to one by repeating its steps."""
        from reviser.core.trajectory import Trajectory

        session = self._session
        assert session is not None
        engine, sampler = self._writer.engine(), self._sampler()
        limit, checks = self._settings.max_actions, self._settings.check_steps_back
        if self._task == "continue":
            generation = session.continue_(sampler, max_actions=limit, check_steps_back=checks)
        elif self._task == "infill":
            generation = session.infill(self._start, self._end, sampler, max_actions=limit, check_steps_back=checks)
        else:
            written = segment.begin.text_from(self._original)
            session.text = self._text[: self._start] + written + self._text[self._end :]
            first = self._start + segment.head
            last = self._start + len(written) - segment.tail
            sure = self._settings.sureness
            generation = session.revise(first, last, sampler, max_actions=limit, margin=sure)
        window = generation.window
        self._trailing_space = len(window.trailing_space)
        self._origin = len(window.before) + len(window.prefix) + self._trailing_space
        self._segment, self._generation, self._at = segment, generation, segment.begin
        if segment.begin.seed is None:
            begun = Trajectory.record(generation.rollout, engine.tokenizer, engine.name)
            segment.begin.seed = Seed(begun, engine.tokenizer)
        return generation

    def _sampler(self) -> Sampler:
        from tui.runs.greedy import GreedySampler, UntriedSampler

        chosen = self._settings
        seed = secrets.randbelow(_SEEDS) if chosen.seed is None else chosen.seed
        warmth = chosen.revise_temperature if self._task == "revise" else chosen.temperature
        limits = (chosen.top_k or None, chosen.top_p, chosen.min_p)
        if not warmth:
            # The likeliest action does not depend on the settings for sampling moves.
            return GreedySampler(1.0, *limits, seed=seed, move_temperature=None)
        return UntriedSampler(warmth, *limits, seed=seed)

    def _return_to(self, node: Node) -> Generation:
        """Bring the generation from its present state to the state after `node`."""
        lineage = node.lineage()
        first = self._begin()
        segment = next((self._segments[each] for each in reversed(lineage) if each in self._segments), first)
        generation = self._generation
        if generation is None or segment is not self._segment:
            generation = self._enter(segment)
        while self._at.depth > node.depth or lineage[self._at.depth] is not self._at:
            generation.take_back()
            assert self._at.parent is not None
            self._at = self._at.parent
        for following in lineage[self._at.depth + 1 :]:
            assert following.taken is not None
            generation.take(following.taken.id)
            self._at = following
        return generation

    def _next(self, generation: Generation, tried: frozenset[int]) -> Node | None:
        from tui.runs.greedy import UntriedSampler

        canvas = generation.rollout.canvas
        cursor, tokens = canvas.cursor, list(canvas.tokens)
        if isinstance(generation.rollout.sampler, UntriedSampler):
            generation.rollout.sampler.tried = tried
        frame = next(generation, None)
        if frame is None:
            return None
        choice = frame.step.choice
        likely = {
            int(id): float(probability)
            for id, probability in zip(choice.candidates[:_OPTIONS], choice.probabilities[:_OPTIONS], strict=True)
        } | {choice.id: choice.probability}
        action = canvas.vocabulary.action
        options = tuple(
            ActionOption(id, option_label(frame, action(id, cursor), tokens, cursor), probability)
            for id, probability in likely.items()
        )
        return self._node(generation, frame, choice.probability, options)

    def _take(self, generation: Generation, option: ActionOption) -> Node:
        frame = generation.take(option.id)
        siblings = self._at.children
        taken = siblings[0].taken if siblings else None
        options = taken.options if taken is not None else ()
        return self._node(generation, frame, option.probability, options)

    def _node(
        self, generation: Generation, frame: Frame, probability: float, options: tuple[ActionOption, ...]
    ) -> Node:
        step, segment = frame.step, self._segment
        assert segment is not None
        changes = [edit.change for edit in frame.edits]
        growth = sum(change.growth for change in changes)
        end = self._origin + len(generation.written) - self._trailing_space - growth
        edits = tuple(one.moved(segment.head) for one in within(changes, self._origin, end))
        cursor = segment.head + generation.cursor.chars - self._origin
        taken = TakenAction(
            step.id, full_label(frame, generation.rollout.canvas.tokens), step.action.kind, probability, options
        )
        node = self._at.after(edits, cursor, taken)
        if generation.rollout.over and segment.number + 1 == len(self._passages):
            node.ending = generation.rollout.ending
        self._at = node
        return node
