"""The format of a document: from its file name, an editor's name for it, or its first line."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePath

from reviser.prose.source import names


class Format(StrEnum):
    """The formats in which prose can be told from the rest; the values are the names that editors use."""

    PLAIN = "plaintext"
    MARKDOWN = "markdown"
    MDX = "mdx"
    LATEX = "latex"
    RST = "restructuredtext"
    MAIL = "mail"
    COMMIT = "git-commit"
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    TSX = "typescriptreact"
    C = "c"
    CPP = "cpp"
    CSHARP = "csharp"
    JAVA = "java"
    KOTLIN = "kotlin"
    SCALA = "scala"
    SWIFT = "swift"
    GO = "go"
    RUST = "rust"
    RUBY = "ruby"
    PHP = "php"
    LUA = "lua"
    SHELL = "shellscript"
    CSS = "css"
    HTML = "html"
    YAML = "yaml"
    TOML = "toml"
    UNKNOWN = "unknown"
    """An unknown format, or one without prose: nothing in it may be changed."""


_EXTENSIONS = {
    Format.PLAIN: "txt text asc",
    Format.MARKDOWN: "md markdown mdown mkd mkdn qmd rmd",
    Format.MDX: "mdx",
    Format.LATEX: "tex ltx latex",
    Format.RST: "rst rest",
    Format.MAIL: "eml mail",
    Format.PYTHON: "py pyi pyw",
    Format.JAVASCRIPT: "js mjs cjs jsx",
    Format.TYPESCRIPT: "ts mts cts",
    Format.TSX: "tsx",
    Format.C: "c h",
    Format.CPP: "cc cpp cxx hh hpp hxx ipp cu cuh",
    Format.CSHARP: "cs",
    Format.JAVA: "java",
    Format.KOTLIN: "kt kts",
    Format.SCALA: "scala sc",
    Format.SWIFT: "swift",
    Format.GO: "go",
    Format.RUST: "rs",
    Format.RUBY: "rb rake gemspec",
    Format.PHP: "php",
    Format.LUA: "lua",
    Format.SHELL: "sh bash zsh ksh",
    Format.CSS: "css",
    Format.HTML: "html htm xhtml",
    Format.YAML: "yaml yml",
    Format.TOML: "toml",
}
_BY_EXTENSION = {extension: format for format, extensions in _EXTENSIONS.items() for extension in extensions.split()}
_BY_NAME = {
    "commit_editmsg": Format.COMMIT,
    "merge_msg": Format.COMMIT,
    "tag_editmsg": Format.COMMIT,
    "squash_msg": Format.COMMIT,
    "edit_description": Format.COMMIT,
    "gemfile": Format.RUBY,
    "rakefile": Format.RUBY,
    "pkgbuild": Format.SHELL,
    **dict.fromkeys(
        names("readme copying authors changelog changes contributing history install news notes notice thanks todo"),
        Format.PLAIN,
    ),
}
_BY_LANGUAGE = {
    **{format.value: format for format in Format},
    "javascriptreact": Format.JAVASCRIPT,
    "cuda-cpp": Format.CPP,
    "tex": Format.LATEX,
    "rmd": Format.MARKDOWN,
    "quarto": Format.MARKDOWN,
    "rst": Format.RST,
    "text": Format.PLAIN,
    "gitcommit": Format.COMMIT,
    "eml": Format.MAIL,
    "c++": Format.CPP,
    "cs": Format.CSHARP,
    "sh": Format.SHELL,
    "bash": Format.SHELL,
    "zsh": Format.SHELL,
}
_INTERPRETERS = {
    "python": Format.PYTHON,
    "node": Format.JAVASCRIPT,
    "deno": Format.TYPESCRIPT,
    "ruby": Format.RUBY,
    "php": Format.PHP,
    "lua": Format.LUA,
    "sh": Format.SHELL,
    "bash": Format.SHELL,
    "zsh": Format.SHELL,
    "ksh": Format.SHELL,
    "dash": Format.SHELL,
}
_SHEBANG = re.compile(r"\ufeff?#![^\r\n]*?(?:/env\s+(?:-\S+\s+)*|/)([a-z]+)[\d.]*(?:\s|$)")


def format_of(path: str | None, text: str = "") -> Format:
    """The format of the file at `path`, or of a text without a file; plain text by default."""
    name = PurePath(path).name.lower() if path and path != "-" else ""
    suffix = PurePath(name).suffix.removeprefix(".")
    if suffix in _BY_EXTENSION:
        return _BY_EXTENSION[suffix]
    if name in _BY_NAME:
        return _BY_NAME[name]
    shebang = _SHEBANG.match(text)
    if shebang:
        return _INTERPRETERS.get(shebang.group(1), Format.UNKNOWN)
    return Format.UNKNOWN if name else Format.PLAIN


def format_of_language(language: str) -> Format:
    """The format that editors call `language`."""
    return _BY_LANGUAGE.get(language.lower(), Format.UNKNOWN)
