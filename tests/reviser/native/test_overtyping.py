"""Readers that overtype get the same choice scores and find the same in the native library as in torch."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.model import ModelConfig, Reviser, preset
from reviser.model.scoring import ChoiceScores
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import NativeBatch, NativeDecoder
from reviser.proofreading.overtyping import OvertypingReader, OvertypingRules
from reviser.proofreading.together import read_overtyping
from tests.reviser.checkpoints.parts import random_model
from tests.reviser.native.conftest import CONFIGS, Way, random_ids
from tests.reviser.native.test_batch import ragged

Build = Callable[[ModelConfig], Reviser]

KINDS = frozenset({"insert", "move", "stop", "delete"})
WORDS = Vocabulary(90, frozenset({0, 7}), kinds=KINDS, overtypes=True)
RULES = OvertypingRules(WORDS)
LENGTHS = (1, 0, 40, 2, 17, 33, 9, 1, 64, 0, 5, 12)


def rules_for(config: ModelConfig) -> OvertypingRules:
    """Rules for a vocabulary of just this size."""
    operators = Vocabulary(0).size
    return OvertypingRules(Vocabulary(config.vocab_size - operators, frozenset({0, 3}), kinds=KINDS, overtypes=True))


def choice_score(scores: np.ndarray, expected: int, rules: OvertypingRules, asked: Sequence[int] = ()) -> ChoiceScores:
    """What a row of scores says, by numpy."""
    wide = scores.astype(np.float64)
    chances = wide - wide.max() - np.log(np.exp(wide - wide.max()).sum())
    tokens = np.where(rules.insertable, chances[: len(rules.insertable)], -np.inf)
    second, first = np.argsort(tokens)[-2:].tolist()
    delete, stop = rules.vocabulary.delete_id, rules.vocabulary.stop_id
    return ChoiceScores(
        *(float(chances[id]) for id in (expected, delete, stop)),
        first,
        float(tokens[first]),
        second,
        float(tokens[second]),
        tuple(chances[list(asked)].tolist()),
    )


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_choice_scores_are_those_of_the_scores(config: ModelConfig, bits: int, way: Way, build: Build) -> None:
    """Of every position, what the decoder's own scores there say; texts are longer together than a block."""
    rules = rules_for(config)
    texts = ragged(config, (1, 30, 90, 2, 64))
    wanted = (1, 30, 57, 1, 12)
    with (
        NativeDecoder.from_model(build(config), bits, threads=2, level=way.level) as decoder,
        way.batch(decoder, len(texts)) as batch,
        way.batch(decoder, 1) as single,
    ):
        expected = [random_ids(config, count, seed=count) for count in wanted]
        # Of some places nothing more is asked, of others one id or many, the last of all among them.
        asked = [
            {
                place: [config.vocab_size - 1, *random_ids(config, place % 7, seed=place)]
                for place in range(0, count, 1 + number)
            }
            for number, count in enumerate(wanted)
        ]
        found = batch.choice_scores(range(len(texts)), texts, expected, rules, asked)
        assert [len(some) for some in found] == list(wanted)
        for text, ids, told, questions in zip(texts, expected, found, asked, strict=True):
            single.clear(0)
            done = 0
            for number, (id, one) in enumerate(zip(ids, told, strict=True)):
                end = len(text) - len(ids) + number + 1
                scores = single.read([0], [text[done:end]])[0]
                done = end
                right = choice_score(scores, id, rules, questions.get(number, ()))
                assert one[:-1] == pytest.approx(right[:-1], abs=1e-3)
                assert one.asked == pytest.approx(right.asked, abs=1e-3)
                assert (one.first, one.second) == (right.first, right.second)


def test_others_and_threads_change_no_bit_of_choice_scores(way: Way, build: Build) -> None:
    config = CONFIGS["wide"]
    model, rules, texts = build(config), rules_for(config), ragged(config, (70, 1, 33, 128, 5))
    wanted = [[1] * 40, [2], [3] * 33, [4], [5, 6]]
    runs = []
    for threads in (1, 2, 5):
        with (
            NativeDecoder.from_model(model, threads=threads, level=way.level) as decoder,
            way.batch(decoder, 5) as batch,
            way.batch(decoder, 1) as single,
        ):
            runs.append(batch.choice_scores(range(5), texts, wanted, rules))
            for number, text in enumerate(texts):
                single.clear(0)
                alone = single.choice_scores([0], [text], [wanted[number]], rules)
                assert alone == [runs[-1][number]]
    assert runs[0] == runs[1] == runs[2]


def test_large_vocabulary_and_equal_scores(way: Way) -> None:
    """Several strips of the output table, the last one cut; of equal tokens the lower ones come first."""
    vocabulary = Vocabulary(2100, frozenset({2, 1024}), kinds=KINDS, overtypes=True)
    rules = OvertypingRules(vocabulary)
    model = random_model(preset("tiny-paper", vocab_size=vocabulary.size, dropout=0.0))
    with torch.no_grad():
        # Every final state is the same, and fits these best.
        model.final_norm.weight.zero_()
        model.final_norm.bias.fill_(1.0)
        model.embedding.weight[[2, 5, 1024, 1025, 2099]] = 10.0
    expected = [5, 2, 2099, vocabulary.stop_id]
    with NativeDecoder.from_model(model, 8, threads=2, level=way.level) as decoder, way.batch(decoder, 2) as batch:
        scores = batch.read([0], [[9, 8, 5, 7]])[0].copy()
        (told,) = batch.choice_scores([1], [[9, 8, 5, 7]], [expected], rules)
    for id, one in zip(expected, told, strict=True):
        assert (one.first, one.second) == (5, 1025)
        assert one.first_chance == one.second_chance == pytest.approx(math.log(1 / 5))
        assert one.expected == pytest.approx(choice_score(scores, id, rules).expected, abs=1e-4)


def test_common_tokens_may_be_enough(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are, choice scores are of them, the operators and the expected id alone; elsewhere of all
    ids."""
    monkeypatch.setattr("reviser.native.batch.COMMON", 1000)
    vocabulary = Vocabulary(3100, frozenset({2, 1024}), kinds=KINDS, overtypes=True)
    rules = OvertypingRules(vocabulary)
    config = preset("tiny", vocab_size=vocabulary.size, dropout=0.0)
    model = random_model(config)
    with torch.no_grad():
        model.embedding.weight.mul_(30)
    texts = [random_ids(config, count, seed=count) for count in (120, 1, 20)]
    with (
        NativeDecoder.from_model(model, 8, threads=2, level=way.level) as decoder,
        way.batch(decoder, 3) as batch,
        way.batch(decoder, 1) as single,
    ):
        plain = batch.choice_scores(range(3), texts, texts, rules)
        # What is likeliest, so that much of it is expected; some of it is rare.
        expected = [[one.first for one in some] for some in plain]
        expected[2][:3] = [vocabulary.stop_id, 5, 2999]
        for row in range(3):
            batch.clear(row)
        whole = batch.choice_scores(range(3), texts, expected, rules)
        for row in range(3):
            batch.clear(row)
        enough = math.log(0.5)
        brief = batch.choice_scores(range(3), texts, expected, rules, enough=enough)
        kept = 0
        for text, ids, all_of_it, told in zip(texts, expected, whole, brief, strict=True):
            single.clear(0)
            assert single.choice_scores([0], [text], [ids], rules, enough=enough) == [told]
            for place, (id, full, one) in enumerate(zip(ids, all_of_it, told, strict=True)):
                single.clear(0)
                scores = single.read([0], [text[: place + 1]])[0].copy()
                scored = np.zeros(len(scores), dtype=np.bool_)
                scored[:1024] = scored[3072:] = scored[id] = True
                few = choice_score(np.where(scored, scores, -np.inf), id, rules)
                if few.expected < enough:
                    assert one == full
                else:
                    assert one.expected >= full.expected
                    assert one[:3] == pytest.approx(few[:3], abs=1e-3)
                    assert one.first == few.first
                    kept += id >= 1024
        # Rare ones among them, and not all.
        assert 0 < kept < sum(map(len, texts))
        with pytest.raises(ReviserError):
            batch.choice_scores([0], [[1]], [[1]], rules, [{0: [1]}], enough)


def test_few_insertable_tokens(native: None) -> None:
    vocabulary = Vocabulary(4, frozenset({0, 1, 2}), kinds=KINDS, overtypes=True)
    rules = OvertypingRules(vocabulary)
    model = random_model(preset("tiny", vocab_size=vocabulary.size, dropout=0.0))
    with NativeDecoder.from_model(model) as decoder, NativeBatch(decoder, 1) as batch:
        (told,) = batch.choice_scores([0], [[3]], [[3]], rules)[0]
    assert (told.first, told.second, told.second_chance) == (3, -1, -np.inf)
    assert told.first_chance == told.expected


def test_mistakes_are_refused(native: None) -> None:
    model = random_model(preset("tiny", vocab_size=WORDS.size, dropout=0.0))
    with NativeDecoder.from_model(model) as decoder, NativeBatch(decoder, 2, 8) as batch:
        for expected in ([], [[1], [1]], [[]], [[1, 1, 1]]):
            with pytest.raises(ReviserError, match="one or more of the ids"):
                batch.choice_scores([0], [[1, 2]], expected, RULES)
        for wrong in (-1, WORDS.size):
            with pytest.raises(ReviserError, match="outside the vocabulary"):
                batch.choice_scores([0], [[1, 2]], [[wrong]], RULES)
            with pytest.raises(ReviserError, match="outside the vocabulary"):
                batch.choice_scores([0], [[1, 2]], [[1]], RULES, [{0: [1, wrong]}])
        other = OvertypingRules(Vocabulary(500, kinds=KINDS, overtypes=True))
        with pytest.raises(ReviserError, match="outside the vocabulary"):
            batch.choice_scores([0], [[1, 2]], [[1]], other)
        assert batch.lengths == [0, 0]
        with pytest.raises(ReviserError, match="cannot be cut to 1"):
            batch.truncate(0, 1)


def word_model(seed: int = 3) -> Reviser:
    return random_model(preset("tiny", vocab_size=WORDS.size, dropout=0.0), seed=seed).eval()


def readers(confidence: float = 1e-6, sides: int = 3) -> list[OvertypingReader]:
    random = np.random.default_rng(4)
    draw = [random.integers(8, 90, size + 2 * sides).tolist() for size in LENGTHS]
    return [
        OvertypingReader(
            RULES,
            ids[sides : len(ids) - sides],
            ids[:sides],
            ids[len(ids) - sides :],
            confidence=confidence,
            least=1e-9,
        )
        for ids in draw
    ]


def found(some: Sequence[OvertypingReader]) -> list[list[tuple[int, int, tuple[int, ...]]]]:
    return [[(c.start, c.end, c.tokens) for c in reader.corrections] for reader in some]


class Told(OvertypingReader):
    """A reader that keeps what it was told first."""

    first: Sequence[ChoiceScores] = ()

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        self.first = self.first or choice_scores
        super().take(choice_scores)


def test_same_choice_scores_as_torch(native: None) -> None:
    model = word_model()
    here, there = ([Told(RULES, [5] * size, [9], [8, 4]) for size in LENGTHS] for _ in range(2))
    with NativeDecoder.from_model(model, 32, threads=2) as decoder:
        read_overtyping(decoder, here, rows=5)
    read_overtyping(TorchDecoder(model), there)
    for one, other in zip(here, there, strict=True):
        assert len(one.first) == len(other.first)
        for mine, its in zip(one.first, other.first, strict=True):
            # Of tokens that are almost as likely, either may come first: the cache has fewer bits here.
            chances = [(one[:3], one.first_chance, one.second_chance) for one in (mine, its)]
            assert np.hstack(chances[0]) == pytest.approx(np.hstack(chances[1]), abs=0.02)
            if its.first_chance - its.second_chance > 0.05:
                assert mine.first == its.first


def test_same_corrections_as_torch(native: None) -> None:
    model = word_model()
    here, there = readers(), readers()
    with NativeDecoder.from_model(model, 32, threads=2) as decoder:
        read_overtyping(decoder, here)
    read_overtyping(TorchDecoder(model), there)
    assert any(reader.corrections for reader in here)
    for one, other in zip(here, there, strict=True):
        # A random model's later choices hang on the last bits of its scores.
        assert found([one])[0][:1] == found([other])[0][:1]
        for mine, its in zip(one.corrections[:1], other.corrections[:1], strict=True):
            assert mine.confidence == pytest.approx(its.confidence, rel=0.05)


@pytest.mark.parametrize("confidence", [1e-6, 0.9])
def test_together_as_alone(level: str, confidence: float) -> None:
    """Rows are used again, and keep what they have read; whatever is made or doubted, nothing changes by that."""
    with NativeDecoder.from_model(word_model(), threads=2, level=level) as decoder:
        together, few, alone = (readers(confidence) for _ in range(3))
        read_overtyping(decoder, together)
        read_overtyping(decoder, few, rows=3)
        for reader in alone:
            read_overtyping(decoder, [reader], rows=1)
    assert sum(len(reader.corrections) for reader in together) > 5
    assert all(reader.over for reader in (*together, *few, *alone))
    for one, *others in zip(together, few, alone, strict=True):
        for other in others:
            assert one.corrections == other.corrections


def test_a_row_keeps_what_neighbours_begin_with(native: None) -> None:
    """The same left side is read once for passages that one row reads one after the other."""
    left = list(range(8, 58))
    with NativeDecoder.from_model(word_model(), threads=1) as decoder:
        read: list[int] = []
        real = NativeBatch.choice_scores

        def counted(self: NativeBatch, rows, texts, *others):  # type: ignore[no-untyped-def]
            read.extend(map(len, texts))
            return real(self, rows, texts, *others)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(NativeBatch, "choice_scores", counted)
            some = [OvertypingReader(RULES, [9, 10], left, confidence=1, least=1) for _ in "abc"]
            read_overtyping(decoder, some, rows=1)
        # Start, left side, two markers and the passage twice; then what is expected, again.
        assert read == [1 + 50 + 2 + 4, 3, 3]


def test_a_reading_without_more_room_ends_with_what_it_has(native: None) -> None:
    model = word_model()
    with NativeDecoder.from_model(model, capacity=60) as decoder:
        short = readers()
        read_overtyping(decoder, short)
        assert all(reader.over for reader in short)
        assert any(reader.corrections for reader in short)
        assert not short[LENGTHS.index(64)].corrections
        read_overtyping(decoder, [])
        read_overtyping(decoder, short)
    long = OvertypingReader(RULES, [1] * model.config.context)
    read_overtyping(TorchDecoder(model), [long])
    assert long.over


def test_two_threads_read_at_once(native: None) -> None:
    """Batches and the decoder itself share working memory, and wait for one another."""
    with NativeDecoder.from_model(word_model(), threads=2) as decoder:
        wanted = readers()
        read_overtyping(decoder, wanted)
        some = [readers() for _ in range(3)]
        threads = [threading.Thread(target=read_overtyping, args=(decoder, one, 4)) for one in some]
        for thread in threads:
            thread.start()
        for _ in range(30):
            decoder.truncate(0)
            decoder.prefill([1, 2, 3])
        for thread in threads:
            thread.join()
    assert any(found(wanted))
    for one in some:
        assert found(one) == found(wanted)
