"""llama.cpp as a contestant: where its libraries are looked for, and that they decode where there are some.

REVISER_LLAMA_LIBRARIES names a folder with them; without it, those of llama-cpp-python are tested, if it is installed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.speed.contestants.llama_cpp import LlamaCpp, find_llama
from reviser.checkpoints.formats.gguf_files import GgufType, write_gguf
from reviser.core.errors import ReviserError
from tests.reviser.checkpoints.parts import toy_checkpoint


def test_a_folder_without_libraries(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match=r"no libllama of llama\.cpp in"):
        find_llama(tmp_path)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "libllama.so").write_bytes(b"no library")
    with pytest.raises(ReviserError, match="cannot be used"):
        find_llama(tmp_path)


def test_it_decodes(tmp_path: Path) -> None:
    folder = os.environ.get("REVISER_LLAMA_LIBRARIES")
    library = find_llama(Path(folder) if folder else None)
    if library is None:
        pytest.skip("there are no libraries of llama.cpp")
    checkpoint = toy_checkpoint(seed=3)
    path = write_gguf(checkpoint, tmp_path / "it.gguf", GgufType.f32)
    smaller = tmp_path / "q8.gguf"
    assert library.requantise(path, smaller, 7, threads=1)
    assert smaller.stat().st_size < path.stat().st_size
    llama = LlamaCpp(library, path, "llama.cpp f32", threads=1)
    try:
        llama.prefill([1, 2, 3])
        assert llama.steps(4) > 0
        assert llama.instructions != "unknown"
        table = checkpoint.model.embedding.weight
        assert llama.step_bytes > table.nbytes
    finally:
        llama.close()
    with pytest.raises(ReviserError, match="cannot read"):
        LlamaCpp(library, tmp_path / "none.gguf", "none", threads=1)
