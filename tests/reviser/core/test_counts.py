"""Numbers with their nouns, and the messages that say them."""

from __future__ import annotations

import ast
import re

import pytest

from reviser.core.actions import Action, SpanCopy, SpanDelete, SpanMove, Swap
from reviser.core.canvas import Canvas
from reviser.core.counts import counted
from tests.conftest import ROOT
from tests.reviser.core.strategies import TINY

_NOUNS = (
    "action",
    "change",
    "character",
    "document",
    "edit",
    "file",
    "line",
    "mistake",
    "passage",
    "sentence",
    "step",
    "suggestion",
)


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 changes"), (1, "1 change"), (2, "2 changes"), (-1, "-1 change"), (5000, "5,000 changes")],
)
def test_a_number_has_its_noun(number: int, said: str) -> None:
    assert counted(number, "change") == said


def test_plurals_without_an_s_are_given() -> None:
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (SpanDelete(-3), "an action takes 1 token or more, not -3"),
        (SpanDelete(2), "there is 1 editable token to the left of the cursor, not 2"),
        (Swap(), "there is 1 editable token to the left of the cursor, not 2"),
        (SpanMove(4, 0, right=True), "there are 2 editable tokens to the right of the cursor, not 4"),
        (SpanCopy(0, 1), "an action takes 1 token or more, not 0"),
        (SpanCopy(9, 1), "there are 2 tokens to the left of the cursor, not 9"),
    ],
)
def test_refusals_say_how_many_tokens_there_are(action: Action, said: str) -> None:
    canvas = Canvas(TINY, [0, 1, 2, 3], prefix=1, cursor=2)
    assert action.objection(canvas) == said


def _is_number(value: ast.expr) -> bool:
    """Whether a value is a name or a size, and not a text that was made."""
    return not isinstance(value, ast.Call) or ast.unparse(value.func) in ("len", "sum")


@pytest.mark.parametrize("root", ["reviser", "lsp_server", "tui"])
def test_messages_count_in_one_way(root: str) -> None:
    """No number stands before a plural that would be wrong for one of them, unless it has a format of its own."""
    plural = re.compile(rf" (?:[a-z]+ )?(?:{'|'.join(_NOUNS)})s\b")
    found = []
    for file in (ROOT / root).rglob("*.py"):
        for text in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(text, ast.JoinedStr):
                continue
            for number, words in zip(text.values, text.values[1:], strict=False):
                if (
                    isinstance(number, ast.FormattedValue)
                    and number.format_spec is None
                    and number.conversion == -1
                    and _is_number(number.value)
                    and isinstance(words, ast.Constant)
                    and plural.match(str(words.value))
                ):
                    found.append(f"{file.relative_to(ROOT)}:{text.lineno}: {ast.unparse(text)}")
    assert not found
