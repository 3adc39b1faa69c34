"""Proposals for texts with verdicts and all evidence; what was collected once is kept in a folder, and more is added to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import track

from benchmarks.proofreading.calibration.sources import PIECE, distance
from benchmarks.proofreading.deciding.asking import Case, Heard, hear
from reviser.core.errors import ReviserError
from reviser.proofreading.changes import Kind, changes
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.proofreader import Draft, Examined, Proofreader, Undecided
from reviser.proofreading.reading import rules_for
from reviser.session.session import SessionPolicy

LEAST: Final = 0.15
"""Changes of less probability are not collected."""
_AT_ONCE: Final = 64


@dataclass(frozen=True)
class Judged:
    """A proposal with its verdict: what it needs more than others is a `share` of the chance to be wrong."""

    old: str
    new: str
    kind: Kind
    chance: float
    others: float
    share: float
    words: int
    right: bool
    heard: Heard | None


@dataclass(frozen=True)
class Sample:
    """A text, its corrected versions (none if it is finished), the verdicts on its spellings, and the proposals for it."""

    text: str
    references: tuple[str, ...]
    spelled: tuple[bool, ...]
    proposals: tuple[Judged, ...]

    @property
    def wanted(self) -> int:
        """Corrections that it needs: those of the nearest corrected version."""
        return min((len(changes(self.text, one)) for one in self.references), default=0)


@dataclass(frozen=True)
class Plain:
    """A text and its corrected versions."""

    text: str
    references: tuple[str, ...] = ()


def collect(
    proofreader: Proofreader,
    policy: SessionPolicy,
    name: str,
    texts: Sequence[Plain],
    folder: Path,
) -> list[Sample]:
    """The proposals for texts, those that the folder has from there."""
    rules = rules_for(policy.vocabulary)
    if not isinstance(rules, OvertypingRules):
        raise ReviserError("this model was not trained to proofread by overtyping")
    path = folder / f"{name}.jsonl"
    found = _kept(path, texts) if path.is_file() else []
    starts = range(len(found), len(texts), _AT_ONCE)
    with path.open("a") as file:
        for at in track(starts, name, console=Console(stderr=True)) if starts else ():
            some = texts[at : at + _AT_ONCE]
            for sample in _collected(proofreader, policy, rules, some):
                file.write(f"{json.dumps(asdict(sample), default=str)}\n")
                found.append(sample)
            file.flush()
    return found[: len(texts)]


def _kept(path: Path, texts: Sequence[Plain]) -> list[Sample]:
    found = [_sample(json.loads(line)) for line in path.read_text().splitlines()]
    for sample, plain in zip(found, texts, strict=False):
        if sample.text != plain.text:
            raise ReviserError(f"{path} is of other texts: name another folder with --cache")
    return found


def _sample(data: Any) -> Sample:
    proposals = tuple(
        Judged(
            **{
                **one,
                "kind": Kind(one["kind"]),
                "heard": None if one["heard"] is None else Heard(*one["heard"]),
            }
        )
        for one in data["proposals"]
    )
    return Sample(data["text"], tuple(data["references"]), tuple(data["spelled"]), proposals)


def _collected(
    proofreader: Proofreader, policy: SessionPolicy, rules: OvertypingRules, texts: Sequence[Plain]
) -> Iterator[Sample]:
    examined = proofreader.examined([Draft(plain.text) for plain in texts], LEAST)
    cases = [
        Case(one.question.sentence, one.question.changed[0])
        for each in examined
        for one in each.undecided
    ]
    heard = iter(hear(policy, rules, cases))
    for plain, each in zip(texts, examined, strict=True):
        yield Sample(
            plain.text,
            plain.references,
            tuple(
                is_nearer(
                    plain.text,
                    plain.text[: one.start] + one.new + plain.text[one.end :],
                    plain.references,
                )
                for one in each.spelled
            ),
            tuple(_judged(each, one, plain, next(heard)) for one in each.undecided),
        )


def _judged(examined: Examined, one: Undecided, plain: Plain, heard: Heard | None) -> Judged:
    proposal, text = one.proposal, examined.text
    made = text[: proposal.start] + proposal.new + text[proposal.end :]
    return Judged(
        proposal.old,
        proposal.new,
        proposal.kind,
        proposal.confidence,
        proposal.others,
        # At a confidence of 0.5.
        round(2 * (1 - one.needed), 4),
        len(plain.text.split()),
        is_nearer(text, made, plain.references),
        heard,
    )


def is_nearer(text: str, made: str, references: Sequence[str]) -> bool:
    """Whether a changed text is nearer to a corrected one, in words and marks."""
    before, after = PIECE.findall(text), PIECE.findall(made)
    return any(
        distance(after, wanted) < distance(before, wanted)
        for wanted in map(PIECE.findall, references)
    )
