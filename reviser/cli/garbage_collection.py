"""Garbage collection while a command loads: it is switched off, because nearly all objects made then stay in use and
collecting only costs time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Switch collection off inside the block, and exclude the objects made there from later collections. Does
    nothing if collection is off already."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            # Else the first collection afterwards, and those at the end of the process, go through all of it.
            # Triton reports as leaked what nobody has collected by then.
            if "triton" not in sys.modules:
                gc.freeze()
            gc.enable()
