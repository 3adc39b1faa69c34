"""Damaged and hostile files of every kind are refused in one sentence, whatever is wrong with them."""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

from reviser.checkpoints.formats.torch_files import read_torch
from reviser.checkpoints.home import save_checkpoint
from reviser.checkpoints.importing import import_path
from reviser.checkpoints.tokenizer_files import PACKED_FILE, make_tokenizer
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.trajectory import load_trajectories
from reviser.model.layout import Quantisation
from reviser.session.replay import replay
from tests.conftest import PAPER_TRAJECTORIES
from tests.reviser.checkpoints.hostile import HOSTILE, gguf, home, hugging_face, released
from tests.reviser.checkpoints.parts import toy_checkpoint, toy_tokenizer_data

pytest.importorskip("gguf")


@pytest.mark.parametrize("case", HOSTILE)
def test_it_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    name, make, sentence = HOSTILE[case]
    with pytest.raises(ReviserError, match=sentence) as caught:
        import_path(make(tmp_path / name))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("make", [released, home, hugging_face, gguf])
def test_unharmed_they_are_read(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    import_path(make(tmp_path / "it"))


def test_a_packed_tokenizer_is_unpacked_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_checkpoint(tmp_path / "it", toy_checkpoint(), quantisation=Quantisation(8))
    import_path(folder)
    path = folder / PACKED_FILE
    good = path.read_bytes()
    path.write_bytes(gzip.compress(bytes(300 << 20)))
    with pytest.raises(ReviserError, match="too large: unpacked"):
        import_path(folder)
    for damaged in (good[:-20], good[:20] + b"\xff" + good[21:], b"", good + b"more"):
        path.write_bytes(damaged)
        with pytest.raises(ReviserError, match="is damaged"):
            import_path(folder)


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "it.pt")
    with pytest.raises(ReviserError, match="not a regular file"):
        import_path(tmp_path / "it.pt")


def test_tensors_of_every_shape_are_read_as_torch_reads_them(tmp_path: Path) -> None:
    whole = torch.arange(24.0).reshape(4, 6)
    content = {
        "whole": whole,
        "turned": whole.t(),
        "part": whole[1:3, ::2],
        "half": whole.half(),
        "short": whole.bfloat16(),
        "double": whole.double(),
        "single": torch.tensor(3.0),
        "empty": torch.zeros(0, 3),
        "parameter": torch.nn.Parameter(whole),
    }
    for protocol in (2, 4):
        torch.save(
            {"model": content, "list": [1, 2.5, None, (True, "x")]}, tmp_path / "it.pt", pickle_protocol=protocol
        )
        read = read_torch(tmp_path / "it.pt")
        assert read["list"] == [1, 2.5, None, (True, "x")]
        for name, tensor in content.items():
            found = read["model"][name].load()
            assert found.dtype == tensor.dtype
            assert torch.equal(found, tensor)


# Random damage -----------------------------------------------------------------------------------


@contextmanager
def no_hang() -> Iterator[None]:
    """End a loader that does not end by itself; far longer than any takes."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("the loader hangs")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def survives(load: Callable[[], object]) -> bool:
    """Whether it loads; anything but a ReviserError is let through."""
    with no_hang():
        try:
            load()
        except ReviserError:
            return False
    return True


def mutated(data: bytes, chooser: random.Random, places: range) -> bytes:
    changed = bytearray(data)
    for _ in range(chooser.choice((1, 1, 2, 8))):
        place = chooser.choice(places)
        kind = chooser.randrange(5)
        if kind == 0:
            changed[place] = chooser.randrange(256)
        elif kind == 1:
            changed[place] ^= 1 << chooser.randrange(8)
        elif kind == 2:
            changed[place : place + 8] = chooser.choice((b"\xff" * 8, bytes(8), b"\xff" * 7 + b"\x7f"))
        elif kind == 3:
            del changed[place : place + chooser.randrange(1, 9)]
        else:
            del changed[place:]
        places = range(min(places.start, len(changed) - 1), min(places.stop, len(changed)))
        if len(changed) < 2 or not places:
            break
    return bytes(changed)


def structure(data: bytes, path: Path) -> range:
    """Where a file says what it holds, rather than hold it."""
    if path.suffix == ".pt":
        return range(data.index(b"data.pkl"), data.index(b"data.pkl") + 3000)
    if path.suffix == ".gguf":
        return range(data.index(b"output_norm.weight"))
    if path.suffix == ".safetensors":
        return range(int.from_bytes(data[:8], "little") + 8)
    return range(len(data))


@pytest.mark.parametrize(
    ("make", "name", "file"),
    [
        (released, "it.pt", None),
        (gguf, "it.gguf", None),
        (home, "it", "model.safetensors"),
        (home, "it", "config.json"),
        (home, "it", "tokenizer.json"),
        (hugging_face, "it", "config.json"),
        (hugging_face, "it", "model.safetensors"),
        (hugging_face, "it", "tokenizer.json"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_random_damage(tmp_path: Path, make: Callable[[Path], Path], name: str, file: str | None) -> None:
    source = make(tmp_path / name)
    path = source / file if file else source
    data = path.read_bytes()
    chooser = random.Random(0)
    places = structure(data, path)
    outcomes = []
    for number in range(200):
        # At the end of a torch file is what its archive holds.
        end = range(len(data) - 1500, len(data)) if path.suffix == ".pt" and number % 2 else places
        path.write_bytes(mutated(data, chooser, end))
        outcomes.append(survives(lambda: import_path(source)))
    assert not all(outcomes)


NASTY = (None, True, -1, 0, 1.5, 10**12, 10**30, float("nan"), "", "x", "\ud800", [], [[]], {}, {"a": 1}, [None, 1])


def with_nasty_value(data: Any, chooser: random.Random) -> Any:
    """The same JSON with another value in one place, or without it."""
    changed = copy.deepcopy(data)
    parent, key = None, None
    here = changed
    while isinstance(here, dict | list) and here and (parent is None or chooser.random() < 0.75):
        parent = here
        key = chooser.choice(list(here) if isinstance(here, dict) else range(min(len(here), 50)))
        here = here[key]
    if parent is None:
        return chooser.choice(NASTY)
    if chooser.random() < 0.15:
        del parent[key]
    else:
        parent[key] = chooser.choice(NASTY)
    return changed


@pytest.mark.parametrize(
    ("make", "file"),
    [
        (home, "config.json"),
        (hugging_face, "config.json"),
        (lambda path: hugging_face(path, _forget_record), "config.json"),
        (home, "tokenizer.json"),
        (hugging_face, "tokenizer.json"),
    ],
    ids=["home", "hugging face", "base", "tokenizer", "exported tokenizer"],
)
def test_random_values_in_json(tmp_path: Path, make: Callable[[Path], Path], file: str) -> None:
    source = make(tmp_path / "it")
    data = json.loads((source / file).read_text("utf-8"))
    chooser = random.Random(0)
    outcomes = []
    for _ in range(200):
        (source / file).write_text(json.dumps(with_nasty_value(data, chooser)), "utf-8")
        outcomes.append(survives(lambda: save_checkpoint(tmp_path / "new", import_path(source), replace=True)))
    assert not all(outcomes)


def _forget_record(folder: Path) -> None:
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    del settings["reviser"]
    path.write_text(json.dumps(settings))


def test_random_values_in_a_tokenizer_alone() -> None:
    chooser = random.Random(0)
    data = toy_tokenizer_data()
    outcomes = [
        survives(lambda: make_tokenizer(json.dumps(with_nasty_value(data, chooser)).encode(), "it")) for _ in range(300)
    ]
    assert any(outcomes)
    assert not all(outcomes)


def test_random_values_in_trajectories(gpt2: Gpt2Tokenizer) -> None:
    text = PAPER_TRAJECTORIES.read_text("utf-8")
    first = json.loads(text)[0]
    first |= {"vocabulary": load_trajectories("it", text)[0].vocabulary.to_dict()}
    first |= {"action_ids": first["action_ids"][:60], "suffix_tokens": 0, "draft_tokens": None}
    chooser = random.Random(0)

    def load(text: str) -> None:
        for trajectory in load_trajectories("it", text):
            replay(trajectory, gpt2)

    for _ in range(200):
        nasty = json.dumps(with_nasty_value(first, chooser))
        survives(lambda text=nasty: load(text))
        damaged = mutated(json.dumps(first).encode(), chooser, range(1200)).decode("utf-8", "replace")
        survives(lambda text=damaged: load(text))
    with pytest.raises(ReviserError, match="too few to have written its prompt"):
        load(json.dumps(first | {"suffix_tokens": 10**18}))
    with pytest.raises(ReviserError, match="not JSON"):
        load("[" * 200_000)
