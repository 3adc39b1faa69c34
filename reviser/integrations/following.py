"""The canvas of a history of ids, for engines that do not know edit actions; needs no torch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary


def exported_vocabulary(source: object) -> Vocabulary:
    """The vocabulary that an export carries; raises `ReviserError` if there is none.

    `source` is the configuration of a loaded model (transformers' `model.config`), or the metadata of a GGUF file
    (llama-cpp-python's `llm.metadata`).
    """
    if isinstance(source, Mapping) and "reviser.vocabulary" in source:
        return Vocabulary.from_dict(json.loads(source["reviser.vocabulary"]))
    record = source.get("reviser") if isinstance(source, Mapping) else None
    record = record or getattr(source, "reviser", None)
    if not isinstance(record, Mapping):
        raise ReviserError("this model is not an export of Reviser: it names no operators")
    return Vocabulary.from_dict(dict(record["vocabulary"]))


class Follower:
    """The canvas of one history, updated as ids are added.

    The prompt is a history: the start marker (anything before it is padding), the prefix and the suffix as inserts, the
    moves back to between them, and perhaps actions already taken. `prefix` and `suffix` are numbers of protected
    tokens; by default all inserts that the prompt starts with are the prefix.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        prompt: Sequence[int],
        *,
        prefix: int | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        body = _after_start(vocabulary, prompt)
        seeded = _leading_inserts(vocabulary, body) if prefix is None else prefix + suffix
        if not 0 <= suffix <= seeded <= _leading_inserts(vocabulary, body):
            raise ReviserError("the prompt does not start with as many tokens as are to be protected")
        back = [vocabulary.id(move) for move in vocabulary.moves(-suffix)]
        if body[seeded : seeded + len(back)] != back:
            raise ReviserError("the prompt does not move the cursor back before its suffix")
        self.canvas = Canvas(vocabulary, body[:seeded], prefix=seeded - suffix, suffix=suffix, max_length=max_length)
        self.take(body[seeded + len(back) :])

    def take(self, ids: Iterable[int]) -> None:
        """Carry out new ids; ids after a Stop are padding."""
        for id in ids:
            if self.canvas.stopped:
                return
            if id < 0:
                raise ReviserError("an id is not known yet; turn off asynchronous scheduling")
            self.canvas.apply(self.canvas.action(id))

    def mask(self) -> NDArray[np.bool_]:
        """True where an id may come next; after a Stop only another Stop, since engines need a valid id."""
        if not self.canvas.stopped:
            return self.canvas.valid_actions().mask()
        only_stop = np.zeros(self.vocabulary.size, dtype=bool)
        only_stop[self.vocabulary.stop_id] = True
        return only_stop


def _after_start(vocabulary: Vocabulary, prompt: Sequence[int]) -> list[int]:
    ids = list(prompt)
    if vocabulary.start_id not in ids:
        raise ReviserError(f"the prompt lacks the start marker, id {vocabulary.start_id}")
    return ids[ids.index(vocabulary.start_id) + 1 :]


def _leading_inserts(vocabulary: Vocabulary, ids: Sequence[int]) -> int:
    return next((n for n, id in enumerate(ids) if id >= vocabulary.base_size), len(ids))
