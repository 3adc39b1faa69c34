"""Garbage is left while a command loads, and collected again afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from reviser.cli.garbage_collection import without_garbage_collection


def fail_while_loading() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
        with without_garbage_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError


def test_it_is_collected_again_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail_while_loading()
    assert gc.isenabled()


def test_what_was_made_meanwhile_is_not_gone_through_again() -> None:
    """In a process of its own, since what is set aside here would stay so for all other tests."""
    code = """
import gc
from reviser.cli.garbage_collection import without_garbage_collection
with without_garbage_collection():
    with without_garbage_collection():
        kept = [[] for _ in range(50000)]
    assert not gc.get_freeze_count()
assert gc.isenabled() and gc.get_freeze_count() > 50000
assert not any(one is kept for one in gc.get_objects())
cycle = []
cycle.append(cycle)
del cycle
assert gc.collect() > 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)
