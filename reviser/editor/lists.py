"""The words and findings that a user or project wants left alone, and project settings, for documents open in an
editor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from reviser.core.errors import ReviserError
from reviser.proofreading.project.ignoring import IgnoredPlace, ignore, list_for, read_ignored
from reviser.proofreading.project.rules import rules_for
from reviser.proofreading.project.settings import ProjectSettings, files_of_settings, settings_for
from reviser.proofreading.project.vocabulary import vocabulary_of
from reviser.proofreading.project.words import PROJECT_FILE, Words, add_word, project_file, project_folder, user_file
from reviser.proofreading.rules.own import RuleText
from reviser.proofreading.suggestion import WORD, Suggestion

Owner = Literal["project", "user"]


class TextSource(NamedTuple):
    """The source of a document's text: its name in the editor, and its file if it has one."""

    name: str
    file: Path | None


class Lists:
    """The words and findings to leave alone, for the documents of an editor."""

    def __init__(self, roots: Callable[[], Iterable[Path]], report: Callable[[str], None]) -> None:
        self._roots = roots
        self._report = report
        # What is ignored in documents without a file, until the editor ends.
        self._for_now: set[tuple[str, IgnoredPlace]] = set()
        self._read: dict[Path, tuple[object, frozenset[IgnoredPlace]]] = {}
        self._settings: dict[Path, tuple[object, ProjectSettings]] = {}

    def settings(self, source: TextSource) -> ProjectSettings:
        """The settings of a document's project; errors in them are reported, and the defaults are used."""
        if source.file is None:
            return ProjectSettings()
        folder = source.file.parent
        stamp = [_stamp(path) for path in files_of_settings(folder)]
        if self._settings.get(folder, (None,))[0] != stamp:
            try:
                found = settings_for([source.file])
            except (ReviserError, OSError) as error:
                self._report(str(error))
                found = ProjectSettings()
            self._settings[folder] = stamp, found
        return self._settings[folder][1]

    def excludes(self, source: TextSource) -> bool:
        """Whether the project of a document excludes it from reading."""
        return source.file is not None and self.settings(source).excludes(source.file)

    def words(self, source: TextSource) -> Words:
        """The words that must stay in a document, and those that its project uses."""
        file = source.file
        try:
            settings = self.settings(source)
            paths = [project_file(file) if file else None, user_file()]
            found = [path for path in paths if path and path.is_file()]
            used = vocabulary_of(file, self._roots(), self._report) if file else ()
            return Words.read(*found, *settings.ignore) | Words(settings.words, used)
        except (ReviserError, OSError) as error:
            self._report(str(error))
            return Words()

    def rules(self, source: TextSource) -> tuple[RuleText, ...]:
        """The project's own rules for a document; errors in them are reported."""
        try:
            return rules_for(source.file, self.settings(source).presets) if source.file else ()
        except (ReviserError, OSError) as error:
            self._report(str(error))
            return ()

    def add_word(self, source: TextSource, word: str, owner: Owner) -> Path:
        """Add a word to the user's or the project's list; returns the path of the list."""
        file = source.file
        if owner == "user":
            path = user_file()
        elif file is None:
            raise ReviserError("this document has no file, so it belongs to no project")
        else:
            folder = project_folder(file, self._roots()) or file.parent
            path = project_file(file) or folder / PROJECT_FILE
        add_word(path, word)
        return path

    def places(self, source: TextSource) -> tuple[str, frozenset[IgnoredPlace]]:
        """The name of a document in its project, and the findings that are ignored."""
        name, path = self._place_of(source)
        places = {place for other, place in tuple(self._for_now) if other == source.name}
        if path is not None:
            places |= {place for place in self._ignored_in(path) if place.file == name}
        return name, frozenset(places)

    def ignored(self, source: TextSource, text: str) -> Callable[[Suggestion], bool]:
        """A predicate that tells whether a finding in a document with this text is ignored."""
        name, places = self.places(source)
        return lambda one: bool(places) and _place(name, text, one) in places

    def ignore(self, source: TextSource, text: str, finding: Suggestion) -> Path | None:
        """Ignore a finding from now on; returns the file where that is stored, or None for a document without a
        file: then it holds until the editor ends."""
        name, path = self._place_of(source)
        place = _place(name, text, finding)
        if path is None:
            self._for_now.add((source.name, place))
        else:
            ignore(path, place)
        return path

    def _place_of(self, source: TextSource) -> tuple[str, Path | None]:
        """The name of a document in the file of ignored findings, and that file's path."""
        return list_for(source.file, self._roots()) if source.file else (source.name, None)

    def _ignored_in(self, path: Path) -> frozenset[IgnoredPlace]:
        try:
            stamp = _stamp(path)
            if stamp is None:
                return frozenset()
            if self._read.get(path, (None,))[0] != stamp:
                self._read[path] = (stamp, read_ignored(path))
            return self._read[path][1]
        except (ReviserError, OSError) as error:
            self._report(str(error))
            return frozenset()


def unknown_word(finding: Suggestion) -> str | None:
    """The word that could be added to a list so that a finding disappears; None if the finding is about more or less
    than a word, or about a known word."""
    # Reading them takes a moment, which is taken when somebody asks for the first time.
    from reviser.proofreading.spelling.dictionary import dictionary
    from reviser.proofreading.spelling.unknown import is_strange

    words: list[str] = WORD.findall(finding.old)
    if len(words) != 1 or words[0].isdigit() or not is_strange(words[0], dictionary()):
        return None
    return words[0]


def _stamp(path: Path) -> object:
    """A value that changes whenever the file changes; None if there is no file."""
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def _place(name: str, text: str, finding: Suggestion) -> IgnoredPlace:
    return IgnoredPlace.of(name, text, finding.start, finding.old, finding.new)
