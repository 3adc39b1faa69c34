"""What a first look suggests for documents, whatever the dial says: for fits and measurements of the proofreader."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviser.proofreading.document import Document, Draft, document_suggestions
from reviser.proofreading.guard.calibration import RAW, THOROUGH
from reviser.proofreading.guard.guard import Guard
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.reading import AT_ONCE
from reviser.proofreading.suggestion import Suggestion


def first_suggestions(
    proofreader: Proofreader, drafts: Sequence[Draft], tell: Callable[[int, int], None] = lambda done, of: None
) -> list[list[Suggestion]]:
    """What a first look suggests for documents and nothing but the dial could speak against, with the model's own
    chances.

    The places are those of the document. Nothing is made, so nothing is looked at again.
    """
    stage = proofreader.stage
    documents = [*map(Document, drafts)]
    guards = {id(one): Guard(one, 0.0, proofreader.kinds, RAW, calibrated=True) for one in documents}
    found = [(one, sentence) for one in documents for sentence in stage.sentences(one)]
    for at in range(0, len(found), AT_ONCE):
        tell(at, len(found))
        for document, sentence, some in stage.suggest(found[at : at + AT_ONCE], THOROUGH, {}):
            guards[id(document)].admit_judged(sentence, some)
    tell(len(found), len(found))
    return [document_suggestions(document) for document in documents]
