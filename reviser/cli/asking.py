"""Interactive review of changes: each is shown, and accepted or rejected by a key."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from reviser.cli.delivery import is_coloured

if TYPE_CHECKING:
    from reviser.proofreading.document import Proofread
    from reviser.proofreading.suggestion import Suggestion

_HELP = """\
y  take this change
n  leave this text as it was
a  take this change and all that follow in this file
d  leave this text and all that follows in this file
q  the same as d, and look at no more files
?  this help
"""


@dataclass
class ChangeReview:
    """Shows changes one by one, and asks whether to make each."""

    is_over: bool = False

    def ask(self, done: Proofread, name: str = "") -> list[Suggestion]:
        """The accepted changes, without those that would alter the document's structure if the rejected ones are not
        made."""
        from reviser.proofreading.document import safe_selection

        taken: list[Suggestion] = []
        for_all: bool | None = None
        for number, change in enumerate(done.changes, start=1):
            wanted = for_all
            if wanted is None:
                _show(done.draft.text, taken, change, name)
                answer = _ask(f"Take this change ({number} of {len(done.changes)}) [y,n,a,d,q,?]? ")
                wanted = answer in "ya"
                for_all = None if answer in "yn" else wanted
                self.is_over = answer == "q"
            taken += [change] if wanted else []
        return safe_selection(done.draft, taken)


def _show(text: str, taken: Sequence[Suggestion], change: Suggestion, name: str) -> None:
    coloured = is_coloured()
    place = f"{name}, line" if name else "line"
    line = text.count("\n", 0, change.start) + 1
    told = f". {change.reason}" if change.reason else ""
    head = f"@@ {place} {line} @@ {change.kind}, {change.confidence:.2f}{told}"
    typer.secho(head, fg="cyan" if coloured else None)
    for mark, some, colour in (("-", taken, "red"), ("+", [*taken, change], "green")):
        for shown in _lines(text, change, some):
            typer.secho(mark + shown.rstrip("\r"), fg=colour if coloured else None)


def _lines(text: str, around: Suggestion, changes: Sequence[Suggestion]) -> Iterator[str]:
    """The lines around a change, with some changes made."""
    start = text.rfind("\n", 0, around.start) + 1
    end = text.find("\n", around.end)
    end = len(text) if end < 0 else end
    pieces, at = list[str](), start
    for change in changes:
        if start <= change.start and change.end <= end:
            pieces += [text[at : change.start], change.new]
            at = change.end
    yield from "".join([*pieces, text[at:end]]).split("\n")


def _ask(question: str) -> str:
    while True:
        typer.secho(question, nl=False, bold=is_coloured())
        answer = sys.stdin.readline()
        if not answer:
            return "q"  # nobody is there to ask
        answer = answer.strip().lower()
        if answer in ("y", "n", "a", "d", "q"):
            return answer
        typer.echo(_HELP, nl=False)
