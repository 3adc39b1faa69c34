"""Numbers of ids, rows and positions that fill no whole tile of the kernels give what whole tiles give."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reviser.model import ModelConfig, Reviser, preset
from reviser.model.layout import Bits
from reviser.native import NativeBatch, NativeDecoder, levels
from tests.reviser.native.conftest import X86_LEVELS, Way, random_ids, tolerance
from tests.reviser.native.test_decoder import error

Build = Callable[[ModelConfig], Reviser]
Scores = NDArray[np.float32]

# Around the four positions that products take at once, the blocks of 64 that attention takes, and the 128 of a pass.
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 126, 127, 128)


@pytest.mark.parametrize("bits", [4, 8, 32])
@pytest.mark.parametrize("shape", [(40, 77, 101), (96, 160, 83), (64, 72, 96)])
def test_any_number_of_ids_at_once_changes_no_bit(
    bits: int, shape: tuple[int, int, int], way: Way, build: Build
) -> None:
    """Every text has one id, so that products meet as many positions as there are texts, and attention has one."""
    width, ff, vocab = shape
    config = preset("tiny", width=width, heads=4, kv_heads=2, ff=ff, vocab_size=vocab, layers=2)
    ids = random_ids(config, max(COUNTS))
    with (
        NativeDecoder.from_model(build(config), bits, threads=2, level=way.level) as decoder,
        way.batch(decoder, max(COUNTS), 2) as batch,
    ):
        wanted = []
        for id in ids:
            batch.clear(0)
            wanted.append(batch.read([0], [[id]])[0].copy())
        for count in COUNTS:
            for row in range(count):
                batch.clear(row)
            found = batch.read(range(count), [[id] for id in ids[:count]])
            assert np.array_equal(found, np.array(wanted[:count])), count


@pytest.mark.parametrize("bits", [8, 32])
@pytest.mark.parametrize("head_dim", [12, 16, 48])
@pytest.mark.parametrize(("heads", "kv_heads"), [(3, 1), (6, 2), (5, 5), (7, 1)])
def test_contexts_of_any_length_are_as_in_plain_c(
    bits: Bits, head_dim: int, heads: int, kv_heads: int, native: None, build: Build
) -> None:
    """Queries come in sets and keys in blocks; heads of 12 dimensions fill no vector, of 48 no pair of them. Plain
    C takes longest, so it is asked once for all levels."""
    config = preset("tiny", width=head_dim * heads, heads=heads, kv_heads=kv_heads, ff=64, vocab_size=50, context=150)
    model = build(config)
    ids = random_ids(config, 150)
    counts = (*COUNTS, 129, 143, 144, 145, 150)

    def scores(level: str, threads: int) -> list[Scores]:
        found = []
        with NativeDecoder.from_model(model, bits, threads=threads, level=level) as decoder:
            for count in counts:
                decoder.truncate(0)
                found.append(decoder.prefill(ids[:count]).copy())
        return found

    wanted = scores("portable", 1)
    for level in levels():
        if level == "portable":
            continue
        # In full precision keys and values may fall, which have sixteen bits. Wider heads have more codes that may,
        # and where attention is rounded, plain C keeps others.
        limit = 0.005 if bits == 32 else tolerance(config, bits, level) * (1 if head_dim == 12 else 2)
        for count, one, plain in zip(counts, scores(level, 2), wanted, strict=True):
            assert error(one, plain) < limit, (level, count)


@pytest.mark.parametrize("bits", [4, 8, 32])
@pytest.mark.parametrize("level", [level for level in X86_LEVELS[:-1] if level in levels()])
def test_processors_of_x86_give_the_same_bits(bits: Bits, level: str, build: Build) -> None:
    """So a seed gives the same text on all that have AVX2. Registers, tiles and sets of queries hold different
    numbers of positions and rows; 83 ids leave a panel alone."""
    config = preset("tiny", width=96, heads=6, kv_heads=2, ff=160, vocab_size=83, context=150, layers=2)
    model = build(config)
    ids = random_ids(config, 160)
    with (
        NativeDecoder.from_model(model, bits, threads=2, level=level) as wide,
        NativeDecoder.from_model(model, bits, threads=1, level="avx2") as plain,
        NativeBatch(wide, 2) as wide_batch,
        NativeBatch(plain, 2) as plain_batch,
    ):
        for count in (*range(1, 35), 127, 128, 129, 141, 149):
            wide.truncate(0)
            plain.truncate(0)
            assert np.array_equal(wide.prefill(ids[:count]), plain.prefill(ids[:count])), count
            assert np.array_equal(wide.decode(ids[count]), plain.decode(ids[count])), count
            found = []
            for batch in (wide_batch, plain_batch):
                batch.clear(0)
                batch.clear(1)
                found.append(batch.read([0, 1], [ids[:count], ids[1 : 150 - count // 2]]).copy())
            assert np.array_equal(*found), count


_TILES = """
#include <immintrin.h>
__attribute__((target("amx-tile"))) void set(const void *config) { _tile_loadconfig(config); }
__attribute__((target("amx-tile"))) void get(void *config) { _tile_storeconfig(config); }
"""


@pytest.mark.skipif("amx" not in levels(), reason="this processor has no AMX")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_tiles_of_others_are_as_before(build: Build, tmp_path: Path) -> None:
    """Some libraries set up a thread's tiles once and count on it."""
    source, library = tmp_path / "tiles.c", tmp_path / "tiles.so"
    source.write_text(_TILES)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    tiles = ctypes.CDLL(str(library))
    config = preset("tiny", vocab_size=50)
    with NativeDecoder.from_model(build(config), 4, threads=1, level="amx") as decoder:
        # Palette 1, and tile 3 with 5 rows of 16 bytes.
        wanted = bytearray(64)
        wanted[0], wanted[16 + 2 * 3], wanted[48 + 3] = 1, 16, 5
        found = ctypes.create_string_buffer(64)
        tiles.set(bytes(wanted))
        decoder.prefill(random_ids(config, 40))
        tiles.get(found)
        assert found.raw == bytes(wanted)
        tiles.set(bytes(64))
        decoder.prefill(random_ids(config, 40))
        tiles.get(found)
        assert found.raw == bytes(64)


def test_pieces_of_any_length_change_no_bit_of_a_batch(way: Way, build: Build) -> None:
    """A text that goes on after a context has other blocks than one that is read at once."""
    config = preset("tiny", width=48, heads=6, kv_heads=2, ff=64, vocab_size=50, context=140)
    ids = random_ids(config, 140)
    with (
        NativeDecoder.from_model(build(config), 4, threads=2, level=way.level) as decoder,
        way.batch(decoder, 2) as batch,
    ):
        whole = batch.read([0], [ids])[0].copy()
        for first in (1, 2, 5, 12, 47, 48, 49, 63, 64, 65, 127, 128, 129, 139):
            batch.clear(1)
            batch.read([1], [ids[:first]])
            assert np.array_equal(batch.read([1], [ids[first:]])[0], whole), first


def test_scores_stay_finite_where_activations_are_extreme(level: str, build: Build) -> None:
    """Gates far below zero and far above, which exponentials must not overflow at."""
    for kind in ("tiny", "tiny-paper"):
        config = preset(kind, vocab_size=50)
        model = build(config)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "mlp" in name and parameter.ndim == 2:
                    parameter.mul_(200)
        with NativeDecoder.from_model(model, 32, level=level) as decoder:
            scores = decoder.prefill(random_ids(config, 21)).copy()
            wanted = model(torch.tensor([random_ids(config, 21)]))[0, -1].detach().numpy()
            assert np.isfinite(scores).all()
            assert error(scores, wanted) < 0.05
