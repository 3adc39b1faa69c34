"""The file and the format of an open document."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lsp_server.documents.document import EditorDocument
from lsp_server.settings import path_of
from reviser.editor.lists import TextSource
from reviser.prose import Format, format_of, format_of_language


def format_of_document(document: EditorDocument) -> Format:
    """The format of a document, by the editor's name for its language, else by its file name."""
    format = format_of_language(document.language)
    if format not in (Format.UNKNOWN, Format.PLAIN):
        return format
    named = format_of(path_of(document.uri))
    return format if named is Format.UNKNOWN else named


def file_of(uri: str) -> Path | None:
    """The file of a document, if it has one."""
    parts = urlsplit(uri)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def source_of(document: EditorDocument) -> TextSource:
    """The source of a document, as the lists of words and ignored findings need it."""
    return TextSource(document.uri, file_of(document.uri))
