"""Kernels without a GPU: interpreted, in a process of its own, because that is decided when they are defined."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="no triton here")


def interpreted(module: str, check: str) -> None:
    """Call a check of a test module, with kernels interpreted."""
    words = f"import torch; from {module} import *; {check}"
    surroundings = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    subprocess.run([sys.executable, "-c", words], check=True, env=surroundings)
