"""Undo, redo and a run's region against a model made of plain strings and snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText, Selection

PIECES = ["a", "word ", "\n", "\r\n", "é", "漢字", "👩‍💻", ""]
texts = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)


@dataclass
class Plain:
    """The text without the open run, with snapshots for undo; the run's text lies on top."""

    base: str
    undo: list[tuple[str, int]] = field(default_factory=list)
    redo: list[tuple[str, int]] = field(default_factory=list)
    start: int = 0
    original: str = ""
    written: str | None = None
    depth: int = 0
    saved: str | None = None

    @property
    def text(self) -> str:
        if self.written is None:
            return self.base
        rest = self.base[self.start + len(self.original) :]
        return self.base[: self.start] + self.written + rest

    def close(self) -> None:
        if self.written is not None and self.written != self.original:
            self.undo.append((self.base, 0))
            self.base = self.text
            self.redo.clear()
        self.written = None

    def edit(self, start: int, end: int, new: str) -> None:
        if self.written is not None:
            reach = self.start + len(self.written)
            if start <= reach and end >= self.start:
                self.close()
            elif start > reach:
                shift = len(self.written) - len(self.original)
                start, end = start - shift, end - shift
        self.undo.append((self.base, self.start))
        self.redo.clear()
        self.base = self.base[:start] + new + self.base[end:]
        if end < self.start:
            self.start += len(new) - (end - start)


class DraftMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        text = "one two\nthree\r\nfour 漢字"
        self.draft = EditedText(text)
        self.plain = Plain(text)
        self.mirror = text
        self.draft.observers.append(self.mirror_change)

    def mirror_change(self, change: Edit) -> None:
        end = change.start + len(change.old)
        assert self.mirror[change.start : end] == change.old
        self.mirror = self.mirror[: change.start] + change.new + self.mirror[end:]

    @rule(data=st.data(), new=texts)
    def edit(self, data: st.DataObject, new: str) -> None:
        length = len(self.plain.text)
        start = data.draw(st.integers(0, length))
        end = data.draw(st.integers(start, min(length, start + 5)))
        if start == end and not new:
            return
        self.draft.edit(start, end, new)
        self.plain.edit(start, end, new)
        assert self.draft.selection == Selection.at(start + len(new))

    @rule()
    def undo(self) -> None:
        plain = self.plain
        if plain.written is not None and len(plain.undo) <= plain.depth:
            idle = plain.written == plain.original
            plain.close()
            if idle:
                assert self.draft.undo()
                return
        assert self.draft.undo() == bool(plain.undo)
        if plain.undo:
            base, start = plain.undo.pop()
            plain.redo.append((plain.base, plain.start))
            plain.base, plain.start = base, start

    @rule()
    def redo(self) -> None:
        plain = self.plain
        assert self.draft.redo() == bool(plain.redo)
        if plain.redo:
            base, start = plain.redo.pop()
            plain.undo.append((plain.base, plain.start))
            plain.base, plain.start = base, start

    @rule(data=st.data())
    def open_region(self, data: st.DataObject) -> None:
        plain = self.plain
        plain.close()
        start = data.draw(st.integers(0, len(plain.base)))
        end = data.draw(st.integers(start, min(len(plain.base), start + 4)))
        self.draft.open_region(start, end)
        plain.start, plain.original = start, plain.base[start:end]
        plain.written = plain.original
        plain.depth = len(plain.undo)
        plain.redo.clear()

    @precondition(lambda self: self.plain.written is not None)
    @rule(new=texts)
    def write_region(self, new: str) -> None:
        self.draft.write_region(new)
        self.plain.written = new

    @precondition(lambda self: self.plain.written is not None)
    @rule()
    def reject(self) -> None:
        self.draft.reject_region()
        self.plain.written = None

    @precondition(lambda self: self.plain.written is not None)
    @rule()
    def discard(self) -> None:
        plain = self.plain
        original, written = plain.original, plain.written
        self.draft.discard_region()
        plain.close()
        if written != original:
            plain.undo.append((plain.base, plain.start))
            start = plain.start
            plain.base = plain.base[:start] + original + plain.base[start + len(written or "") :]

    @rule()
    def close(self) -> None:
        self.draft.close_region()
        self.plain.close()

    @rule()
    def save(self) -> None:
        self.draft.mark_saved()
        assert not self.draft.modified
        self.plain.saved = self.plain.text

    @invariant()
    def all_agree(self) -> None:
        assert self.draft.text == self.plain.text == self.mirror
        region = self.draft.region
        assert (region is not None) == (self.plain.written is not None)
        if region is not None:
            assert self.draft.buffer.slice(region.start, region.end) == region.patches[0].written
            assert region.start == self.plain.start
        selection = self.draft.selection
        assert 0 <= selection.start <= selection.end <= self.draft.buffer.length
        if not self.draft.modified:
            saved = "one two\nthree\r\nfour 漢字" if self.plain.saved is None else self.plain.saved
            assert self.draft.text == saved


TestDraft = DraftMachine.TestCase
TestDraft.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)


def type_into(draft: EditedText, text: str) -> None:
    for character in text:
        at = draft.selection.cursor
        draft.edit(at, at, character, "typing")


def test_typing_is_undone_word_by_word_and_line_by_line() -> None:
    draft = EditedText()
    type_into(draft, "The cat\nsat")
    states = []
    while draft.undo():
        states.append(draft.text)
    assert states == ["The cat\n", "The cat", "The ", ""]
    while draft.redo():
        pass
    assert draft.text == "The cat\nsat"


def test_moving_the_cursor_and_saving_begin_a_new_entry() -> None:
    draft = EditedText()
    type_into(draft, "ab")
    draft.select(Selection.at(0))
    draft.select(Selection.at(2))
    type_into(draft, "cd")
    draft.mark_saved()
    type_into(draft, "ef")
    assert draft.modified
    draft.undo()
    assert (draft.text, draft.modified) == ("abcd", False)
    draft.undo()
    assert (draft.text, draft.modified) == ("ab", True)


def test_erasing_joins_both_ways_but_not_across_kinds() -> None:
    draft = EditedText("abcdef")
    draft.edit(5, 6, "", "erasing")
    draft.edit(4, 5, "", "erasing")
    draft.edit(0, 1, "", "deleting")
    draft.edit(0, 1, "", "deleting")
    assert draft.text == "cd"
    draft.undo()
    assert draft.text == "abcd"
    draft.undo()
    assert draft.text == "abcdef"


def test_a_run_undoes_in_one_step_and_leaves_the_users_words() -> None:
    draft = EditedText("Title\n\nOnce upon")
    draft.open_region(len("Title\n\nOnce upon"), len("Title\n\nOnce upon"))
    for written in (" a", " a time", " a long time", " a long time ago"):
        draft.write_region(written)
        draft.select(Selection.at(draft.buffer.line_end(0)))
        type_into(draft, "!")
    draft.close_region()
    assert draft.text == "Title!!!!\n\nOnce upon a long time ago"
    draft.undo()
    assert draft.text == "Title!!!!\n\nOnce upon"
    draft.undo()
    assert draft.text == "Title!!!\n\nOnce upon"
    while draft.redo():
        pass
    assert draft.text == "Title!!!!\n\nOnce upon a long time ago"


def test_typing_elsewhere_is_undone_while_the_run_goes_on() -> None:
    draft = EditedText("ab")
    region = draft.open_region(2, 2)
    draft.write_region("XY")
    draft.edit(0, 0, "0")
    draft.write_region("XYZ")
    assert draft.undo()
    assert (draft.text, region.open) == ("abXYZ", True)
    assert draft.undo()
    assert (draft.text, region.open) == ("ab", False)
    draft.redo()
    assert draft.text == "abXYZ"


def test_undoing_a_run_that_wrote_nothing_takes_nothing_else() -> None:
    draft = EditedText("ab")
    draft.edit(2, 2, "c")
    region = draft.open_region(3, 3)
    assert draft.undo()
    assert (draft.text, region.open) == ("abc", False)
    assert draft.undo()
    assert draft.text == "ab"


@pytest.mark.parametrize("place", [2, 3, 5])
def test_typing_into_the_region_closes_it(place: int) -> None:
    draft = EditedText("ab")
    region = draft.open_region(2, 2)
    draft.write_region("XYZ")
    draft.edit(place, place, "!")
    assert not region.open
    assert draft.text == ("abXYZ"[:place] + "!" + "abXYZ"[place:])
    draft.undo()
    draft.undo()
    assert draft.text == "ab"


def test_several_changes_are_one_step_and_leave_the_cursor_in_its_place() -> None:
    draft = EditedText("teh cat and teh dog")
    draft.select(Selection.at(9))
    draft.edit_all([Edit(0, "teh", "the big"), Edit(12, "teh", "a")])
    assert (draft.text, draft.selection) == ("the big cat and a dog", Selection.at(13))
    assert draft.undoable == 1
    assert draft.undo()
    assert (draft.text, draft.selection) == ("teh cat and teh dog", Selection.at(9))
    assert draft.redo()
    assert (draft.text, draft.selection) == ("the big cat and a dog", Selection.at(13))


def test_several_changes_around_an_open_run() -> None:
    draft = EditedText("teh cat and teh dog")
    region = draft.open_region(8, 11)
    draft.write_region("or perhaps")
    draft.edit_all([Edit(0, "teh", "the big"), Edit(19, "teh", "a")])
    assert draft.text == "the big cat or perhaps a dog"
    assert (region.start, region.end) == (12, 22)
    assert draft.undo()
    assert draft.text == "teh cat or perhaps teh dog"
    draft.close_region()
    assert draft.undo()
    assert draft.text == "teh cat and teh dog"
