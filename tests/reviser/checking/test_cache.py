"""The cache: what it keeps, what it forgets, and what it does not believe."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

from reviser.checking.cache import Cache, Keys, model_digest
from reviser.checking.findings import Result
from reviser.core.edits import Edit
from reviser.proofreading.document import Draft
from reviser.proofreading.project.words import Words
from reviser.proofreading.request import Request
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format

TEXT = "He saw teh cat."
RESULT = Result((Suggestion(Edit(7, "teh", "the"), Kind.SPELLING, 0.8765432101),), 1)
REQUEST = Request(0.5)


def test_what_is_kept_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get("a", TEXT) is None
    cache.put({"a": RESULT, "b": Result((), 4)})
    cache.close()
    again = Cache(tmp_path)
    assert again.get("a", TEXT) == RESULT
    assert again.get("b", "") == Result((), 4)
    # A result that cannot be one of this text is not believed.
    assert again.get("a", TEXT.upper()) is None
    again.close()


def test_entries_that_make_no_sense_are_not_believed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with sqlite3.connect(tmp_path / "results.sqlite") as base:
        for number, value in enumerate(("", "[]", "[1, 2]", '[1, [[0, "He", "he", 1, "odd"]]]')):
            base.execute("INSERT INTO results VALUES (?, ?, 0)", (str(number), value))
    assert [cache.get(str(number), TEXT) for number in range(4)] == [None] * 4
    cache.close()


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").write_bytes(b"no database" * 100)
    for wanted in (None, RESULT):
        cache = Cache(tmp_path)
        assert cache.get("a", TEXT) == wanted
        cache.put({"a": RESULT})
        cache.close()


def test_where_none_can_be_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file")
    cache.put({"a": RESULT})
    assert cache.get("a", TEXT) is None
    assert cache.digest(tmp_path / "file") == Cache(tmp_path).digest(tmp_path / "file")
    cache.close()


def test_it_stays_small_and_keeps_what_is_new(tmp_path: Path) -> None:
    most = 300_000
    long = Result((Suggestion(Edit(0, "x" * 1000, "y"), Kind.OTHER, 0.5),), 1)
    cache = Cache(tmp_path, most)
    for batch in range(60):
        cache.put({f"{batch} {number}": long for number in range(20)})
        assert cache.get(f"{batch} 19", "x" * 1000) == long
    cache.close()
    assert (tmp_path / "results.sqlite").stat().st_size < 2 * most
    assert Cache(tmp_path).get("0 0", "x" * 1000) is None


def test_two_at_once(tmp_path: Path) -> None:
    one, other = Cache(tmp_path), Cache(tmp_path)
    one.put({"a": RESULT})
    other.put({"b": RESULT})
    assert one.get("b", TEXT) == other.get("a", TEXT) == RESULT
    one.close()
    other.close()


def test_all_that_has_a_say_is_in_the_key() -> None:
    draft = Draft(TEXT, Format.MARKDOWN, Words(["cat"]))
    keys = [
        Keys(request, model).key(draft)
        for request in (REQUEST, Request(0.6), Request(0.5, frozenset([Kind.CASE])))
        for model in ("one", "other")
    ]
    keys += [
        Keys(REQUEST, "one").key(other)
        for other in (
            replace(draft, text=TEXT + "\n"),
            replace(draft, format=Format.PLAIN),
            replace(draft, words=Words(["cat", "teh"])),
            replace(draft, words=Words()),
        )
    ]
    assert len(set(keys)) == len(keys)
    assert Keys(REQUEST, "one").key(draft) == keys[0]


def test_a_model_is_known_by_its_content(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    digests = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"weights")
        digests.append(model_digest(folder, cache))
    assert digests[0] == digests[1]
    (tmp_path / "b" / "model.safetensors").write_bytes(b"WEIGHTS")
    os.utime(tmp_path / "b" / "model.safetensors", ns=(1, 1))
    assert model_digest(tmp_path / "b", cache) != digests[0]
    cache.close()
