"""The building blocks of a report: sections of paragraphs, tables, samples and facts."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.report.tables import Table


@dataclass(frozen=True)
class ReportSample:
    """A prompt and its continuations: contestant, text, and the page that replays the run."""

    prompt: str
    texts: tuple[tuple[str, str, str | None], ...]


@dataclass(frozen=True)
class Facts:
    """A list of names and values."""

    rows: tuple[tuple[str, str], ...]


Block = str | Table | ReportSample | Facts


@dataclass(frozen=True)
class Section:
    """A part of the report; plain strings are paragraphs."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())
