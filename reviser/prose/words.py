"""Fixed words, which no proofreader changes: addresses, file names, options, identifiers, placeholders."""

from __future__ import annotations

import re

from reviser.prose.formats import Format
from reviser.prose.source import Span, names

_EXTENSIONS = names(
    """asc bash bat bib c cc cfg cjs cmake conf cpp cs css csv cxx db diff dll doc docx dylib env eml eps exe gif
    git go gz h hpp html ico ini ipynb jar java jpeg jpg js json jsonl jsx key kt less lock log lua md mdx
    mjs mov mp3 mp4 o odt org otf pdf pem php pl png po ppt ps py pyc pyi pyx rar rb rs rst safetensors sass
    scala scss sh so sql sqlite svg swift tar tex tgz tif toml ts tsv tsx ttf txt vue wasm wav webp whl woff
    xls xlsx xml xz yaml yml zig zip zsh"""
)

# One alternative for each kind, none of which looks back, and none of which can run on over what another
# attempt from the next character would read again: a text is read once.
_KINDS = [
    r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s<>\"`{}]+",
    r"\b(?:www\.|mailto:|doi:)[^\s<>\"`{}]+",
    r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+",  # mail addresses
    r"(?<![\w@])@[\w/-]+(?:\.\w+)*",  # people, teams, decorators
    r"(?<!\w)[#!]\d+\b",  # issues and merge requests
    r"(?<!\w)#[A-Za-z]\w*",
    r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[^\s,;)]+)?",  # options of commands
    r"(?<!\w)--(?=\s)",
    r"(?<![\w/.~])(?:~|\.{1,2})?/[\w.@+~-]+(?:/[\w.@+~-]+)*/?",  # paths
    r"\b[\w.@+-]{1,80}(?:/[\w.@+-]+){2,}/?",
    r"\b[\w.@+-]{1,80}/[\w@+-]+\.\w+",
    r"\b[A-Za-z]:\\[^\s\"<>|]+",
    rf"[\w*-][\w.*-]{{0,80}}\.(?:{'|'.join(sorted(_EXTENSIONS))})\b",  # file names
    r"(?<![\w.])\.[a-z]{2,}[\w.-]*\w",
    r"\b[a-z]{2,}(?:\.[a-z]{2,})+\b(?:\(\))?",  # domains, modules
    r"\b\w{1,80}(?:\.\w+){0,8}\((?:\))",  # calls without arguments
    r"\b\w{1,80}(?:(?:::|->|#)\w+)+(?:\(\))?",
    r"\b\w{0,80}_\w*",  # snake case
    r"(?<!\w)_\w+",
    r"\b[a-z]+[A-Z]\w*",  # camel case
    r"\b[A-Z][a-z0-9]+[A-Z]\w*",
    r"\$\{[^{}\s]{1,80}\}|\$\(?[A-Za-z_]\w*\)?",  # variables
    r"%\([a-z_]+\)[sdfr]|%[sdifrxg]\b|%\w+%",
    r"</?[A-Za-z][^<>]{0,200}>|<!--",  # tags, placeholders
    r"&(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z]\w{1,30});",
    r"\[\[[^\[\]]{1,200}\]\]|\[!?[^\[\]\s]{1,80}\](?!\()",  # wiki links, references, alerts
    r"(?<![\w:]):[a-z0-9_+-]{2,40}:(?![\w:])",  # :emoji:
    r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b",  # numbers and hashes in hexadecimal
    r"\bv?\d+(?:\.\d+){2,}[\w.+-]*\b|\bv\d+(?:\.\d+)*\b",  # versions
    r"``[^`]{1,500}``|`[^`]{1,500}`",  # code
    r"\\[A-Za-z]+|\\\((?:[^\\]|\\[^)]){0,500}\\\)",
]
# With the letters behind them, which belong to a word that the template makes: "{% if one %}c{% else %}C{% endif
# %}reate".
_TEMPLATES = r"\{\{[^{}]{0,200}\}\}\w*|\{%[^{}]{0,200}%\}\w*|\{[^{}\s][^{}]{0,200}\}|\{\}"
_FIXED_IN_LATEX = re.compile("|".join(_KINDS))
_FIXED = re.compile("|".join([*_KINDS, _TEMPLATES]))


OVERLONG = re.compile(r"\S{1001,}")
"""A string that is too long to be a word, mostly data."""


def fixed_words(text: str, format: Format) -> list[Span]:
    """The ranges of `text` that are not words of a language, and must stay as they are."""
    fixed = _FIXED_IN_LATEX if format is Format.LATEX else _FIXED
    found, place = list[Span](), 0
    for word in [*OVERLONG.finditer(text), None]:
        end = word.start() if word else len(text)
        found += [Span(*_end_at_word(text, one)) for one in fixed.finditer(text, place, end)]
        if word:
            found.append(Span(*word.span()))
            place = word.end()
    return found


def _end_at_word(text: str, found: re.Match[str]) -> tuple[int, int]:
    """The range of the match, without the sentence's punctuation at the end of an address."""
    start, end = found.span()
    if "://" in found.group() or found.group().startswith(("www.", "mailto:", "doi:")):
        open_ones = found.group().count("(") - found.group().count(")")
        while end > start and text[end - 1] in ".,;:!?'\"’”)*_":
            if text[end - 1] == ")":
                if open_ones >= 0:
                    break
                open_ones += 1
            end -= 1
    return start, end
