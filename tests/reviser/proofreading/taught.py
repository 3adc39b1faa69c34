"""A tiny model that was taught by heart what to correct in some documents, for tests of whole commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from reviser.checkpoints import save
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import HuggingFaceTokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation
from reviser.model.scoring import Scores
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.prose import format_of
from tests.reviser.proofreading.scripted import REVISING, Known, Scripted

_MOST_STEPS = 1500
_CONTEXT = 256


def tokenizer_of(texts: Iterable[str]) -> bytes:
    """A tokenizer.json of bytes, and of the words in the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=800, initial_alphabet=alphabet, min_frequency=1, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    content: str = tokenizer.to_str()
    return content.encode()


class _Teacher(Scripted):
    """Remembers what it was asked and what it answered."""

    context = _CONTEXT

    def __init__(self, known: Known, tokenizer: HuggingFaceTokenizer, vocabulary: Vocabulary) -> None:
        super().__init__(known, tokenizer, vocabulary)
        self.lessons: dict[tuple[int, ...], int] = {}

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        scores = super().scores(history, canvas)
        self.lessons[tuple(history)] = int(scores.argmax())
        return scores


def taught_model(folder: Path, known: Known, documents: dict[str, str]) -> Path:
    """The folder of a quantised model that proofreads these documents as it was taught."""
    content = tokenizer_of([*documents.values(), *(f" {new}" for new, _ in known.values())])
    tokenizer = HuggingFaceTokenizer(content, "taught")
    vocabulary = Vocabulary(tokenizer.size, tokenizer.markers, kinds=REVISING, name="taught", overtypes=True)
    teacher = _Teacher(known, tokenizer, vocabulary)
    for name, text in documents.items():
        Proofreader(teacher, tokenizer).proofread(Draft(text, format_of(name, text)))
    # Whole readings, and how many of their ids were there before the first action.
    readings: dict[tuple[int, ...], int] = {}
    for history, chosen in teacher.lessons.items():
        first = readings.pop(history, len(history))
        readings[(*history, chosen)] = first
    rows = [(list(ids), first) for ids, first in readings.items()]
    torch.manual_seed(0)
    config = preset("tiny", vocab_size=vocabulary.size, context=_CONTEXT, canvas_length=_CONTEXT, dropout=0.0)
    model = Reviser(config)
    longest = max(len(ids) for ids, _ in rows)
    inputs = torch.zeros(len(rows), longest, dtype=torch.long)
    targets = torch.full((len(rows), longest), -100)
    for row, (ids, first) in enumerate(rows):
        inputs[row, : len(ids)] = torch.tensor(ids)
        targets[row, first - 1 : len(ids) - 1] = torch.tensor(ids[first:])
    _learn(model, inputs, targets)
    return save(folder, model, vocabulary, content, quantisation=Quantisation(8))


def _learn(model: Reviser, inputs: torch.Tensor, targets: torch.Tensor) -> None:
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    wanted = targets >= 0
    threads = torch.get_num_threads()
    # Several threads would wait for each other over so little.
    torch.set_num_threads(1)
    try:
        for _ in range(_MOST_STEPS):
            logits = model(inputs)
            loss = torch.nn.functional.cross_entropy(logits[wanted], targets[wanted])
            if loss < 0.005:
                return
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    finally:
        torch.set_num_threads(threads)
    raise AssertionError("the model learned too little")
