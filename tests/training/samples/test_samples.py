"""Epochs: every document is cut into windows whole, and each sample is its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from tests.training.histories import BASE, RICH_VOCABULARY, small_corpus, some_classes, written
from training.data.boundaries import SENTENCE, strength
from training.data.corpus import Corpus
from training.samples.mixture import Mixture
from training.samples.obfuscation import LOCAL, PAPER, PLAIN, RICH, STRUCTURED, Task
from training.samples.samples import Samples

MIXTURE = Mixture(rich=0.05, max_history=128, p_delete=((1, 0.8), (1, 0.95)))


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Samples(small_corpus(), RICH_VOCABULARY, MIXTURE, seed=3)


def test_windows_cover_each_document_once(samples: Samples) -> None:
    cut, offsets = samples.windows(0), samples.corpus.shards[0].offsets
    ends = cut.starts + cut.sizes
    assert (cut.starts[1:] >= ends[:-1]).all()
    documents = np.searchsorted(offsets, cut.starts, side="right")
    assert (ends <= offsets[documents]).all()
    assert cut.sizes.min() >= MIXTURE.min_text
    sizes = np.diff(offsets)
    assert cut.sizes.sum() == sizes[sizes >= MIXTURE.min_text].sum()


def _ended(samples: Samples) -> float:
    """The share of the cuts within documents that are made where a sentence ends."""
    cut, shard, classes = samples.windows(0), samples.corpus.shards[0], samples.corpus.classes
    inner = [end for end in cut.starts + cut.sizes if end not in shard.offsets]
    tokens = shard.tokens.astype(int)
    return float(np.mean([strength(classes[tokens[e - 1]], classes[tokens[e]]) == SENTENCE for e in inner]))


def test_windows_like_to_end_with_a_sentence(samples: Samples) -> None:
    assert _ended(samples) > 0.5


@pytest.mark.parametrize("openings", [0.0, 1.0])
def test_so_do_windows_of_which_a_history_holds_not_even_two(openings: float) -> None:
    mixture = dataclasses.replace(Mixture.left_to_right(256), min_text=110, openings=openings)
    assert _ended(Samples(small_corpus(), RICH_VOCABULARY, mixture)) > 0.8


def test_every_sample_writes_its_text(samples: Samples) -> None:
    count = samples.count(0)
    texts, _ = samples.texts(0, 0, count)
    histories = samples.histories(0, 0, count)
    for sample in range(count):
        task = Task(int(texts.kinds[sample]), int(texts.prefixes[sample]), int(texts.suffixes[sample]))
        ids = histories.ids[sample, : histories.lengths[sample]].tolist()
        assert written(RICH_VOCABULARY, ids, task) == texts.text(sample)
    assert histories.fallbacks <= 0.01 * count


def test_shares_of_the_mixture() -> None:
    mixture = Mixture(0.1, 0.3, 0.2, 0.2, 0.0, 0.2, max_history=64, p_delete=((1, 0.8), (3, 0.95)))
    cut = Samples(small_corpus(600), RICH_VOCABULARY, mixture).windows(0)
    infill = cut.suffixes > 0
    assert infill.mean() == pytest.approx(0.2, abs=0.03)
    rest = cut.kinds[~infill]
    for kind, share in ((PLAIN, 0.125), (PAPER, 0.375), (STRUCTURED, 0.25), (LOCAL, 0.25), (RICH, 0.0)):
        assert (rest == kind).mean() == pytest.approx(share, abs=0.03)
    assert (cut.p_deletes == 0.95).mean() == pytest.approx(0.75, abs=0.03)
    assert (cut.prefixes == 0).mean() == pytest.approx(0.15, abs=0.05)
    assert (cut.prefixes + cut.suffixes < cut.sizes).all()


def test_infills_can_have_prefixes_of_their_own() -> None:
    mixture = Mixture(0.5, 0, 0, 0.5, prefix=((1, 0, 0),), before=((1, 0.4, 0.5),), suffix=((1, 0.3, 0.4),))
    cut = Samples(small_corpus(600), RICH_VOCABULARY, mixture).windows(0)
    infill = cut.suffixes > 0
    assert (cut.prefixes[~infill] == 0).all()
    gaps = (cut.sizes - cut.prefixes - cut.suffixes)[infill]
    assert (gaps / cut.sizes[infill]).mean() == pytest.approx(0.2, abs=0.05)


def test_a_sample_depends_on_seed_epoch_and_number_alone(samples: Samples) -> None:
    everything = samples.histories(1, 0, 60)
    part = samples.histories(1, 20, 25)
    assert (everything.ids[20:25] == part.ids).all()
    again = Samples(samples.corpus, RICH_VOCABULARY, MIXTURE, seed=3).histories(1, 20, 25)
    assert (again.ids == part.ids).all()
    other_epoch = samples.histories(2, 20, 25)
    assert (other_epoch.ids != part.ids).any(axis=1).all()
    other_seed = Samples(samples.corpus, RICH_VOCABULARY, MIXTURE, seed=4).histories(1, 20, 25)
    assert (other_seed.ids != part.ids).any(axis=1).all()


def test_several_shards_are_as_one() -> None:
    corpus = small_corpus(40)
    shard = corpus.shards[0]
    middle = 17
    first = type(shard)(shard.tokens[: shard.offsets[middle]], shard.offsets[: middle + 1])
    rest = shard.offsets[middle:] - shard.offsets[middle]
    second = type(shard)(shard.tokens[shard.offsets[middle] :], rest)
    split = Corpus((first, second), corpus.classes, corpus.tokenizer)
    mixture = Mixture.left_to_right(64)
    made = Samples(split, RICH_VOCABULARY, mixture)
    texts, _ = made.texts(0, 0, made.count(0))
    known = {tuple(t) for t in _documents(corpus)}
    joined = "|".join(",".join(map(str, document)) for document in known)
    for sample in range(made.count(0)):
        assert ",".join(map(str, texts.text(sample))) in joined


def _documents(corpus: Corpus) -> list[list[int]]:
    shard = corpus.shards[0]
    ends = zip(shard.offsets, shard.offsets[1:], strict=False)
    return [shard.tokens[start:end].tolist() for start, end in ends]


def test_k_max_is_honoured() -> None:
    mixture = Mixture.as_in_the_paper(256)
    limited = Mixture.from_dict({**mixture.to_dict(), "k_max": 60})
    made = Samples(small_corpus(), RICH_VOCABULARY, limited)
    histories = made.histories(0, 0, made.count(0))
    assert histories.counted.sum(axis=1).max() <= 61
    assert histories.fallbacks <= 0.01 * len(histories)


def test_openings_are_the_beginnings_of_documents_and_each_epoch_draws_them_anew() -> None:
    corpus = small_corpus()
    begin = {int(start) for start in corpus.shards[0].offsets[:-1]}
    mixture = Mixture.left_to_right(64)

    def cut(openings: float, epoch: int = 0) -> set[int]:
        made = Samples(corpus, RICH_VOCABULARY, dataclasses.replace(mixture, openings=openings))
        return {int(start) for start in made.windows(epoch).starts}

    everything, alone, half = cut(0.0), cut(1.0), cut(0.5)
    long_enough = everything & begin
    assert alone == long_enough
    assert alone < everything
    assert long_enough < half
    assert len(half) < len(everything)
    assert half != cut(0.5, epoch=1)


def test_too_little_text_is_said_plainly() -> None:
    corpus = Corpus.of([[1, 2, 3]], some_classes())
    with pytest.raises(ReviserError, match="no text has the 16 tokens"):
        Samples(corpus, RICH_VOCABULARY, Mixture()).count(0)
    with pytest.raises(ReviserError, match="smaller"):
        Samples(corpus, Vocabulary(BASE - 1), Mixture())
