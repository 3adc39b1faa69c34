"""Texts that a base writes by itself: what it is asked, what of its answers is taken, and where they go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.operators import append_operators
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import HuggingFaceTokenizer
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from training.data.base_texts import ASKED, instructions, save, whole_sentences, written
from training.data.corpus import Manifest


def test_instructions_are_drawn_by_seed() -> None:
    asked = instructions(300, 1)
    assert asked == instructions(300, 1) != instructions(300, 2)
    assert len(set(asked)) > 250
    asked = instructions(5000, 3)
    assert any(ASKED["kinds"][0].format(topic=topic) in asked for topic in ASKED["topics"])


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("One. Two! And thr", "One. Two!"),
        ("No sentence", ""),
        ("Dear [Name], I write to you.", ""),
        ("Yes.\nNo.\nYes.", ""),
        (" Fine. ", "Fine."),
    ],
)
def test_whole_sentences_are_taken(text: str, taken: str) -> None:
    assert whole_sentences(text) == taken


def test_a_base_without_turns_is_refused() -> None:
    content = toy_tokenizer_json()
    tokenizer = HuggingFaceTokenizer(content)
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=tokenizer.size, dropout=0.0))
    vocabulary = append_operators(model, tokenizer, "toy")
    parts = Checkpoint(model, vocabulary, tokenizer, content)
    with pytest.raises(ReviserError, match="no markers for the turns"):
        written(parts, ["Write."], temperature=1.0, top_k=5, rows=1, seed=0)


def test_texts_become_shards(tmp_path: Path) -> None:
    save(tmp_path / "own", ["One two three.", "Four five."], "gpt2")
    assert Manifest.load(tmp_path / "own").documents == 2
    lines = (tmp_path / "own" / "texts.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["One two three.", "Four five."]
