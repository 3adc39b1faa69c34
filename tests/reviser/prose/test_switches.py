"""Comments that switch the proofreader off and on."""

from __future__ import annotations

import pytest

from reviser.prose import Format
from reviser.prose.switches import switches_in


def off(text: str, format: Format = Format.MARKDOWN, *names: str) -> list[str]:
    """The lines whose findings of some names are switched off."""
    switches = switches_in(text, format)
    found, place = [], 0
    for line in text.splitlines():
        start = text.index(line, place)
        place = start + len(line)
        if line and "reviser:" not in line and any(one.holds(start + 1, place - 1, names) for one in switches):
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("format", "comment"),
    [
        (Format.MARKDOWN, "<!-- reviser: {} -->"),
        (Format.HTML, "<!--reviser: {}-->"),
        (Format.MDX, "{{/* reviser: {} */}}"),
        (Format.RST, ".. reviser: {}"),
        (Format.LATEX, "% reviser: {}"),
        (Format.PYTHON, "# reviser: {}"),
        (Format.C, "// reviser: {}"),
        (Format.JAVA, "/* reviser: {} */"),
        (Format.LUA, "-- reviser: {}"),
        (Format.CSS, "/* reviser: {} */"),
    ],
)
def test_each_format_has_its_comments(format: Format, comment: str) -> None:
    lines = ["one", comment.format("off"), "two", comment.format("on"), "three", "", comment.format("ignore-next-line")]
    lines += ["", "four", "five", ""]
    assert off("\n".join(lines), format, "spelling") == ["two", "four"]


def test_names_restrict_a_comment() -> None:
    text = "<!-- reviser: off spelling, verb-form -->\none\n<!-- reviser: on spelling, verb-form -->\ntwo\n"
    assert off(text, Format.MARKDOWN, "spelling") == ["one"]
    assert off(text, Format.MARKDOWN, "article", "verb-form") == ["one"]
    assert off(text, Format.MARKDOWN, "article") == []
    # "on" alone switches everything on again.
    both = "<!-- reviser: off spelling -->\n<!-- reviser: off article -->\none\n<!-- reviser: on -->\ntwo\n"
    assert off(both, Format.MARKDOWN, "article") == ["one"]


@pytest.mark.parametrize(
    "text",
    [
        "```html\n<!-- reviser: off -->\n```\n\none\n",
        "Write `<!-- reviser: off -->` before it.\n\none\n",
        "<!-- reviser: of -->\none\n",
        "reviser: off\none\n",
    ],
)
def test_examples_are_no_comments(text: str) -> None:
    assert "one" not in off(text)


def test_text_has_none_in_plain_formats() -> None:
    assert switches_in("# reviser: off\none\n", Format.PLAIN) == ()
    assert switches_in("one\n\\% reviser: off\n", Format.LATEX) == ()
