"""The build of the library with compilers that do not know every instruction."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reviser.native.library import LEVELS
from tests.conftest import ROOT

# Knows what gcc knows, but for the instructions of some levels. Quick, as nothing is optimised.
COMPILER = """#!/bin/sh
case "$*" in
    *-DREVISER_LEFT_OUT*) ;;
    *level_{unknown}.c*) echo "no such instruction" >&2; exit 1 ;;
esac
exec {compiler} "$@" -O0
"""
LIST_LEVELS = """
from reviser.native import levels, why_missing
print(why_missing(), *levels())
"""


def build(folder: Path, unknown: str) -> tuple[str, Path]:
    """What the build says, and the library."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    wrapper = folder / "cc"
    wrapper.write_text(COMPILER.format(unknown=unknown, compiler=compiler), "utf-8")
    wrapper.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--build-lib", folder, "--build-temp", folder],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"CC": str(wrapper)},
    )
    return done.stdout, folder / "reviser" / "native" / "_kernels.so"


def levels_of(library: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", LIST_LEVELS],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"REVISER_NATIVE_LIBRARY": str(library), "REVISER_NATIVE": "1"},
    )
    return done.stdout.split()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no library on Windows")
def test_what_the_compiler_does_not_know_is_left_out(tmp_path: Path) -> None:
    unknown = "neon" if platform.machine() in ("aarch64", "arm64") else "avx2"
    said, library = build(tmp_path, unknown)
    assert f"level_{unknown}.c is left out" in said
    found = levels_of(library)
    assert unknown not in found
    assert set(found) <= set(LEVELS)
    assert "portable" in found


@pytest.mark.skipif(sys.platform == "win32", reason="there is no library on Windows")
def test_without_the_portable_level_there_is_no_library(tmp_path: Path) -> None:
    said, library = build(tmp_path, "portable")
    assert "is left out" not in said
    assert not library.exists()
