"""A run closes what it opens, before it stops or starts another paragraph."""

from __future__ import annotations

import re

import pytest

from reviser.core.actions import Insert
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import decode
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import seed
from reviser.decoding.rules.closing import ClosingRule
from reviser.decoding.rules.line import LineRule, is_within_line
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.spacing import SingleSpacing
from reviser.decoding.rules.structure import OpenStructure
from tests.toys import ToyTokenizer

STOP = "■"


class WordTokenizer(ToyTokenizer):
    """A toy's tokens, and those that the rules are about."""

    WORDS = ("end", "equation", "```", "~~~", "python", "\n\n", "  ", " \n", " The", ' "', " |", "]")
    size = ToyTokenizer.size + len(WORDS)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in re.split(r"(```|~~~)", text):
            ids += [token(part)] if part in self.WORDS else super().encode(part)
        return ids

    def token_bytes(self, token: int) -> bytes:
        first = ToyTokenizer.size
        return super().token_bytes(token) if token < first else self.WORDS[token - first].encode()


TOKENIZER = WordTokenizer()
VOCABULARY = Vocabulary(base_size=TOKENIZER.size, kinds=PAPER_KINDS, name="words")


def token(text: str) -> int:
    """The one token with that text."""
    if text == STOP:
        return VOCABULARY.stop_id
    return next(id for id in range(TOKENIZER.size) if TOKENIZER.token_bytes(id) == text.encode())


def on_canvas(before: str, written: str, after: str) -> tuple[Canvas, list[int]]:
    canvas, history = seed(VOCABULARY, TOKENIZER.encode(before), TOKENIZER.encode(after))
    for id in TOKENIZER.encode(written):
        canvas.apply(Insert(id))
        history.append(id)
    return canvas, history


def in_words(rule: ScoreProcessor, drawn: str, canvas: Canvas, history: list[int]) -> str | None:
    """What a rule wants instead of a token: None if it may stay, and nothing if another one is to be drawn."""
    instead = rule.instead(token(drawn), history, canvas)
    if instead is None:
        return None
    return "".join(STOP if id == VOCABULARY.stop_id else decode(TOKENIZER, [id]) for id in instead)


def closed(before: str, written: str, drawn: str, after: str = "", left: int = 1000) -> str | None:
    canvas, history = on_canvas(before, written, after)
    rule = ClosingRule(VOCABULARY, TOKENIZER, OpenStructure(before), len(history) + left, fills=bool(after))
    return in_words(rule, drawn, canvas, history)


@pytest.mark.parametrize(
    ("before", "written", "drawn", "instead"),
    [
        ("Use:\n\n```py\n", "x = 1", STOP, "\n```■"),
        ("Use:\n\n```py\n", "x = 1\n", STOP, "```■"),
        ("Use:\n\n```py\n", "", STOP, ""),
        ("Well", " (so it is", STOP, ")■"),
        ("Well", " (so it is)", STOP, None),
        ("Well", " (", STOP, ""),
        ("Well", " **so it is", "\n\n", "**\n\n"),
        ("Well", " (so it is", "\n", None),
        ("```\n", "(x", "\n\n", None),
        ("~~~\na", "\n", "```", "~~~"),
        ("```\na", "\n```", "python", ""),
        ("```\na", "\n```", "\n", None),
        ("def f(x):\n    return x", "\n", "```", STOP),
        ("\\begin{equation*}\nE", " = 1\n\\", "end", "end{equation*}"),
        ("\\begin{equation}\nE = 1\n\\end", "", "equation", "{equation}"),
        ("\\begin{equation}\nE = 1\n\\end{equ", "", "]", "ation}"),
        ("\\section{A}\n\\", "", "end", ""),
        ("So it ends", " the \\", "end", None),
        ("\\section{A}\n", "\\begin{equation", "]", "}"),
        ("| a | b |\n|---|---|\n", "| c |", "\n", ""),
        ("| a | b |\n|---|---|\n", "| c |", STOP, ""),
        ("| a | b |\n|---|---|\n", "| c | d |", "\n", None),
        ("| a | b |\n|---|---|\n", "| c | d |", " The", ""),
    ],
)
def test_what_is_written_instead(before: str, written: str, drawn: str, instead: str | None) -> None:
    assert closed(before, written, drawn) == instead


def test_near_its_limit_a_run_closes_what_it_has_opened() -> None:
    assert closed("Use:\n\n```\n", "x", "e", left=30) is None
    assert closed("Use:\n\n```\n", "x", "e", left=4) == "\n```■"
    assert closed("Use:\n\n", "x", "e", left=4) is None


def test_in_a_gap_what_stands_open_around_it_stays_open() -> None:
    assert closed("The castle (", "so it is", ")", after=") stands.") == STOP
    assert closed("The castle (", "", ")", after=") stands.") == ""
    assert closed("The castle (", "so it is", STOP, after=") stands.") is None
    assert closed("```\n", "a\n", "```", after="\n```\n") == STOP
    assert closed("So", " (it", STOP, after=" is.") == ")■"
    _, history = on_canvas("The castle (", "", ") stands.")
    rule = ClosingRule(VOCABULARY, TOKENIZER, OpenStructure("The castle ("), len(history) + 99, fills=True)
    assert [rule.fits(TOKENIZER.encode(text)) for text in ("so", "so (it", "so (it is)", "so) (it")] == [
        True, False, True, False,
    ]  # fmt: skip


def spaced(before: str, written: str, drawn: str, *, apart: bool = False) -> str | None:
    canvas, history = on_canvas(before, written, "")
    return in_words(SingleSpacing(VOCABULARY, TOKENIZER, OpenStructure(before), apart=apart), drawn, canvas, history)


@pytest.mark.parametrize(
    ("before", "drawn", "instead"),
    [
        ("It was. ", " The", "The"),
        ("It was.", " The", None),
        ("It was.", "  ", ""),
        ("It was. ", " ", ""),
        ("It was. ", "\n", ""),
        ("It was.", " \n", "\n"),
        ("One:\n", "  ", None),
        ("One:\n  ", " The", None),
        ("```\nx = 1 ", " The", None),
        ("    x = 1 ", " The", None),
    ],
)
def test_spaces_are_not_doubled(before: str, drawn: str, instead: str | None) -> None:
    assert spaced(before, "", drawn) == instead
    assert spaced("", before, drawn) == instead


def test_what_follows_a_space_is_a_word() -> None:
    assert spaced("It was", "", " The", apart=True) is None
    for drawn in ("\n", ", ", "The", "  "):
        assert spaced("It was", "", drawn, apart=True) == ""


LIST = ("Guests\n\n- Anna\n-", "\n- Ben\n- Carla\n")


def in_line(before: str, written: str, drawn: str, after: str, *, apart: bool = False) -> str | None:
    canvas, history = on_canvas(before, written, after)
    return in_words(LineRule(VOCABULARY, TOKENIZER, before, after, apart=apart), drawn, canvas, history)


@pytest.mark.parametrize(
    ("before", "after", "within"),
    [
        (*LIST, True),
        ("We went, but", " so we stayed.", True),
        ("# ", "\n\nBread is old.\n", True),
        ("2. Boil the", "\n3. Pour\n", True),
        ("| a | ", " |\n", True),
        ("The bakery is closed.\n\n", "\n\nSo we go.\n", False),
        ("It is closed.", "\n\nSo we go.\n", False),
        ("Guests\n\n", "- Ben\n", False),
    ],
)
def test_a_gap_within_a_line(before: str, after: str, within: bool) -> None:
    assert is_within_line(before, after) is within


def test_a_gap_in_an_item_is_one_items_text() -> None:
    before, after = LIST
    for drawn in ("-", "\n", ",", "a", " \n"):
        assert in_line(before, "", drawn, after, apart=True) == ""
    assert in_line(before, "", " The", after, apart=True) is None
    assert in_line(before, " Tom", "\n", after, apart=True) == STOP
    assert in_line(before, " Tom", STOP, after, apart=True) is None
    # No copy of an item beside it.
    for copy in (" Ben", " Anna", " carla"):
        assert in_line(before, copy, "\n", after, apart=True) == ""
        assert in_line(before, copy, STOP, after, apart=True) == ""
    rule = LineRule(VOCABULARY, TOKENIZER, before, after, apart=True)
    fits = {text: rule.fits(TOKENIZER.encode(text)) for text in (" Tom", " Ben", "- Tom", " Tom\n- Jo", " Benno")}
    assert fits == {" Tom": True, " Ben": False, "- Tom": False, " Tom\n- Jo": False, " Benno": True}


def test_a_gap_in_a_cell_or_a_bracket_begins_with_a_word_and_ends_where_that_does() -> None:
    assert in_line("| a |", "", "|", " |\n", apart=True) == ""
    assert in_line("| a |", " b", " |", " |\n", apart=True) == STOP
    assert in_line("The castle (", "", ",", ") stands.") == ""
    assert in_line("The castle (", "", " The", ") stands.") == ""
    assert in_line("The castle (", "", "a", ") stands.") is None
