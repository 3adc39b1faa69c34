"""What is prose in realistic documents, in which role, and what of it must stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviser.prose import Format, Role, format_of, format_of_language, paragraphs
from tests.reviser.prose.timing import least_seconds

DOCUMENTS = Path(__file__).parent / "documents"


def read(name: str) -> list[tuple[str, str]]:
    text = (DOCUMENTS / name).read_bytes().decode()
    return [(p.role.value, p.text) for p in paragraphs(text, format_of(name, text))]


def protected(text: str, format: Format) -> list[str]:
    return [p.text[a:b] for p in paragraphs(text, format) for a, b in p.protected]


def test_a_markdown_guide() -> None:
    found = read("guide.md")
    assert found[0] == ("heading", "Getting started")
    assert found[3:9] == [
        ("quote", "A quote that go on over two lines."),
        ("item", "an item in the quote"),
        ("item", "First item, wrapped over two lines"),
        ("item", "Second item"),
        ("item", "[ ] a task that is open"),
        ("item", "[x] a task that are done"),
    ]
    assert ("cell", "the first lettr") in found
    assert ("caption", "![A picture of the sea](sea.png)") in found
    assert found[-4:] == [
        ("heading", "Setext heading"),
        ("heading", "Term"),
        ("body", "Its definition, which are short."),
        ("note", "A note about prices."),
    ]
    whole = " ".join(text for _, text in found)
    for code in ("colons", "teh code", "indented block", "mc^2", "Raw HTML"):
        assert code not in whole


def test_what_stays_in_markdown() -> None:
    text = "Use `a b`, [the page](http://x/y_z), [r] or ![it](a.png) *now* <b>or</b> $x$ &amp; \\*.\n\n[r]: z\n"
    assert protected(text, Format.MARKDOWN) == [
        "`a b`", "[", "](http://x/y_z)", "[r]", "![", "](a.png)", "*", "*", "<b>", "</b>", "$x$", "&amp;", "\\*",
    ]  # fmt: skip


def test_a_paper_in_latex() -> None:
    assert read("paper.tex") == [
        ("heading", "On the Tilte"),
        ("heading", "Introduction"),
        (
            "body",
            "We show that \\emph{most models} are god at $x^2 + y$ and cite~\\cite{foo} for 50\\% of it. It goes "
            "on\\footnote{A footnote with \\textbf{bold}.} after \\begin{equation} a = b \\end{equation} where $a$ is "
            "the sum.",
        ),
        ("item", "First item, which is long and wrapped."),
        ("item", "Second \\texttt{code} item."),
        ("caption", "A caption of it."),
        ("body", "Every thing is a thing."),
        ("body", "Use \\verb|a_b$| and \\url{http://a%20b} or \\href{http://x}{the link}."),
    ]


def test_a_manual_in_restructuredtext() -> None:
    found = read("manual.rst")
    assert [role for role, _ in found] == [
        "heading", "body", "item", "item", "note", "note", "caption", "body", "heading", "body", "item",
    ]  # fmt: skip
    assert ("note", "This is a note with wrapped text.") in found
    assert ("item", "The foo is good.") in found


def test_a_directive_without_a_blank_line_before_it_stays() -> None:
    text = "term\n   Words here.\n.. code-block:: c\n\n   code here\n"
    assert [p.text for p in paragraphs(text, Format.RST)] == ["term", "Words here."]
    text = "So it is::\n\n   code here\n.. code-block:: c\n\n   code here\n\nWords here.\n"
    assert [p.text for p in paragraphs(text, Format.RST)] == ["So it is::", "Words here."]


def test_a_commit_message() -> None:
    assert read("COMMIT_EDITMSG") == [
        ("heading", "handle teh empty document"),
        ("body", "The parser was broken. It did not knew about empty ones, so that it failed."),
        ("item", "One item that goes on"),
        ("item", "Another"),
    ]


def test_a_mail() -> None:
    assert read("letter.eml") == [("body", "Hello Bob,"), ("body", "I thinks that it is good and it works.")]


def test_plain_text() -> None:
    assert read("notes.txt") == [
        ("heading", "Getting started"),
        (
            "body",
            "This are notes that was written in an editor that wraps its lines at about sixty characters, as many of "
            "them do. They go on for a while.",
        ),
        ("item", "An item in a list"),
        ("item", "Another one, that is longer than the first and goes on in a second line."),
        ("heading", "Contents"),
        ("body", "See https://example.org/a_b for moor."),
    ]


def test_lines_that_are_not_wrapped_are_paragraphs_of_their_own() -> None:
    text = "One short line.\nAnother short line.\nRoses are red,\nViolets are blue.\n"
    assert [p.text for p in paragraphs(text, Format.PLAIN)] == text.splitlines()


CODE = {
    "shapes.py": [
        "Module docs are hear.",
        "Single: the class.",
        "The foo that are given and wrapped.",
        "The bar.",
        "Example::",
        "One line.",
    ],
    "adding.js": [
        "Adds two number together.",
        "The first numbr.",
        "the sum of it",
        "This are a comment over two lines.",
        "inline one here",
        "sum it",
    ],
    "adding.c": ["Adds two number, and print the sum of they.", "It print the first.", "the sum"],
    "adding.go": [
        "Package adding add numbers and does nothing else.",
        "Add returns the sum of a and b, wich is usual.",
        "the sum",
    ],
    "adding.rs": [
        "This crate add numbers.",
        "Adds two numbers, see [`Adder`].",
        "a nested /* comment */ here",
        "their sum",
    ],
    "Adding.java": [
        "Adds number to each other.",
        "Returns the sum of two <b>numbers</b>.",
        "the first of the number",
        "the sum, see {@link Adding}",
    ],
    "Adding.cs": ["Adds two number.", "the sum"],
    "install.sh": ["Installs the program, and say so.", "It print something."],
    "settings.yaml": ["The setting of the program, as they is by default.", "the first of it"],
    "settings.toml": ["The settings of the programm.", "its name"],
    "view.tsx": ["A component that show a name.", "the name of it"],
    "style.css": ["The color of link."],
    "adding.rb": ["Adds number to each other.", "the sum of it"],
    "adding.lua": ["Adds two number.", "A longer comment that go over two lines."],
    "adding.php": ["Adds two number.", "their sum"],
    "adding.kt": ["Adds two number.", "their sum"],
    "adding.swift": ["Adds two number.", "their sum"],
    "adding.scala": ["Adds two number.", "the sum"],
}


@pytest.mark.parametrize("name", CODE)
def test_comments_and_docstrings_alone_are_prose_in_code(name: str) -> None:
    assert read(name) == [("comment", text) for text in CODE[name]]


@pytest.mark.parametrize(
    "word",
    [
        "https://example.org/a?b=c", "me@example.org", "@someone", "--in-place", "-x", "/usr/local/bin", "./a.sh",
        "src/main.rs",
        "README.md", "snake_case", "camelCase", "PascalCase", "os.path", "f()", "Foo::bar", "$HOME", "${x}", "{name}",
        "%s",
        "0xff", "deadbee1", "v1.2.3", "1.2.3", "#123", "`code`", ":smile:", "&nbsp;", "<tag>", "{% endif %}reate",
        "{{ name }}s",
    ],
)  # fmt: skip
def test_words_that_stay(word: str) -> None:
    assert protected(f"We wrote {word}, and more of the same kind.", Format.PLAIN) == [word]


@pytest.mark.parametrize(
    "text", ["It was e.g. good, i.e. fine.", "He/she and/or they, read-only, 3.14 km.", "It ended.Then more (ok)."]
)
def test_words_that_may_change(text: str) -> None:
    assert protected(text, Format.PLAIN) == []


def test_formats() -> None:
    assert format_of("a/README.md", "") is Format.MARKDOWN
    assert format_of(".git/COMMIT_EDITMSG", "") is Format.COMMIT
    assert format_of("run", "#!/usr/bin/env -S python3.11 -u\n") is Format.PYTHON
    assert format_of("run", "#!/bin/sh\n") is Format.SHELL
    assert format_of(None, "text") is Format.PLAIN
    assert format_of("-", "text") is Format.PLAIN
    assert format_of("LICENSE.xyz", "text") is Format.UNKNOWN
    assert format_of("README", "text") is Format.PLAIN
    assert format_of_language("git-commit") is Format.COMMIT
    assert format_of_language("javascriptreact") is Format.JAVASCRIPT
    assert format_of_language("brainfuck") is Format.UNKNOWN
    assert paragraphs("Some text.", Format.UNKNOWN) == []


def test_only_roles_of_running_text_want_a_final_mark() -> None:
    assert [role for role in Role if not role.fragment] == [Role.BODY, Role.QUOTE, Role.NOTE]


def test_a_missing_parser_is_said_plainly() -> None:
    script = (
        "import sys; sys.modules['tree_sitter'] = None\n"
        "from reviser.prose import Format, paragraphs\n"
        "from reviser.core.errors import ReviserError\n"
        "assert paragraphs('Some text.', Format.PLAIN)\n"
        "try: paragraphs('# a', Format.PYTHON)\n"
        "except ReviserError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ("reading this format needs tree_sitter; install it with: pip install 'reviser[prose]'\n")


def test_parsers_are_loaded_when_they_are_needed() -> None:
    script = (
        "import sys, reviser.prose; print([m for m in ('markdown_it', 'tree_sitter', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["guide.md", "notes.txt", "paper.tex", "manual.rst", "shapes.py", "adding.js"])
def test_reading_takes_time_in_proportion_to_the_text(name: str) -> None:
    text = (DOCUMENTS / name).read_text("utf-8").split("\\end{document}")[0]
    size = 40_000 // len(text)

    def seconds(times: int) -> float:
        return least_seconds(lambda: paragraphs(text * times, format_of(name)))

    seconds(1)
    # Four times the text takes four times the time, and would take sixteen times if it were read anew for each line.
    assert seconds(4 * size) < 9 * seconds(size)


@pytest.mark.parametrize("format", [Format.MARKDOWN, Format.PLAIN, Format.LATEX, Format.RST])
@pytest.mark.parametrize(
    "line",
    ["word " * 400, "a*b_[c](", "x  \n", "{", "$a ", "\\begin{a}\n", "> ", "# a\n", "(((", "`", "a.b-c@", "\\(a "],
)
def test_no_line_makes_reading_slow(format: Format, line: str) -> None:
    def seconds(size: int) -> float:
        text = (line * (size // len(line) + 1))[:size]
        return least_seconds(lambda: paragraphs(text, format))

    seconds(1000)
    assert seconds(16_000) < 9 * max(seconds(4_000), 0.0025)


def test_a_long_comment_is_read_once() -> None:
    def seconds(size: int) -> float:
        text = "# Some words.\n#\n" * size
        assert len(paragraphs(text, Format.PYTHON)) == size
        return least_seconds(lambda: paragraphs(text, Format.PYTHON))

    seconds(10)
    assert seconds(4000) < 9 * max(seconds(1000), 0.005)


def test_the_documented_program(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "prose.md").read_text("utf-8")
    exec(compile(page.split("```python\n")[1].split("```")[0], "docs/prose.md", "exec"), {})
    assert capsys.readouterr().out.endswith("This shows how to\nuse `it`.\n\n")


def test_backslashes_stay_with_what_they_mean() -> None:
    assert protected('"""Some \\" words.\n\n- Item \\. one\n"""', Format.PYTHON) == ['\\"', "\\."]
