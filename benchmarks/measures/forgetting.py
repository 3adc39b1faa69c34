"""Forgetting: the perplexity of texts read from left to right under a model, relative to that under its base.

    python -m benchmarks forgetting TEXTS… --base BASE [--model MODEL] [--texts 60] [--given 35] [--write FILE]

TEXTS are files of documents that neither the training nor the base has seen, one kind of text in each. The first
tokens of every document are given and the rest is measured, up to `--longest`. A model that moves has other actions
than inserting the next token, so its perplexity is given twice: over all actions, and over insertions alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import torch

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.importing import import_model
from reviser.checkpoints.library import find_model
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.data.sources import documents

_RESAMPLINGS = 1000


@dataclass(frozen=True)
class TextReading:
    """The loss in nats of the measured tokens of each text under a model."""

    nats: tuple[float, ...]
    tokens: tuple[int, ...]

    @property
    def perplexity(self) -> float:
        return math.exp(math.fsum(self.nats) / sum(self.tokens))


@dataclass(frozen=True)
class Ratio:
    """The ratio of two perplexities, with the interval that contains 95 % of the resampled ratios."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio_of(model: TextReading, base: TextReading) -> Ratio:
    """The ratio of a model's perplexity to its base's on the same texts."""
    if model.tokens != base.tokens:
        raise ReviserError("both models must have read the same tokens")
    differences = np.array(model.nats) - np.array(base.nats)
    tokens = np.array(base.tokens)
    chosen = np.random.default_rng(0).integers(len(tokens), size=(_RESAMPLINGS, len(tokens)))
    resampled = np.exp(differences[chosen].sum(1) / tokens[chosen].sum(1))
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Ratio(float(np.exp(differences.sum() / tokens.sum())), float(low), float(high))


@torch.inference_mode()
def read(checkpoint: Checkpoint, texts: Sequence[Sequence[int]], given: int, *, insertions: bool) -> TextReading:
    """Reads texts from left to right; with `insertions`, probabilities are normalised over insertions alone."""
    vocabulary = checkpoint.vocabulary
    acts = bool(vocabulary.kinds - {"insert"})
    # A base knows no start marker, nor what the rows of actions mean.
    start = [vocabulary.start_id] if acts else []
    size = vocabulary.size if acts and not insertions else vocabulary.base_size
    model = checkpoint.model.eval()
    device = model.cos.device
    totals = []
    for text in texts:
        ids = torch.tensor([*start, *text], device=device)
        scores = model(ids[None])[0, :-1, :size].float().log_softmax(-1)
        nats = -scores.gather(1, ids[1:, None])[:, 0]
        totals.append(float(nats[len(start) + given - 1 :].sum()))
    return TextReading(tuple(totals), tuple(len(text) - given for text in texts))


def tokens_of(source: str, checkpoint: Checkpoint, *, texts: int, given: int, longest: int) -> list[list[int]]:
    """The first `texts` documents of a source that are long enough, as tokens."""
    encoded = (checkpoint.tokenizer.encode(text)[:longest] for text in documents(source))
    return list(islice((ids for ids in encoded if len(ids) >= 2 * given), texts))


@dataclass(frozen=True, kw_only=True)
class ForgettingOptions:
    """Options of the measure: texts, model and base, and the numbers of documents and tokens."""

    sources: Annotated[tuple[str, ...], Argument("files of documents, one kind in each")]
    base: Annotated[str, Option("the model that was trained further: a folder or a GGUF file")]
    model: Annotated[str | None, Option("as for reviser continue --model")] = None
    texts: Annotated[int, Option("most documents of each file")] = 60
    given: Annotated[int, Option("tokens of a document that are given")] = 35
    longest: Annotated[int, Option("tokens of a document that are read")] = 256
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None


def run(chosen: ForgettingOptions) -> None:
    """Prints the table, and writes it to a file if asked to."""
    print(forgotten(chosen))


def forgotten(chosen: ForgettingOptions) -> str:
    """The table of a model beside its base."""
    if chosen.texts < 1 or chosen.given < 1 or chosen.longest <= 2 * chosen.given:
        raise ReviserError("give at least one token of at least one text, and read more than twice as many")
    folder = find_model(chosen.model)
    model, base = load(folder, dtype=torch.float32), import_model(chosen.base)
    base.model.float()
    rows = [_row(source, model, base, chosen) for source in chosen.sources]
    heads = ("texts", "tokens", "base", "model", "ratio", "ratio among insertions")
    text = Table(heads, tuple(rows)).markdown()
    if chosen.write:
        facts = provenance(
            "python -m benchmarks forgetting "
            + " ".join(Path(source).name for source in chosen.sources)
            + f" --base {Path(chosen.base).name} --texts {chosen.texts} --given {chosen.given} "
            f"--longest {chosen.longest}",
            Model=folder.name,
            Data=f"the first {chosen.texts} documents of {2 * chosen.given} tokens or more of each file",
        )
        page = f"# What the model forgot of its base\n\n{facts}\n{_EXPLAINED}\n{text}\n"
        write_atomically(chosen.write, page.encode())
    return text


_EXPLAINED = """\
Perplexity of texts read from left to right, each behind its first tokens. A ratio of 1 means that nothing was
forgotten. The interval holds 95 % of the ratios of resampled texts.
"""


def _row(source: str, model: Checkpoint, base: Checkpoint, chosen: ForgettingOptions) -> tuple[str, ...]:
    texts = tokens_of(source, base, texts=chosen.texts, given=chosen.given, longest=chosen.longest)
    if not texts:
        raise ReviserError(f"{source} has no document of {2 * chosen.given} tokens")
    known = read(base, texts, chosen.given, insertions=True)
    acting, inserting = (read(model, texts, chosen.given, insertions=alone) for alone in (False, True))
    name = Path(source).name.partition(".")[0]
    return (
        f"{name} ({len(texts)})",
        f"{sum(known.tokens):,}",
        f"{known.perplexity:.1f}",
        f"{acting.perplexity:.1f}",
        str(ratio_of(acting, known)),
        str(ratio_of(inserting, known)),
    )
