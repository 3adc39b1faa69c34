"""What a model says of next edits: how likely it finds repeats of the shown edits, and what it proposes by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.next_edits.cases import NextEditCase
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.model.scoring import ReadingDecoder
from reviser.next_edits.prompt import overtyped, prompt_ids, shown_ids
from reviser.next_edits.repeats import repeats
from reviser.next_edits.windows import windows
from reviser.proofreading.overtyping import OvertypingReader, OvertypingRules
from reviser.proofreading.together import ROWS, read_overtyping
from reviser.session.engine import Engine

_LEAST = 0.05
_FOLLOWED = 0.3
_MOST = 700.0


@dataclass(frozen=True)
class Proposal:
    """A change that is proposed for a case, and how confident the model is of it, from 0 to 1."""

    change: Edit
    confidence: float


@dataclass(frozen=True)
class _NextEditQuestion:
    """Two ways to go on behind the ids that are `kept`: with a change, and as the draft stands."""

    case: int
    change: Edit
    kept: list[int]
    changed: list[int]
    unchanged: list[int]


class ProposalReader:
    """A model that judges and proposes next edits for many cases together."""

    def __init__(self, engine: Engine) -> None:
        decoder = getattr(engine.policy, "decoder", None)
        if not isinstance(decoder, ReadingDecoder):
            raise ReviserError("this model cannot read many texts together")
        self._decoder = decoder
        self._vocabulary = engine.policy.vocabulary
        self._tokenizer = engine.tokenizer
        self._rules = OvertypingRules(self._vocabulary)

    def judged(self, cases: Sequence[NextEditCase]) -> list[list[Proposal]]:
        """The repeats in each case; a confidence is the chance of the change among the change and the draft as it
        stands."""
        questions = [question for number, case in enumerate(cases) for question in self._questions(number, case)]
        changed = self._chances([(each.kept, each.changed) for each in questions])
        unchanged = self._chances([(each.kept, each.unchanged) for each in questions])
        found: list[list[Proposal]] = [[] for _ in cases]
        for question, one, other in zip(questions, changed, unchanged, strict=True):
            confidence = 1 / (1 + math.exp(min(other - one, _MOST)))
            found[question.case].append(Proposal(question.change, confidence))
        return found

    def _questions(self, number: int, case: NextEditCase) -> list[_NextEditQuestion]:
        shown = shown_ids(self._vocabulary, self._tokenizer, case.shown)
        places = repeats(case.text, case.shown, case.taken)
        questions = []
        for start, end in windows(case.text):
            draft = case.text[start:end]
            inside = [change for change in places if start <= change.start and change.end <= end]
            ids = self._tokenizer.encode(draft) if inside else []
            prompt = prompt_ids(self._vocabulary, shown, ids)
            for change in inside:
                revised = self._tokenizer.encode(change.moved(-start).apply_to(draft))
                at, removed, new = overtyped(self._vocabulary, ids, revised)
                follow = ids[at + removed :][:1] or [self._vocabulary.stop_id]
                kept, stays = prompt + ids[:at], ids[at : at + removed] + follow
                questions.append(_NextEditQuestion(number, change, kept, new + follow, stays))
        return questions

    def _chances(self, sequences: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        """The log-probability of the second part of each sequence behind the first."""
        found: list[float] = []
        for at in range(0, len(sequences), ROWS):
            some = sequences[at : at + ROWS]
            texts = [kept + wanted[:-1] for kept, wanted in some]
            with self._decoder.rows(len(some), max(map(len, texts)), halved=True) as rows:
                outlooks = rows.outlooks(range(len(some)), texts, [wanted for _, wanted in some], self._rules)
            found += [math.fsum(outlook.expected for outlook in row) for row in outlooks]
        return found

    def proposed(self, cases: Sequence[NextEditCase]) -> list[list[Proposal]]:
        """What the model changes by itself in each case, outside of the edits that were made."""
        readings: list[tuple[int, int, list[int], OvertypingReader]] = []
        for number, case in enumerate(cases):
            shown = shown_ids(self._vocabulary, self._tokenizer, case.shown)
            for start, end in windows(case.text):
                ids = self._tokenizer.encode(case.text[start:end])
                reader = OvertypingReader(
                    self._rules, ids, confidence=_FOLLOWED, least=_LEAST, shown=shown, in_steps=True
                )
                readings.append((number, start, ids, reader))
        read_overtyping(self._decoder, [reading[-1] for reading in readings])
        found: list[list[Proposal]] = [[] for _ in cases]
        for number, start, ids, reader in readings:
            for one in reader.corrections:
                first = start + len(self._text(ids[: one.start]))
                old, new = self._text(ids[one.start : one.end]), self._text(one.tokens)
                change, case = Edit(first, old, new), cases[number]
                stands = case.text[change.start : change.end] == old
                if stands and all(change.end <= a or change.start >= b for a, b in case.taken):
                    found[number].append(Proposal(change, one.confidence))
        return found

    def _text(self, ids: Sequence[int]) -> str:
        return b"".join(map(self._tokenizer.token_bytes, ids)).decode("utf-8", "replace")
