"""The hundred everyday openings of ten kinds, written for this benchmark; each is the start of a text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from benchmarks.protocol.records import Prompt
from benchmarks.protocol.setup import whole_prompt
from reviser.core.errors import ReviserError

KINDS = ("mail", "blog", "readme", "essay", "story", "notes", "recipe", "letter", "report", "product")


@dataclass(frozen=True)
class Opening:
    """The beginning of an everyday text; most end in the middle of a sentence."""

    id: str
    kind: str
    text: str


def openings(kinds: Sequence[str] = KINDS, each: int | None = None) -> list[Opening]:
    """The openings of the given kinds: the first `each` of every kind, or all."""
    for kind in kinds:
        if kind not in KINDS:
            raise ReviserError(f"there are no openings of the kind {kind}: {', '.join(KINDS)}")
    data = resources.files("benchmarks.everyday").joinpath("prompts.jsonl").read_text("utf-8")
    found = [Opening(**json.loads(line)) for line in data.splitlines()]
    return [opening for kind in kinds for opening in [entry for entry in found if entry.kind == kind][:each]]


def as_prompts(given: Sequence[Opening]) -> list[Prompt]:
    """The openings as prompts for contestants, without real continuations."""
    return [whole_prompt(opening.id, opening.text, opening.kind) for opening in given]
