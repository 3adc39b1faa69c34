"""The step of the proofreader that corrects sure mistakes, before a model that knows little or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

from reviser.core.edits import Edit
from reviser.editor.incremental import IncrementalChecker
from reviser.proofreading.document import Draft, Proofread, Sentence
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.project.words import Words
from reviser.proofreading.stages.whole_words import from_word_to_word
from reviser.proofreading.suggestion import Kind, Suggestion, with_suggestions
from reviser.prose import Format, Span, paragraphs
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted

WRAPPED = "He went to the\nthe shop and said me\nthat it is a old one.\n"


def proofread(
    text: str,
    known: Known | None = None,
    *,
    format: Format = Format.PLAIN,
    confidence: float = 0.5,
    words: Words | None = None,
    within: Span | None = None,
    kinds: frozenset[Kind] = frozenset(Kind),
) -> Proofread:
    reader = Proofreader(Scripted(known or {}), GPT2, confidence=confidence, kinds=kinds)
    done = reader.proofread(Draft(text, format, words or Words(), within))
    assert with_suggestions(text, done.changes) == done.text
    assert all(text[one.start : one.end] == one.old for one in done.changes)
    return done


def test_sure_mistakes_are_corrected_whatever_the_model_says() -> None:
    done = proofread("She don't like me, and I am agree. We discussed about the plan.")
    assert done.text == "She doesn't like me, and I agree. We discussed the plan."
    assert [(one.old.strip(), one.new.strip(), one.kind) for one in done.changes] == [
        ("don't", "doesn't", Kind.AGREEMENT),
        ("am", "", Kind.VERB_FORM),
        ("about", "", Kind.PREPOSITION),
    ]
    assert all(one.confidence == 0.95 for one in done.changes)
    assert done.changes[2].reason == "This verb goes without the preposition."
    reader = Proofreader(Scripted({}), GPT2)
    assert reader.proofread(Draft("I saw the the cat.")).text == "I saw the cat."
    without = Proofreader(Scripted({}), GPT2, phrases=False)
    assert without.proofread(Draft("I saw the the cat.")).changes == ()


def test_the_model_reads_what_was_corrected_and_does_not_undo_it() -> None:
    policy = Scripted({" cat": (" the cat", 0.9), "teh": ("the", 0.9)})
    done = Proofreader(policy, GPT2).proofread(Draft("I saw the the cat in teh house."))
    assert policy.read[0] == "I saw the cat in teh house."
    assert done.text == "I saw the cat in the house."
    back: Known = {"an old": ("a old", 0.99)}
    assert proofread("It is a old house.", back).text == "It is an old house."
    put_back: Known = {"discussed the": ("discussed about the", 0.99)}
    assert proofread("We discussed about the plan.", put_back).text == "We discussed the plan."


def test_lines_and_markup_stay() -> None:
    done = proofread(WRAPPED)
    assert done.text == "He went to\nthe shop and told me\nthat it is an old one.\n"
    quoted = "> He went to *the\n> the* shop and\n> discussed about it.\n"
    assert proofread(quoted, format=Format.MARKDOWN).text.count("\n> ") == 2
    code = "Use `the the` and `a old` thing.\n\n```\nthe the\n```\n\nSee [it](http://a.example/the-the).\n"
    assert proofread(code, format=Format.MARKDOWN).changes == ()
    mixed = "# A old house\n\nIt’s **a old** one — 🙂 of of it.\n"
    done = proofread(mixed, format=Format.MARKDOWN)
    assert done.text == "# An old house\n\nIt’s **an old** one — 🙂 of it.\n"


def test_the_dial_counts() -> None:
    text = "If I would have known, I saw the the cat."
    assert proofread(text, confidence=0.9).text == "If I would have known, I saw the cat."
    assert proofread(text, confidence=0.8).text == "If I had known, I saw the cat."
    assert proofread(text, confidence=0.97).changes == ()


def test_kinds_words_and_stretches_count() -> None:
    text = "He went to the the shop. It is a old one."
    articles = proofread(text, kinds=frozenset([Kind.ARTICLE]))
    assert articles.text == "He went to the the shop. It is an old one."
    kept = proofread("He saw the the band.", words=Words(frozenset(["the the"])))
    assert kept.changes == ()
    first = proofread(text, within=Span(0, 24))
    assert first.text == "He went to the shop. It is a old one."


def test_texts_in_capitals_are_left() -> None:
    assert proofread("HE WENT TO THE THE SHOP.").changes == ()


def test_a_checker_finds_them_too() -> None:
    checker = IncrementalChecker(Proofreader(Scripted({}), GPT2).proofread)
    draft = Draft("All is well.\n\nI saw the the cat.\n")
    found = [change for checked in checker.check(draft) for change in checked.changes]
    assert [(one.start, one.old.strip()) for one in found] == [(draft.text.index("the cat"), "the")]


def test_what_was_corrected_stays_as_it_is() -> None:
    text = "Me and him goes to the the shop, because he have to much informations."
    done = proofread(text)
    assert done.text == "He and I go to the shop, because he has too much information."
    assert proofread(done.text).changes == ()


def test_a_rule_may_know_the_kind_and_the_reason() -> None:
    paragraph = paragraphs("We took a lunch.", Format.PLAIN)[0]
    edit = Suggestion(Edit(7, " a", ""), Kind.EXTRA_WORD, 0.8, "Meals have no article.")
    (one,) = from_word_to_word(Sentence(paragraph, Span(0, 16)), [edit])
    assert (one.old.strip(), one.kind, one.confidence, one.reason) == (
        "a",
        Kind.EXTRA_WORD,
        0.8,
        "Meals have no article.",
    )
    (told,) = from_word_to_word(Sentence(paragraph, Span(0, 16)), [replace(edit, kind=Kind.OTHER)])
    assert told.kind is Kind.ARTICLE


def test_nothing_is_loaded_before_a_text_is_proofread() -> None:
    program = (
        "import json, sys; import reviser.proofreading.pipeline; "
        "print(json.dumps([name for name in sys.modules "
        "if '.rules.' in name and 'proofreading' in name and 'stages' not in name]))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == []
