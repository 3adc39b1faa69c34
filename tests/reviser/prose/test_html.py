"""Pages in HTML: which of their text is prose, and how changes of it are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviser.core.edits import Edit, apply_edits
from reviser.prose import Format, paragraphs, safe_edits, sentences
from tests.reviser.prose.timing import least_seconds

PAGE = Path(__file__).parent / "documents" / "page.html"


def read(text: str) -> list[str]:
    return [paragraph.text for paragraph in paragraphs(text, Format.HTML)]


def kept(text: str) -> list[str]:
    return [p.text[start:end].strip() for p in paragraphs(text, Format.HTML) for start, end in p.protected]


def changed(text: str, old: str, new: str) -> str:
    found = next(p for p in paragraphs(text, Format.HTML) if old in p.text)
    return apply_edits(text, safe_edits(text, Format.HTML, [(found, [Edit(found.text.index(old), old, new)])]))


def test_a_page() -> None:
    text = PAGE.read_text("utf-8")
    assert [(p.role.value, p.text) for p in paragraphs(text, Format.HTML)] == [
        ("heading", "Teh café & more"),
        ("heading", "Wellcome to our café"),
        ("body", "We serves a fine cofee, and it’s cheap: 3 dollars <img> a cup. Use teh code -x to order."),
        ("item", "One itm"),
        ("item", "Somebody said bonjour to me."),
        ("cell", "Day"),
        ("cell", "teh mondays"),
        ("quote", "A quote that go on."),
        ("heading", "Contact us"),
        ("body", "Or do not, 1 < 2 && R&D &unknown; softly."),
        ("cell", "Sned"),
        ("heading", "loose words"),
        ("heading", "in a card"),
    ]
    words = {word for word in kept(text) if word}
    assert words == {"<img>", "teh code -x", "bonjour", "&D &unknown;"}


def test_tags_within_a_sentence_do_not_break_it_and_others_end_it() -> None:
    (whole,) = paragraphs("<p>One <a href=x>two</a> <b>th</b>ree. Four<span>.</span></p>", Format.HTML)
    assert [whole.text[a:b] for a, b in sentences(whole)] == ["One two three.", "Four."]
    for tag in ("div", "p", "li", "h2", "td", "section", "hr", "option", "unknown", "br><br"):
        assert read(f"Some words<{tag}>and others.") == ["Some words", "and others."]


@pytest.mark.parametrize(
    "left_alone",
    [
        "<script>{}</script>", "<style>{}</style>", "<pre>{}</pre>", "<code>{}</code>", "<kbd>{}</kbd>",
        "<samp>{}</samp>",
        "<textarea>{}</textarea>", '<p translate="no">{}</p>', "<div lang=de><p>{}</p></div>",
        "<p xml:lang='fr'>{}</p>", "<!-- {} -->",
        "<?php {} ?>", "<% {} %>", "<svg><text>{}</text></svg>", "<math><mi>{}</mi></math>", "<del>{}</del>",
        "<p title='{}'>",
        "<SCRIPT>{}</SCRIPT>", "<p lang=de>a<div lang=de translate=no>{}</div>", "<![CDATA[{}]]>", "<!x {}>", "</ {}>",
        "<p {}", "<!--{}",
    ],
)  # fmt: skip
def test_what_is_no_english_prose_is_left_alone(left_alone: str) -> None:
    page = f"<p>Words before.</p>{left_alone.format('teh words')}"
    for paragraph in paragraphs(page, Format.HTML):
        start = paragraph.text.find("teh")
        assert start < 0 or paragraph.touches_protected(start, start + 3)
    assert read(page)[0] == "Words before."


def test_english_within_another_language_is_read() -> None:
    assert read("<html lang=de><p>Das da.</p><p lang='en-GB'>That there.</p><p>Und das.") == ["That there."]
    assert read('<p translate="no">Inc. <b translate="yes">is read</b></p>') == ["Inc. is read"]
    assert read("<p data-lang=de hreflang=de>These words.</p>") == ["These words."]


@pytest.mark.parametrize(
    ("source", "reading"),
    [
        ("caf&eacute; &amp; &lt;b&gt; &#8217;x&#x2019;", "café & <b> ’x’"),
        ("ten&nbsp;miles", "ten miles"),
        ("so&shy;ft&#8203;ly", "softly"),
        ("AT&T &nonsense; &amp", "AT&T &nonsense; &amp"),
        ("one < two <3", "one < two <3"),
        ("one <b>two</b  >three</b>", "one twothree"),
        ("one <a title='a > b' x=\">\">two</a>", "one two"),
        ("one <!-- > --> two<!--> three", "one two three"),
        ("one\n\t two  three", "one two three"),
        ("\ufeff<?xml version='1.0'?><script/>one", "one"),
    ],
)
def test_entities_and_broken_markup_read_as_in_a_browser(source: str, reading: str) -> None:
    assert read(source)[0].removeprefix("\ufeff") == reading


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("<p>We <b>serves</b> it.", "serves", "serve", "<p>We <b>serve</b> it."),
        ("caf&eacute; wich", "café wich", "café which", "caf&eacute; which"),
        ("It&#8217;s a expos&eacute;e &amp; more", "exposée", "exposé", "It&#8217;s a expos&eacute; &amp; more"),
        ("its&#8217; a caf&eacute;", "its’", "it’s", "it&#8217;s a caf&eacute;"),
        ("the &eacute;cafs", "écafs", "cafés", "the caf&eacute;s"),
        ("our Q &amp; a", "Q & a", "Q&A", "our Q&amp;A"),
        ("<i>wrod</i>, so", "wrod", "words", "<i>words</i>, so"),
        ("a <b>wo</b>rd is wrong", "is", "are", "a <b>wo</b>rd are wrong"),
        ("a <b>bo</b>kk", "bokk", "bxxk", "a <b>bo</b>kk"),
        ("a <b>bo</b>kk", "kk", "ok", "a <b>bo</b>ok"),
        ("However <i>it</i> is", "However", "However,", "However, <i>it</i> is"),
        ("I go <b>school</b>.", "go school", "go to school", "I go <b>to school</b>."),
        ("was\n  were he", "was were", "was where", "was\n  where he"),
        ("is <b>the</b> the end", "the ", "", "is <b>the</b> the end"),
        ("is a &lt; b", "a <", "a", "is a &lt; b"),
        ("is a < b", "< b", "<b", "is a < b"),
        ("is a & amp; b", "& amp", "&amp", "is a & amp; b"),
        ("some words", "words", "<b>words", "some words"),
        ("some words", "words", "w&amp;", "some words"),
    ],
)
def test_changes_are_written_into_the_page(text: str, old: str, new: str, result: str) -> None:
    assert changed(text, old, new) == result


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a b='", '<a b="x', "<", "</", "<!--", "<!", "<?", "<% ", "&", "&amp;", "<b>", "<p>", "<li>", "<div></b>",
     "<td><li>", "</p>",
     "a<b>c</b>", "<br>", "<script>", "<svg><", "<img>", "&nbsp;", "word ", "<code>x</code>", "<p lang=de>", "</div"],
)  # fmt: skip
def test_no_markup_makes_reading_slow(piece: str) -> None:
    def seconds(times: int) -> float:
        text = piece * times
        return least_seconds(lambda: paragraphs(text, Format.HTML))

    seconds(100)
    assert seconds(16_000) < 9 * max(seconds(4_000), 0.0025)
