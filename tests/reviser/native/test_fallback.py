"""Without the library the model itself decodes, behind the same interface."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from reviser.core.errors import ReviserError
from reviser.model import ModelConfig, Reviser, preset
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import NativeDecoder, library, make_decoder, supports

Build = Callable[[ModelConfig], Reviser]


def test_make_decoder_prefers_the_library(native: None, build: Build) -> None:
    decoder = make_decoder(build(preset("tiny")), 8, threads=1, capacity=16)
    assert isinstance(decoder, NativeDecoder)
    assert (decoder.bits, decoder.table_bits, decoder.capacity) == (8, 8, 16)
    decoder.close()


def test_make_decoder_without_the_library(monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    monkeypatch.setattr("reviser.native.library.library", lambda: None)
    assert not library.available()
    assert library.levels() == ()
    model = build(preset("tiny"))
    assert isinstance(make_decoder(model), TorchDecoder)
    with pytest.raises(ReviserError, match="compiled kernels are missing"):
        NativeDecoder.from_model(model)


def test_canvas_conditioning_is_not_for_these(build: Build) -> None:
    config = preset("tiny", canvas_input="identity")
    assert not supports(config)
    model = build(config)
    with pytest.raises(ReviserError, match="canvas"):
        NativeDecoder.from_model(model)


def test_the_environment_switches_the_library_off() -> None:
    code = "from reviser.native import available; print(available())"
    environment = {**os.environ, "REVISER_NATIVE": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "False"


def test_the_environment_sets_threads_and_level(native: None, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    model = build(preset("tiny"))
    monkeypatch.setenv("REVISER_THREADS", "3")
    monkeypatch.setenv("REVISER_LEVEL", "portable")
    with NativeDecoder.from_model(model) as decoder:
        assert (decoder.threads, decoder.level) == (3, "portable")
    monkeypatch.setenv("REVISER_THREADS", "many")
    with pytest.raises(ReviserError, match="REVISER_THREADS"):
        NativeDecoder.from_model(model)
