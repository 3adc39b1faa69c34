"""Readers are fed by the model that is there: many together where its decoder can do that, else one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from reviser.native.batch import read_batch
from reviser.native.decoder import NativeDecoder
from reviser.proofreading.reader import Reader
from reviser.session.session import SessionPolicy

ROWS: Final = 32
"""Passages that are read together."""


@runtime_checkable
class ReadsTogether(Protocol):
    """A decoder that reads several passages at once."""

    def read_batch(self, readers: Sequence[Reader], rows: int) -> None: ...


def read(policy: SessionPolicy, readers: Sequence[Reader]) -> None:
    """Let every reader read its passage to the end."""
    decoder = getattr(policy, "decoder", None)
    if isinstance(decoder, NativeDecoder):
        read_batch(decoder, readers, ROWS)
        return
    if isinstance(decoder, ReadsTogether):
        decoder.read_batch(readers, ROWS)
        return
    for reader in readers:
        _read_alone(policy, reader)


def _read_alone(policy: SessionPolicy, reader: Reader) -> None:
    canvas, history = reader.canvas, list(reader.history)
    while len(history) <= policy.context:
        scores = policy.scores(history, canvas)
        chosen = None if scores is None else reader.advance(scores)
        if chosen is None:
            return
        canvas.apply(canvas.action(chosen))
        history.append(chosen)
