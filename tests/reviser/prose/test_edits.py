"""Changes of paragraphs in the source: lines stay lines, and what is no prose stays as it is."""

from __future__ import annotations

import pytest

from reviser.core.edits import Edit, apply_edits
from reviser.prose import Format, paragraphs, safe_edits, same_structure, source_edits
from tests.reviser.prose.timing import least_seconds


def changed(text: str, old: str, new: str, format: Format = Format.MARKDOWN) -> str:
    """The document after a change of `old`, in the first paragraph that has it, into `new`."""
    found = next(p for p in paragraphs(text, format) if old in p.text)
    start = found.text.index(old)
    edits = safe_edits(text, format, [(found, [Edit(start, old, new)])])
    return apply_edits(text, edits)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("Some words are|wrong here.", "are wrong", "were right", "Some words were|right here."),
        ("I saw some|one there.", "some one", "someone", "I saw someone|there."),
        ("I saw some|one.", "some one", "someone", "I saw|someone."),
        ("> It go|> on here.", "go on", "goes on", "> It goes|> on here."),
        ("- a lot|  of them", "a lot of", "many", "- many|  them"),
        ("One two|three four|five six.", "two three four five", "2 3 4 5", "One 2|3 4|5 six."),
        ("It is the|the end.", "the the", "the", "It is the|end."),
        ("It is|is so.", "is is", "is", "It is|so."),
        ("An end of|line.", "of", "of a", "An end of a|line."),
        ("Very very|long.", "very ", "", "Very|long."),
    ],
)
def test_wrapped_lines_stay_lines(text: str, old: str, new: str, result: str, end: str) -> None:
    assert changed(text.replace("|", end), old, new) == result.replace("|", end)


@pytest.mark.parametrize(
    ("format", "text", "old", "new"),
    [
        (Format.MARKDOWN, "# Getting started\n", "started", "started."),
        (Format.MARKDOWN, "- an item\n", "item", "item."),
        (Format.MARKDOWN, "Use `teh code` now.\n", "teh", "the"),
        (Format.MARKDOWN, "See [it](http://teh.org).\n", "teh", "the"),
        (Format.MARKDOWN, "A *word* here.\n", "word", ""),
        (Format.MARKDOWN, "A word here.\n", "word", "*word*"),
        (Format.MARKDOWN, "A word here.\n", "A", "- A"),
        (Format.MARKDOWN, "A word here.\n", "A", "1. A"),
        (Format.MARKDOWN, "A word\nhere it is.\n", "here", "1. here"),
        (Format.MARKDOWN, "| a | b |\n|---|---|\n| some | words |\n", "some", "so|me"),
        (Format.MARKDOWN, "A hard  \nbreak here.\n", "hard break", "soft thing"),
        (Format.MARKDOWN, "A word here.\n", "word", "word\n\nword"),
        (Format.LATEX, "We have 50\\% here.\n", "have", "have 3%"),
        (Format.LATEX, "We cite \\cite{teh} here.\n", "teh", "the"),
        (Format.LATEX, "It joins% comment\nwords here.\n", "joins words", "keeps word"),
        (Format.RST, "See ``a``, :ref:`b` or not.\n", ", ", ","),
        (Format.RST, "A title\n=======\n", "title", "longer title"),
        (Format.RST, "A word here.\n", "here.", "here::"),
        (Format.RST, "A ``teh`` word.\n", "teh", "the"),
        (Format.PYTHON, '"""A word."""\n', "word.", 'word."'),
        (Format.PYTHON, "'A word.'\n", "word", "word's"),
        (Format.PYTHON, "# A word here.\n", "A word here.", "type: ignore"),
        (Format.C, "/* A word. */\n", "word", "word */ x /*"),
        (Format.COMMIT, "Subject\n\nA body here.\n", "A body", "# A body"),
        (Format.COMMIT, "Subject\n\nA body: here it is.\n", "A body: here", "Fixes: here"),
        (Format.PLAIN, "We use snake_case here.\n", "snake", "snakes"),
        (Format.PLAIN, "See http://x.org for more.\n", "for", "for"),
        (Format.PLAIN, "See http://x.org /a for more.\n", " ", "\0"),
        (Format.PLAIN, "See http://x.org and more.\n", "org and", "organd"),
        (Format.PLAIN, "A word here.\n", "word", "wo\u202erd"),
        (Format.PLAIN, "A word\u2028here is it.\n", "word\u2028here", "word here"),
        (Format.PLAIN, "A word\u2028here\n", "here", ""),
        (Format.MAIL, "> I has it.\n\nYes, it are.\n", "Yes", "> Yes"),
    ],
)
def test_changes_that_are_not_made(format: Format, text: str, old: str, new: str) -> None:
    assert changed(text, old, new, format) == text


@pytest.mark.parametrize(
    ("format", "text", "old", "new"),
    [
        (Format.MARKDOWN, "See [teh page](http://x).\n", "teh", "the"),
        (Format.MARKDOWN, "![A pictre](a.png)\n", "pictre", "picture"),
        (Format.MARKDOWN, "| a | b |\n|---|---|\n| teh | words |\n", "teh", "the"),
        (Format.MARKDOWN, "A **bold wrod** here.\n", "wrod", "word"),
        (Format.LATEX, "An \\emph{emphatic wrod} here.\n", "wrod", "word"),
        (Format.LATEX, "\\section{Teh title}\n", "Teh", "The"),
        (Format.RST, "Teh title\n=========\n", "Teh", "The"),
        (Format.PYTHON, "def f():\n    '''Do teh thing.'''\n", "teh", "the"),
        (Format.RUST, "/// Do teh thing.\nfn f() {}\n", "teh", "the"),
        (Format.PHP, "<?php // Do teh thing.\n", "teh", "the"),
        (Format.COMMIT, "fix: mend teh bug\n", "teh", "the"),
        (Format.PLAIN, "Javascript is a langauge.\n", "Javascript", "JavaScript"),
        (Format.PLAIN, "\ufeffTeh start.\n", "Teh", "The"),
        (Format.PLAIN, "Teh 👩‍🚀 said עברית to cafe\u0301.", "Teh", "The"),
        (Format.PLAIN, "Teh \u2028 line\0.", "Teh", "The"),
    ],
)
def test_changes_that_are_made(format: Format, text: str, old: str, new: str) -> None:
    assert changed(text, old, new, format) == text.replace(old, new, 1)


def test_a_bad_change_does_not_take_good_ones_with_it() -> None:
    text = "Teh frist *word* of teh text.\n"
    (paragraph,) = paragraphs(text, Format.MARKDOWN)
    changes = [
        Edit(start, paragraph.text[start:end], new)
        for start, end, new in (
            (0, 3, "The"),
            (4, 9, "first"),
            (10, 11, ""),
            (11, 15, "`word"),
            (20, 23, "the"),
            (90, 99, "x"),
        )
    ]
    edits = safe_edits(text, Format.MARKDOWN, [(paragraph, changes)])
    assert apply_edits(text, edits) == "The first *word* of the text.\n"


def test_what_only_the_whole_document_shows_is_seen() -> None:
    text = "See the page [here] or there.\n\n[here]: http://x\n[there]: http://y\n"
    first = paragraphs(text, Format.MARKDOWN)[0]
    start = first.text.index("there")
    assert not safe_edits(text, Format.MARKDOWN, [(first, [Edit(start, "there", "[there]")])])


def test_a_fragment_is_mended_without_its_new_full_stop() -> None:
    assert changed("# Geting started\n", "Geting started", "Getting started.") == "# Getting started\n"


def test_edits_of_one_paragraph_need_no_document() -> None:
    (paragraph,) = paragraphs("> Teh\n> end.", Format.MARKDOWN)
    assert source_edits(paragraph, [Edit(0, "Teh end", "The end")]) == [Edit(3, "eh", "he")]


def test_edits_that_overlap_are_refused() -> None:
    from reviser.core.edits import Edit

    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", [Edit(0, "ab", "x"), Edit(1, "bc", "y")])


def test_structure_is_compared() -> None:
    assert same_structure("# A b\n\ntext", "# C\n\nother text", Format.MARKDOWN)
    assert not same_structure("# A b\n\ntext", "## A b\n\ntext", Format.MARKDOWN)
    assert not same_structure("a *b* c", "a *b c", Format.MARKDOWN)
    assert not same_structure("x = 1  # one", "x = 2  # one", Format.PYTHON)


def test_many_bad_changes_take_time_in_proportion() -> None:
    def seconds(size: int) -> float:
        text = "Some words are here.\n\n" * size
        proposals = [
            (p, [Edit(0, "Some", "1. A"), Edit(5, "words", "texts")]) for p in paragraphs(text, Format.MARKDOWN)
        ]
        assert len(safe_edits(text, Format.MARKDOWN, proposals)) == size
        return least_seconds(lambda: safe_edits(text, Format.MARKDOWN, proposals))

    seconds(2)
    assert seconds(400) < 9 * seconds(100)
