"""A request to proofread: the confidence, the kinds of changes, the words that stay, and the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM, input_name
from reviser.proofreading.document import Draft, safe_selection
from reviser.proofreading.project.ignoring import IgnoredPlace, list_for, read_ignored
from reviser.proofreading.project.rules import rules_for
from reviser.proofreading.project.settings import ProjectSettings, kinds_named
from reviser.proofreading.project.vocabulary import vocabulary_of
from reviser.proofreading.project.word_lists import unreported
from reviser.proofreading.project.words import Words, project_file, user_file
from reviser.proofreading.rules.own import RuleText
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format, format_of, format_of_language


@dataclass(frozen=True)
class Request:
    """The settings of proofreading that apply to each text."""

    confidence: float
    kinds: frozenset[Kind] = frozenset(Kind)
    format: str | None = None
    ignore: tuple[Path, ...] = ()
    terms: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    report: Callable[[str], object] = unreported
    """Called with a sentence for each list of words that cannot be read."""

    @classmethod
    def made(
        cls,
        settings: ProjectSettings,
        *,
        confidence: float,
        only: str | None = None,
        without: str | None = None,
        format: str | None = None,
        ignore: Iterable[Path] = (),
        report: Callable[[str], object] = unreported,
    ) -> Request:
        """The request from the options of a command and the settings of a project; options take precedence.

        Kinds in options replace all kinds in the settings. Lists of words that stay are joined.
        """
        kinds = settings.kinds
        if only is not None or without is not None:
            wanted = frozenset(Kind) if only is None else kinds_in(only)
            kinds = wanted - (frozenset() if without is None else kinds_in(without))
        return cls(confidence, kinds, format, (*ignore, *settings.ignore), settings.words, settings.presets, report)

    def format_of(self, path: Path, text: str) -> Format:
        """The format of the text at `path`; raises `ReviserError` for one that holds no prose."""
        if self.format is None:
            found = format_of(str(path), text)
        else:
            found = format_of_language(self.format)
            if found is Format.UNKNOWN:
                found = format_of(f"a.{self.format}")
        if found is not Format.UNKNOWN:
            return found
        known = ", ".join(format for format in Format if format is not Format.UNKNOWN)
        if self.format is not None:
            raise ReviserError(f"{self.format} is no format that is known: {known}")
        raise ReviserError(
            f"{input_name(path)} has no format that is known to hold prose; name one with --format: {known}"
        )

    def wanted(self, path: Path, draft: Draft, found: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
        """The changes found in the text at `path`, without the ignored ones."""
        if path == STREAM or not found:
            return tuple(found)
        name, file = list_for(path)
        ignored = read_ignored(file)
        kept = [one for one in found if IgnoredPlace.of(name, draft.text, one.start, one.old, one.new) not in ignored]
        # What is safe with the others need not be so without them.
        return tuple(found if len(kept) == len(found) else safe_selection(draft, kept))

    def rules(self, path: Path) -> tuple[RuleText, ...]:
        """The project's own rules for the text at `path`."""
        return rules_for(path, self.presets)

    def words(self, path: Path) -> Words:
        """The words that must stay in the text at `path`, and those that its project uses."""
        project, user = project_file(path), user_file()
        found = [*self.ignore, *([project] if project else []), *([user] if user.is_file() else [])]
        return Words.read(*found) | Words(self.terms, vocabulary_of(path, report=self.report))


def kinds_in(given: str) -> frozenset[Kind]:
    """The kinds of changes in a list separated by commas."""
    return kinds_named(given.split(","))
