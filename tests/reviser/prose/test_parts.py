"""Long paragraphs and long words: what one word costs does not grow with the text around it."""

from __future__ import annotations

import pytest

from reviser.core.edits import Edit, apply_edits
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.gathering import names_in
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.spelling.unknown import unknown_words
from reviser.prose import Format, Role, paragraphs, safe_edits, sentences, unread
from reviser.prose.parts import LONGEST
from tests.reviser.prose.timing import least_seconds

SENTENCE = "The quik fox were here in Oslo, and it rained. "


def test_a_long_line_is_read_in_parts_between_sentences() -> None:
    text = SENTENCE * 1000
    found = paragraphs(text, Format.PLAIN)
    assert len(found) > 1
    assert all(len(part.text) <= LONGEST and part.role is Role.BODY for part in found)
    assert " ".join(part.text for part in found) == text.strip()
    assert sum(len(sentences(part)) for part in found) == 1000
    last = found[-1]
    at = last.text.rindex("were")
    edits = safe_edits(text, Format.PLAIN, [(last, [Edit(at, "were", "was")])])
    assert apply_edits(text, edits) == SENTENCE * 999 + SENTENCE.replace("were", "was")


@pytest.mark.parametrize("format", [Format.PLAIN, Format.MARKDOWN, Format.HTML, Format.LATEX])
def test_parts_lead_back_to_the_source(format: Format) -> None:
    text = "Words *of* <b>one</b> &amp; two " * 2000 + "and " + "x" * 2000 + " the end."
    found = paragraphs(text, format)
    assert len(found) > 5
    assert found[-1].text == "the end."
    for part in found:
        for start, end, span in zip(part.starts, part.ends, part.segments, strict=True):
            assert part.source_of(start, end) == text[slice(*span)]
        assert all(0 <= start < end <= len(part.text) for start, end in part.protected)
        # What is cut off within a sentence lacks no full stop.
        assert part.role.fragment


def test_words_that_are_too_long_are_told() -> None:
    word, address = "x" * 80_000, f"https://example.org/{'y' * 3000}"
    text = f"One {word} two.\n\nSee {address} there, `{'z' * 2000}` and <{word}> here.\n"
    assert word in [text[slice(*span)] for span in unread(text, Format.MARKDOWN)]
    assert [paragraph.text for paragraph in paragraphs(text, Format.MARKDOWN)][:2] == ["One", "two."]
    assert unread(f"See {address}.", Format.PLAIN) == []
    assert unread(f"```\n{word}\n```\n", Format.MARKDOWN) == []


@pytest.mark.parametrize("text", [SENTENCE, "quik brwon ", "Oslo and Rome ", "x", "aB3/+", "a.b "])
def test_time_grows_with_a_line_and_no_faster(text: str) -> None:
    known = dictionary()

    def seconds(size: int) -> float:
        line = (text * (size // len(text) + 1))[:size]

        def read() -> None:
            found = paragraphs(line, Format.PLAIN)
            for paragraph in found:
                unknown_words(paragraph, known, Terms(names=names_in(found[:1])))

        return least_seconds(read)

    seconds(1000)
    assert seconds(64_000) < 9 * max(seconds(16_000), 0.0025)
