"""A decoder by the torch model: it works wherever torch does, and reads many texts together, which is fast on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

import torch
from torch import Tensor

from reviser.core.errors import ReviserError
from reviser.model.decoder import Reviser
from reviser.model.scoring import Choices, ChoiceScores, Questions, Scores

# Texts that are read at once, and positions that are scored at once: each has as many scores as there are ids.
_ROWS: Final = 128
_POSITIONS: Final = 4096


class TorchDecoder:
    """A `reviser.model.scoring.ReadingDecoder` by the plain torch model."""

    rereads = True

    def __init__(self, model: Reviser, capacity: int | None = None) -> None:
        self._model = model.eval()
        self._cache = model.new_cache(capacity=capacity)

    @property
    def length(self) -> int:
        return self._cache.lengths[0]

    @property
    def capacity(self) -> int:
        return self._cache.capacity

    def prefill(self, ids: Sequence[int]) -> Scores:
        batch = torch.tensor([list(ids)], device=self._cache.device)
        return to_scores(self._model.prefill(batch, self._cache)[0])

    def decode(self, id: int) -> Scores:
        return self.prefill([id])

    def truncate(self, length: int) -> None:
        self._cache.truncate(length)

    def rows(self, count: int, room: int | None = None, *, halved: bool = False) -> TorchRows:
        return TorchRows(self._model, count, self.capacity if room is None else room)


class TorchRows:
    """A `reviser.model.scoring.TextRows` on torch. Choice scores read each text anew; `read` goes on from what was
    read."""

    def __init__(self, model: Reviser, count: int, room: int) -> None:
        self._model = model.eval()
        self.room = room
        self._texts: list[list[int]] = [[] for _ in range(count)]
        self._decoders: dict[int, TorchDecoder] = {}

    def read(self, rows: Sequence[int], texts: Sequence[Sequence[int]]) -> Scores:
        self._add(rows, texts)
        return to_scores(torch.stack([self._read_row(row) for row in rows]))

    @torch.inference_mode()
    def choice_scores(
        self,
        rows: Sequence[int],
        texts: Sequence[Sequence[int]],
        expected: Sequence[Sequence[int]],
        choices: Choices,
        asked: Sequence[Questions] | None = None,
        enough: float | None = None,
    ) -> list[list[ChoiceScores]]:
        self._add(rows, texts)
        if any(not 1 <= len(ids) <= len(text) for ids, text in zip(expected, texts, strict=True)):
            raise ReviserError("choice scores are wanted of one or more of the ids of each text")
        found: list[list[ChoiceScores]] = [[] for _ in rows]
        # Of like length, so that little is read in vain.
        order = sorted(range(len(rows)), key=lambda number: len(self._texts[rows[number]]))
        for at in range(0, len(order), _ROWS):
            numbers = order[at : at + _ROWS]
            wanted = self._last_states([(self._texts[rows[number]], len(expected[number])) for number in numbers])
            proposed = [id for number in numbers for id in expected[number]]
            more = [
                asked[number].get(place, ()) if asked else ()
                for number in numbers
                for place in range(len(expected[number]))
            ]
            told = iter(self._choice_scores(wanted, proposed, more, choices))
            for number in numbers:
                found[number] = [next(told) for _ in expected[number]]
        return found

    def truncate(self, row: int, length: int) -> None:
        text = self._texts[row]
        if not 0 <= length <= len(text):
            raise ReviserError(f"{len(text)} ids were read into the row: they cannot be cut to {length}")
        del text[length:]
        if row in self._decoders:
            decoder = self._decoders[row]
            decoder.truncate(min(length, decoder.length))

    def close(self) -> None:
        self._decoders.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _add(self, rows: Sequence[int], texts: Sequence[Sequence[int]]) -> None:
        if len(set(rows)) < len(rows) or len(rows) != len(texts) or not all(texts):
            raise ReviserError("each of different rows reads a text of at least one id")
        for row, text in zip(rows, texts, strict=True):
            if len(self._texts[row]) + len(text) > self.room:
                raise ReviserError(f"a row has room for {self.room} ids")
            self._texts[row] += text

    def _read_row(self, row: int) -> Tensor:
        """The scores after a row's text; the part that was scored before is not read again."""
        decoder = self._decoders.get(row)
        if decoder is None:
            decoder = self._decoders[row] = TorchDecoder(self._model, self.room)
        text = self._texts[row]
        decoder.truncate(min(decoder.length, len(text) - 1))
        return torch.from_numpy(decoder.prefill(text[decoder.length :]))

    def _last_states(self, texts: Sequence[tuple[list[int], int]]) -> Tensor:
        """The final states of the last ids of each text (as many as its number says), concatenated."""
        longest = max(len(text) for text, _ in texts)
        padded = [text + [0] * (longest - len(text)) for text, _ in texts]
        hidden = self._model.hidden(torch.tensor(padded, device=self._model.cos.device))
        last = [hidden[row, len(text) - count : len(text)] for row, (text, count) in enumerate(texts)]
        return torch.cat(last)

    def _choice_scores(
        self, hidden: Tensor, expected: Sequence[int], asked: Sequence[Sequence[int]], choices: Choices
    ) -> list[ChoiceScores]:
        vocabulary = choices.vocabulary
        insertable = torch.tensor(choices.insertable, device=hidden.device)
        found: list[ChoiceScores] = []
        for at in range(0, len(expected), _POSITIONS):
            proposed = torch.tensor(expected[at : at + _POSITIONS], device=hidden.device)
            chances = self._model.logits(hidden[at : at + _POSITIONS]).float().log_softmax(-1)
            tokens = chances[:, : vocabulary.base_size].where(insertable, float("-inf"))
            best = tokens.topk(2)
            columns = (
                chances.gather(1, proposed[:, None])[:, 0],
                chances[:, vocabulary.delete_id],
                chances[:, vocabulary.stop_id],
                best.indices[:, 0],
                best.values[:, 0],
                best.indices[:, 1],
                best.values[:, 1],
            )
            more = (
                tuple(row[list(ids)].tolist()) if ids else ()
                for row, ids in zip(chances, asked[at : at + _POSITIONS], strict=True)
            )
            found += map(ChoiceScores, *(column.tolist() for column in columns), more)
        return found


def to_scores(logits: Tensor) -> Scores:
    scores: Scores = logits.float().cpu().numpy()
    return scores
