"""Findings follow the changes of a document as each of them would alone, at the cost of what a change moves past."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.editor.findings import Findings
from reviser.proofreading.suggestion import Kind, Suggestion

TEXT = "ab ab ab ab ab ab ab ab ab ab"


def findings_of(text: str) -> list[Suggestion]:
    """Every second “ab” of a text, and the gaps behind the others."""
    places = [place for place in range(len(text)) if text.startswith("ab", place)]
    return [
        Suggestion(Edit(place + 2, "", "!"), Kind.PUNCTUATION, 0.9)
        if number % 2
        else Suggestion(Edit(place, "ab", "AB"), Kind.CASE, 0.9)
        for number, place in enumerate(places)
    ]


def moved(one: Suggestion, change: Edit) -> Suggestion | None:
    """A finding after a change; None if the change touches it."""
    if one.end < change.start:
        return one
    return one.moved(change.growth) if one.start > change.end else None


CHANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 5), st.sampled_from(["", "x", "ab", " ab "])), max_size=12
)


@given(CHANGES, st.integers(0, 11))
def test_each_follows_a_change_as_if_alone(changes: list[tuple[int, int, str]], read_after: int) -> None:
    text, findings = TEXT, Findings()
    wanted = findings_of(text)
    findings.take([(0, len(text) + 1)], wanted)
    for number, (start, size, inserted) in enumerate(changes):
        low = min(start, len(text))
        change = Edit(low, text[low : low + size], inserted)
        before = findings.revision
        findings.follow(change)
        assert findings.revision != before
        text = change.apply_to(text)
        wanted = [one for old in wanted if (one := moved(old, change.core))]
        assert len(findings) == len(wanted)
        if number == read_after:
            wanted = findings_of(text)
            findings.take([(0, len(text) + 1)], wanted)
        assert list(findings) == wanted


def test_a_change_costs_what_it_moves_past() -> None:
    """Typing in one place leaves all findings beyond it as they are, however many there are."""
    findings = Findings()
    findings.take([(0, 10**6)], [Suggestion(Edit(10 * n, "ab", "AB"), Kind.CASE, 0.9) for n in range(1000)])
    findings.follow(Edit(5001, "", "x"))
    kept = findings._after[0]
    for place in range(5002, 5008):
        findings.follow(Edit(place, "", "x"))
    assert findings._after[0] is kept
    assert [one.start for one in findings][-1] == 9990 + 7
    assert len(findings) == 999


def test_what_is_left_out_is_gone_for_good() -> None:
    findings = Findings()
    findings.take([(0, len(TEXT) + 1)], findings_of(TEXT))
    findings.follow(Edit(9, "", "x "))
    assert findings.leave_out(lambda one: one.kind == "case")
    assert not findings.leave_out(lambda one: one.kind == "case")
    assert {one.kind for one in findings} == {"punctuation"}
    assert findings.clear()
    assert not len(findings)
