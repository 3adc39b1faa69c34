"""Tokens to plain text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.proofreading.tokens import Style, detokenise, retokenise

TREEBANK, SPACY, WHOLE = Style(), Style(hyphens=True), Style(halves=False)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("I do n't know , she 's late .", "I don't know, she's late."),
        ("He can not go .", "He cannot go."),
        ("( see below ) : 5 % of $ 20 !", "(see below): 5% of $20!"),
        ("He said `` go '' .", 'He said "go".'),
        ('" Go " , he said .', '"Go", he said.'),
        ("my parents ' house", "my parents' house"),
        ("a ' good ' one", "a 'good' one"),
        ("Wait ... what ?!", "Wait... what?!"),
        ("the sea - it was calm", "the sea - it was calm"),
        ('He said:"Go away " .', 'He said:"Go away".'),
        ("I 'm gon na see :)", "I'm gonna see :)"),
    ],
)
def test_plain_text_reads_as_typed(tokens: str, text: str) -> None:
    assert detokenise(tokens.split(), TREEBANK).text == text


def test_styles_differ_in_hyphens_and_halves() -> None:
    assert detokenise(["an", "e", "-", "mail", "to", "Sir", "/", "Madam"], SPACY).text == "an e-mail to Sir/Madam"
    assert detokenise(["I", "can", "not"], WHOLE).text == "I can not"


def test_the_author_decides_where_rules_guess() -> None:
    tokens = ["now", "-", "so", ",", "not"]
    assert detokenise(tokens, SPACY).text == "now-so, not"
    # Hyphens as they were written; a comma joins the word before it whatever the author did.
    assert detokenise(tokens, SPACY, [False, False, False, True]).text == "now - so, not"


@pytest.mark.parametrize(
    ("tokens", "style", "corrected", "wanted"),
    [
        ("I saw some one .", TREEBANK, "I saw someone.", "I saw someone ."),
        ("He do n't know .", TREEBANK, "He doesn't know.", "He does n't know ."),
        ("He can not go .", TREEBANK, "He can't go.", "He ca n't go ."),
        ("Stop , he say", TREEBANK, "Stop, he says.", "Stop , he says ."),
        ("a ( realy ) odd", TREEBANK, "a (really) odd", "a ( really ) odd"),
        ("he said `` goo '' , ok", TREEBANK, 'he said "good", ok', "he said `` good '' , ok"),
        ("life.for me i go", TREEBANK, "life.for me I go", "life.for me I go"),
        ("all in,all good", TREEBANK, "all in, all good", "all in , all good"),
        ("an email to some one .", SPACY, "an e-mail to someone.", "an e - mail to someone ."),
        ("an email here", TREEBANK, "an e-mail here", "an e-mail here"),
        ("I can go", WHOLE, "I cannot go", "I cannot go"),
        ("I can go", TREEBANK, "I cannot go", "I can not go"),
        ("Mr Smith , etc", TREEBANK, "Mr. Smith, etc.", "Mr. Smith , etc ."),
        ("and so on etc , he says", TREEBANK, "and so on etc., he says", "and so on etc. , he says"),
        ("He go home", TREEBANK, "", ""),
        ("one two", TREEBANK, "one, two", "one , two"),
        ("He said `` Go home .", TREEBANK, 'He said "Go home."', "He said `` Go home . ''"),
        ("`` Go , home .", TREEBANK, '"Go home."', "`` Go home . ''"),
    ],
)
def test_corrections_come_back_as_tokens(tokens: str, style: Style, corrected: str, wanted: str) -> None:
    given = tokens.split()
    found = retokenise(given, detokenise(given, style), corrected, style)
    assert " ".join(found) == wanted


PIECES = st.sampled_from(
    [
        *["a", "word", "parents", ",", ".", "...", "n't", "'s", "'", '"', "``", "''", "(", ")", "-", "/"],
        *["can", "not", "3", "%", "$", "etc.", "e-mail", 'x"y', "'odd", ":)", "&raspsquo;", "--"],
    ]
)


@given(st.lists(PIECES, max_size=12), st.sampled_from([TREEBANK, SPACY, WHOLE]))
def test_unchanged_text_gives_back_its_tokens(tokens: list[str], style: Style) -> None:
    plain = detokenise(tokens, style)
    assert retokenise(tokens, plain, plain.text, style) == tuple(tokens)
    spaced = plain.text.replace(" ", "  ") + "\n"
    assert retokenise(tokens, plain, spaced, style) == tuple(tokens)


@given(st.lists(PIECES, min_size=1, max_size=12), st.sampled_from([TREEBANK, SPACY, WHOLE]))
def test_a_word_put_in_front_leaves_the_other_tokens(tokens: list[str], style: Style) -> None:
    plain = detokenise(tokens, style)
    found = retokenise(tokens, plain, f"Surely {plain.text}", style)
    assert found == ("Surely", *tokens)


@given(st.lists(PIECES, max_size=12), st.lists(PIECES, max_size=12), st.sampled_from([TREEBANK, SPACY, WHOLE]))
def test_every_correction_has_tokens(tokens: list[str], others: list[str], style: Style) -> None:
    plain, corrected = detokenise(tokens, style), detokenise(others, style).text
    found = retokenise(tokens, plain, corrected, style)
    assert bool(found) == bool(corrected)
