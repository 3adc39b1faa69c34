"""Garbage is left while a command loads, and collected again afterwards."""

from __future__ import annotations

import gc

import pytest

from reviser.cli.collecting import uncollected


def fail_while_loading() -> None:
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError


def test_it_is_collected_again_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail_while_loading()
    assert gc.isenabled()
