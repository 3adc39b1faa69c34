"""Tokenizers as GGUF metadata: import and export of byte-level BPE whose pre-tokenizer has a name in GGUF."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from reviser.checkpoints.operators import operator_names
from reviser.checkpoints.tokenizer_files import added_token, byte_level, byte_level_bpe
from reviser.core.errors import ReviserError
from reviser.core.tokenizer_json import Component, TokenizerJson
from reviser.core.vocabulary import Vocabulary

_LLAMA_3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PRE_TOKENIZERS: dict[str, Component] = {
    "gpt-2": byte_level(),
    "smollm": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level()]},
    "llama-bpe": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": _LLAMA_3_PATTERN}, "behavior": "Isolated", "invert": False},
            byte_level(use_regex=False),
        ],
    },
}
# Names that llama.cpp treats alike.
_SAME_AS = {"starcoder": "smollm", "refact": "smollm", "command-r": "smollm", "llama3": "llama-bpe"}


class TokenType(IntEnum):
    """The kinds of tokens that GGUF tells apart."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class GgufTokens:
    """A tokenizer as GGUF metadata."""

    pre: str
    tokens: list[str]
    types: list[int]
    merges: list[str]


def tokenizer_from_gguf(source: GgufTokens) -> TokenizerJson:
    """A tokenizer.json for byte-level BPE."""
    pre = _SAME_AS.get(source.pre, source.pre)
    if pre not in PRE_TOKENIZERS:
        raise ReviserError(f"its tokenizer splits text as '{source.pre}', which is not supported")
    added = [
        added_token(id, token, special=kind != TokenType.USER_DEFINED)
        for id, (token, kind) in enumerate(zip(source.tokens, source.types, strict=True))
        if kind != TokenType.NORMAL
    ]
    return byte_level_bpe(
        {token: id for id, token in enumerate(source.tokens)},
        source.merges,
        added,
        PRE_TOKENIZERS[pre],
        ignore_merges=pre == "llama-bpe",
    )


def tokenizer_to_gguf(data: TokenizerJson, vocabulary: Vocabulary) -> GgufTokens:
    """A tokenizer.json and the operators after it as GGUF metadata."""
    if data["model"].get("type") != "BPE":
        raise ReviserError("only byte-level BPE tokenizers can be exported to GGUF")
    texts: dict[int, str] = {id: text for text, id in data["model"]["vocab"].items()}
    kinds = dict.fromkeys(texts, TokenType.NORMAL)
    for token in data["added_tokens"]:
        texts[token["id"]] = token["content"]
        kinds[token["id"]] = TokenType.CONTROL if token.get("special") else TokenType.USER_DEFINED
    for id, name in operator_names(vocabulary).items():
        texts[id], kinds[id] = name, TokenType.CONTROL
    ids = range(vocabulary.size)
    return GgufTokens(
        _pre_name(data),
        [texts.get(id, f"<|unused-{id}|>") for id in ids],
        [int(kinds.get(id, TokenType.UNUSED)) for id in ids],
        [pair if isinstance(pair, str) else " ".join(pair) for pair in data["model"]["merges"]],
    )


def _pre_name(data: TokenizerJson) -> str:
    wanted = _essence(data.get("pre_tokenizer"))
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        if _essence(pre_tokenizer) == wanted and not data.get("normalizer"):
            return name
    raise ReviserError("GGUF has no name for the way this tokenizer splits text")


def _essence(part: Any) -> Any:
    """A component without the settings that do not change ids, defaults filled in."""
    if not isinstance(part, dict):
        return part
    if part.get("type") == "ByteLevel":
        return ("ByteLevel", part.get("add_prefix_space", True), part.get("use_regex", True))
    if part.get("type") == "Sequence":
        parts = part.get("pretokenizers", [])
        return tuple(map(_essence, parts)) if len(parts) != 1 else _essence(parts[0])
    return part
