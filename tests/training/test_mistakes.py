"""Mistakes put into texts: each kind as people make it, few at a time, and the same for the same seed."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.edits import read_edits
from training.mistakes import LONGEST, SLIPS, WORD, Slip, main, mistakes, passages, with_mistakes
from training.randomness import Random

PROSE = (
    "The boats were coming home when she saw that the light was on. It's a long way to the harbour, and "
    "nobody knows whether an old man, who doesn't speak, has their key."
)
KINDS: dict[str, Slip] = {slip.__name__.strip("_"): slip for _, slip in SLIPS}


def made_by(kind: str, text: str) -> set[str]:
    """All that a kind of mistake can make of a text."""
    found = set()
    for draw in range(40):
        for word in WORD.finditer(text):
            if change := KINDS[kind](text, word, Random(draw)):
                start, end, new = change
                found.add(text[:start] + new + text[end:])
    return found


@pytest.mark.parametrize(
    ("kind", "text", "wrong"),
    [
        ("twice", "Press the key.", {"Press the the key."}),
        ("left_out", "Go to bed.", {"Go bed."}),
        ("swapped", "Mara saw him.", {"Mara him saw."}),
        ("sounding_alike", "Its roof leaks.", {"It's roof leaks."}),
        ("sounding_alike", "I know.", {"I now."}),
        ("disagreeing", "He doesn’t sing.", {"He don't sing."}),
        ("disagreeing", "They were late.", {"They was late."}),
        ("wrong_article", "It was an owl.", {"It was a owl."}),
        ("without_apostrophe", "I can't.", {"I cant."}),
        ("without_mark", "Now, go.", {"Now go.", "Now, go"}),
        ("without_mark", "No. Go on", set()),
        ("with_comma", "He said that it is.", {"He said that, it is."}),
        ("small", "Go. Now I go, Mara.", {"go. Now I go, Mara.", "Go. now I go, Mara.", "Go. Now i go, Mara."}),
        ("joined", "A lot of it.", {"Alot of it.", "A lotof it.", "A lot ofit."}),
    ],
)  # fmt: skip
def test_each_kind(kind: str, text: str, wrong: set[str]) -> None:
    assert made_by(kind, text) == wrong


def test_misspelt_words_begin_as_they_should() -> None:
    found = made_by("misspelt", "the house")
    assert {"the huose", "the huse", "the hoouse", "the hiuse"} <= found
    assert all(text.startswith("the h") for text in found)
    assert "the house" not in found


@given(st.integers(0, 2**40))
def test_few_places_change(seed: int) -> None:
    wrong = with_mistakes(PROSE, Random(seed))
    assert wrong != PROSE
    words = SequenceMatcher(None, PROSE.split(), wrong.split(), autojunk=False)
    changed = [code for code in words.get_opcodes() if code[0] != "equal"]
    assert 1 <= len(changed) <= 8
    assert SequenceMatcher(None, PROSE, wrong, autojunk=False).ratio() > 0.8


def test_every_kind_comes_up() -> None:
    drawn = {with_mistakes(PROSE, Random(seed)) for seed in range(400)}
    for kind in KINDS:
        assert made_by(kind, PROSE) & drawn, kind


@given(st.text(max_size=300), st.integers(0, 9))
def test_any_text_will_do(text: str, seed: int) -> None:
    with_mistakes(text, Random(seed))
    for _, passage, _ in passages(text, Random(seed)):
        assert passage in text


def test_passages_are_prose_of_some_length() -> None:
    text = "\n".join(
        [
            "A title",
            PROSE,
            "x = [1, 2, 3]; print(x[0], x[1], x[2]); y = {'a': 1, 'b': 2}; z = x + [y].",
            "“" + " ".join([PROSE] * 5) + "”",
        ]
    )
    found = list(passages(text, Random(0)))
    assert found[0][1] == PROSE
    assert len(found) > 4
    assert all(40 <= len(passage) <= LONGEST for _, passage, _ in found)
    assert not any("x = [" in passage for _, passage, _ in found)
    # Pieces of one line are shown by themselves, for their neighbours are in the same line.
    assert {(left, right) for left, _, right in found[1:]} == {("", "")}
    shown = [next(passages(text, Random(seed))) for seed in range(60)]
    assert {left for left, _, _ in shown} == {"", "A title"}
    assert 5 < sum(bool(left) for left, _, _ in shown) < 40


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "texts.jsonl", tmp_path / "edits.jsonl"
    source.write_text("".join(json.dumps({"text": f"{PROSE}\nPart {n}."}) + "\n" for n in range(9)))
    assert main([str(source), "--out", str(out), "--count", "4", "--every", "2"]) == 0
    assert "4 edits" in capsys.readouterr().out
    edits = list(read_edits(str(out)))
    assert [edit.after for edit in edits] == [PROSE] * 4
    assert all(edit.before != edit.after for edit in edits)
    again = list(mistakes(iter([f"{PROSE}\nPart {n}." for n in range(9)]), 0))
    assert edits == again[:8:2]
    other = list(mistakes(iter([PROSE]), 1))
    assert other != again[:1]


def test_texts_without_prose_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "numbers.txt", tmp_path / "edits.jsonl"
    source.write_text("1 2 3\n")
    for words, said in (
        ([str(source)], "no prose"),
        ([str(source), "--every", "0"], "1 or more"),
        ([str(tmp_path / "nowhere.txt")], "cannot be read"),
    ):
        assert main([*words, "--out", str(out)]) == 2
        assert said in capsys.readouterr().err
    assert not out.exists()
