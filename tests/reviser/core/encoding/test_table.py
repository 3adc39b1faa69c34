"""The table of tokens says what the tokenizer.json says, and serves with that one alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reviser
from reviser.checkpoints.description import Description, describe, quick_tokenizer
from reviser.checkpoints.tokenizer_files import PACKED_FILE, TABLE_FILE, pack_table, read_table
from reviser.core.encoding.table import TokenTable, table_bytes
from reviser.core.tokenizer import HuggingFaceTokenizer
from reviser.core.tokenizer_json import TokenizerJson

WEIGHTS = Path(reviser.__file__).parent / "weights"


@pytest.fixture(scope="module")
def content() -> TokenizerJson:
    data: TokenizerJson = json.loads(gzip.decompress((WEIGHTS / PACKED_FILE).read_bytes()))
    return data


@pytest.fixture(scope="module")
def table() -> TokenTable:
    found = read_table(WEIGHTS)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def both() -> tuple[HuggingFaceTokenizer, HuggingFaceTokenizer]:
    """The tokenizer of the bundled model, from its tokenizer.json and from its table."""
    whole = HuggingFaceTokenizer(gzip.decompress((WEIGHTS / PACKED_FILE).read_bytes()), "whole")
    quick = quick_tokenizer(describe(WEIGHTS))
    assert isinstance(quick, HuggingFaceTokenizer)
    return whole, quick


def test_the_bundled_table_is_that_of_the_bundled_tokenizer(table: TokenTable, content: TokenizerJson) -> None:
    model = content["model"]
    assert [*table.tokens] == [*model["vocab"]]
    assert {token: table.ids[token] for token in table.ids} == model["vocab"]
    assert [*table.merges] == model["merges"]
    assert table.rest == {**content, "model": {**model, "vocab": {}, "merges": []}}
    packed = pack_table((WEIGHTS / PACKED_FILE).read_bytes())
    assert packed is not None
    assert gzip.decompress(packed) == gzip.decompress((WEIGHTS / TABLE_FILE).read_bytes())


def test_tokens_that_are_not_there_are_not_found(table: TokenTable) -> None:
    for token in ("", "ĠĠĠĠĠnothing", "\n", "\uffff", "qqqqq"):
        assert token not in table.ids
        assert table.ids.get(token, -1) == -1
    with pytest.raises(IndexError):
        table.tokens[len(table.tokens)]
    assert table.tokens[-1] == table.tokens[len(table.tokens) - 1]
    assert table.merges[2:4] == [table.merges[2], table.merges[3]]


def test_tokens_have_the_same_bytes(both: tuple[HuggingFaceTokenizer, HuggingFaceTokenizer]) -> None:
    whole, quick = both
    assert (quick.size, quick.markers) == (whole.size, whole.markers)
    assert quick.first_bytes() == whole.first_bytes()
    ids = range(-1, whole.size + 1)
    assert [*map(quick.token_bytes, ids)] == [*map(whole.token_bytes, ids)]


@given(st.text(max_size=40))
@example("It's 7 o'clock:\n the quick, brown fox says 漢字 — and “naïve” 👩‍💻!  \n")
@example("<|endoftext|> and <|im_start|>")
def test_texts_have_the_same_tokens(both: tuple[HuggingFaceTokenizer, HuggingFaceTokenizer], text: str) -> None:
    whole, quick = both
    quick._encoded = 0
    assert quick.encode(text) == whole.encode(text)


def test_an_encoder_is_made_when_there_is_much_to_encode() -> None:
    quick = quick_tokenizer(describe(WEIGHTS))
    assert isinstance(quick, HuggingFaceTokenizer)
    text = "The cat sat on the mat. " * 1000
    short = quick.encode(text[:1199])
    assert quick._merging is not None
    assert quick.encode(text)[: len(short)] == short
    assert quick._merging is None
    assert quick.encode(text[:1199]) == short


def test_a_table_of_another_tokenizer_and_a_damaged_one_are_not_used(tmp_path: Path) -> None:
    packed, table = ((WEIGHTS / name).read_bytes() for name in (PACKED_FILE, TABLE_FILE))
    (tmp_path / PACKED_FILE).write_bytes(packed)
    assert read_table(tmp_path) is None
    (tmp_path / TABLE_FILE).write_bytes(table)
    assert read_table(tmp_path) is not None
    for damaged in (b"", table[:-9], table[:5000] + b"xx" + table[5002:], gzip.compress(b"{}\0a\0")):
        (tmp_path / TABLE_FILE).write_bytes(damaged)
        assert read_table(tmp_path) is None
    (tmp_path / TABLE_FILE).write_bytes(table)
    (tmp_path / PACKED_FILE).write_bytes(gzip.compress(gzip.decompress(packed) + b" "))
    assert read_table(tmp_path) is None
    described = describe(WEIGHTS)
    moved = Description(tmp_path, described.config, described.vocabulary, PACKED_FILE, {}, described.quantisation)
    assert quick_tokenizer(moved).encode("The cat sat") == quick_tokenizer(described).encode("The cat sat")


def test_other_kinds_of_tokenizers_have_no_table(content: TokenizerJson) -> None:
    model = content["model"]
    vocabulary, merges = {"a": 0, "b": 1, "ab": 2}, ["a b"]
    small: TokenizerJson = {**content, "model": {**model, "vocab": vocabulary, "merges": merges}}
    assert table_bytes(small, "this") is not None
    made = TokenTable.from_bytes(table_bytes(small, "this") or b"", "this")
    assert made is not None
    assert ([*made.tokens], [*made.merges], made.first) == (["a", "b", "ab"], ["a b"], 2)
    assert TokenTable.from_bytes(table_bytes(small, "this") or b"", "that") is None
    for other in (
        {"vocab": {"a": 0, "b": 2, "ab": 1}},
        {"vocab": {"a": 0, "b": 1, "c": 2}},
        {"vocab": {"a": 0, "b": 1, "漢": 2, "ab": 3}},
        {"vocab": {"a": 0, "b": 1, "a\nb": 2}, "merges": ["a \nb"]},
        {"byte_fallback": True},
        {"type": "WordPiece"},
    ):
        changed: TokenizerJson = {**small, "model": {**small["model"], **other}}  # type: ignore[typeddict-item]
        assert table_bytes(changed, "this") is None, other
