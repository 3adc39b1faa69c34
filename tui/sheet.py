"""An open text with its file, its journal, its run and its scroll position."""

from __future__ import annotations

from pathlib import Path

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText
from reviser.editor.lists import TextSource
from reviser.editor.review import Review
from tui.document.disk import OpenFile
from tui.document.journal import Journal
from tui.document.locked_files import OpenMark
from tui.document.words import WordCount
from tui.next_edits.offers import Offers
from tui.proofreading.mistakes import Mistakes
from tui.runs.run import DraftRun


class Sheet:
    """One tab of the editor."""

    def __init__(self, draft: EditedText, folder: Path, file: OpenFile | None = None, name: str = "untitled") -> None:
        """Create a sheet whose journal and open mark are in `folder`."""
        self.draft = draft
        self.file = file
        self.run: DraftRun | None = None
        self.mistakes = Mistakes(draft)
        self.offers = Offers(draft)
        self.words = WordCount(draft)
        # The offset at the top of the view and the column at its left.
        self.top = 0
        self.left = 0
        self.follows_model = False
        # Why there is no journal, where there can be none.
        self.journal_failure: str | None = None
        # The process of another editor that has the file open.
        self.open_in: int | None = None
        self._name = name
        self._folder = folder
        self._journal = Journal(folder)
        self._mark: OpenMark | None = None
        self._mark_open()
        draft.observers.append(self._changed)

    @property
    def title(self) -> str:
        return self._name if self.file is None else self.file.path.name

    @property
    def label(self) -> str:
        """The title with marks for the state of the text."""
        read_only = self.file is not None and self.file.read_only
        shared = self.open_in is not None
        return self.title + " (read-only)" * read_only + " (open twice)" * shared + " •" * self.modified

    @property
    def path(self) -> Path | None:
        return None if self.file is None else self.file.path

    @property
    def source(self) -> TextSource:
        """The source of the text, as the lists of words and ignored findings need it."""
        return TextSource(self.title, self.path)

    @property
    def modified(self) -> bool:
        """Whether closing would lose something; a recording that was only watched is still in its file."""
        run = self.open_run
        only_watched = run is not None and run.recorded and self.draft.undoable == 1
        return self.draft.modified and not only_watched

    @property
    def open_run(self) -> DraftRun | None:
        return self.run if self.run is not None and self.run.open else None

    @property
    def review(self) -> Review | None:
        """The review of the run, while there are undecided changes."""
        review = None if self.run is None else self.run.review
        return review if review is not None and review.active else None

    def save(self, path: Path | None = None) -> None:
        """Write the text to its file, or to another, which becomes its own."""
        if self.file is None:
            if path is None:
                raise ValueError("a text without a file needs a path")
            file = OpenFile.new(path)
            file.save(self.draft.text)
            self.file = file
        else:
            self.file.save(self.draft.text, path)
        self.draft.mark_saved()
        self._journal.end()
        if path is not None:
            self._mark_open()

    def reload(self) -> None:
        """Replace the text by what the file holds now; undo restores the former text."""
        if self.file is not None:
            self.draft.become(self.file.read_again())
            self.draft.mark_saved()
            self._journal.end()

    def flush_journal(self) -> None:
        try:
            self._journal.flush(lambda: self.draft.text)
        except OSError as error:
            self._give_up_journal(error)

    def _give_up_journal(self, error: OSError) -> None:
        """Continue without a journal: typing must not fail because it cannot be written."""
        if self.journal_failure is None:
            self.journal_failure = error.strerror or str(error)

    def close(self) -> None:
        """Close the text; unsaved changes are lost."""
        if self.run is not None:
            self.run.keep()
        self._journal.end()
        self.unmark()

    # Other editors

    def _mark_open(self) -> None:
        self.unmark()
        if self.path is not None:
            self._mark = OpenMark(self._folder, self.path)

    def unmark(self) -> None:
        """Tell other editors that the file is no longer open here."""
        if self._mark is not None:
            self._mark.remove()
            self._mark = None

    def look_whether_open_twice(self) -> bool:
        """Check whether the file is open in another editor; returns whether that has changed."""
        before = self.open_in
        self.open_in = None if self._mark is None else self._mark.elsewhere()
        return self.open_in != before

    def _changed(self, change: Edit) -> None:
        self.top = change.follow(self.top)
        if self.journal_failure is not None:
            return
        try:
            if not self._journal.active:
                text = self.draft.text
                end = change.start + len(change.new)
                self._journal.begin(self.path, text[: change.start] + change.old + text[end:])
            self._journal.note(change)
        except OSError as error:
            self._give_up_journal(error)
