"""The cache keeps results by what they depend on, across processes and whatever their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.runs import Cache, key_of
from reviser.errors import ReviserError


def test_the_key_depends_on_the_facts_and_not_on_their_order() -> None:
    assert key_of(a=1, b=[1, 2]) == key_of(b=[1, 2], a=1)
    assert len({key_of(a=1, b=2), key_of(a=2, b=1), key_of(a=1), key_of(a="1", b=2)}) == 4


def test_the_cache_keeps_values_between_openings(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    with Cache(path) as cache:
        assert cache.get("one") is None
        cache.put("one", {"text": "é\n", "tokens": [1, 2]})
        cache.put("one", {"text": "é\n", "tokens": [1, 2]})
    with Cache(path) as cache:
        assert cache.get("one") == {"text": "é\n", "tokens": [1, 2]}
        assert cache.get("two") is None


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_text("not a database, but long enough to look at: " * 100)
    with pytest.raises(ReviserError, match="cannot be used as a cache"):
        Cache(path)
