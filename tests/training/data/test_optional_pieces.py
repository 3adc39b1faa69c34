"""Pieces that a text can do without: which are looked at, what they cost, and what samples make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from reviser.core.actions import Insert, Move
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import load_tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import Reviser, preset
from tests.training.samples.reference import make_sample
from training.data.boundaries import SENTENCE, strength
from training.data.corpus import Corpus, Manifest, optional_path
from training.data.optional_pieces import PieceSearch, Pricing, candidates, chosen_pieces
from training.data.shards import Options, tokenise, write_array
from training.samples.mixture import Mixture
from training.samples.obfuscation import ELABORATED, Task, workspace
from training.samples.samples import Samples

TEXT = (
    "The old house at the end of our street, which nobody had entered for years, burned down last night. "
    "We all went out to look. The firemen came late because the road was under water, and there was "
    "nothing left to save. My neighbour, a quiet man, said that he had seen a light in the kitchen. "
    "Nobody believed him. In the morning only the chimney stood there, black and warm.\n"
)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    source = folder / "text.txt"
    source.write_text(TEXT)
    tokenise(folder / "shards", [str(source)], "gpt2", Options())
    return folder / "shards"


def test_candidates_are_sentences_clauses_and_words(shards: Path) -> None:
    tokenizer = load_tokenizer("gpt2")
    corpus = Corpus.open(shards)
    shard = corpus.shards[0]
    found = candidates(shard, corpus.classes, PieceSearch(per_hundred=1000.0))
    texts = {
        b"".join(tokenizer.token_bytes(int(id)) for id in shard.tokens[piece:end]).decode()
        for _, piece, end, _ in found
    }
    assert " We all went out to look." in texts
    assert ", which nobody had entered for years" in texts
    assert " a quiet man," in texts
    assert any(len(text.split()) == 1 for text in texts)
    # Nothing that begins at the text's start, where there is nothing to read before it.
    assert not any(text.startswith("The old house") for text in texts)
    for begin, piece, end, stop in found:
        assert 0 <= begin < piece < end < stop <= len(shard.tokens)


def test_candidates_are_drawn_by_seed_and_share(shards: Path) -> None:
    corpus = Corpus.open(shards)
    few, again, other = (
        candidates(corpus.shards[0], corpus.classes, PieceSearch(per_hundred=15.0, seed=seed)) for seed in (1, 1, 2)
    )
    assert few.tolist() == again.tolist() != other.tolist()
    assert 3 < len(few) < 35


def test_prices_are_the_difference_of_two_readings(shards: Path) -> None:
    """The price of a piece, beside the same from two plain passes of the model."""
    corpus = Corpus.open(shards)
    tokens = corpus.shards[0].tokens
    torch.manual_seed(3)
    model = Reviser(preset("tiny", vocab_size=corpus.tokenizer.size, dropout=0.0)).eval()
    pieces = candidates(corpus.shards[0], corpus.classes, PieceSearch(per_hundred=40.0))
    prices = Pricing(model, corpus.tokenizer.size, torch.device("cpu"))(tokens, pieces, 2)

    def surprise(before: np.ndarray, after: np.ndarray) -> float:
        ids = torch.tensor([[0, *before.tolist(), *after.tolist()]])
        with torch.no_grad():
            scores = model(ids)[0].log_softmax(dim=-1)
        asked = range(len(before), len(before) + len(after))
        return -sum(float(scores[at, int(id)]) for at, id in zip(asked, after.tolist(), strict=True))

    assert len(pieces) > 10
    for (begin, piece, end, stop), price in zip(pieces, prices, strict=True):
        before, after = tokens[begin:piece], tokens[end:stop]
        expected = surprise(before, after) - surprise(tokens[begin:end], after)
        assert price == pytest.approx(expected, abs=1e-3)


def test_the_cheapest_piece_of_an_end_is_taken() -> None:
    pieces = np.array([[0, 4, 9, 20], [0, 7, 9, 20], [0, 9, 12, 20], [0, 12, 15, 20]])
    lengths = chosen_pieces(20, pieces, np.array([0.5, 0.1, 2.0, 0.9]), 1.0)
    assert {int(at): int(lengths[at]) for at in np.flatnonzero(lengths)} == {9: 2, 15: 3}


def test_steps_back_write_optional_pieces_after_whole_sentences(shards: Path) -> None:
    corpus = Corpus.open(shards)
    shard = corpus.shards[0]
    pieces = candidates(shard, corpus.classes, PieceSearch(per_hundred=30.0))
    lengths = chosen_pieces(len(shard.tokens), pieces, np.zeros(len(pieces)), 1.0)
    spans = {(int(end - lengths[end]), int(end)) for end in np.flatnonzero(lengths)}
    text = [int(id) for id in shard.tokens]
    vocabulary = Vocabulary.gpt2()
    task = Task(ELABORATED, revisions=4.0, optional=lengths.tolist())
    steps = 0
    for name in range(40):
        ids = make_sample(vocabulary, text, task, name, corpus.classes, 600).ids[1:]
        canvas = workspace(vocabulary, (), 0, 0)
        at = 0
        while at < len(ids):
            action = canvas.action(ids[at])
            if isinstance(action, Move) and action.delta < 0 and canvas.cursor == canvas.length:
                last = int(corpus.classes[canvas.tokens[-1]])
                following = int(corpus.classes[text[canvas.length - len(text)]])
                assert strength(last, following) == SENTENCE or last & 8
                while isinstance(canvas.action(ids[at]), Move):
                    canvas.apply(canvas.action(ids[at]))
                    at += 1
                begin, size = canvas.cursor, 0
                while isinstance(canvas.action(ids[at]), Insert):
                    canvas.apply(canvas.action(ids[at]))
                    at, size = at + 1, size + 1
                assert (begin, begin + size) in spans
                steps += 1
                continue
            canvas.apply(action)
            at += 1
        assert canvas.tokens == text
    assert steps > 20


def test_elaborated_samples_need_optional_pieces(shards: Path, tmp_path: Path) -> None:
    mixture = Mixture(0.0, 0.0, 0.0, 0.0, elaborated=1.0, max_history=128)
    corpus = Corpus.open(shards)
    with pytest.raises(ReviserError, match="optional pieces were not looked for"):
        Samples(corpus, corpus.vocabulary(), mixture)
    name = Manifest.load(shards).sources[0].shards[0].name
    path = optional_path(shards, name)
    write_array(path, np.zeros(3, dtype=np.uint8))
    with pytest.raises(ReviserError, match="was not made for the tokens"):
        Corpus.open(shards)
    write_array(path, np.zeros(len(corpus.shards[0].tokens), dtype=np.uint8))
    found = Corpus.open(shards)
    made = Samples(found, found.vocabulary(), mixture).histories(0, 0, 1)
    path.unlink()
    assert made.lengths[0] > 20
