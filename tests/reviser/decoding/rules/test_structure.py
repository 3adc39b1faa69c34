"""What stands open at the end of a text, and how it is closed."""

from __future__ import annotations

import pytest

from reviser.decoding.rules.structure import OpenStructure, closings


def closing(before: str, written: str, *, own: bool = False) -> str:
    text = before + written
    return closings(OpenStructure(before).to_close(text, own=own), text)


@pytest.mark.parametrize(
    ("before", "written", "closed_by"),
    [
        ("Use:\n\n```py\nx", " = 1", "\n```"),
        ("Use:\n\n```py\nx", " = 1\n", "```"),
        ("Use:\n\n  ~~~\n  x", " = 1\n  ```\n", "  ~~~"),
        ("```\na\n```\n\n```\nb\n", "\nc", "\n```"),
        ("```\na\n```\n", "Then `b", "`"),
        ("The house (which", ' was "big', '")'),
        ("The rule is **never", " do", "**"),
        ("The rule is **never", " do** it", ""),
        ("He read *The Old Man", " and *", ""),
        ("", "[a](http://x_y_z", ")"),
        ("", "“Yes, he said", "”"),
        ("", "„Ja, sagte er", "“"),
        ("\\begin{equation}\nE = ", "\\frac{1}{2", "}\n\\end{equation}"),
        ("\\begin{a}\n\\begin{b*}\n", "x", "\n\\end{b*}\n\\end{a}"),
        ("\\section{A}\n\n", "See $x", "$"),
        ("\\section{A}\n\n", "\\[\nx", "\n\\]"),
        ("int f() {\n", "    if (a) {\n        b();\n\n    c", "\n    }\n}"),
        ("<p>", '<img src="a', '">'),
        ('"Well," he said, "', "I do.", '"'),
    ],
)
def test_what_stands_open_is_closed_from_within(before: str, written: str, closed_by: str) -> None:
    assert closing(before, written) == closed_by
    assert closing(before, written + closed_by) == ""


@pytest.mark.parametrize(
    "written",
    [
        "a snake_case and 2 * 3 and 5 _ 6",
        "a) and b) are fine :( here",
        "* one\n* two\n\n- three",
        "it's 5 o'clock, and the 7\" disk",
        "an *open star ends\n\nwith the paragraph",
        "a \\* and \\_ and \\( are escaped",
        'x = "a\n    y = [\n    ]',
        "```\n(**\"\n```",
        "\\begin without a name",
        "***\n---\n",
    ],
)  # fmt: skip
def test_nothing_is_open(written: str) -> None:
    assert closing("", written) == ""


def test_what_earlier_paragraphs_opened_stays_but_for_a_fence() -> None:
    assert closing("\\begin{document}\n\\section{A}\n\nIn", " this paper") == ""
    assert closing("```\na\n\nb\n", "c") == "\n```"
    assert closing("He said (once\n\nand", " again") == ""


def test_own_alone() -> None:
    assert closing("```\na (", "b [c", own=True) == ""
    assert closing("The house (which", ' was "big', own=True) == '"'


def test_a_long_text_before_is_read_once() -> None:
    """So what it leaves open is known however long ago that was."""
    structure = OpenStructure("```\n" + "x = 1\n\n" * 20_000)
    assert closings(structure.to_close(structure.before + "y", own=False), "y") == "\n```"
    assert structure.is_code(structure.before + "y")
