"""Direct speech in a text: the ranges between quotation marks, where people may speak in dialect."""

from __future__ import annotations

import re
from typing import Final

from reviser.prose import Span

_QUOTE = re.compile(r"[\"“”]|(?<![\w.,!?…])['‘](?=\w)|(?<=[\w.,!?…—-])['’](?!\w)")
_OPENING: Final = "\"“'‘"


def speech_in(text: str) -> list[Span]:
    """The ranges between quotation marks; without a closing mark, up to the end."""
    found = []
    start: int | None = None
    mark = ""
    for one in _QUOTE.finditer(text):
        if start is None:
            if one[0] in _OPENING:
                start, mark = one.start(), one[0]
        elif (mark in "'‘") == (one[0] in "'’") and one[0] not in "“‘":
            found.append(Span(start, one.end()))
            start = None
    return found if start is None else [*found, Span(start, len(text))]
