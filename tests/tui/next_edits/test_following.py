"""Next edits in the terminal editor: offered while the user pauses, accepted, refused, and gone when they are stale."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.decoding.policy import ModelPolicy
from reviser.editor.edited_text import Selection
from reviser.next_edits import following
from reviser.next_edits.following import EditFollower
from reviser.next_edits.judgement import MODEL, NextEditJudgement, judgement_for, judgements_text
from reviser.next_edits.reading import ProposedEdit
from reviser.proofreading.suggestion import Suggestion
from reviser.session.engine import Engine, load_engine
from tests.tui.driving import QUICK, Corrector, drive, editor, notes, run_to_the_end, strike, until
from tui.app import EditorApp
from tui.commands import COMMANDS
from tui.settings import TuiSettings

FOLLOWING = replace(QUICK, next_edits=True)
SURE = replace(FOLLOWING, next_edit_confidence=0.5)

TEXT = """The server sends an e-mail to each user.

Each e-mail has a subject; no e-mail is without one.

Where a user reads no e-mail, a letter goes out.
"""
PLACES = [TEXT.index("e-mail", at) for at in (40, 60, 100)]


async def choose(app: EditorApp, pilot: Pilot[None], id: str) -> None:
    """Carry out a command that has no key."""
    (command,) = [one for one in COMMANDS if one.id == id]
    await app.run_action(command.action)
    await pilot.pause()


def offered(app: EditorApp) -> list[tuple[str, str]]:
    return [(one.old, one.new) for one in app.sheet.offers.shown]


def starts(app: EditorApp) -> list[int]:
    return [one.start for one in app.sheet.offers.shown]


def is_read(app: EditorApp) -> bool:
    """Whether the user's edits have been followed as the text is now."""
    state, sheet = app.following, app.sheet
    seen = (sheet, sheet.draft.version, len(sheet.offers.refused), sheet.offers.hidden)
    return state._seen == seen and state._due is None and state._reading is None


async def settled(app: EditorApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: is_read(app))


async def take_out_hyphen(app: EditorApp, pilot: Pilot[None], at: int = 0) -> None:
    """Make an email of the first e-mail behind a place, as a user does it."""
    place = app.sheet.draft.text.index("e-mail", at)
    app.editor.select(Selection.at(place + 2))
    await strike(app, pilot, "backspace")


def row(app: EditorApp, number: int) -> str:
    """A row on the screen, without the line's number."""
    return "".join(segment.text for segment in app.editor.render_line(number))[5:].rstrip()


def struck(app: EditorApp, number: int) -> list[str]:
    """What is struck through in a row on the screen."""
    strip = app.editor.render_line(number)
    return [segment.text for segment in strip if segment.style is not None and segment.style.strike]


def test_an_edit_is_offered_elsewhere_after_a_pause_and_accepted_place_by_place(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await take_out_hyphen(app, pilot)
        edited = draft.text
        assert offered(app) == []
        await until(pilot, lambda: len(offered(app)) == 3)
        assert offered(app) == [("e-mail", "email")] * 3
        assert app.desk.status_line.said[0] == "You changed 'e-mail' to 'email': 3 more places"
        assert "Accept all" in app.desk.key_bar.render().plain
        # Old and new stand beside each other, and the text is as it was.
        assert row(app, 2) == "Each e-mail email has a subject; no e-mail email is without one."
        assert struck(app, 2) == ["e-mail", "e-mail"]
        assert draft.text == edited
        await pilot.press("alt+down")
        assert draft.text[draft.selection.cursor :].startswith("e-mail has")
        assert app.desk.status_line.said[0].startswith("“e-mail” → “email” · 1 of 3 · ")
        await pilot.press("alt+a")
        assert draft.text == edited.replace("Each e-mail", "Each email")
        # On to the next.
        assert draft.text[draft.selection.cursor :].startswith("e-mail is without")
        await pilot.press("alt+up")
        assert draft.text[draft.selection.cursor :].startswith("e-mail, a letter")
        await pilot.press("ctrl+z")
        assert draft.text == edited
        await pilot.press("ctrl+z")
        assert draft.text == TEXT
        assert offered(app) == []

    drive(editor(tmp_path, TEXT, SURE), script)


def test_all_places_are_changed_in_one_undo_step(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await take_out_hyphen(app, pilot)
        edited, steps = draft.text, draft.undoable
        await until(pilot, lambda: len(offered(app)) == 3)
        await pilot.press("ctrl+k")
        assert draft.text == TEXT.replace("e-mail", "email")
        assert draft.undoable == steps + 1
        assert "3 places changed; Ctrl+Z takes that back." in notes(app)
        await settled(app, pilot)
        assert offered(app) == []
        await pilot.press("ctrl+z")
        assert draft.text == edited

    drive(editor(tmp_path, TEXT, SURE), script)


def test_a_key_at_no_place_goes_to_one_first(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await take_out_hyphen(app, pilot)
        edited = draft.text
        await until(pilot, lambda: len(offered(app)) == 3)
        await pilot.press("alt+a")
        assert draft.text == edited
        await pilot.press("alt+a", "alt+a", "alt+a")
        assert draft.text == TEXT.replace("e-mail", "email")

    drive(editor(tmp_path, TEXT, SURE), script)


def confidences(app: EditorApp) -> dict[int, float]:
    return {one.start: one.confidence for one in app.sheet.offers.findings}


def test_what_is_refused_does_not_come_back_and_lowers_its_like(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 3)
        first, *others = starts(app)
        before = confidences(app)
        await pilot.press("alt+down", "alt+r")
        assert first not in starts(app)
        await settled(app, pilot)
        after = confidences(app)
        assert set(after) == set(others)
        assert all(after[place] < before[place] for place in others)
        # Not after another edit either, with other words around it.
        app.editor.select(Selection.at(0))
        await strike(app, pilot, *"Now: ")
        await take_out_hyphen(app, pilot, at=PLACES[2] - 9)
        await settled(app, pilot)
        assert first + len("Now: ") not in confidences(app)
        assert len(confidences(app)) == 1
        await pilot.press("alt+p", "d")
        assert "1 place refused." in notes(app)
        await settled(app, pilot)
        assert confidences(app) == {}

    drive(editor(tmp_path, TEXT, SURE), script)


def test_the_list_has_every_possible_place(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft, rows = app.sheet.draft, app.desk.place_list
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(confidences(app)) == 3)
        # None of them is sure enough to be shown unasked.
        assert offered(app) == []
        assert struck(app, 2) == []
        assert "Places" in app.desk.key_bar.render().plain
        await pilot.press("alt+p")
        assert rows.has_focus
        assert len(offered(app)) == 3
        assert struck(app, 2) == ["e-mail", "e-mail"]
        assert [line.strip() for line, _ in rows.lines] == [
            "3:6                 Each [e-mail → email] has a subject; no e-mail is without one.",
            "3:31  l has a subject; no [e-mail → email] is without one.",
            "5:23  ere a user reads no [e-mail → email], a letter goes out.",
        ]
        assert rows.lines[0][1].strip() == f"{confidences(app)[PLACES[0] - 1]:.0%}"
        await pilot.press("down", "r")
        assert starts(app) == [PLACES[0] - 1, PLACES[2] - 1]
        await pilot.press("home", "a")
        assert draft.text.count("email") == 2
        assert rows.has_focus
        await pilot.press("alt+p")
        assert not rows.display
        assert offered(app) == []

    drive(editor(tmp_path, TEXT, replace(FOLLOWING, next_edit_confidence=0.99)), script)


def test_new_text_and_undone_edits_are_no_patterns(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end")
        await strike(app, pilot, *"Send no e-mail to the users of a server.")
        await settled(app, pilot)
        assert confidences(app) == {}
        await take_out_hyphen(app, pilot)
        await pilot.press("ctrl+z")
        await settled(app, pilot)
        assert confidences(app) == {}
        # What the user wrote before his edit is changed with the rest, what he has just written is not.
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 4)
        await pilot.press("ctrl+end")
        await strike(app, pilot, *" Each e-mail has an end.")
        await settled(app, pilot)
        assert len(offered(app)) == 4

    drive(editor(tmp_path, TEXT, SURE), script)


def test_stale_places_vanish_at_once(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 3)
        app.editor.select(Selection.at(draft.text.index("e-mail") + 3))
        await strike(app, pilot, "x")
        assert all(draft.text.startswith("e-mail", place) for place in starts(app))
        assert len(offered(app)) == 2
        # Typing elsewhere moves them along; the edit itself taken back takes all away.
        app.editor.select(Selection.at(0))
        await strike(app, pilot, *"So ")
        assert all(draft.text.startswith("e-mail", place) for place in starts(app))
        assert len(offered(app)) == 2
        app.editor.select(Selection.at(draft.text.index("email") + 1))
        await strike(app, pilot, "-")
        assert offered(app) == []
        await settled(app, pilot)
        assert offered(app) == []

    drive(editor(tmp_path, TEXT, SURE), script)


def test_the_switch_and_the_setting(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await pilot.pause(1)
        assert app.sheet.offers.history is None
        assert offered(app) == []
        await pilot.press("alt+p")
        assert "not followed" in app.desk.place_list._empty
        await pilot.press("alt+p")
        await choose(app, pilot, "next-edits")
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 2)
        await choose(app, pilot, "next-edits")
        assert offered(app) == []
        assert struck(app, 2) == []
        await take_out_hyphen(app, pilot)
        assert app.sheet.offers.history is None

    drive(editor(tmp_path, TEXT, replace(SURE, next_edits=False)), script)


def test_a_confidence_is_a_number_up_to_one(tmp_path: Path) -> None:
    path = tmp_path / "tui.toml"
    path.write_text("next_edits = false\nnext_edit_confidence = 0.3\n")
    assert TuiSettings.load(path) == TuiSettings(next_edits=False, next_edit_confidence=0.3)
    path.write_text("next_edit_confidence = 3\n")
    with pytest.raises(Exception, match="next_edit_confidence lies between 0 and 1"):
        TuiSettings.load(path)


def test_what_a_run_changes_is_no_edit_of_the_user(tmp_path: Path) -> None:
    text = "The server sends an e-mail.\nEach e-mail has a subject.\nNo e-mail is lost.\n"
    better = text.replace("an e-mail", "an email")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        app.editor.select(Selection(0, text.index("\n")))
        await pilot.press("ctrl+e")
        await run_to_the_end(app, pilot)
        await pilot.press("ctrl+k")
        assert draft.text == better
        await pilot.pause(1)
        await settled(app, pilot)
        assert confidences(app) == {}
        await pilot.press("ctrl+z")
        await pilot.pause(1)
        assert draft.text == text
        assert confidences(app) == {}

    drive(editor(tmp_path, text, SURE, load=Corrector(text, better).load), script)


def test_nothing_is_offered_while_a_run_is_open(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 3)
        await pilot.press("f5")
        await until(pilot, lambda: app.sheet.open_run is not None)
        assert offered(app) == []
        await run_to_the_end(app, pilot)
        assert offered(app) == []
        await pilot.press("alt+d")
        assert app.sheet.open_run is None
        await until(pilot, lambda: len(offered(app)) == 3)

    drive(editor(tmp_path, TEXT, SURE), script)


def test_formats_decide_where_an_edit_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(TEXT + "\n```\nan e-mail\n```\n")
    app = EditorApp([path], SURE, journals=tmp_path / "journals")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 3)

    drive(app, script)


def test_without_colour_brackets_stand_around_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: len(offered(app)) == 3)
        assert row(app, 4) == "Where a user reads no [-e-mail-] email, a letter goes out."

    drive(editor(tmp_path, TEXT, SURE), script)


class SlowFollower(EditFollower):
    """Takes its time, and says where it is."""

    def __init__(self) -> None:
        alone = judgement_for()
        assert alone is not None
        super().__init__(alone)
        self.lengths: list[int] = []
        self.go_on = threading.Event()

    def suggestions(
        self, edited: following.EditedDocument, least: float | None = None, within: tuple[int, int] | None = None
    ) -> list[Suggestion]:
        self.lengths.append(len(edited.text))
        self.go_on.wait(20)
        return super().suggestions(edited, least, within)


def test_of_a_long_text_the_part_around_the_edit_is_read_first_and_typing_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowFollower()
    monkeypatch.setattr(following, "follower", lambda *given: slow)
    filler = "\n\n".join(f"{number} The road was long and went on." for number in range(10_000))
    text = f"{TEXT}\n{filler}\n\nThe last e-mail.\n"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await until(pilot, lambda: slow.lengths)
        start = time.monotonic()
        await pilot.press("ctrl+end")
        await strike(app, pilot, *"Then ")
        # Not the twenty seconds that the reader would take.
        assert time.monotonic() - start < 10
        assert app.sheet.draft.text.endswith("Then ")
        # The text is another one now: what was begun is not read to its end.
        slow.go_on.set()
        await until(pilot, lambda: len(confidences(app)) == 4)
        await settled(app, pilot)
        assert max(slow.lengths) <= 100_000
        assert max(confidences(app)) > 300_000
        # Nothing is read again that has not changed.
        done = len(slow.lengths)
        await strike(app, pilot, *"more ")
        await settled(app, pilot)
        assert len(slow.lengths) == done

    drive(editor(tmp_path, text, SURE), script)


class Reader:
    """A model's reading that is sure of one place, and proposes an edit of its own."""

    def __init__(self, *given: object) -> None:
        self.before_reading = given[-1]

    def odds(self, text: str, shown: object, changes: list[following.Edit]) -> list[tuple[following.Edit, float]]:
        assert callable(self.before_reading)
        self.before_reading()
        return [(change, 9.0 if "letter" in text[change.end : change.end + 12] else -9.0) for change in changes]

    def proposed(self, text: str, shown: object, taken: object, within: object) -> list[ProposedEdit]:
        return [ProposedEdit(following.Edit(text.index("subject"), "subject", "title"), 0.99)]


def test_a_model_that_has_learned_next_edits_judges_and_proposes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load_engine()
    assert isinstance(engine.policy, ModelPolicy)
    vocabulary = replace(engine.policy.vocabulary, next_edits=True)
    learned = ModelPolicy(engine.policy.decoder, vocabulary, digest="learned")
    alone = judgement_for()
    assert alone is not None
    file = tmp_path / "judgement.json"
    file.write_text(judgements_text([alone, NextEditJudgement({MODEL: 1.0}, 0.0, 0.7, "learned")]))
    monkeypatch.setattr(following, "judgement_for", lambda digest="": judgement_for(digest, file))
    monkeypatch.setattr(following, "NextEditReader", Reader)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await take_out_hyphen(app, pilot)
        await settled(app, pilot)
        # It is not loaded for that alone.
        assert len(offered(app)) == 0
        assert len(confidences(app)) == 3

        def load() -> None:
            app.writer.engine()

        app.writer.submit(load)
        await until(pilot, lambda: app.writer.loaded)
        await take_out_hyphen(app, pilot, at=PLACES[0] + 3)
        await until(pilot, lambda: len(offered(app)) == 2)
        assert offered(app) == [("subject", "title"), ("e-mail", "email")]
        await settled(app, pilot)
        assert app.following._failure is None

    loaded = Engine("learned", learned, engine.tokenizer)
    drive(editor(tmp_path, TEXT, FOLLOWING, load=lambda say: loaded), script)
