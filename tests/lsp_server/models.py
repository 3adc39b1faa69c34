"""A tiny random model in the home format, for a server that runs in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from reviser.checkpoints import save
from reviser.checkpoints.formats.gguf_tokens import PRE_TOKENIZERS
from reviser.checkpoints.tokenizer_files import added_token, byte_level_bpe
from reviser.core.encoding.pieces import byte_of_character
from reviser.core.vocabulary import Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation

END = "<|endoftext|>"
WORDS = ["the", "cat", "sat", "on", "mat", "quiet", "day", "it", "was", "late", "rain", "fell"]


def save_tiny_model(
    folder: Path,
    seed: int = 0,
    *,
    revises: bool = False,
    stops: bool = False,
    quantisation: Quantisation | None = None,
    **shape: int,
) -> Path:
    """A model that writes words, spaces, line ends and now and then moves; its weights are random.

    One that revises also deletes and replaces. With a `shape` that is larger, it is as slow as a test
    needs it to be.
    """
    merges, tokens = _merges()
    vocabulary_of_text = {token: id for id, token in enumerate(tokens)}
    data = byte_level_bpe(vocabulary_of_text, merges, [added_token(0, END)], PRE_TOKENIZERS["smollm"])
    # Without Stop, a run lasts as long as a test says.
    kinds = {"insert", "move"} | ({"delete", "replace"} if revises else set()) | ({"stop"} if stops else set())
    vocabulary = Vocabulary(len(tokens), frozenset({0}), ("replace",) if revises else (), frozenset(kinds), name="tiny")
    torch.manual_seed(seed)
    model = Reviser(preset("tiny", vocab_size=vocabulary.size, context=1024, canvas_length=1024, **shape)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
        # It reads any byte, but what it likes to write are words, and now and then a move.
        liked = torch.zeros(vocabulary.size, 1)
        for token in [*("Ġ" + word for word in WORDS), ".", ",", "Ċ"]:
            liked[vocabulary_of_text[token]] = 1.2
            if vocabulary.first_replace_id is not None and token != "Ċ":
                liked[vocabulary.first_replace_id + vocabulary_of_text[token]] = 1.2
        liked[vocabulary.first_move_id : vocabulary.first_move_id + 8] = 0.8
        if revises:
            liked[vocabulary.delete_id] = 1.2
        model.embedding.weight.mul_(liked + 0.05)
    tokenizer = json.dumps(data, ensure_ascii=False).encode()
    return save(folder, model, vocabulary, tokenizer, quantisation=quantisation)


def _merges() -> tuple[list[str], list[str]]:
    """Merges that build each word letter by letter, and all tokens that come of them."""
    tokens = [END, *sorted(byte_of_character(), key=lambda text: byte_of_character()[text])]
    merges: list[str] = []
    for word in WORDS:
        built = "Ġ"
        for letter in word:
            merge = f"{built} {letter}"
            built += letter
            if merge not in merges:
                merges.append(merge)
                tokens.append(built)
    return merges, tokens
