"""A session binds a document to a policy: runs of the model become edits of the document's text.

The model sees a window of the document that fits its context, cut at a line or a sentence; the rest is never touched.
The window's start stays in place while the document grows, so that the model's cache can be reused from one keystroke
to the next. A draft to be revised is shown between its nearest neighbours only, as in training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reviser.core.actions import Splice
from reviser.core.counts import counted
from reviser.core.edits import Edit, end_of_writing
from reviser.core.errors import ReviserError
from reviser.core.text import Extent, TextEdit, TextLayer, minimal_edit
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.left_to_right import Reading, can_read, left_to_right
from reviser.decoding.lookahead import MARGIN, LookaheadPolicy
from reviser.decoding.policy import ModelPolicy, SessionPolicy
from reviser.decoding.rollout import Rollout, Step, seed
from reviser.decoding.rules.closing import ClosingRule
from reviser.decoding.rules.ending import LEAST, EndingRule
from reviser.decoding.rules.line import LineRule, is_within_line
from reviser.decoding.rules.repetition import LONGEST_REPEAT, NoRepeatedPhrases, NoRepeats
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.spacing import (
    SentenceSpacing,
    SingleMark,
    SingleSpacing,
    ends_sentence,
    ends_with_mark,
    joining,
)
from reviser.decoding.rules.structure import OpenStructure
from reviser.decoding.rules.word import WordCompletion
from reviser.decoding.sampler import Sampler
from reviser.decoding.strategies import BestOf, CheckedStrategy, RunStart, Strategy, plain
from reviser.session.frames import Frame
from reviser.session.windows import PIECE_SPARE, Window, WindowCutter

DEFAULT_WINDOW = 1024
DEFAULT_ACTIONS = 256
NEIGHBOURS = 128
"""Tokens shown around a draft, half of them on either side: few of the edits in the training data have more."""
PASSAGE = 128
"""The best number of tokens to revise at once: few of the edits in the training data are longer."""

# Characters before a window that are looked at for what stands open.
_SEEN_BEFORE = 100_000


class Session:
    """A document and a policy. Only one run at a time acts on the document."""

    def __init__(
        self, policy: SessionPolicy, tokenizer: Tokenizer, text: str = "", *, window: int = DEFAULT_WINDOW
    ) -> None:
        if policy.vocabulary.base_size < tokenizer.size:
            raise ReviserError("the model and the tokenizer do not belong together")
        self.policy = policy
        self.tokenizer = tokenizer
        self._cutter = WindowCutter(tokenizer)
        self._text = text
        self._window = window
        self._window_start = 0
        self._run: Generation | None = None
        self._reading: Reading | None = None

    @property
    def text(self) -> str:
        """The current document, including the edits of a run in progress."""
        return self._text if self._run is None else self._run.text

    @text.setter
    def text(self, text: str) -> None:
        """Replace the document after an edit from outside; cancels a run in progress."""
        self._leave_run()
        self._take_over(text)

    def continue_(
        self,
        sampler: Sampler | None = None,
        *,
        at: int | None = None,
        max_actions: int = DEFAULT_ACTIONS,
        check_steps_back: bool = True,
        longest_repeat: int = LONGEST_REPEAT,
    ) -> Generation:
        """Begin a run that writes on at the end of the document, or at offset `at`.

        A final line ending stays the final one. A document that is finished gets nothing more. With `check_steps_back`
        the run goes back to insert something only where the text reads as well with it; policies that cannot read a
        text from left to right ignore this. The model does not write `longest_repeat` tokens in a row twice; 0 allows
        it.
        """
        self._leave_run()
        end = end_of_writing(self._text) if at is None else at
        window = self._choose_window(end, end, self._room(max_actions, False), False)
        return self._write(window, "", sampler, max_actions, longest_repeat, checks=check_steps_back, ends=True)

    def infill(
        self,
        start: int,
        end: int | None = None,
        sampler: Sampler | None = None,
        *,
        max_actions: int = DEFAULT_ACTIONS,
        check_steps_back: bool = True,
        longest_repeat: int = LONGEST_REPEAT,
        tries: int | None = None,
    ) -> Generation:
        """Begin a run that writes between character offsets `start` and `end`; the text between them is removed first.

        Of `tries` fillings, by default a fixed number, the one that best joins the following text is written, up to the
        best end in it. A policy that cannot read a text from left to right, or cannot stop, makes one.
        """
        from reviser.decoding.filling import TRIES

        self._leave_run()
        end = start if end is None else end
        if not 0 <= start <= end <= len(self._text):
            raise ReviserError(f"there is no place {start} to {end} in a text of {len(self._text)}")
        window = self._choose_window(start, end, self._room(max_actions, True), True)
        return self._write(
            window,
            self._text[start:end],
            sampler,
            max_actions,
            longest_repeat,
            checks=check_steps_back,
            tries=TRIES if tries is None else tries,
        )

    def revise(
        self,
        start: int = 0,
        end: int | None = None,
        sampler: Sampler | None = None,
        *,
        max_actions: int = DEFAULT_ACTIONS,
        margin: float = MARGIN,
    ) -> Generation:
        """Begin a run that revises the text between two character offsets, which must fit the model.

        `passages` gives pieces of suitable length. What the model sees around a piece depends on the document alone, so
        pieces can be revised repeatedly and in any order. A change is made where it is at least `margin` times as
        likely as leaving the text alone; with 0, wherever the model begins one.
        """
        self._leave_run()
        check_revises(self.policy.vocabulary)
        end = len(self._text) if end is None else end
        if not 0 <= start <= end <= len(self._text):
            raise ReviserError(f"there is no place {start} to {end} in a text of {len(self._text)}")
        draft = self.tokenizer.encode(self._text[start:end])
        if len(draft) > self.longest_draft:
            raise ReviserError(
                f"{counted(len(draft), 'token')} are too many to revise at once; {self.longest_draft} are the most"
            )
        room = self._room(max_actions, True, 1 + len(draft))
        window = self._cutter.neighbourhood(self._text, start, end, min(room, NEIGHBOURS))
        begun = self._beginning(window, max_actions, draft)
        if margin:
            looking = LookaheadPolicy(self.policy, margin, limit=begun.max_actions)
            begun = replace(begun, policy=looking)
        return self._shown(plain(begun, sampler), window, self._text[start:end], stays=True)

    def revise_all(
        self,
        start: int = 0,
        end: int | None = None,
        sampler: Sampler | None = None,
        *,
        max_actions: int = DEFAULT_ACTIONS,
        margin: float = MARGIN,
    ) -> Iterator[tuple[Generation, int, int]]:
        """Revise a part of the document passage by passage: yields each run with the passage's offsets before all runs.

        A run must be over before the next one is asked for. Passages that the tokenizer does not reproduce exactly,
        such as half a character, are skipped.
        """
        text, grown = self.text, 0
        for first, last in self.passages(start, end):
            if not _is_kept(text[first:last], self.tokenizer):
                continue
            run = self.revise(first + grown, last + grown, sampler, max_actions=max_actions, margin=margin)
            yield run, first, last
            grown += len(run.written) - (last - first)

    def window(self, start: int, end: int, max_actions: int) -> Window:
        """The part of the document that the model sees when it writes between two character offsets."""
        self._leave_run()
        if not 0 <= start <= end <= len(self._text):
            raise ReviserError(f"there is no place {start} to {end} in a text of {len(self._text)}")
        return self._choose_window(start, end, self._room(max_actions, True), True)

    @property
    def longest_draft(self) -> int:
        """The number of tokens that can be revised at once, with their neighbours and as many actions again."""
        context = self.policy.context
        return min(context, self.policy.max_length or context) // 3

    def passages(self, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """The offsets of the non-blank lines between two offsets; long lines are cut at sentences or words."""
        check_revises(self.policy.vocabulary)
        end = len(self._text) if end is None else end
        longest = min(self.longest_draft, PASSAGE)
        found = []
        for line in re.finditer(r"[^\r\n]+", self._text[start:end]):
            first, last = start + line.start(), start + line.end()
            while self._text[first:last].strip():
                cut = last
                if not self._cutter.fits(self._text[first:last], longest):
                    room = max(longest - PIECE_SPARE, 1)
                    cut = min(self._cutter.suffix_end(self._text, first, room), last)
                    # The space between two passages belongs to the second, as to a word.
                    cut = first + max(len(self._text[first:cut].rstrip()), 1)
                found.append((first, cut))
                first = cut
        return found

    def _write(
        self,
        window: Window,
        replaced: str,
        sampler: Sampler | None,
        max_actions: int,
        longest_repeat: int,
        *,
        checks: bool,
        tries: int = 1,
        ends: bool = False,
    ) -> Generation:
        """Begin a run that writes into a window; `ends` says that no text follows it in the document."""
        begun = self._beginning(window, max_actions)
        if not window.suffix or "stop" not in self.policy.vocabulary.kinds:
            tries = 1
        rules = self._rules(window, begun, longest_repeat, searches=tries > 1)
        rules += (form := self._form(window, begun, ends=ends))
        strategy = self._strategy(window, checks, tries, form)
        rollout = strategy(replace(begun, rules=rules), sampler)
        return self._shown(rollout, window, replaced)

    def _beginning(self, window: Window, max_actions: int, draft: Sequence[int] | None = None) -> RunStart:
        """The start of a run: a canvas with what the model sees, and the number of actions."""
        prefix, suffix = (self.tokenizer.encode(part) for part in (window.prefix, window.suffix))
        canvas, history = seed(self.policy.vocabulary, prefix, suffix, draft=draft, max_length=self.policy.max_length)
        return RunStart(self.policy, canvas, history, min(max_actions, self.policy.context - len(history)))

    def _rules(self, window: Window, begun: RunStart, longest_repeat: int, *, searches: bool) -> list[ScoreProcessor]:
        """The rules for a run that writes into a window."""
        tokenizer, limit = self.tokenizer, begun.max_actions
        rules: list[ScoreProcessor] = []
        if not window.trailing_space and ends_sentence(window.prefix):
            rules.append(SentenceSpacing(tokenizer))
        if searches and ends_with_mark(window.prefix):
            rules.append(SingleMark(tokenizer))
        if not isinstance(self.policy, ModelPolicy):
            return rules
        if longest_repeat > 1:
            rules += [NoRepeats(longest_repeat, tokenizer), NoRepeatedPhrases(tokenizer)]
        if not window.suffix:
            rules.append(WordCompletion(tokenizer, self.policy.scores, window.prefix, len(begun.history)))
            rules.append(EndingRule(self.policy.vocabulary, tokenizer, len(begun.history), limit, window.prefix))
        return rules

    def _form(self, window: Window, begun: RunStart, *, ends: bool) -> list[ScoreProcessor]:
        """The rules that keep the form of a text: spaces, lines, and closing of what is open."""
        if not isinstance(self.policy, ModelPolicy):
            return []
        tokenizer, vocabulary = self.tokenizer, self.policy.vocabulary
        apart = bool(window.trailing_space)
        structure = OpenStructure(_from_line_start(window.before, _SEEN_BEFORE) + window.prefix)
        rules: list[ScoreProcessor] = [SingleSpacing(vocabulary, tokenizer, structure, apart=apart)]
        if "stop" not in vocabulary.kinds:
            return rules
        if window.suffix and is_within_line(window.prefix, window.suffix):
            rules.append(LineRule(vocabulary, tokenizer, window.prefix, window.suffix, apart=apart))
        limit = len(begun.history) + begun.max_actions if begun.max_actions >= LEAST else None
        rules.append(ClosingRule(vocabulary, tokenizer, structure, limit, fills=bool(window.suffix), own=not ends))
        return rules

    def _strategy(self, window: Window, checks: bool, tries: int, form: Sequence[ScoreProcessor]) -> Strategy:
        """The strategy of a run; plain for a policy that cannot read a text from left to right."""
        if not (checks or tries > 1) or not can_read(self.policy):
            return plain
        self._reading = reading = self._reading or left_to_right(self.policy)
        each: Strategy = CheckedStrategy(reading, self.tokenizer) if checks else plain
        if tries == 1:
            return each
        fits = [joining(self.tokenizer, window.suffix), *(rule.fits for rule in form)]
        return BestOf(tries, each, reading, lambda tokens: all(one(tokens) for one in fits))

    def _shown(self, rollout: Rollout, window: Window, replaced: str, *, stays: bool = False) -> Generation:
        """Register a rollout as the session's current run."""
        layer = TextLayer(self.tokenizer, rollout.canvas.tokens)
        self._run = Generation(rollout, self.tokenizer, layer, window, replaced, stays=stays)
        return self._run

    def _leave_run(self) -> None:
        if self._run is not None:
            self._run.cancel()
            self._take_over(self._run.text)
            self._run = None

    def _take_over(self, text: str) -> None:
        """Make `text` the document; a cached window start behind the first change is dropped."""
        if text[: self._window_start] != self._text[: self._window_start]:
            self._window_start = 0
        self._text = text

    def _room(self, actions: int, sees_suffix: bool, draft: int = 0) -> int:
        """The number of document tokens that the model can see beside a draft and the actions of a run."""
        context = self.policy.context
        # The start marker, the moves back over a suffix, and room for the run itself.
        actions = min(actions, context // (3 if draft else 2))
        room = context - 1 - actions - draft - (12 if sees_suffix else 0)
        return max(min(self._window, room, (self.policy.max_length or context) - draft), 0)

    def _choose_window(self, start: int, end: int, room: int, sees_suffix: bool) -> Window:
        text = self._text
        suffix_end = end
        if sees_suffix:
            suffix_end = self._cutter.suffix_end(text, end, room // 4)
            room -= len(self.tokenizer.encode(text[end:suffix_end]))
        # Where the window started before, if that still fits, else with a quarter to spare.
        kept = self._window_start
        if kept > start or not self._cutter.fits(text[kept:start], room):
            kept = self._cutter.prefix_start(text, start, room, room // 4)
        self._window_start = kept
        return Window.around(text, kept, start, end, suffix_end)


def check_revises(vocabulary: Vocabulary) -> None:
    """Raise `ReviserError` if a model is not trained to revise."""
    if not vocabulary.revises:
        raise ReviserError("this model was not trained to revise; it can only continue and infill")


def _from_line_start(text: str, most: int) -> str:
    """The end of a text, at most `most` characters, cut at the start of a line."""
    return text if len(text) <= most else text[text.find("\n", -most) + 1 :]


def _is_kept(text: str, tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer decodes a text exactly as it was; half a character, for example, may be lost."""
    return TextLayer(tokenizer, tokenizer.encode(text)).text == text


class Generation(Iterator[Frame]):
    """A run on a document: each `next` is one action, with its edits in the document's coordinates.

    `opening` is the edit to make before the first action: the removal of the text that an infill replaces. With
    `stays`, that text (a draft) remains until actions change it. A caller pauses by not asking for the next action, and
    stops the run with `cancel`.
    """

    def __init__(
        self,
        rollout: Rollout,
        tokenizer: Tokenizer,
        layer: TextLayer,
        window: Window,
        replaced: str = "",
        *,
        stays: bool = False,
    ) -> None:
        self.rollout = rollout
        self.window = window
        self._tokenizer = tokenizer
        self._layer = layer
        self._replaced = replaced
        self._origin = Extent.of(window.before)
        self._written = replaced if stays else window.trailing_space
        removed = replaced and not stays
        self.opening = self._edit(window.trailing_space + replaced, window.trailing_space) if removed else None

    def __next__(self) -> Frame:
        return self._frame(next(self.rollout))

    def take(self, id: int) -> Frame:
        """Carry out `id` as the next action, chosen by the caller."""
        return self._frame(self.rollout.take(id))

    def take_back(self) -> tuple[TextEdit, ...]:
        """Undo the last action; returns the edits that undo it in the document."""
        return self._follow(self.rollout.take_back())

    def cancel(self) -> None:
        """End the run before its next action; may be called from another thread."""
        self.rollout.cancel()

    def reject(self) -> TextEdit | None:
        """Undo the whole run and restore the replaced text, as one edit; None if nothing changed."""
        self.cancel()
        written = self.written
        while self.rollout.actions_taken:
            self.take_back()
        original = self.window.trailing_space + self._replaced
        self._written = original
        return None if written == original else self._edit(written, original)

    @property
    def written(self) -> str:
        """The current text between prefix and suffix."""
        if not self.rollout.actions_taken:
            return self._written
        canvas = self.rollout.canvas
        return self._with_trailing_space(self._layer.between(canvas.low, canvas.high))

    @property
    def text(self) -> str:
        """The current document."""
        window = self.window
        return window.before + window.prefix + self.written + window.suffix + window.after

    @property
    def cursor(self) -> Extent:
        """The position of the model's cursor in the document."""
        canvas = self.rollout.canvas
        if not self.window.trailing_space:
            return self._origin + self._layer.position(canvas.cursor)
        reached = self._layer.between(canvas.low, canvas.cursor)
        leads = self._layer.between(canvas.low, canvas.high).startswith(self.window.trailing_space)
        shown = reached if leads else self.window.trailing_space + reached
        return self._origin + Extent.of(self.window.prefix + shown)

    def _frame(self, step: Step) -> Frame:
        edits = self._follow(step.splices)
        return Frame(step, self._tokenizer, edits, self.cursor)

    def _follow(self, splices: tuple[Splice, ...]) -> tuple[TextEdit, ...]:
        """Apply splices to the text; returns the edits of the document."""
        edits = [edit for splice in splices if (edit := self._layer.apply(splice)) is not None]
        if not self.window.trailing_space:
            return tuple(edit.moved(self._origin) for edit in edits)
        # The trailing space is shown until the model has written one in its place.
        canvas = self.rollout.canvas
        before = self._written
        self._written = self._with_trailing_space(self._layer.between(canvas.low, canvas.high))
        if before == self._written:
            return ()
        home = len(self.window.before) + len(self.window.prefix)
        change = Edit.at_cursor(before, self._written, self.cursor.chars - home)
        return (self._placed(before, change),)

    def _with_trailing_space(self, region: str) -> str:
        return region if region.startswith(self.window.trailing_space) else self.window.trailing_space + region

    def _edit(self, old: str, new: str) -> TextEdit:
        """The document edit that turns `old` into `new`, both texts between prefix and suffix."""
        return self._placed(old, Edit.between(old, new))

    def _placed(self, old: str, change: Edit) -> TextEdit:
        """A change of `old`, the text between prefix and suffix, as an edit of the document."""
        window = self.window
        lead = window.prefix + old[: change.start]
        home = self._origin + Extent.of(lead[:-1])
        after = old[change.end : change.end + 1] or window.suffix[:1] or window.after[:1]
        return minimal_edit(home, lead[-1:], change.old, change.new, after)
