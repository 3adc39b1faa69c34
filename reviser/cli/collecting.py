"""Garbage collection is off while a command loads: nearly everything that is made then stays in use, so collecting
it only costs time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_later() -> Iterator[None]:
    """Make no collections meanwhile, and none later of what was made, unless somebody outside already sees to that."""
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
