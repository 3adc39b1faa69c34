"""The changes of a revision, one by one: kept, put back, and followed through what the user does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.documents.hunks import Hunk, Hunks, hunks_between, joined
from lsp_server.documents.surroundings import offset_before, paragraph
from lsp_server.runs.live_run import LiveRun, RunRegion
from reviser.core.edits import Edit

words = st.lists(st.sampled_from(["the", "cat", " ", " ", ",", ".", "é😀", "\r\n", "\n"]), max_size=12)
texts = words.map("".join)


def told(hunks: list[Hunk]) -> list[tuple[int, str, str]]:
    return [(hunk.start, hunk.old, hunk.new) for hunk in hunks]


def applied(text: str, hunks: Hunks, chosen: list[Hunk]) -> str:
    """The document after some hunks were put back, as an editor reports it."""
    if not chosen:
        return text
    change = hunks.restoration(text, chosen)
    hunks.put_back(chosen)
    return change.apply_to(text)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("the cat sat", "the dog sat", [(4, "cat", "dog")]),
        ("the old cat sat", "a young cat lay", [(0, "the old", "a young"), (12, "sat", "lay")]),
        ("a cat, a mat", "a dog, a rug", [(2, "cat", "dog"), (9, "mat", "rug")]),
        ("so very late", "so late", [(3, "very ", "")]),
        ("one\r\ntwo", "one\r\n\r\ntwo", [(5, "", "\r\n")]),
        ("same", "same", []),
    ],
)
def test_changes_are_of_words(old: str, new: str, wanted: list[tuple[int, str, str]]) -> None:
    assert told(hunks_between(0, old, new)) == wanted
    assert told(hunks_between(7, old, new)) == [(7 + start, *pair) for start, *pair in wanted]


@given(texts, texts, st.data())
def test_what_is_kept_is_new_and_what_is_put_back_is_old(old: str, new: str, data: st.DataObject) -> None:
    """Hunk by hunk in any order, the text is the old one with exactly the kept changes in it."""
    head, tail = "Before. ", " After."
    start = len(head)
    hunks = Hunks(hunks_between(start, old, new), start, start + len(new), old)
    text = head + new + tail
    everything = list(hunks)
    for hunk in everything:
        hunk.hidden = hunk.shows_old(text, start, start + len(new))
    order = data.draw(st.permutations(everything))
    kept = order[: data.draw(st.integers(0, len(order)))]
    order = data.draw(st.permutations(everything))
    # Where each change stood in the old text.
    shift, parts, end = 0, [], 0
    for hunk in everything:
        place = hunk.start - len(head) - shift
        parts += [old[end:place], hunk.new if hunk in kept else hunk.old]
        end = place + len(hunk.old)
        shift += len(hunk.new) - len(hunk.old)
    wanted = head + "".join([*parts, old[end:]]) + tail
    for hunk in order:
        if hunk in kept:
            hunk.kept = True
        else:
            text = applied(text, hunks, [hunk])
            hunks.check(text)
    assert text == wanted
    assert not hunks.pending
    assert applied(text, hunks, list(hunks)) == head + old + tail


@given(texts, texts)
def test_all_at_once_is_one_change(old: str, new: str) -> None:
    hunks = Hunks(hunks_between(3, old, new), 3, 3 + len(new), old)
    text = applied(f">> {new} <<", hunks, list(hunks))
    assert text == f">> {old} <<"
    assert (len(hunks), hunks.restored) == (0, hunks.total)


EDITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5), st.text("xy 😀", max_size=3)), max_size=6)


@given(texts, texts, EDITS, st.data())
def test_edits_around_changes_move_them_and_edits_inside_settle_them(
    old: str, new: str, edits: list[tuple[int, int, str]], data: st.DataObject
) -> None:
    hunks = Hunks(hunks_between(4, old, new), 4, 4 + len(new), old)
    text = f"... {new} ..."
    for place, size, inserted in edits:
        low = min(place, len(text))
        change = Edit(low, text[low : low + size], inserted)
        before = told(list(hunks))
        hunks.follow(change)
        text = change.apply_to(text)
        known = told(list(hunks))
        assert all(text[start : start + len(there)] == there for start, _, there in known)
        core = change.core
        for start, removed, there in before:
            inside = core.start < start + len(there) and core.end > start
            if inside:
                continue
            moved = start + core.growth if core.end <= start else start
            at = core.start == core.end == start and not there
            assert at or not (core.old or core.new) or (moved, removed, there) in known
    if pending := hunks.pending:
        hunk = data.draw(st.sampled_from(pending))
        others = [(h.start, h.new) for h in pending if h is not hunk]
        start, growth = hunk.start, len(hunk.old) - len(hunk.new)
        index = pending.index(hunk)
        after = applied(text, hunks, [hunk])
        assert after == text[:start] + hunk.old + text[start + len(hunk.new) :]
        assert [(h.start, h.new) for h in hunks] == [
            (place + (growth if number >= index else 0), there) for number, (place, there) in enumerate(others)
        ]


def test_text_at_the_edge_is_beside_a_change_and_text_at_a_gap_fills_it() -> None:
    for change, wanted in (
        (Edit(4, "", "x"), [(5, "old", "new")]),
        (Edit(7, "", "x"), [(4, "old", "new")]),
        (Edit(6, "w", ""), []),
        (Edit(2, "e ne", "e new one"), []),
        (Edit(0, "the new cat", "the new dog"), [(4, "old", "new")]),
    ):
        hunks = Hunks([Hunk(4, "old", "new")], 4, 7, "old")
        hunks.follow(change)
        assert told(list(hunks)) == wanted, change
    for change, wanted in (
        (Edit(4, "", "x"), []),
        (Edit(4, "", "x\n"), [(6, "gone", "")]),
        (Edit(4, "", "\r\nx"), [(4, "gone", "")]),
        (Edit(3, " ", ""), [(3, "gone", "")]),
        (Edit(4, " ", ""), [(4, "gone", "")]),
    ):
        hunks = Hunks([Hunk(4, "gone", "")], 4, 4, "gone")
        hunks.follow(change)
        assert told(list(hunks)) == wanted, change


def test_what_an_editor_undoes_is_no_longer_pending() -> None:
    """An editor may report that as an insertion beside the new text, or anywhere among equal letters."""
    for old, new, change, text in (
        ("cats", "cat", Edit(7, "", "s"), "the cats sat"),
        ("bobcat", "cat", Edit(4, "", "bob"), "the bobcat sat"),
        ("cat ", "", Edit(5, "", "at c"), "the cat cup"),
    ):
        run = LiveRun("1", "file:///a", RunRegion(0, text), kind="revise")
        shown = text.replace(old, new)
        run.advance(shown, 0, (0, len(text)))
        edit = run.next_change(text)
        assert edit
        run.sent(edit)
        run.follow(edit)
        run.settle()
        run.hunks.check(shown)
        assert told(list(run.hunks)) == [(4, old, new)]
        run.follow(change)
        run.hunks.check(change.apply_to(shown))
        assert change.apply_to(shown) == text
        assert not run.hunks


def test_what_an_editor_undoes_may_leave_an_equal_letter_where_the_change_was() -> None:
    """The user has typed before it, and taken out the first of two full stops, not the one that was inserted."""
    text, shown = "> It fell.", "> It fell.."
    run = LiveRun("1", "file:///a", RunRegion(2, text[2:]), kind="revise")
    run.advance(shown[2:], 0, (0, 8))
    edit = run.next_change(text)
    assert edit
    run.sent(edit)
    run.follow(edit)
    run.settle()
    run.hunks.check(shown)
    (hunk,) = run.hunks
    for change in (Edit(0, "", "> "), Edit(hunk.start + 2 - len("."), ".", "")):
        run.follow(change)
        shown = change.apply_to(shown)
    assert shown == "> > It fell."
    assert [hunk.new for hunk in run.hunks] == ["."]
    run.hunks.check(shown)
    assert not run.hunks


def test_what_stands_before_the_passage_is_not_what_was_taken_out_of_it() -> None:
    text, shown = ">  two", "> two"
    run = LiveRun("1", "file:///a", RunRegion(2, text[2:]), kind="revise")
    run.advance(shown[2:], 0, (0, 4))
    edit = run.next_change(text)
    assert edit
    run.sent(edit)
    run.follow(edit)
    run.settle()
    run.hunks.check(shown)
    assert told(list(run.hunks)) == [(2, " ", "")]


def test_of_two_equal_words_one_may_be_gone() -> None:
    text = "so very very late"
    run = LiveRun("1", "file:///a", RunRegion(0, text), kind="revise")
    run.advance("so very late", 0, (0, len(text)))
    change = run.next_change(text)
    assert change
    run.sent(change)
    run.follow(change)
    run.settle()
    run.hunks.check("so very late")
    (hunk,) = run.hunks
    assert run.hunks.restoration("so very late", [hunk]).apply_to("so very late") == text


def test_changes_that_touch_are_one() -> None:
    hunks = joined([Hunk(0, "a", "b"), Hunk(1, "", "c"), Hunk(3, "d", "")])
    assert told(list(hunks)) == [(0, "a", "bc"), (3, "d", "")]


def test_a_run_that_revises_shows_one_passage_after_the_other() -> None:
    """Both passages are done before the first is shown: what is between them is not touched."""
    text = "> one\r\n\r\ntwo\f <"
    run = LiveRun("3", "file:///a", RunRegion(2, "one\r\n\r\ntwo\f"), ending="\r\n", kind="revise")
    run.advance("one and a half", 3, (0, 3))
    assert run.cursor == 3
    run.advance("two\f\nthree", 9, (7, 11))
    assert run.cursor == 3
    for wanted in (Edit(5, "", " and a half"), Edit(24, "", "\r\nthree")):
        change = run.next_change(text)
        assert change == wanted
        run.sent(change)
        assert run.follow(change) == "ours"
        text = change.apply_to(text)
    assert run.next_change(text) is None
    assert run.cursor == len("one and a half\r\n\r\ntwo\f\r\nthre")
    run.settle()
    assert told(list(run.hunks)) == [(5, "", " and a half"), (24, "", "\r\nthree")]
    assert [hunk.id for hunk in run.hunks] == ["3.1", "3.2"]


def test_typing_into_a_revision_leaves_the_other_changes_pending() -> None:
    text = "one two three four"
    run = LiveRun("1", "file:///a", RunRegion(0, text), kind="revise")
    run.advance("ONE two THREE four", 0, (0, len(text)))
    change = run.next_change(text)
    assert change
    run.sent(change)
    run.follow(change)
    assert run.follow(Edit(1, "", "x")) == "inside"
    assert told(list(run.hunks)) == [(9, "three", "THREE")]


@given(st.text("ab \r\n", max_size=30), st.data())
def test_a_paragraph_is_lines_without_a_blank_one(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    start, end = paragraph(text, offset)
    found = text[start:end]
    assert start <= offset
    assert offset <= end or text[end:offset].strip() == ""
    lines = found.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert len(lines) == 1 or all(line.strip() for line in lines)


@given(st.text("a\r\n😀", max_size=20), st.data())
def test_places_in_the_models_text_are_places_in_the_document(text: str, data: st.DataObject) -> None:
    shown = text.replace("\r\n", "\n")
    offset = data.draw(st.integers(0, len(shown)))
    assert text[: offset_before(text, offset)].replace("\r\n", "\n") == shown[:offset]
