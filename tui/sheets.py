"""The open texts in the order of their tabs, and the one that is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviser.editor.edited_text import EditedText
from tui.document.disk import OpenFile
from tui.sheet import Sheet


class Sheets:
    """The list of open sheets, never empty; one of them is the current one."""

    def __init__(self, files: Sequence[Path], journals: Path, encoding: str | None = None) -> None:
        """The sheets of these files, or a blank one; `journals` is the folder for their journals.

        The files' encoding is detected from their bytes unless given.
        """
        self._journals = journals
        self._untitled = 0
        different = {os.path.realpath(path): path for path in files}
        self._row = [self.opened(path, encoding) for path in different.values()] or [self.blank()]
        self.current = self._row[0]

    def __iter__(self) -> Iterator[Sheet]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)

    def __getitem__(self, index: int) -> Sheet:
        return self._row[index]

    @property
    def index(self) -> int:
        """The place of the current sheet."""
        return self._row.index(self.current)

    def opened(self, path: Path, encoding: str | None = None) -> Sheet:
        """A new sheet for a file, not yet in the list."""
        file, text = OpenFile.open(path, encoding)
        return Sheet(EditedText(text), self._journals, file)

    def blank(self, name: str | None = None, draft: EditedText | None = None) -> Sheet:
        """A new sheet without a file, not yet in the list."""
        if name is None:
            self._untitled += 1
            name = "untitled" if self._untitled == 1 else f"untitled {self._untitled}"
        return Sheet(draft or EditedText(), self._journals, name=name)

    def at(self, path: Path) -> Sheet | None:
        """The sheet of the file at `path`, if it is open."""
        for sheet in self._row:
            if sheet.file is not None and sheet.file.is_at(path):
                return sheet
        return None

    def insert(self, sheet: Sheet) -> None:
        """Insert a sheet behind the current one."""
        self._row.insert(self.index + 1, sheet)

    def add(self, sheet: Sheet) -> None:
        """Insert a sheet behind the current one, or replace that if it is blank and untouched."""
        blank = self.current
        if blank.file is None and not blank.draft.buffer.length and not blank.modified:
            self._row[self.index] = sheet
            self.current = sheet
        else:
            self.insert(sheet)

    def remove(self, sheet: Sheet) -> None:
        """Remove a sheet; its neighbour becomes the current one, or a new blank one if it was the last."""
        index = self._row.index(sheet)
        self._row.remove(sheet)
        if not self._row:
            self._row.append(self.blank())
        self.current = self._row[min(index, len(self._row) - 1)]
