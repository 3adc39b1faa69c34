"""A model's reading of next edits: the odds of changes, and changes that it proposes by itself.

The model is shown the person's edits, then a window of the text, and overtypes that. A reader keeps what it has read:
the excerpts of the edits are read once for all windows and keystrokes until there are others, and so is a window.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import SessionPolicy
from reviser.model.scoring import ChoiceScores, ReadingDecoder, TextRows, shared_length
from reviser.next_edits.prompt import RecentEdit, overtyped, prompt_ids, shown_ids
from reviser.next_edits.windows import windows
from reviser.proofreading.overtyping import OvertypingReader, OvertypingRules

LEAST: Final = 0.05
"""The least probability of a proposed change."""
_FOLLOWED: Final = 0.3
_KEPT: Final = 512


@dataclass(frozen=True)
class ProposedEdit:
    """A change that a model proposes, and its probability."""

    change: Edit
    chance: float


class NextEditReader:
    """Reads with a model that was trained for next edits; raises `ReviserError` for any other."""

    def __init__(
        self,
        policy: SessionPolicy,
        tokenizer: Tokenizer,
        name: str = "this model",
        before_reading: Callable[[], object] = lambda: None,
    ) -> None:
        """`before_reading` is called before each reading of the model, and may raise an exception to stop it."""
        decoder = getattr(policy, "decoder", None)
        if not policy.vocabulary.next_edits:
            raise ReviserError(f"{name} has not learned next edits")
        if not isinstance(decoder, ReadingDecoder):
            raise ReviserError(f"{name} cannot read texts in rows, as next edits need it")
        self._vocabulary = policy.vocabulary
        self._tokenizer = tokenizer
        self._rules = OvertypingRules(self._vocabulary)
        self._rows: TextRows = decoder.rows(1, halved=True)
        self._seen: list[int] = []
        self._proposals: OrderedDict[tuple[tuple[int, ...], str], list[ProposedEdit]] = OrderedDict()
        self.read = 0
        """Ids that the model has read so far."""
        self.before_reading = before_reading

    @property
    def seen(self) -> Sequence[int]:
        """The ids that the model read last, from the start of the prompt."""
        return self._seen

    def close(self) -> None:
        """Free the memory of the model's cache."""
        self._rows.close()

    def odds(self, text: str, shown: Sequence[RecentEdit], changes: Sequence[Edit]) -> Iterator[tuple[Edit, float]]:
        """The log-odds of each change against leaving the text as it is, yielded in order.

        A change that is in no single window is left out.
        """
        excerpts = shown_ids(self._vocabulary, self._tokenizer, shown)
        places = windows(text)
        at = 0
        ids: list[int] = []
        read = -1
        for change in sorted(changes):
            while at < len(places) and places[at][1] < change.end:
                at += 1
            if at == len(places) or change.start < places[at][0]:
                continue
            start, end = places[at]
            if read != at:
                ids, read = self._tokenizer.encode(text[start:end]), at
            draft = prompt_ids(self._vocabulary, excerpts, ids)
            revised = self._tokenizer.encode(change.moved(-start).apply_to(text[start:end]))
            first, removed, new = overtyped(self._vocabulary, ids, revised)
            follow = ids[first + removed :][:1] or [self._vocabulary.stop_id]
            kept = [*draft, *ids[:first]]
            longest = len(kept) + max(removed, len(new)) + 1
            if longest <= self._rows.room:
                stays = self._chance(kept, [*ids[first : first + removed], *follow])
                yield change, self._chance(kept, [*new, *follow]) - stays

    def proposed(
        self,
        text: str,
        shown: Sequence[RecentEdit],
        taken: Sequence[tuple[int, int]] = (),
        within: tuple[int, int] | None = None,
    ) -> Iterator[ProposedEdit]:
        """The changes that the model makes by itself, window by window, outside of the `taken` ranges.

        Only windows that start `within` a range are read, if one is given.
        """
        excerpts = shown_ids(self._vocabulary, self._tokenizer, shown)
        for start, end in windows(text):
            if within is not None and not within[0] <= start < within[1]:
                continue
            for own in self._proposed_in(text[start:end], excerpts):
                change = own.change.moved(start)
                stands = text[change.start : change.end] == change.old
                if stands and all(change.end <= low or change.start >= high for low, high in taken):
                    yield ProposedEdit(change, own.chance)

    def _proposed_in(self, window: str, excerpts: Sequence[int]) -> list[ProposedEdit]:
        """The changes that the model makes in a window; after the same excerpts it is not read again."""
        key = (tuple(excerpts), window)
        found = self._proposals.pop(key, None)
        if found is None:
            ids = self._tokenizer.encode(window)
            reader = OvertypingReader(
                self._rules, ids, confidence=_FOLLOWED, least=LEAST, shown=excerpts, in_steps=True
            )
            while not reader.over:
                if len(reader.ids) > self._rows.room:
                    reader.give_up()
                else:
                    reader.take(self._choice_scores(reader.ids, reader.expected))
            found = []
            for one in reader.corrections:
                first = len(self._text(ids[: one.start]))
                change = Edit(first, self._text(ids[one.start : one.end]), self._text(one.tokens))
                found.append(ProposedEdit(change, one.confidence))
        self._proposals[key] = found
        if len(self._proposals) > _KEPT:
            self._proposals.popitem(last=False)
        return found

    def _chance(self, kept: Sequence[int], wanted: Sequence[int]) -> float:
        """The log-probability of the ids `wanted` after the ids `kept`."""
        choice_scores = self._choice_scores([*kept, *wanted[:-1]], wanted)
        return math.fsum(choice_score.expected for choice_score in choice_scores)

    def _choice_scores(self, ids: Sequence[int], expected: Sequence[int]) -> list[ChoiceScores]:
        """The model's scores for expected ids, which follow the last of some ids; only ids that were not read before
        are read."""
        self.before_reading()
        same = min(shared_length(self._seen, ids), len(ids) - len(expected))
        self._rows.truncate(0, same)
        self._seen = list(ids)
        self.read += len(ids) - same
        return self._rows.choice_scores([0], [list(ids[same:])], [list(expected)], self._rules)[0]

    def _text(self, ids: Sequence[int]) -> str:
        return b"".join(map(self._tokenizer.token_bytes, ids)).decode("utf-8", "replace")
