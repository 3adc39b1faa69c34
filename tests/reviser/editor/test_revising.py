"""Revising a part of a document: passage by passage, in order, and nothing around it."""

from __future__ import annotations

from collections.abc import Callable

from reviser.editor.revising import revise
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format, Span
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted

KNOWN: Known = {"teh": ("the", 0.9), "recieved": ("received", 0.9)}
ONE = "He recieved teh letter."


def made(draft: Draft, wanted: Callable[[Suggestion], bool] = lambda change: True) -> tuple[str, list[Suggestion]]:
    """The text that comes of the last state of each passage, and the changes."""
    proofreader = Proofreader(Scripted(KNOWN), GPT2)
    steps = list(revise(draft, proofreader.proofread, wanted))
    for step in steps:
        assert step.text[: step.cursor].endswith(step.change.new)
    text = draft.text
    last = {step.passage: step.text for step in steps}
    for (start, end), new in reversed(last.items()):
        text = text[:start] + new + text[end:]
    return text, [step.change for step in steps]


def test_changes_come_in_order_and_each_with_those_before_it() -> None:
    text = "\n\n".join(f"{ONE} Number {number}." for number in range(60)) + "\n"
    proofreader = Proofreader(Scripted(KNOWN), GPT2)
    steps = list(revise(Draft(text), proofreader.proofread))
    starts = [step.change.start for step in steps]
    assert len(steps) == 120
    assert starts == sorted(starts)
    assert len({step.passage for step in steps}) > 1
    first, second = steps[:2]
    assert first.text.startswith("He received teh letter.")
    assert second.text.startswith("He received the letter.")
    assert made(Draft(text))[0] == text.replace("teh", "the").replace("recieved", "received")


def test_what_is_outside_or_unwanted_stays() -> None:
    text = f"{ONE}\n\n{ONE}\n\n{ONE}\n"
    start = len(ONE) + 2
    within = Span(start, start + len("He recieved"))
    text_after, changes = made(Draft(text, within=within))
    assert [one.old for one in changes] == ["recieved"]
    assert text_after == f"{ONE}\n\nHe received teh letter.\n\n{ONE}\n"
    text_after, _ = made(Draft(text), lambda change: change.old == "teh")
    assert text_after == text.replace("teh", "the")


def test_code_stays_and_half_a_character_is_not_lost() -> None:
    text = f"{ONE}\n\n```\n{ONE}\n```\n\n{ONE} \ud83d half.\n"
    better = ONE.replace("teh", "the").replace("recieved", "received")
    wanted = f"{better}\n\n```\n{ONE}\n```\n\n{better} \ud83d half.\n"
    assert made(Draft(text, Format.MARKDOWN))[0] == wanted
