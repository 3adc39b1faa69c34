"""How long reading takes, told apart from what else the test process does."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_TRIES = 3


def least_seconds(call: Callable[[], object]) -> float:
    """Processor time of a call, the least of some tries, without the garbage collector.

    Late in a long test run a collection walks through all that other tests left behind.
    """
    spent = []
    gc.disable()
    try:
        for _ in range(_TRIES):
            start = time.process_time()
            call()
            spent.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(spent)
