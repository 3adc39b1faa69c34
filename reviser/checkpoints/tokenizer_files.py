"""tokenizer.json as data: built from GPT-2's ranks, and extended with operators for other engines."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from reviser.checkpoints.bounded import LARGEST_TOKENIZER, pack_gzip, read_bounded, unpack_gzip
from reviser.checkpoints.operators import operator_names
from reviser.core.encoding.pieces import byte_of_character
from reviser.core.encoding.table import TokenTable, table_bytes
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, HuggingFaceTokenizer, Tokenizer, gpt2_ranks
from reviser.core.tokenizer_json import AddedToken, Component, TokenizerJson
from reviser.core.vocabulary import GPT2_END_OF_TEXT, Vocabulary

TOKENIZER_FILE = "tokenizer.json"
PACKED_FILE = "tokenizer.json.gz"
TABLE_FILE = "tokenizer.table.gz"
BUILT_IN = "gpt2"


def read_tokenizer_json(source: str | Path | bytes) -> bytes | None:
    """The bytes of the tokenizer.json at `source`: a path, its folder, or the bytes; None for `gpt2`."""
    if isinstance(source, bytes):
        return source
    if source == BUILT_IN:
        return None
    path = Path(source)
    data = read_bounded(path / TOKENIZER_FILE if path.is_dir() else path, LARGEST_TOKENIZER)
    return unpack_gzip(data, path) if path.suffix == ".gz" else data


def pack_tokenizer_json(data: bytes) -> bytes:
    """The content of a tokenizer.json, packed to a quarter of its size."""
    text = json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":"))
    return pack_gzip(text.encode("utf-8"))


def pack_table(packed: bytes) -> bytes | None:
    """The token table of a packed tokenizer.json; None for a kind that has none."""
    data: TokenizerJson = json.loads(unpack_gzip(packed, Path(PACKED_FILE)))
    table = table_bytes(data, _content_of(packed))
    return None if table is None else pack_gzip(table)


def read_table(folder: Path) -> TokenTable | None:
    """The token table in a folder, if it belongs to the packed tokenizer.json beside it."""
    path = folder / TABLE_FILE
    if not path.is_file():
        return None
    packed = read_bounded(folder / PACKED_FILE, LARGEST_TOKENIZER)
    data = read_bounded(path, LARGEST_TOKENIZER)
    try:
        return TokenTable.from_bytes(unpack_gzip(data, path), _content_of(packed))
    except ReviserError:
        # It only saves time.
        return None


def _content_of(packed: bytes) -> str:
    """An identifier of packed content: its checksum and size, with which it ends."""
    return packed[-8:].hex()


def make_tokenizer(data: bytes | None, name: str, *, late: bool = False) -> Tokenizer:
    """The tokenizer of a tokenizer.json, or the built-in one for None; with `late`, its encoder is made when needed."""
    return Gpt2Tokenizer() if data is None else HuggingFaceTokenizer(data, name, late=late)


def tokenizer_data(data: bytes | None) -> TokenizerJson:
    """The content of a tokenizer.json; for None, one made from the built-in tokenizer's ranks."""
    if data is None:
        return gpt2_tokenizer_data()
    content: TokenizerJson = json.loads(data)
    return content


def byte_level_bpe(
    vocabulary: dict[str, int],
    merges: list[str],
    added: list[AddedToken],
    pre_tokenizer: Component,
    *,
    ignore_merges: bool = False,
) -> TokenizerJson:
    """A tokenizer.json for byte-level BPE."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": byte_level(),
        "decoder": byte_level(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


def byte_level(*, use_regex: bool = True) -> Component:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def added_token(id: int, content: str, *, special: bool = True) -> AddedToken:
    return {
        "id": id,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }


def gpt2_tokenizer_data() -> TokenizerJson:
    """GPT-2's tokenizer.json, made from the ranks in this package."""
    ranks = gpt2_ranks()
    written = {byte: character for character, byte in byte_of_character().items()}

    def text(token: bytes) -> str:
        return "".join(written[byte] for byte in token)

    vocabulary = {text(token): rank for token, rank in ranks.items() if rank != GPT2_END_OF_TEXT}
    end = "<|endoftext|>"
    merges = [" ".join(map(text, _halves(token, ranks))) for token in ranks if _is_merged(token, ranks)]
    return byte_level_bpe(
        vocabulary | {end: GPT2_END_OF_TEXT}, merges, [added_token(GPT2_END_OF_TEXT, end)], byte_level()
    )


def _is_merged(token: bytes, ranks: dict[bytes, int]) -> bool:
    return len(token) > 1 and ranks[token] != GPT2_END_OF_TEXT


def _halves(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """The two tokens whose merge made `token`: the result of merging it by the earlier ranks alone."""
    parts = [token[index : index + 1] for index in range(len(token))]
    while len(parts) > 2:
        pairs = [left + right for left, right in pairwise(parts)]
        best = min(range(len(pairs)), key=lambda index: ranks.get(pairs[index], len(ranks)))
        parts[best : best + 2] = [pairs[best]]
    return parts[0], parts[1]


def with_operators(data: TokenizerJson, vocabulary: Vocabulary, tokenizer_size: int) -> TokenizerJson:
    """The same tokenizer with the operators as special tokens, each under its own id.

    Encoding a text then also writes the start marker first, as every history does. Rows between the
    tokenizer's last id and the operators get names too, because tokenizers count without gaps.
    """
    names = {id: f"<|unused-{id}|>" for id in range(tokenizer_size, vocabulary.base_size)}
    names |= operator_names(vocabulary)
    taken = {*data["model"]["vocab"], *(token["content"] for token in data["added_tokens"])}
    if clash := sorted(taken.intersection(names.values())):
        raise ReviserError(f"the tokenizer has a token {clash[0]} of its own, so it cannot be named")
    added = [*data["added_tokens"], *(added_token(id, name) for id, name in names.items())]
    extended: TokenizerJson = {**data, "added_tokens": added, "post_processor": _start_first(vocabulary)}
    _check_ids(extended, names)
    return extended


def _start_first(vocabulary: Vocabulary) -> Component:
    name = operator_names(vocabulary)[vocabulary.start_id]
    start = {"SpecialToken": {"id": name, "type_id": 0}}
    first, second = ({"Sequence": {"id": which, "type_id": 0}} for which in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [start, first],
        "pair": [start, first, second],
        "special_tokens": {name: {"id": name, "ids": [vocabulary.start_id], "tokens": [name]}},
    }


def _check_ids(data: TokenizerJson, names: dict[int, str]) -> None:
    from tokenizers import Tokenizer as Backend

    backend = Backend.from_str(json.dumps(data))
    if any(backend.token_to_id(name) != id for id, name in names.items()):
        raise ReviserError("the ids of this tokenizer have gaps, so operators cannot follow them")


def without_operators(data: TokenizerJson, tokenizer_size: int, post_processor: Component | None) -> TokenizerJson:
    """Undo `with_operators`."""
    kept = [token for token in data["added_tokens"] if token["id"] < tokenizer_size]
    return {**data, "added_tokens": kept, "post_processor": post_processor}
