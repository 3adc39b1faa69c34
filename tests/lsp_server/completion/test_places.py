"""Where suggestions belong: `¦` is the cursor."""

from __future__ import annotations

import pytest

from lsp_server.completion.places import is_prose
from reviser.prose import Format

MARKDOWN = Format.MARKDOWN
PROSE = [
    (MARKDOWN, "# Head\n\nSome text and ¦\n"),
    (MARKDOWN, "# Head¦\n"),
    (MARKDOWN, "One.\n\n¦\n"),
    (MARKDOWN, "- ¦\n"),
    (MARKDOWN, "A sentence.¦ Another.\n"),
    (MARKDOWN, "See https://example.org/page ¦\n"),
    (MARKDOWN, "```\ncode\n```\n¦"),
    (Format.COMMIT, "Fix the ¦\n\n# Please enter\n"),
    (Format.COMMIT, "Fix it\n\n¦\n# Please enter\n"),
    (Format.COMMIT, "¦\n# Please enter the commit message\n"),
    (Format.MAIL, "From: a@b.org\nSubject: Hello\n\nDear ¦\n> quoted\n"),
    (Format.LATEX, "\\begin{document}\nText ¦\n\\end{document}\n"),
    (Format.RST, "Title\n=====\n\nText ¦\n"),
    (Format.PLAIN, "¦"),
    (Format.PLAIN, "Dear all,\n¦"),
    (Format.PYTHON, "# A comment ¦\nx = 1\n"),
    (Format.UNKNOWN, "whatever it is ¦"),
]
NOT_PROSE = [
    (MARKDOWN, "```py\nx = ¦\n```\n"),
    (MARKDOWN, "```\nnever closed ¦"),
    (MARKDOWN, "Text\n\n    code ¦\n"),
    (MARKDOWN, "See <https://example.org/pa¦>\n"),
    (MARKDOWN, "See https://example.org/pa¦ now\n"),
    (MARKDOWN, "See https://¦\n"),
    (MARKDOWN, "---\ntitle: a ¦\n---\n\nText\n"),
    (MARKDOWN, "Maths $a + ¦$ text\n"),
    (MARKDOWN, "Use `co¦de` now\n"),
    (MARKDOWN, "[text](tar¦get)\n"),
    (MARKDOWN, "Call foo_ba¦\n"),
    (MARKDOWN, "| a | b |\n|---|---|\n| c ¦ | d |\n"),
    (Format.COMMIT, "Fix it\n\nBody\n\n# Please ¦enter\n"),
    (Format.COMMIT, "Fix it\n\nBody.\n\nSigned-off-by: A ¦<a@b.org>\n"),
    (Format.MAIL, "Subject: x\n\n> quo¦ted\n"),
    (Format.LATEX, "\\begin{document}\nText $x ¦$\n\\end{document}\n"),
    (Format.LATEX, "\\begin{document}\nText \\cite{¦}\n\\end{document}\n"),
    (Format.LATEX, "\\begin{document}\nText % a comment ¦\n\\end{document}\n"),
    (Format.RST, "::\n\n   code ¦\n"),
    (Format.PLAIN, "a  b    c\n1  2    3¦\n"),
    (Format.PYTHON, "x = ¦1\n"),
]


def asked(format: Format, marked: str, *, invoked: bool = False) -> bool:
    offset = marked.index("¦")
    return is_prose(marked.replace("¦", ""), offset, format, invoked=invoked)


@pytest.mark.parametrize(("format", "marked"), PROSE)
def test_prose(format: Format, marked: str) -> None:
    assert asked(format, marked)


@pytest.mark.parametrize(("format", "marked"), NOT_PROSE)
def test_what_is_no_prose(format: Format, marked: str) -> None:
    assert not asked(format, marked)


def test_a_cell_of_a_table_is_for_those_who_ask() -> None:
    cell = "| a | b |\n|---|---|\n| c ¦ | d |\n"
    assert asked(MARKDOWN, cell, invoked=True)
    assert not asked(MARKDOWN, "```\nc ¦\n```\n", invoked=True)


@pytest.mark.parametrize("words", [400, 4000])
def test_long_documents_are_read_around_the_place(words: int) -> None:
    prose = "Some text here and there.\n\n" * words
    assert asked(MARKDOWN, f"{prose}More ¦\n\n{prose}")
    assert not asked(MARKDOWN, f"{prose}```\nmore ¦\n```\n{prose}")
    # A fence that was opened long ago still holds.
    assert not asked(MARKDOWN, f"```\n{prose}More ¦\n")
    assert asked(MARKDOWN, f"```\n{prose}```\n\n{prose}More ¦\n")
