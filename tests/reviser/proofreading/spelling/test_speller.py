"""The model that comes along corrects unknown words, and leaves terms and names alone."""

from __future__ import annotations

import pytest

from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.project.words import Words
from reviser.proofreading.spelling.speller import PLAIN, speller_for
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format, Span
from reviser.session.engine import Engine, load_engine
from tests.reviser.proofreading.scripted import GPT2, Scripted


@pytest.fixture(scope="module")
def engine() -> Engine:
    return load_engine("default")


def proofread(engine: Engine, draft: Draft, confidence: float = 0.5) -> Proofread:
    return Proofreader(engine.policy, engine.tokenizer, confidence=confidence).proofread(draft)


def spelled(done: Proofread) -> dict[str, str]:
    return {change.old: change.new for change in done.changes}


def test_misspellings_are_corrected(engine: Engine) -> None:
    text = "She definately recieved the enviroment report, wich was a suprise.\n"
    done = proofread(engine, Draft(text))
    wanted = {
        "definately": "definitely",
        "recieved": "received",
        "enviroment": "environment",
        "wich": "which",
        "suprise": "surprise",
    }
    assert spelled(done).items() >= wanted.items()
    for change in done.changes:
        assert 0.5 <= change.confidence <= 1
        assert text[change.start : change.end] == change.old
        if change.old in wanted:
            assert change.kind is Kind.SPELLING


def test_what_was_corrected_is_read_and_gets_its_form(engine: Engine) -> None:
    done = proofread(engine, Draft("Yesterday he recieve the the letter from his freind.\n"))
    assert done.text == "Yesterday he received the letter from his friend.\n"
    assert all(isinstance(change, Suggestion) for change in done.changes)


def test_what_is_plain_is_not_read(engine: Engine) -> None:
    """Unless it comes twice, and so may be meant, or the dial asks for more than that it is plain."""
    text = "She recieved the letter."
    (plain,) = proofread(engine, Draft(text)).changes
    assert (plain.new, plain.confidence, plain.kind) == ("received", PLAIN, Kind.SPELLING)
    twice = proofread(engine, Draft(f"{text} He recieved one too."))
    assert [one.new for one in twice.changes] == ["received", "received"]
    assert all(one.confidence != PLAIN for one in twice.changes)
    (sure,) = proofread(engine, Draft(text), confidence=0.97).changes
    assert sure.new == "received"
    assert sure.confidence >= 0.97


def test_what_is_quoted_is_read(engine: Engine) -> None:
    """It may be in another language."""
    assert not proofread(engine, Draft('She said "guter Mann" and left.')).changes


def test_what_is_plain_may_get_another_form(engine: Engine) -> None:
    done = proofread(engine, Draft("He must drive carefuly and be very carefull tomorrow.\n"))
    assert done.text == "He must drive carefully and be very careful tomorrow.\n"


def test_words_that_ran_together_are_split(engine: Engine) -> None:
    done = proofread(engine, Draft("I have alot of friends, and infact they help eachother.\n"))
    assert done.text == "I have a lot of friends, and in fact they help each other.\n"


def test_terms_and_names_stay(engine: Engine) -> None:
    text = (
        "The hostname in the config is parsed by the tokenizer. Kowalczyk wrote it.\n\n"
        "The value of i and of j is printed, where i is the index.\n"
    )
    assert proofread(engine, Draft(text)).text == text


def test_listed_words_and_other_places_stay(engine: Engine) -> None:
    text = "He recieved the enviroment report. She definately read it.\n"
    listed = proofread(engine, Draft(text, words=Words(["enviroment"])))
    assert "enviroment" in listed.text
    assert "received" in listed.text
    part = proofread(engine, Draft(text, within=Span(35, len(text))))
    assert "recieved" in part.text
    assert "definitely" in part.text


def test_what_is_next_to_impossible_is_never_proposed(engine: Engine) -> None:
    done = proofread(engine, Draft("The livestock near Corynespoor ate the frobnak.\n"), 0.0)
    assert all(change.confidence >= 0.01 for change in done.changes)


def test_the_dial_and_the_kinds_decide(engine: Engine) -> None:
    draft = Draft("She definately recieved it.\n")
    assert proofread(engine, draft, confidence=1.0).text == draft.text
    reader = Proofreader(engine.policy, engine.tokenizer, kinds={Kind.PUNCTUATION})
    assert reader.proofread(draft).text == draft.text


def test_markup_stays(engine: Engine) -> None:
    text = "# Teh guide\n\nHe *recieved* the [leter](http://teh.example/leter) and `recieved` it.\n"
    done = proofread(engine, Draft(text, Format.MARKDOWN))
    assert "*received*" in done.text
    assert "`recieved`" in done.text
    assert "http://teh.example/leter" in done.text


def test_other_policies_have_no_speller() -> None:
    assert speller_for(Scripted({}), GPT2) is None


def test_names_that_the_code_has_too_stay(engine: Engine) -> None:
    """As in a tutorial about an application: its name is known from a path alone."""
    prose = "Flaskr will store users in a table, and posts in another one."
    code = "::\n\n    flask --app flaskr init-db\n"
    for text in (f"{prose}\n\nRun it {code}", f"{prose}\n\nSee ``flaskr/db.py``.\n"):
        assert proofread(engine, Draft(text, Format.RST)).text == text
    # A misspelling is corrected, though the code has it too.
    wrong = "We recieve it at noon, and then we call ``recieve``.\n"
    assert spelled(proofread(engine, Draft(wrong, Format.RST))) == {"recieve": "receive"}
