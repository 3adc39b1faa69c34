"""Sentences are found in spite of abbreviations, initials, numbers, quotes and code."""

from __future__ import annotations

import pytest

from reviser.prose import Format, paragraphs, sentences


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.|Another one.",
        "Is it?|Yes!|Well…|So it is",
        "Dr. Smith met Mrs. Jones at 3.14 p.m. yesterday.|They left.",
        "It works, e.g. Here and there, i.e. everywhere.|Good.",
        "J. R. R. Tolkien wrote it.|He did.",
        "The U.S. Army came.|The end.",
        "He lives in the U.S.|The rest do not.",
        'He said "Go."|Then he left.',
        "She asked (why?) and left.|We stayed.",
        "(It was late.)|We went.",
        "It cost 3.5 dollars.|No. 5 was cheaper.",
        "Wait... what?|Nothing.",
        "We like apples, pears, etc.|The others do not.",
        "See Fig. 3 and Eq. 4 of Sec. 5.|It is there.",
        "Run `a. B c` now.|Then stop.",
        "See https://example.org/a.B for it.|Good.",
        "It is 5 a.m. in Rome.|We sleep.",
        "Mr. and Mrs. Smith vs. the state.|It went on.",
        "1. First things come first.",
        "It was me and I.|They knew.",
        "“Is it?” he asked.|“It is.”",
        "漢字です。|そうです。",
    ],
)
def test_sentences(text: str) -> None:
    shown = text.replace("|", " ")
    (paragraph,) = paragraphs(f"# {shown}", Format.MARKDOWN)
    found = [paragraph.text[start:end] for start, end in sentences(paragraph)]
    assert found == text.split("|")
