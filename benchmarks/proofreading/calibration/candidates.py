"""What a model proposes for texts, with a verdict on each change; what was found once is kept, and not looked for
again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.proofreading.calibration.sources import NamedTexts, SourceText
from benchmarks.protocol.runs import RunCache, key_of
from reviser.proofreading.candidates import first_suggestions
from reviser.proofreading.document import Draft
from reviser.proofreading.guard.calibration import THOROUGH, features_of
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.suggestion import Kind

_AT_ONCE = 32
_BLOCK = 20
"""Neighbouring texts that are in the same half, as they may be of one document."""


@dataclass(frozen=True)
class ProposedChange:
    """A change that a model proposes, its probability, and the verdict."""

    old: str
    new: str
    kind: Kind
    chance: float
    others: float
    right: bool

    @cached_property
    def features(self) -> tuple[float, ...]:
        return features_of(self.old, self.new, self.others)


@dataclass(frozen=True)
class TextProposals:
    """A text of a source and what was proposed for it."""

    source: str
    number: int
    wanted: int | None
    candidates: tuple[ProposedChange, ...]

    @property
    def is_for_fitting(self) -> bool:
        """Which half a text is in; neighbours are in the same."""
        return hashlib.blake2b(str(self.number // _BLOCK).encode()).digest()[0] % 2 == 0


def look(proofreader: Proofreader, model: str, source: NamedTexts, cache: RunCache) -> list[TextProposals]:
    """All texts of a source with what the model, whose digest is `model`, proposes for them."""
    keys = [_key(model, source, text) for text in source.texts]
    missing = [
        (key, text) for key, text in dict(zip(keys, source.texts, strict=True)).items() if cache.get(key) is None
    ]
    parts = [missing[at : at + _AT_ONCE] for at in range(0, len(missing), _AT_ONCE)]
    for some in track(parts, source.name, console=Console(stderr=True)) if parts else ():
        found = _found(proofreader, [text for _, text in some])
        for (key, _), candidates in zip(some, found, strict=True):
            cache.put(key, [asdict(one) for one in candidates])
    return [
        TextProposals(source.name, number, text.wanted, tuple(map(_candidate, cache.get(key) or ())))
        for number, (key, text) in enumerate(zip(keys, source.texts, strict=True))
    ]


def _found(proofreader: Proofreader, texts: Sequence[SourceText]) -> Iterator[list[ProposedChange]]:
    proposed = first_suggestions(proofreader, [Draft(text.text) for text in texts])
    for text, several in zip(texts, proposed, strict=True):
        yield [
            ProposedChange(one.old, one.new, one.kind, one.confidence, one.evidence.others, text.is_right(one))
            for one in several
        ]


def _key(model: str, source: NamedTexts, text: SourceText) -> str:
    annotations = text.annotated[0].annotations if text.annotated else ()
    return key_of(
        kind="proofreading candidates",
        model=model,
        search=THOROUGH,
        sort=source.sort,
        text=text.text,
        references=text.references,
        edits=[[asdict(edit) for edit in several] for several in annotations],
    )


def _candidate(data: Any) -> ProposedChange:
    return ProposedChange(**{**data, "kind": Kind(data["kind"])})
