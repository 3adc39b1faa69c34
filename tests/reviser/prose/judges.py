"""Other readers of each format, which say what in a document must be the same after a change."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from typing import Any

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String, Whitespace

from reviser.prose import Format

_LEXERS = {
    Format.JAVASCRIPT: "javascript",
    Format.TYPESCRIPT: "typescript",
    Format.TSX: "tsx",
    Format.C: "c",
    Format.CPP: "cpp",
    Format.CSHARP: "csharp",
    Format.JAVA: "java",
    Format.KOTLIN: "kotlin",
    Format.SCALA: "scala",
    Format.SWIFT: "swift",
    Format.GO: "go",
    Format.RUST: "rust",
    Format.RUBY: "ruby",
    Format.PHP: "php",
    Format.LUA: "lua",
    Format.SHELL: "bash",
    Format.CSS: "css",
    Format.YAML: "yaml",
    Format.TOML: "toml",
}


_KEPT_LINES = {Format.COMMIT: r"#|[A-Za-z-]+-by: ", Format.MAIL: r">|-- ", Format.PLAIN: r"\s*>"}


def judged(text: str, format: Format) -> Any:
    """What another reader of the format sees besides the prose."""
    if format in _LEXERS:
        return _tokens(text, _LEXERS[format])
    if format in _KEPT_LINES:
        return [text.split("\n\n", maxsplit=1)[0] if format is Format.MAIL and ": " in text[:20] else ""] + [
            line for line in text.splitlines() if re.match(_KEPT_LINES[format], line)
        ]
    judges = {
        Format.MARKDOWN: _markdown,
        Format.LATEX: _latex,
        Format.RST: _rst,
        Format.HTML: _html,
        Format.PYTHON: _python,
    }
    return judges[format](text)


def _markdown(text: str) -> list[Any]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin)
    seen: list[Any] = []
    for token in parser.parse(text):
        if token.type == "front_matter":
            seen.append(_loaded(token.content))
        elif token.type == "inline":
            seen += [
                (child.type, child.attrs, child.content if child.type != "text" else "")
                for child in token.children or []
                if child.type not in ("text", "image", "text_special")
            ]
            images = [child for child in token.children or [] if child.type == "image"]
            seen += [("image", child.attrs["src"]) for child in images]
        else:
            seen.append((token.type, token.tag, token.content, token.level, token.map, token.info))
    return seen


def _loaded(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _latex(text: str) -> list[Any]:
    """Commands, braces, environments, maths and comments in their order; maths ends with its paragraph."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    whole = r"\\begin\{(?:verbatim|equation|tabular)\}[\s\S]*?\\end\{\w+\}|\\verb\|[^|\n]*\||\\url\{[^}]*\}|%[^\n]*"
    maths = r"\$(?:[^$\n]|\n(?!\s*\n))*\$|\\\[[^\]]*\\\]"
    return re.findall(rf"{whole}|{maths}|\\(?:[a-zA-Z@]+\*?|[\s\S])|[{{}}&~#^_$]", text)


def _rst(text: str) -> list[Any]:
    import docutils.core
    import docutils.nodes

    tree = docutils.core.publish_doctree(
        text, settings_overrides={"report_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    )
    for message in list(tree.findall(docutils.nodes.system_message)):
        message.parent.remove(message)
    literal = (docutils.nodes.literal, docutils.nodes.literal_block)
    return [
        (type(node).__name__, node.astext() if isinstance(node, literal) else "", node.get("refuri"))
        for node in tree.findall(docutils.nodes.Element)
    ]


class _Tags(HTMLParser):
    """All that is no text, as it is written, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.seen: list[Any] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(self.get_starttag_text())

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.seen.append(data)

    def handle_comment(self, data: str) -> None:
        self.seen.append(("comment", data))

    handle_decl = handle_pi = unknown_decl = handle_comment


def _html(text: str) -> list[Any]:
    return _Tags(text).seen


def _python(text: str) -> str:
    """The syntax tree without docstrings; what is no Python shows its tokens."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return repr(_tokens(text, "python"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                first.value.value = ""
    return ast.dump(tree)


def _tokens(text: str, name: str) -> list[Any]:
    lexer = get_lexer_by_name(name, stripnl=False)
    found = [
        (str(kind), value)
        for kind, value in lexer.get_tokens(text)
        if not (kind in Comment and kind not in Comment.Preproc) and kind not in String.Doc
        if kind not in Whitespace and value.strip()
    ]
    return [value for _, value in found]
