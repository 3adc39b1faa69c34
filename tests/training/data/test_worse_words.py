"""Worse words: which words are looked at, which others are likely there, and what they do to the text behind them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import load_tokenizer
from reviser.model import Reviser, preset
from tests.benchmarks.tiny_reviser import base_and_shards, tiny_reviser
from training.data.base_reading import BaseReader
from training.data.corpus import Corpus, Manifest, worse_path
from training.data.shards import Options, tokenise, write_array
from training.data.worse_words import (
    KIND,
    NO_WORD,
    Finder,
    Judged,
    Search,
    Words,
    candidates,
    main,
    shown,
    whole_words,
    with_worse_words,
)

TEXT = (
    "The old house at the end of our street, which nobody had entered for years, burned down last night. "
    "We all went out to look. The firemen came late because the road was under water, and there wasn't "
    "anything left to save. My neighbour, a quiet man, said that he had seen a light in the kitchen. "
    "Nobody believed him. In the morning only the chimney stood there, black and warm, uneasily at the end of the street.\n"
)
TOY_TEXT = (
    "the tin in a hall, the thin a tin, is ill. a thing is in the tin. all is the a hall. " * 6
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("texts")
    source = folder / "text.txt"
    source.write_text(TEXT)
    tokenise(folder / "shards", [str(source)], "gpt2", Options())
    return Corpus.open(folder / "shards")


@pytest.fixture(scope="module")
def words() -> Words:
    tokenizer = load_tokenizer("gpt2")
    return Words.of(tokenizer, tokenizer.size)


def token(text: str) -> int:
    (id,) = load_tokenizer("gpt2").encode(text)
    return id


def test_words_are_a_space_and_letters(words: Words) -> None:
    assert words.spelled[token(" house")] == words.spelled[token(" House")] != NO_WORD
    assert words.spelled[token(" house")] != words.spelled[token(" houses")]
    for text in ("house", " 12", ",", " (", "'t", "\n"):
        assert words.spelled[token(text)] == NO_WORD
    assert words.capital[token(" House")]
    assert not words.capital[token(" house")]
    for text in ("house", "'t", "12", "-"):
        assert words.goes_on[token(text)]
    for text in (" house", ",", ".", "\n"):
        assert not words.goes_on[token(text)]


def test_beginnings_of_words_are_no_words(corpus: Corpus, words: Words) -> None:
    usable = whole_words(corpus, words)
    assert usable[token(" house")]
    assert usable[token(" the")]
    # "wasn't" goes on behind "wasn", and " elephant" is in none of the texts.
    assert not usable[token(" wasn")]
    assert not usable[token(" elephant")]


def test_candidates_are_whole_words_with_text_around_them(corpus: Corpus, words: Words) -> None:
    (shard,) = corpus.shards
    usable = whole_words(corpus, words)
    places, draws = candidates(shard, words, usable, Search(per_hundred=100.0))
    assert len(places) == len(draws) > 40
    for begin, at, stop in places:
        assert begin == max(at - 64, 0) <= at - 8
        assert at + 4 < stop == min(at + 17, len(shard.tokens))
        assert usable[shard.tokens[at]]
        assert not words.goes_on[shard.tokens[at + 1]]


def test_candidates_are_drawn_by_seed_and_share(corpus: Corpus, words: Words) -> None:
    (shard,) = corpus.shards
    usable = whole_words(corpus, words)
    few, again, other = (
        candidates(shard, words, usable, Search(per_hundred=20.0, seed=seed)) for seed in (1, 1, 2)
    )
    assert few[0].tolist() == again[0].tolist() != other[0].tolist()
    assert few[1].tolist() == again[1].tolist()
    assert 8 < len(few[0]) < 40


def test_other_words_and_prices_are_those_of_plain_readings(corpus: Corpus, words: Words) -> None:
    """What the packed readings find, beside the same from plain passes of the model."""
    (shard,) = corpus.shards
    tokens = shard.tokens.astype(np.int64)
    torch.manual_seed(3)
    model = Reviser(preset("tiny", vocab_size=corpus.tokenizer.size, dropout=0.0)).eval()
    with torch.no_grad():
        model.embedding.weight *= 4
    usable = whole_words(corpus, words)
    search = Search(per_hundred=25.0, likely=1e-5, rows=1)
    places, draws = candidates(shard, words, usable, search)
    reader = BaseReader(model, corpus.tokenizer.size, torch.device("cpu"))
    done: list[int] = []
    find = Finder(reader, words, usable, search)
    judged = find(shard.tokens, places, draws, done.append)
    assert done[-1] == len(places) > 12
    assert len(done) > 1

    def logs(row: list[int]) -> torch.Tensor:
        with torch.no_grad():
            return model(torch.tensor([[0, *row]]))[0].double().log_softmax(dim=-1)

    def surprise(begin: int, at: int, stop: int, word: int) -> list[float]:
        row = [*tokens[begin:at].tolist(), word, *tokens[at + 1 : stop].tolist()]
        found = logs(row)
        return [-float(found[n, row[n]]) for n in range(at - begin + 1, stop - begin)]

    changed = 0
    results = zip(places, draws, judged.others, judged.at_once, judged.whole, strict=True)
    for (begin, at, stop), draw, other, at_once, whole in results:
        true = int(tokens[at])
        chances = logs(tokens[begin:at].tolist())[-1].exp().numpy()
        allowed = usable & (chances >= search.likely) & (words.capital == words.capital[true])
        allowed &= words.spelled != words.spelled[true]
        order = np.argsort(-chances, kind="stable")
        order = order[allowed[order]]
        if not len(order):
            assert (other, at_once, whole) == (true, 0.0, 0.0)
            continue
        running = np.cumsum(chances[order])
        # Not where rounding may decide.
        if np.abs(running / running[-1] - draw).min() > 1e-4:
            assert other == order[(running > draw * running[-1]).argmax()]
        with_other, with_true = (surprise(begin, at, stop, int(word)) for word in (other, true))
        first, second = (with_other[n] - with_true[n] for n in range(2))
        assert at_once == pytest.approx(max(first, second), abs=1e-3)
        assert whole == pytest.approx(sum(with_other) - sum(with_true), abs=1e-3)
        changed += 1
    assert changed > 10


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(-9, 9), st.floats(-20, 20)),
        min_size=1,
        max_size=30,
    )
)
def test_words_are_worse_within_bounds(drawn: list[tuple[int, int, float, float]]) -> None:
    own, others, at_once, whole = (np.array(column) for column in zip(*drawn, strict=True))
    tokens = own.astype(np.uint16)
    places = np.stack([np.arange(len(drawn))] * 3, axis=1)
    search = Search(least=2.0, most=8.0, at_once=1.0)
    worse = with_worse_words(tokens, places, Judged(others, at_once, whole), search)
    assert worse.dtype == tokens.dtype
    expected = [
        other if 2.0 <= later <= 8.0 and first <= 1.0 else true
        for true, other, first, later in drawn
    ]
    assert worse.tolist() == expected


def test_bounds_that_make_no_sense_are_refused() -> None:
    for wrong in ({"per_hundred": 0.0}, {"rows": 0}, {"likely": 0.0}, {"least": 3.0, "most": 2.0}):
        with pytest.raises(ReviserError):
            Search(**wrong)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base_and_shards(tmp_path, TOY_TEXT, 12)
    shards = tmp_path / "data"
    base = tiny_reviser(tmp_path / "left-to-right", kinds=frozenset({"insert"}))
    words = [str(shards), "--base", str(base), "--likely", "1e-6", "--least", "-1000"]
    words += ["--most", "1000", "--at-once", "1000", "--per-hundred", "4", "--rows", "2"]
    assert main([*words, "--show", "3"]) == 0
    said = capsys.readouterr().out
    assert "worse ones in" in said
    assert said.count("→") == 3
    (shard,) = Corpus.open(shards).shards
    assert shard.worse is not None
    changed = np.flatnonzero(shard.worse != shard.tokens)
    assert len(changed) > 20
    tokenizer = load_tokenizer(str(tmp_path / "tokenizer.json"))
    pairs = {
        (tokenizer.token_bytes(int(shard.tokens[at])), tokenizer.token_bytes(int(shard.worse[at])))
        for at in changed
    }
    assert pairs == {(b" the", b" a"), (b" a", b" the")}
    facts = json.loads((shards / KIND.facts).read_text())
    (entry,) = Manifest.load(shards).sources[0].shards
    (told,) = facts["shards"]
    assert (told["shard"], told["sha256"]) == (entry.name, entry.sha256)
    assert told["worse"] == len(changed) <= told["likely"] <= told["candidates"]
    assert facts["search"]["per_hundred"] == 4.0


def test_what_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base_and_shards(tmp_path, TOY_TEXT, 2)
    shards, base = tmp_path / "data", str(tmp_path / "base")
    assert main([str(shards), "--base", base, "--least", "9", "--most", "8"]) == 2
    assert "--least is less than --most" in capsys.readouterr().err
    assert main([str(tmp_path / "nothing"), "--base", base]) == 2
    capsys.readouterr()
    (tmp_path / "text.txt").write_text(TEXT)
    tokenise(tmp_path / "other", [str(tmp_path / "text.txt")], "gpt2", Options())
    assert main([str(tmp_path / "other"), "--base", base]) == 2
    assert "another tokenizer" in capsys.readouterr().err
    name = Manifest.load(shards).sources[0].shards[0].name
    write_array(worse_path(shards, name), np.zeros(3, dtype=np.uint16))
    with pytest.raises(ReviserError, match="was not made for the tokens"):
        Corpus.open(shards)


def test_worse_words_are_shown_in_their_places(corpus: Corpus) -> None:
    (shard,) = corpus.shards
    worse = shard.tokens.copy()
    at = shard.tokens.tolist().index(token(" house"))
    worse[at] = token(" street")
    changed = Corpus(
        (type(shard)(shard.tokens, shard.offsets, None, worse),), corpus.classes, corpus.tokenizer
    )
    (line,) = shown(changed, load_tokenizer("gpt2"), 5, around=3)
    assert line == "The old [street → house] at the end"
