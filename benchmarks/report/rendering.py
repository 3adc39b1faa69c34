"""A report of sections of paragraphs, tables, samples and facts: as one self-contained HTML page, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template

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


def as_page(title: str, facts: Mapping[str, str], sections: Sequence[Section]) -> str:
    """The whole report as one self-contained HTML document."""
    lead = f"<p>{escape(facts['Date'])}, {escape(facts['Hardware'])}, commit {escape(facts['Commit'])}</p>"
    return Template(_part("page.html")).substitute(
        title=escape(title),
        style=_part("page.css"),
        lead=lead,
        contents="".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in sections),
        body="".join(_section_html(section) for section in sections),
    )


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _section_html(section: Section) -> str:
    blocks = "".join(_block_html(block) for block in section.blocks)
    return f'<section id="{section.anchor}">\n<h2>{escape(section.title)}</h2>\n{blocks}</section>\n'


def _block_html(block: Block) -> str:
    match block:
        case str():
            return f"<p>{escape(block)}</p>\n"
        case Table():
            return f'<div class="scroll">{block.html()}</div>\n'
        case Facts():
            rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in block.rows)
            return f"<dl>{rows}</dl>\n"
        case ReportSample():
            return _sample_html(block)


def _sample_html(sample: ReportSample) -> str:
    columns = ""
    for name, text, link in sample.texts:
        watch = f' <a href="{escape(link)}">watch</a>' if link else ""
        columns += f"<div><h4>{escape(name)}{watch}</h4><p>{escape(text)}</p></div>"
    return (
        f'<div class="sample"><div class="prompt">{escape(sample.prompt)}</div>'
        f'<div class="columns">{columns}</div></div>\n'
    )


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The same report as Markdown."""
    return f"# {title}\n\n{sections_markdown(sections)}"


def sections_markdown(sections: Sequence[Section]) -> str:
    parts = []
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [_block_markdown(block) for block in section.blocks]
    return "\n".join(parts)


def _block_markdown(block: Block) -> str:
    match block:
        case str():
            return f"{block}\n"
        case Table():
            return block.markdown()
        case Facts():
            return "".join(f"- {name}: {value}\n" for name, value in block.rows)
        case ReportSample():
            lines = [f"> {_one_line(block.prompt)}\n"]
            for name, text, link in block.texts:
                watch = f" ([watch]({link}))" if link else ""
                lines.append(f"- **{name}**{watch}: {_one_line(text)}")
            return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """A text as one line, with Markdown's special characters escaped."""
    plain = " ".join(text.split())
    for mark in "\\`*_[]<>#|":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
