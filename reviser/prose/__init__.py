"""Prose in documents: which text may be changed, and how to change it and nothing else."""

from reviser.prose.edits import safe_edits, same_structure, source_edits
from reviser.prose.formats import Format, format_of, format_of_language
from reviser.prose.paragraphs import Paragraph
from reviser.prose.reading import paragraphs, unread
from reviser.prose.sentences import sentences
from reviser.prose.source import Role, Span

__all__ = [
    "Format",
    "Paragraph",
    "Role",
    "Span",
    "format_of",
    "format_of_language",
    "paragraphs",
    "safe_edits",
    "same_structure",
    "sentences",
    "source_edits",
    "unread",
]
