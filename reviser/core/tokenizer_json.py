"""The types of a Hugging Face tokenizer.json, for the fields that are read or written here."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Component = dict[str, Any]
"""A normalizer, a pre-tokenizer, a decoder or a post-processor: `type` says which settings it has."""


class AddedToken(TypedDict):
    """A token added to those of the model; a special one stands for no text."""

    id: int
    content: str
    single_word: NotRequired[bool]
    lstrip: NotRequired[bool]
    rstrip: NotRequired[bool]
    normalized: NotRequired[bool]
    special: NotRequired[bool]


class TokenizerModel(TypedDict):
    """The encoding of pieces into tokens; kinds other than BPE have other fields, too."""

    type: NotRequired[str]
    dropout: NotRequired[float | None]
    unk_token: NotRequired[str | None]
    continuing_subword_prefix: NotRequired[str | None]
    end_of_word_suffix: NotRequired[str | None]
    fuse_unk: NotRequired[bool]
    byte_fallback: NotRequired[bool]
    ignore_merges: NotRequired[bool]
    vocab: dict[str, int]
    merges: list[str]


class TokenizerJson(TypedDict):
    """A whole tokenizer.json."""

    version: NotRequired[str]
    truncation: NotRequired[Component | None]
    padding: NotRequired[Component | None]
    added_tokens: list[AddedToken]
    normalizer: NotRequired[Component | None]
    pre_tokenizer: NotRequired[Component | None]
    post_processor: NotRequired[Component | None]
    decoder: NotRequired[Component | None]
    model: TokenizerModel
