"""Loading an engine: from quantised files without torch, and in torch where that is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reviser import native
from reviser.checkpoints.home import Checkpoint, load, save_checkpoint
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.decoding.torch_policy import CanvasPolicy
from reviser.model.layout import Quantisation
from reviser.session.engine import Engine, load_engine
from tests.reviser.checkpoints.parts import scores, toy_checkpoint

TEXT = "all the things in the hall"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation whose embedded model is the test's own."""
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    monkeypatch.setattr("reviser.checkpoints.library.embedded_folder", lambda: tmp_path / "weights")


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return toy_checkpoint(width=64, heads=4)


@pytest.fixture(params=[4, 8])
def weights(request: pytest.FixtureRequest, tmp_path: Path, checkpoint: Checkpoint) -> Path:
    return save_checkpoint(tmp_path / "weights", checkpoint, quantisation=Quantisation(request.param))


def first_scores(engine: Engine) -> np.ndarray:
    history = [engine.policy.vocabulary.start_id, *engine.tokenizer.encode(TEXT)]
    found = engine.policy.scores(history, Canvas(engine.policy.vocabulary))
    assert found is not None
    return found.copy()


def expected_scores(folder: Path) -> np.ndarray:
    import torch

    loaded = load(folder)
    ids = torch.tensor([[loaded.vocabulary.start_id, *loaded.tokenizer.encode(TEXT)]])
    return scores(loaded.model, ids)[0, -1].numpy()


@pytest.mark.skipif(not native.available(), reason="the native library was not built")
def test_files_decode_as_the_model_they_stand_for(weights: Path) -> None:
    engine = load_engine(threads=1)
    assert engine.name == "default"
    assert np.corrcoef(first_scores(engine), expected_scores(weights))[0, 1] > 0.998
    assert load_engine(weights, threads=1).policy.context == 128


def test_without_the_library_torch_decodes_the_same_model(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviser.native.library.library", lambda: None)
    assert np.allclose(first_scores(load_engine()), expected_scores(weights), atol=1e-3)


def test_full_weights_and_canvas_models_still_load(tmp_path: Path, checkpoint: Checkpoint) -> None:
    full = save_checkpoint(tmp_path / "full", checkpoint)
    engine = load_engine(full, threads=1)
    assert engine.name == "full"
    assert np.corrcoef(first_scores(engine), expected_scores(full))[0, 1] > 0.998
    seeing = save_checkpoint(tmp_path / "seeing", toy_checkpoint(canvas_input="identity"))
    assert isinstance(load_engine(str(seeing)).policy, CanvasPolicy)


def test_a_damaged_folder_is_refused_in_a_sentence(weights: Path) -> None:
    path = weights / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-64])
    with pytest.raises(ReviserError, match="damaged"):
        load_engine()
    (weights / "tokenizer.json.gz").write_bytes(b"")
    with pytest.raises(ReviserError, match=r"tokenizer\.json\.gz is damaged"):
        load_engine()


PROGRAM = """
import sys
from pathlib import Path
from reviser.checkpoints import library
weights = Path(sys.argv.pop(1))
library.embedded_folder = lambda: weights
from reviser.__main__ import main
try:
    main()
finally:
    seen = {"torch", "reviser.native.decoder"}.intersection(sys.modules)
    print("loaded", *seen, file=sys.stderr)
"""


@pytest.mark.skipif(not native.available(), reason="the native library was not built")
@pytest.mark.parametrize("way", ["continue", "infill"])
def test_the_embedded_model_writes_without_torch(tmp_path: Path, checkpoint: Checkpoint, way: str) -> None:
    weights = save_checkpoint(tmp_path / "weights", checkpoint, quantisation=Quantisation(4), shard_bytes=20_000)
    (tmp_path / "draft.txt").write_text(f"{TEXT}\n")
    place = ["--at", "1:8"] if way == "infill" else []
    options = ["--max-actions", "8", "--seed", "1", "--json", *place]
    command = [sys.executable, "-c", PROGRAM, weights, way, tmp_path / "draft.txt", *options]
    environment = os.environ | {"REVISER_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["model"] == "default"
    assert told["actions"] >= 1
    assert done.stderr.splitlines()[-1] == "loaded reviser.native.decoder"


@pytest.mark.parametrize(("device", "told"), [("tpu", "not on tpu"), ("cuda", "finds no GPU")])
def test_devices_that_are_not_there(device: str, told: str, weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ReviserError, match=told):
        load_engine(weights, device=device)
    monkeypatch.setenv("REVISER_DEVICE", device)
    with pytest.raises(ReviserError, match=told):
        load_engine(weights)
