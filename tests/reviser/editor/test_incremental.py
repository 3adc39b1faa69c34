"""Checking a document while it is written: pieces that did not change are not read again."""

from __future__ import annotations

import random

import pytest

from reviser.editor.incremental import IncrementalChecker
from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.pipeline import Proofreader, Tell
from reviser.proofreading.project.words import Words
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format, Span, format_of_language, paragraphs
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted

KNOWN: Known = {"recieved": ("received", 0.9), "teh": ("the", 0.95), "were": ("was", 0.8)}
MARKDOWN = """# A heading with teh word

He recieved a letter from *teh* office
and it were long.

- teh first item
- another
  - teh nested one, which were deep

| name | what |
| ---- | ---- |
| teh  | were |

```
teh code

recieved here
```

> He recieved it.

The last one were good.
"""
LATEX = (
    "\\documentclass{article}\n\\begin{document}\nHe recieved it.\n\n"
    "\\section{Teh end}\nIt were late.\n\\end{document}\n"
)
PYTHON = '"""He recieved it.\n\nAnd it were so.\n"""\n\n# It were late.\nx = 1\n\ndef f():\n    """He recieved it."""\n'


class Parts:
    """A checker, and what it was asked to read."""

    def __init__(self, known: Known = KNOWN) -> None:
        self.policy = Scripted(known)
        proofreader = Proofreader(self.policy, GPT2)
        self.drafts: list[str] = []

        def proofread(draft: Draft, tell: Tell) -> Proofread:
            self.drafts.append(draft.text)
            return proofreader.proofread(draft, tell)

        self.checker = IncrementalChecker(proofread)

    def check(self, draft: Draft, near: int = 0) -> list[Suggestion]:
        spans: list[Span] = []
        changes: list[Suggestion] = []
        for checked in self.checker.check(draft, near):
            spans += checked.spans
            changes += checked.changes
        # Together the stretches are the text.
        assert sum(end - start for start, end in spans) == len(draft.text)
        changes.sort(key=lambda change: change.start)
        for change in changes:
            assert draft.text[change.start : change.end] == change.old
        return changes


@pytest.mark.parametrize(("language", "text"), [("markdown", MARKDOWN), ("latex", LATEX), ("python", PYTHON)])
def test_pieces_hold_what_the_whole_holds(language: str, text: str) -> None:
    draft = Draft(text, format_of_language(language))
    whole = Proofreader(Scripted(KNOWN), GPT2).proofread(draft)
    assert whole.changes
    found = Parts().check(draft)
    assert [(one.start, one.old, one.new) for one in found] == [(one.start, one.old, one.new) for one in whole.changes]


def test_only_what_changed_is_read_again() -> None:
    parts = Parts()
    before = parts.check(Draft(MARKDOWN, Format.MARKDOWN))
    parts.drafts.clear()
    assert parts.check(Draft(MARKDOWN, Format.MARKDOWN)) == before
    assert parts.drafts == []
    changed = "A new first line.\n\n" + MARKDOWN.replace("long", "longer")
    parts.check(Draft(changed, Format.MARKDOWN))
    assert parts.drafts == ["A new first line.\n", "He recieved a letter from *teh* office\nand it were longer.\n"]


def test_what_the_document_says_elsewhere_counts_without_reading_again() -> None:
    parts = Parts({"callbacks": ("callback", 0.9), "environ ": ("environment ", 0.7)})
    text = "Pass it to the callbacks.\n\nThe environ is new.\n"
    assert [change.old for change in parts.check(Draft(text))] == ["callbacks", "environ"]
    parts.drafts.clear()
    more = text + "\nThe callbacks are old. Each environ and no environ is here.\n"
    assert parts.check(Draft(more)) == []
    assert parts.drafts == ["The callbacks are old. Each environ and no environ is here.\n"]
    # Whole documents are read to the same end.
    assert not Proofreader(parts.policy, GPT2).proofread(Draft(more)).changes


def test_the_nearest_is_read_first() -> None:
    parts = Parts()
    parts.check(Draft("One is here.\n\nTwo is here.\n\nThree is here.\n"), near=40)
    assert [draft.split()[0] for draft in parts.drafts] == ["Three", "Two", "One"]


def test_a_word_that_is_listed_is_read_again_where_it_stands() -> None:
    parts = Parts()
    text = "He recieved it.\n\nIt were late.\n"
    assert [change.old for change in parts.check(Draft(text))] == ["recieved", "were"]
    parts.drafts.clear()
    found = parts.check(Draft(text, words=Words(["recieved"])))
    assert [change.old for change in found] == ["were"]
    assert parts.drafts == ["He recieved it.\n"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_random_texts_are_covered_once(ending: str) -> None:
    draw = random.Random(1)
    lines = [*MARKDOWN.splitlines(), "", "", "    indented teh code", "😀 teh"]
    parts = Parts()
    for _ in range(60):
        text = ending.join(draw.choices(lines, k=draw.randrange(1, 14)))
        for format in (Format.MARKDOWN, Format.PLAIN):
            found = parts.check(Draft(text, format))
            prose = [one.segments for one in paragraphs(text, format)]
            assert not found or prose


def test_what_stands_twice_is_read_once() -> None:
    parts = Parts()
    found = parts.check(Draft("He recieved it.\n\nSo it is.\n\nHe recieved it.\n"))
    assert [change.start for change in found] == [3, 31]
    assert parts.drafts == ["He recieved it.\n", "So it is.\n"]
