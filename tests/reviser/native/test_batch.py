"""Histories read together get what each gets alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

from reviser.core.errors import ReviserError
from reviser.model import ModelConfig, Reviser, preset
from reviser.model.layout import Bits
from reviser.native import CacheFull, NativeBatch, NativeDecoder, levels
from tests.reviser.native.conftest import CONFIGS, Way, random_ids, rounds_attention, tolerance
from tests.reviser.native.test_decoder import error

Build = Callable[[ModelConfig], Reviser]

LENGTHS = (1, 5, 17, 2, 40, 1, 33, 64, 9, 16, 7)


def ragged(config: ModelConfig, lengths: tuple[int, ...] = LENGTHS) -> list[list[int]]:
    return [random_ids(config, count, seed=number) for number, count in enumerate(lengths)]


def alone(decoder: NativeDecoder, texts: list[list[int]]) -> list[np.ndarray]:
    found = []
    for text in texts:
        decoder.truncate(0)
        found.append(decoder.prefill(text).copy())
    return found


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_together_as_one_after_the_other(config: ModelConfig, bits: Bits, level: str, build: Build) -> None:
    """More ids than go through a layer at a time, so that texts are cut where it happens to be."""
    texts = ragged(config)
    assert sum(map(len, texts)) > 128
    with NativeDecoder.from_model(build(config), bits, threads=2, level=level) as decoder:
        wanted = alone(decoder, texts)
        with NativeBatch(decoder, len(texts), 80) as batch:
            found = batch.read(range(len(texts)), texts)
            assert found.shape == (len(texts), config.vocab_size)
            for one, other in zip(found, wanted, strict=True):
                assert error(one, other) < tolerance(config, bits, level)
                assert one.argmax() == other.argmax() or rounds_attention(config, bits, level)


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_others_change_no_bit(config: ModelConfig, bits: int, way: Way, build: Build) -> None:
    texts = ragged(config)
    with (
        NativeDecoder.from_model(build(config), bits, threads=2, level=way.level) as decoder,
        way.batch(decoder, len(texts)) as batch,
        way.batch(decoder, 1) as single,
    ):
        for rows in (range(len(texts)), (6, 0, 9), (3,)):
            for row in rows:
                batch.clear(row)
            found = batch.read(rows, [texts[row] for row in rows]).copy()
            for number, row in enumerate(rows):
                single.clear(0)
                assert np.array_equal(found[number], single.read([0], [texts[row]])[0])


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_a_halved_batch_agrees_with_the_model(
    config: ModelConfig, bits: Bits, build: Build, expected: Callable[..., np.ndarray]
) -> None:
    """Elsewhere, and in full precision, it is as any other."""
    model, level = build(config), levels()[0]
    halved = level == "amx" and bits != 32
    with (
        NativeDecoder.from_model(model, bits, threads=2) as decoder,
        NativeBatch(decoder, len(LENGTHS), halved=True) as batch,
        NativeBatch(decoder, len(LENGTHS)) as other,
    ):
        texts = ragged(config)
        found = batch.read(range(len(texts)), texts).copy()
        assert np.array_equal(found, other.read(range(len(texts)), texts)) == (not halved)
        limit = tolerance(config, bits, level)
        for text, one in zip(texts, found, strict=True):
            assert error(one, expected(model, bits, text, level, halved)) < limit


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("width", [32, 64, 576])
def test_weights_at_their_limits_change_no_bit(bits: int, width: int, way: Way) -> None:
    """Sums are largest where all weights are; one position alone has kernels of its own, and groups of any number."""
    config = preset("tiny", width=width, heads=2, kv_heads=1, ff=3 * width, vocab_size=83, layers=2)
    model = Reviser(config).eval()
    chance = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                signs = torch.randint(0, 2, parameter.shape, generator=chance) * 2.0 - 1
                # Rows of the table are all at one end, so that whole groups of inputs are.
                parameter.copy_(signs[:, :1].expand_as(signs) if name.startswith("emb") else signs)
    texts = [[5], [7], [11, 5], [5, 5, 5], [80], [5]]
    with (
        NativeDecoder.from_model(model, bits, threads=2, level=way.level) as decoder,
        way.batch(decoder, len(texts)) as batch,
        way.batch(decoder, 1) as single,
    ):
        found = batch.read(range(len(texts)), texts)
        assert np.isfinite(found).all()
        assert np.array_equal(found[0], found[-1])
        for number, text in enumerate(texts):
            single.clear(0)
            assert np.array_equal(found[number], single.read([0], [text])[0])


def test_rows_go_on_at_their_own_places(config: ModelConfig, level: str, build: Build) -> None:
    """Some rows are dropped on the way, some start afresh, and some read more than one id at once."""
    texts, more = ragged(config), ragged(config, (6,) * len(LENGTHS))
    with (
        NativeDecoder.from_model(build(config), threads=2, level=level) as decoder,
        NativeBatch(decoder, len(texts), 72) as batch,
    ):
        batch.read(range(len(texts)), texts)
        histories = [list(text) for text in texts]
        for step, rows in enumerate(([0, 3, 7, 10], [10, 3, 0], [3], [3, 2, 9])):
            given = [more[row][step : step + 1 + (row == 3)] for row in rows]
            if step == 2:
                batch.clear(2)
                histories[2] = []
            found = batch.read(rows, given)
            for row, ids in zip(rows, given, strict=True):
                histories[row] += ids
            for one, row in zip(found, rows, strict=True):
                assert batch.lengths[row] == len(histories[row])
                (wanted,) = alone(decoder, [histories[row]])
                assert error(one, wanted) < tolerance(config, 4, level)
                assert one.argmax() == wanted.argmax() or rounds_attention(config, 4, level)


def test_threads_change_no_bit(way: Way, build: Build) -> None:
    config = CONFIGS["one-kv-head"]
    model, texts = build(config), ragged(config)
    runs = []
    for threads in (1, 2, 3, 6):
        with (
            NativeDecoder.from_model(model, threads=threads, level=way.level) as decoder,
            way.batch(decoder, len(texts)) as batch,
        ):
            scores = [batch.read(range(len(texts)), texts).copy()]
            scores += [batch.read(range(len(texts)), [[7]] * len(texts)).copy() for _ in range(5)]
            runs.append(np.array(scores))
    for run in runs[1:]:
        assert np.array_equal(run, runs[0])


def test_the_decoders_own_history_stays(native: None, build: Build) -> None:
    config = preset("tiny")
    ids = random_ids(config, 20)
    with NativeDecoder.from_model(build(config)) as decoder:
        decoder.prefill(ids)
        wanted = decoder.decode(3).copy()
        decoder.truncate(20)
        with NativeBatch(decoder, 4) as batch:
            batch.read(range(4), ragged(config, (3, 30, 1, 8)))
        assert np.array_equal(decoder.decode(3), wanted)


def test_mistakes_are_refused(native: None, build: Build) -> None:
    config = preset("tiny")
    with NativeDecoder.from_model(build(config), capacity=30) as decoder:
        for rows, room, words in ((0, 9, "1 to 128 rows"), (129, 9, "1 to 128"), (2, 31, "1 to 30")):
            with pytest.raises(ReviserError, match=words):
                NativeBatch(decoder, rows, room)
        with NativeBatch(decoder, 3, 10) as batch:
            wanted = batch.read([0, 2], [[1, 2], [3]]).copy()
            with pytest.raises(CacheFull, match="room for 10"):
                batch.read([0, 1], [[1] * 9, [3]])
            for wrong in ([-1], [128]):
                with pytest.raises(ReviserError, match="outside the vocabulary of 128"):
                    batch.read([1, 0], [[5], wrong])
            with pytest.raises(ReviserError, match="at least one id"):
                batch.read([1, 0], [[5], []])
            for rows_wrong in ([1, 1], [0, 3], [-1, 0]):
                with pytest.raises(ReviserError, match="different rows, from 0 to 2"):
                    batch.read(rows_wrong, [[5], [5]])
            # Nothing was read by those.
            assert batch.lengths == [2, 0, 1]
            batch.clear(0)
            batch.clear(2)
            assert np.array_equal(batch.read([0, 2], [[1, 2], [3]]), wanted)
            assert batch.read([], []).shape == (0, 128)
        with pytest.raises(ReviserError, match="batch is closed"):
            batch.read([0], [[1]])
        batch.close()
        left = NativeBatch(decoder, 2)
    with pytest.raises(ReviserError, match="decoder is closed"):
        left.read([0], [[1]])
    left.close()
    with pytest.raises(ReviserError, match="decoder is closed"):
        NativeBatch(decoder, 2)


CLOSING = """
import threading
import numpy as np
from reviser.core.errors import ReviserError
from reviser.model import preset
from reviser.native import NativeBatch, NativeDecoder
from tests.reviser.checkpoints.parts import random_model

model = random_model(preset("tiny", width=576, heads=9, kv_heads=3, ff=1536, layers=2, context=600))
for number in range(6):
    decoder = NativeDecoder.from_model(model, 8, threads=2)
    batch = NativeBatch(decoder, 4)
    begun, refused, outcomes = threading.Event(), [], []

    def keep_reading():
        try:
            while True:
                batch.lengths[:] = [0] * 4
                decoder.truncate(0)
                begun.set()
                outcomes.append(batch.read(range(4), [range(100)] * 4)[0, 0])
                outcomes.append(decoder.prefill(range(100))[0])
        except ReviserError as error:
            refused.append(str(error))

    thread = threading.Thread(target=keep_reading)
    thread.start()
    begun.wait()
    (batch if number % 2 else decoder).close()
    thread.join()
    assert refused == ["the batch is closed" if number % 2 else "the decoder is closed"], refused
    assert np.isfinite(outcomes).all()
    decoder.close()
print("closed")
"""


def test_closing_beside_a_read_on_another_thread(native: None) -> None:
    """In a process of its own: memory that is gone would end this one."""
    done = subprocess.run([sys.executable, "-c", CLOSING], capture_output=True, text=True, check=False)
    assert done.stdout == "closed\n", done.stderr
