"""Suggestions in a document: windows, sentences, and what joins the text behind them."""

from __future__ import annotations

import re

import pytest

from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.policy import SessionPolicy
from reviser.model.layout import Quantisation
from reviser.session import suggesting
from reviser.session.engine import Engine, load_engine
from reviser.session.suggesting import SuggestionRequest, Suggestions
from tests.lsp_server.models import save_tiny_model

ANY = SuggestionRequest(count=4, tokens=10, confidence=0.0)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return load_engine(save_tiny_model(folder, quantisation=Quantisation(8)))


def suggested(engine: Engine, marked: str, request: SuggestionRequest = ANY) -> list[str]:
    at = marked.index("¦")
    session = engine.session(marked.replace("¦", ""))
    found = [suggestion.text for suggestion in Suggestions(session, at, request)]
    assert session.text == marked.replace("¦", "")
    return found


def likelihood(engine: Engine, before: str, behind: str) -> float:
    """The chance of the tokens behind, which here are never shared with those before."""
    ids = [engine.policy.vocabulary.start_id, *engine.tokenizer.encode(before)]
    last = engine.tokenizer.encode(behind)
    return sum(left_to_right(engine.policy).chances(ids + last, len(last)))


@pytest.mark.parametrize("behind", [" sat on the mat.", " the rain fell", " it was late."])
@pytest.mark.parametrize("before", [" the cat", " it was a quiet", " late, the"])
def test_what_follows_is_as_likely_behind_a_suggestion_as_without_it(engine: Engine, before: str, behind: str) -> None:
    alone = likelihood(engine, before, behind)
    for text in suggested(engine, f"{before}¦{behind}"):
        assert likelihood(engine, before + text, behind) >= alone - 1e-3


class Unreadable:
    """A policy whose model cannot read a text from left to right, as one that is conditioned on the canvas."""

    def __init__(self, policy: SessionPolicy) -> None:
        self.vocabulary = policy.vocabulary
        self.context = policy.context
        self.max_length = policy.max_length
        self.scores = policy.scores


def test_what_does_not_join_is_cut_or_left_out(engine: Engine) -> None:
    free = Engine("free", Unreadable(engine.policy), engine.tokenizer)
    places = [(" the cat", " sat on the mat."), (" it was a quiet", " the rain fell")]
    refused = 0
    for before, behind in places:
        alone = likelihood(engine, before, behind)
        joined = suggested(engine, f"{before}¦{behind}")
        for text in suggested(free, f"{before}¦{behind}"):
            fails = likelihood(engine, before + text, behind) < alone - 1e-3
            assert not fails or text not in joined
            refused += fails
    assert refused


def test_no_sentence_ends_where_the_line_goes_on_in_it(engine: Engine) -> None:
    free = Engine("free", Unreadable(engine.policy), engine.tokenizer)
    starts = (" the cat", " it was a quiet", " the rain", " late, the", " it")
    ended = [text for start in starts for text in suggested(free, f"{start}¦")]
    assert any(text.endswith(".") for text in ended)
    for start in starts:
        for one in (engine, free):
            assert not any(text.endswith(".") for text in suggested(one, f"{start}¦ fell on it."))


def test_words_are_not_glued_together(engine: Engine) -> None:
    for marked in (" the cat ¦sat on the mat", " it was ¦late", " the ¦rain fell on the mat"):
        before, _, behind = marked.partition("¦")
        for text in suggested(engine, marked):
            assert re.search(r"[\s(“-]\Z", text) or not text[-1].isalnum(), (before, text, behind)


def test_a_suggestion_is_one_sentence_or_one_line(engine: Engine) -> None:
    long = SuggestionRequest(count=4, tokens=24, confidence=0.0)
    whole = SuggestionRequest(count=4, tokens=24, confidence=0.0, whole_line=True)
    for marked in ("It was a quiet day. ¦", " the cat¦", "¦"):
        for text in suggested(engine, marked, long):
            assert not re.search(r"[.!?]\s", text)
        for text in suggested(engine, marked, whole):
            assert "\n" not in text


@pytest.mark.parametrize(
    ("prefix", "begun", "opens"),
    [
        ("It was late.\n\n", "", "line and sentence"),
        ("It was late.\n", "", "line and sentence"),
        ("Dear Anna,\n\n", "", "line"),
        ("", "", "line"),
        ("It was late.", "", "sentence"),
        ("It was late. ", "", None),
        ("It was late.\n", "so", None),
    ],
)
def test_what_begins_at_a_place(prefix: str, begun: str, opens: str | None) -> None:
    assert suggesting._opens(prefix, begun) == opens


def test_others_say_something_else(engine: Engine) -> None:
    texts = suggested(engine, "It was a quiet day. ¦")
    assert len(set(texts)) == len(texts) == 4


def test_the_confidence_decides(engine: Engine) -> None:
    assert suggested(engine, "It was a quiet day. ¦", SuggestionRequest(confidence=1.0)) == []


def test_it_stops_when_it_is_told_to(engine: Engine) -> None:
    told: list[str] = []

    def goes_on(text: str) -> bool:
        told.append(text)
        return len(told) < 3

    session = engine.session("It was a quiet day.")
    list(Suggestions(session, 19, SuggestionRequest(1, 20, 0.0), goes_on))
    assert len(told) == 3


def test_what_was_read_is_counted(engine: Engine) -> None:
    session = engine.session(" the cat sat on the mat")
    found = Suggestions(session, 23, ANY)
    # The start marker and five words: the last may not be finished, so the model writes it again.
    assert (found.before, found.seeded) == (6, 6)
    behind = engine.session(" the cat sat on the mat")
    assert Suggestions(behind, 8, ANY).before == 2
    assert Suggestions(behind, 8, ANY).seeded > 6


def test_half_a_character_does_no_harm(engine: Engine) -> None:
    for marked in ("It was \ud83d a¦ day", "\ud83d¦ it was", "It \ud83d¦\ude00 was late"):
        for text in suggested(engine, marked):
            assert text.encode()
