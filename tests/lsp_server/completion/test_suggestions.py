"""What is shown of a suggestion, and when none needs to be made."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.completion.suggestions import (
    Context,
    Removal,
    RequestTiming,
    SuggestionCache,
    first_unit,
    repeats,
    trim,
    whole_clause,
    without_repetition,
)
from lsp_server.settings import Unit
from reviser.core.edits import Edit

UNITS = st.sampled_from(["word", "line", "sentence"])


@pytest.mark.parametrize(
    ("unit", "text", "shown"),
    [
        ("word", " quiet day in May", " quiet"),
        ("word", "iet day", "iet"),
        ("word", " quiet", " quiet"),
        ("line", " quiet day\nand night", " quiet day"),
        ("line", "\n\n# Title\nText", "\n\n# Title"),
        ("sentence", ' quiet," he said. "Was it?" She', ' quiet," he said.'),
        ("sentence", " at 3.5 metres. Then", " at 3.5 metres."),
        ("sentence", " a title\n\nText", " a title"),
        ("sentence", " quie", " quie"),
        ("line", " fine\x00 and", " fine"),
    ],
)
def test_trimming_to_a_unit(unit: Unit, text: str, shown: str) -> None:
    assert trim(text, unit) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" a quiet day, in the", " a quiet day,"),
        (" a quiet day.", " a quiet day."),
        (" it was, he said, “late.”", " it was, he said, “late.”"),
        (" at 7:30 or", " at 7:30 or"),
        (" quiet", " quiet"),
        ("", ""),
    ],
)
def test_what_is_cut_short_ends_with_a_clause(text: str, kept: str) -> None:
    assert whole_clause(text) == kept


@given(st.text(alphabet="ab. \n\x00"), UNITS)
def test_trimming_only_shortens(text: str, unit: Unit) -> None:
    shown = trim(text, unit)
    assert text.startswith(shown)
    if whole := first_unit(text, unit):
        assert text.startswith(whole)


@pytest.mark.parametrize(
    ("text", "after", "shown"),
    [
        (" sat on the mat", " on the mat.", " sat"),
        (" sat on the mat. It was late", " on the mat.\n", " sat"),
        ("thing", "ing is good", "th"),
        (" and the", "end", " and the"),
        (" big ", " cat", " big"),
        ("big ", "cat", "big "),
        (" sat.", ".", " sat"),
        (" on the mat", " on the mat", ""),
        (" cats", "", " cats"),
        (" the cat ", "\nNext", " the cat"),
        ("A new line\nThe old line", "\nThe old line\n", "A new line"),
        (")", ")", ""),
        (" ha ha", " ha", ""),
        ("aa", "a", ""),
        # It begins with the first words that follow.
        (" the tests run", " the tests faster", ""),
        (" the tests run", " the code faster", ""),
        ("the tests run", "the tests faster", ""),
        ("the tests run", " the tests faster", ""),
        (" the\ntests run", " the tests faster", ""),
        (" don't go", " don't stay", ""),
        (", and so on", ", and more", ""),
        (") and then", ")", ""),
        # It comes to them later.
        (" all of the tests run", " the tests faster", " all of"),
        (" sure that the tests pass", " the tests faster", " sure that"),
        ("sure that the tests pass", "the tests faster", "sure that "),
        # It ends with them.
        (" it and the", " the tests faster", " it and"),
        ("it and the ", "the tests faster", "it and "),
        ("it and the", " the tests faster", "it and"),
        (" it, and so", ", and so on", " it"),
        # They are others, or begin another line.
        (" all of the code run", " the tests faster", " all of the code run"),
        (" then the tests", " there is more", " then the tests"),
        (" theirs", " the tests", " theirs"),
        (". Then he went", ".", ". Then he went"),
        (" The cat sat.", "\n\nThe dog lay down.", " The cat sat."),
        ("\n- the cat", "\n- the dog", "\n- the cat"),
        (" One", "\n\nOne day", " One"),
    ],
)
def test_what_follows_is_never_repeated(text: str, after: str, shown: str) -> None:
    assert without_repetition(text, after) == shown


@given(st.text(alphabet="ab .\n", max_size=30), st.text(alphabet="ab .\n", max_size=30))
def test_removing_repetition_only_shortens_and_settles(text: str, after: str) -> None:
    shown = without_repetition(text, after)
    assert text.startswith(shown)
    assert not (after.strip() and shown.endswith(after))
    assert without_repetition(shown, after) == shown


@pytest.mark.parametrize(
    ("text", "removed", "is_repeated"),
    [
        (" quiet day", " quiet", True),
        (" quiet", " quiet day", True),
        ("quiet day", " quiet day", True),
        (" quietly done", " quiet", False),
        (" loud day", " quiet", False),
        (" quiet", "", False),
    ],
)
def test_what_was_removed_is_recognised(text: str, removed: str, is_repeated: bool) -> None:
    assert repeats(text, removed) == is_repeated


def test_removals_add_up_backwards_and_forwards() -> None:
    removal = Removal()
    for start, letter in ((9, "t"), (8, "a"), (7, "c")):
        removal.follow(Edit(start, letter, ""))
    removal.follow(Edit(7, "s", ""))
    assert removal.near(7) == "cats"
    assert removal.near(6) == ""


def test_a_removal_moves_with_the_text_and_ends_with_other_words() -> None:
    removal = Removal()
    removal.follow(Edit(7, "cat", ""))
    removal.follow(Edit(0, "", "Oh. "))
    assert removal.near(11) == "cat"
    removal.follow(Edit(20, "", "elsewhere"))
    assert removal.near(11) == "cat"
    removal.follow(Edit(11, "", "c"))
    assert removal.near(12) == "at"
    removal.follow(Edit(12, "", "h"))
    assert removal.near(13) == ""


def context(before: str, after: str = "", document: str = "a") -> Context:
    return Context(document, before, after)


def test_a_suggestion_survives_the_typing_of_itself() -> None:
    cache = SuggestionCache()
    cache.put(context("It was a"), " quiet day")
    for typed in range(10):
        found = list(cache.find(context("It was a" + " quiet day"[:typed])))
        assert found == [" quiet day"[typed:]]
    assert not list(cache.find(context("It was a quiet day")))
    assert not list(cache.find(context("It was a loud")))


def test_a_suggestion_belongs_to_its_place() -> None:
    cache = SuggestionCache()
    cache.put(context("It was a", "\nEnd"), " quiet day")
    assert not list(cache.find(context("It was a", "")))
    assert not list(cache.find(context("It was a", "\nEnd", document="b")))
    assert not list(cache.find(context("It was", "\nEnd")))
    assert list(cache.find(context("It was a", "\nEnd")))
    cache.forget()
    assert not list(cache.find(context("It was a", "\nEnd")))


def test_the_cache_keeps_the_latest() -> None:
    cache = SuggestionCache(size=2)
    for place in ("a", "b", "c"):
        cache.put(context(place), "x")
    assert not list(cache.find(context("a")))
    assert list(cache.find(context("c")))


def test_the_delay_follows_the_typing() -> None:
    def delay_after(gap: float) -> float:
        pace = RequestTiming()
        for strike in range(20):
            pace.key(strike * gap)
        pace.asked(19 * gap)
        return pace.delay(19 * gap, least=0.04, most=0.4)

    assert delay_after(0.01) == 0.04
    assert delay_after(0.1) == pytest.approx(0.13)
    assert delay_after(0.25) == pytest.approx(0.325)
    assert delay_after(1.0) == 0.4


@pytest.mark.parametrize("gap", [0.08, 0.12, 0.25, 0.4, 1.0])
def test_a_pause_that_never_comes_is_not_waited_for(gap: float) -> None:
    """Keys that come evenly, and a model of which nothing is known: each key's wait is over or the next key ends it."""
    pace = RequestTiming()
    asked: list[float] = []
    for strike in range(40):
        now = strike * gap
        pace.key(now)
        delay = pace.delay(now, least=0.0, most=0.4)
        if delay < gap:
            asked.append(now + delay)
            pace.asked(asked[-1])
            pace.answered(gap / 2, whole=False)
    assert asked[0] == 0
    assert max(after - before for before, after in pairwise(asked)) <= max(0.4, gap) + 1e-9


def test_a_quick_model_is_asked_at_once_and_a_slow_one_in_a_pause() -> None:
    pace = RequestTiming()
    for strike in range(20):
        pace.key(strike * 0.1)
    now = 19 * 0.1
    pace.asked(now)
    assert pace.delay(now, 0.0, 0.4) == pytest.approx(0.13)
    # An answer that was broken off says nothing of how long others take.
    pace.answered(0.01, whole=False)
    assert pace.delay(now, 0.0, 0.4) == pytest.approx(0.13)
    # The first one may have read a whole text.
    pace.answered(0.2)
    assert pace.delay(now, 0.0, 0.4) == pytest.approx(0.13)
    for _ in range(6):
        pace.answered(0.02)
    assert pace.delay(now, 0.0, 0.4) == 0
    assert pace.delay(now, 0.04, 0.4) == pytest.approx(0.04)
    pace.answered(0.01, whole=False)
    assert pace.delay(now, 0.0, 0.4) == 0
    # One that was broken off late does: the model has become slow.
    for _ in range(6):
        pace.answered(0.5, whole=False)
    assert pace.delay(now, 0.0, 0.4) == pytest.approx(0.13)


def test_an_answer_that_was_asked_for_is_longer_than_others() -> None:
    def delay_after(*answers: tuple[float, bool]) -> float:
        pace = RequestTiming()
        pace.key(0.0)
        pace.key(0.1)
        pace.asked(0.1)
        for seconds, long in answers:
            pace.answered(seconds, long=long)
        return pace.delay(0.1, 0.0, 0.4)

    assert delay_after((0.05, True)) == 0
    assert delay_after((0.5, True)) == pytest.approx(0.13)
    assert delay_after((0.05, False), (0.5, True)) == 0
    assert delay_after((0.09, False), (0.01, True)) == 0


def test_a_pause_already_made_counts() -> None:
    pace = RequestTiming()
    pace.key(0.0)
    pace.key(0.1)
    pace.asked(0.1)
    assert pace.delay(0.2, 0.04, 0.4) == pytest.approx(0.03)
    assert pace.delay(5.0, 0.04, 0.4) == 0
    assert RequestTiming().delay(0.0, 0.04, 0.4) == 0
