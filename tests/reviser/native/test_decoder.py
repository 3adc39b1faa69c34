"""The native decoder computes what the model computes, at every level and whatever the order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from reviser.checkpoints.tensors import SINGLE_FILE, read_arrays, read_headers
from reviser.core.errors import ReviserError
from reviser.model import ModelConfig, Reviser, preset
from reviser.model.quantised import quantise_model
from reviser.native import CacheFull, NativeDecoder
from tests.reviser.native.conftest import CONFIGS, random_ids, tolerance

Build = Callable[[ModelConfig], Reviser]


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, in standard deviations of the scores."""
    return float(np.abs(found - wanted).max() / wanted.std())


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_agrees_with_the_model(
    config: ModelConfig, bits: int, level: str, build: Build, expected: Callable[..., np.ndarray]
) -> None:
    model = build(config)
    ids = random_ids(config, 37)
    with NativeDecoder.from_model(model, bits, threads=2, level=level) as decoder:
        assert decoder.level == level
        scores = decoder.prefill(ids)
    assert error(scores, expected(model, bits, ids, level)) < tolerance(config, bits, level)


@pytest.mark.parametrize("bits", [4, 8])
def test_quantised_scores_are_near_the_real_ones(bits: int, level: str, build: Build) -> None:
    config = CONFIGS["wide"]
    model = build(config)
    ids = random_ids(config, 50)
    real = model(torch.tensor([ids]))[0, -1].detach().numpy()
    with NativeDecoder.from_model(model, bits, level=level) as decoder:
        scores = decoder.prefill(ids)
    assert np.corrcoef(scores, real)[0, 1] > (0.9 if bits == 4 else 0.995)


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_prefill_in_pieces_is_reading_one_by_one(config: ModelConfig, bits: int, level: str, build: Build) -> None:
    ids = random_ids(config, 45)
    with NativeDecoder.from_model(build(config), bits, threads=2, level=level) as decoder:
        whole = decoder.prefill(ids).copy()
        decoder.truncate(0)
        for start, stop in ((0, 7), (7, 8), (8, 40), (40, 45)):
            pieces = decoder.prefill(ids[start:stop])
        assert error(pieces, whole) < tolerance(config, bits, level)
        decoder.truncate(0)
        for id in ids:
            single = decoder.decode(id)
        assert error(single, whole) < tolerance(config, bits, level)


def test_long_histories_cross_blocks(level: str, build: Build) -> None:
    """Prefill works in blocks of positions, and attention of one id in stretches."""
    config = CONFIGS["wide"]
    model = build(config)
    ids = random_ids(config, 600)
    with NativeDecoder.from_model(model, 32, threads=2, level=level) as decoder:
        whole = decoder.prefill(ids).copy()
        decoder.truncate(597)
        for id in ids[597:]:
            last = decoder.decode(id)
        assert decoder.length == decoder.capacity == 600
        assert error(last, whole) < 0.002
    real = model(torch.tensor([ids]))[0, -1].detach().numpy()
    assert error(whole, real) < 0.05


def test_truncating_and_going_on_is_starting_afresh(config: ModelConfig, level: str, build: Build) -> None:
    ids = random_ids(config, 30)
    with NativeDecoder.from_model(build(config), level=level) as decoder:
        decoder.prefill(ids[:20])
        fresh = decoder.prefill(ids[20:]).copy()
        decoder.truncate(20)
        decoder.prefill(random_ids(config, 25, seed=9))
        decoder.truncate(20)
        assert np.array_equal(decoder.prefill(ids[20:]), fresh)


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_threads_change_no_bit(bits: int, level: str, build: Build) -> None:
    config = CONFIGS["one-kv-head"]
    model = build(config)
    ids = random_ids(config, 70)
    runs = []
    for threads in (1, 2, 3, 1):
        with NativeDecoder.from_model(model, bits, threads=threads, level=level) as decoder:
            scores = [decoder.prefill(ids[:60]).copy()]
            scores += [decoder.decode(id).copy() for id in ids[60:]]
            runs.append(np.array(scores))
    for run in runs[1:]:
        assert np.array_equal(run, runs[0])


def test_levels_agree(native: None, build: Build) -> None:
    from reviser.native import levels

    config = CONFIGS["odd-llama"]
    model = build(config)
    ids = random_ids(config, 40)
    scores = []
    for level in levels():
        with NativeDecoder.from_model(model, 8, level=level) as decoder:
            scores.append(decoder.prefill(ids).copy())
    for other in scores[1:]:
        assert error(other, scores[0]) < 0.05


def test_a_file_decodes_as_the_model_does(native: None, build: Build, tmp_path: Path) -> None:
    config = CONFIGS["odd-paper"]
    model = build(config)
    path = tmp_path / "model.safetensors"
    save_file(quantise_model(model, 4), path, metadata={"kind": "test"})
    ids = random_ids(config, 12)
    with NativeDecoder.from_model(model, 4) as direct, NativeDecoder(config, load_file(path)) as loaded:
        assert np.array_equal(direct.prefill(ids), loaded.prefill(ids))


SMAPS = Path("/proc/self/smaps")


def resident_of(file: Path) -> int:
    """Bytes of a mapped file that are in this process's memory, or -1 if it is not mapped."""
    found = -1
    inside = False
    for line in SMAPS.read_text().splitlines():
        if "-" in line.split()[0]:
            inside = line.endswith(str(file))
        elif inside and line.startswith("Rss:"):
            found = max(found, 0) + int(line.split()[1]) * 1024
    return found


@pytest.mark.skipif(not SMAPS.exists(), reason="asks about memory in /proc")
def test_a_mapped_file_is_not_kept_in_memory(native: None, build: Build, tmp_path: Path) -> None:
    """What was packed need not stay beside it; and the file can be read again."""
    config = CONFIGS["wide"]
    path = tmp_path / SINGLE_FILE
    save_file(quantise_model(build(config), 8), path, metadata={"kind": "test"})
    arrays = read_arrays(read_headers(tmp_path))
    before = {name: int(values.astype(np.int64).sum()) for name, values in arrays.items()}
    assert resident_of(path) > path.stat().st_size / 2
    ids = random_ids(config, 12)
    with NativeDecoder(config, arrays) as decoder:
        assert 0 <= resident_of(path) < path.stat().st_size / 4
        scores = decoder.prefill(ids).copy()
    assert {name: int(values.astype(np.int64).sum()) for name, values in arrays.items()} == before
    with NativeDecoder(config, arrays) as decoder:
        assert np.array_equal(decoder.prefill(ids), scores)


def test_no_room_is_said_before_anything_happens(native: None, build: Build) -> None:
    config = preset("tiny")
    with NativeDecoder.from_model(build(config), capacity=10) as decoder:
        scores = decoder.prefill(range(8)).copy()
        with pytest.raises(CacheFull, match="8 ids and 3 more exceed the room for 10"):
            decoder.prefill([1, 2, 3])
        assert decoder.length == 8
        decoder.truncate(7)
        assert np.array_equal(decoder.decode(7), scores) or error(decoder._logits, scores) < 0.05
        decoder.prefill([1, 2])
        with pytest.raises(CacheFull):
            decoder.decode(0)


def test_mistakes_are_refused(native: None, build: Build) -> None:
    config = preset("tiny")
    model = build(config)
    with NativeDecoder.from_model(model) as decoder:
        for ids in ([-1], [config.vocab_size], [0, 1, 5000]):
            with pytest.raises(ReviserError, match="outside the vocabulary of 128"):
                decoder.prefill(ids)
        with pytest.raises(ReviserError, match="at least one id"):
            decoder.prefill([])
        with pytest.raises(ReviserError, match="cannot be cut to 3"):
            decoder.truncate(3)
        with pytest.raises(ReviserError, match="cannot be cut to -1"):
            decoder.truncate(-1)
    for call in (lambda: decoder.decode(1), lambda: decoder.prefill([1, 2])):
        with pytest.raises(ReviserError, match="closed"):
            call()
    decoder.close()
    with pytest.raises(ReviserError, match="no level 'abacus'"):
        NativeDecoder.from_model(model, level="abacus")
    with pytest.raises(ReviserError, match="threads"):
        NativeDecoder.from_model(model, threads=0)
    with pytest.raises(ReviserError, match="holds 1 to 128"):
        NativeDecoder.from_model(model, capacity=129)


def test_tensors_that_do_not_fit_are_refused(native: None, build: Build) -> None:
    """The library trusts sizes, so a wrong file must not reach it."""
    config = preset("tiny")
    tensors = quantise_model(build(config), 4)
    name = "blocks.1.mlp.down.weight.scales"
    for wrong in (tensors[name][:-1], tensors[name].float()):
        with pytest.raises(ReviserError, match=r"blocks\.1\.mlp\.down\.weight' does not fit"):
            NativeDecoder(config, tensors | {name: wrong})
    with pytest.raises(ReviserError, match="a vector of the model has 31"):
        NativeDecoder(config, tensors | {"final_norm.weight": tensors["final_norm.weight"][:31]})


TASKS = Path("/proc/self/task")


def threads_now() -> int:
    return len(list(TASKS.iterdir()))


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
def test_closing_gives_the_threads_back(native: None, build: Build) -> None:
    model = build(preset("tiny"))
    before = threads_now()
    decoder = NativeDecoder.from_model(model, threads=4)
    assert threads_now() == before + 3
    decoder.decode(1)
    decoder.close()
    # A thread that was waited for may still be listed for a moment.
    deadline = time.monotonic() + 30
    while threads_now() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads_now() == before
    for _ in range(20):
        NativeDecoder.from_model(model, threads=2)  # forgotten, not closed
    assert threads_now() <= before + 1


def thread_stat(thread: Path) -> tuple[str, int]:
    """A thread's state, and the processor time that it has used, as the system counts."""
    fields = (thread / "stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


@pytest.mark.skipif(not TASKS.exists(), reason="asks about threads in /proc")
def test_an_idle_decoder_sleeps(native: None, build: Build) -> None:
    """Its threads use no processor time while another one uses a good deal of it."""
    model = build(preset("tiny"))
    before = set(TASKS.iterdir())
    with NativeDecoder.from_model(model, threads=4) as decoder:
        decoder.decode(1)
        threads = set(TASKS.iterdir()) - before
        assert len(threads) == 3
        deadline = time.monotonic() + 30
        while any(thread_stat(thread)[0] != "S" for thread in threads):
            assert time.monotonic() < deadline
        used = [thread_stat(thread) for thread in threads]
        start = time.thread_time()
        while time.thread_time() - start < 0.2:
            pass
        assert [thread_stat(thread) for thread in threads] == used
        first = decoder.decode(2).copy()  # and wakes up again
        decoder.truncate(1)
        assert np.array_equal(decoder.decode(2), first)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_goes_on_alone(native: None, build: Build) -> None:
    config = preset("tiny")
    ids = random_ids(config, 20)
    with NativeDecoder.from_model(build(config), threads=3) as decoder:
        decoder.prefill(ids)
        child = os.fork()
        if child == 0:
            try:
                scores = decoder.decode(5).copy()
                decoder.truncate(20)
                same = np.array_equal(decoder.decode(5), scores)
                decoder.close()
                os._exit(0 if same and np.isfinite(scores).all() else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert np.isfinite(decoder.decode(5)).all()


def test_many_short_steps_with_more_threads_than_cores(native: None, build: Build) -> None:
    config = preset("tiny")
    ids = random_ids(config, 100)
    model = build(config)
    with NativeDecoder.from_model(model, threads=1) as alone, NativeDecoder.from_model(model, threads=6) as crowd:
        for _ in range(3):
            for id in ids:
                assert np.array_equal(alone.decode(id), crowd.decode(id))
            alone.truncate(0)
            crowd.truncate(0)


def test_profile(native: None, build: Build) -> None:
    with NativeDecoder.from_model(build(preset("tiny"))) as decoder:
        decoder.start_profile()
        for id in range(10):
            decoder.decode(id)
        profile = decoder.stop_profile()
        assert profile.steps == 10
        assert 0 < profile.matrices + profile.attention <= profile.total
        assert profile.preparation < profile.matrices
        assert 0 < decoder.step_bytes < decoder.held_bytes
