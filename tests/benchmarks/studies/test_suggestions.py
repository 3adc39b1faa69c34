"""How often suggestions are right: figures that can be worked out by hand, and the command on a tiny model."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks.studies.suggestion_places import Place, corpus_texts, own_texts, passages, words_right
from benchmarks.studies.suggestions import chosen_dial, figures, main, saved
from reviser.core.errors import ReviserError
from reviser.decoding.suggestion import Piece, Suggestion
from tests.benchmarks.tiny_reviser import tiny_reviser


@pytest.mark.parametrize(
    ("suggested", "truth", "right"),
    [
        ("ard to you", "ard to me", (2, 3)),
        (" house.", " house, which", (1, 1)),
        (" hou", " house", (0, 1)),
        (" a, b", " a b", (1, 2)),
        ("", "anything", (0, 0)),
        (" the end", " the end", (2, 2)),
    ],
)
def test_words_are_right_one_after_the_other(suggested: str, truth: str, right: tuple[int, int]) -> None:
    assert words_right(suggested, truth) == right


def place(at: int, truth: str, *pieces: tuple[str, float], passage: int = 0) -> Place:
    return Place(
        passage=passage,
        kind="mail",
        where="end",
        at=at,
        after_letter=False,
        in_word=False,
        truth=truth,
        suggestion=Suggestion(tuple(Piece(*piece) for piece in pieces)),
    )


TRUTH = "a good day"
PLACES = [
    place(0, TRUTH, ("a", 0.9), (" good", 0.8), (" man", 0.3)),
    *(place(at, TRUTH[at:]) for at in range(1, len(TRUTH))),
    place(0, "we went", ("you", 0.6), (" came", 0.4), passage=1),
]


def test_figures_at_a_dial() -> None:
    low, middle, high = (figures(PLACES, dial) for dial in (0.2, 0.5, 0.95))
    assert low.shown == pytest.approx(2 / 11)
    assert (low.first, low.two, low.three, low.whole) == (0.5, 0.5, 0.0, 0.0)
    # A single short word is not worth a look, so the wrong one is not shown.
    assert middle.shown == pytest.approx(1 / 11)
    assert (middle.first, middle.two, middle.whole, middle.words) == (1.0, 1.0, 1.0, 2.0)
    assert high.shown == 0
    assert chosen_dial(PLACES, (0.95, 0.5, 0.2)) == 0.5
    assert chosen_dial(PLACES, (0.95, 0.2)) is None


def test_what_is_saved() -> None:
    # "a good" with one key; with two word by word; nothing of what is wrong at its end.
    assert saved(PLACES, 0.5, by_words=False) == pytest.approx(5 / 11)
    assert saved(PLACES, 0.5, by_words=True) == pytest.approx(4 / 11)
    assert saved(PLACES, 0.2, by_words=False) == 0
    assert saved(PLACES, 0.2, by_words=True) == pytest.approx(4 / 11)


def test_own_texts_are_whole() -> None:
    texts = own_texts()
    assert {text.kind for text in texts} == {"mail", "notes"}
    assert len({text.id for text in texts}) == len(texts) >= 40
    assert all(len(text.text) > 200 and text.text.endswith("\n") for text in texts)


def test_passages_are_whole_words_of_their_texts() -> None:
    found = passages(own_texts(), 30, seed=1)
    assert found == passages(own_texts(), 30, seed=1)
    assert found != passages(own_texts(), 30, seed=2)
    for passage in found:
        text = passage.text.text
        assert not text[passage.start - 1].isalnum()
        if passage.where == "end":
            assert passage.end - passage.start == 30
        else:
            assert not text[passage.end].isalnum()
            assert "\n" not in text[passage.start : passage.end]


def test_a_corpus_is_sorted_by_its_sources(tmp_path: Path) -> None:
    sources = ("dotnet/docs", "Standard Ebooks", "Reuters", "OpenStax", "Standard Ebooks")
    lines = [json.dumps({"text": f"{name} says so. " * 40, "source": name}) for name in sources]
    packed = tmp_path / "texts.jsonl.xz"
    packed.write_bytes(lzma.compress("\n".join(lines).encode()))
    kinds = [text.kind for text in corpus_texts(packed, 9, seed=0)]
    assert sorted(kinds) == ["documentation", "essay", "story", "story"]
    assert [text.kind for text in corpus_texts(packed, 1, seed=0)].count("story") == 1
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"text": 1}\n')
    for path in (wrong, tmp_path / "missing.jsonl"):
        with pytest.raises(ReviserError, match="no corpus of texts"):
            corpus_texts(path, 1, seed=0)


def test_the_command_writes_a_page_and_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny_reviser(tmp_path / "tiny")
    page = tmp_path / "page.md"
    options = ["--each", "1", "--characters", "5", "--dials", "0.02", "0.9", "--write", str(page)]
    assert main([f"One={folder}", f"Two={folder}", *options]) == 0
    told = page.read_text()
    assert told.count("## One") == told.count("## Two") == 1
    assert "--each 1 --characters 5" in told
    assert str(tmp_path) not in told
    assert "## One" in capsys.readouterr().out
    data = json.loads(page.with_suffix(".json").read_text())
    one, two = data["models"]
    assert one["curve"] == two["curve"]
    assert list(one["curve"]) == ["0.02", "0.9"]
    assert one["curve"]["0.02"]["places"] == 10
    assert one["curve"]["0.9"]["three"] is None
