"""Tokenizers behind one small protocol: GPT-2's BPE from the package, and any Hugging Face tokenizer.json.

A canvas is edited token by token, so the protocol's main method is `token_bytes`, the bytes of a single token. The text
of a canvas is the bytes of its tokens in a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from reviser.core.encoding.merging import Merging, first_merged, is_plain, merge_names
from reviser.core.encoding.pieces import byte_of_character, is_plain_text, plain_cut
from reviser.core.errors import ReviserError
from reviser.core.text import visible_text
from reviser.core.vocabulary import GPT2_BASE_SIZE, GPT2_END_OF_TEXT, LARGEST_BASE

if TYPE_CHECKING:
    import tiktoken
    from tokenizers import Tokenizer as Backend
    from tokenizers.models import BPE

    from reviser.core.encoding.table import TokenTable
    from reviser.core.tokenizer_json import AddedToken, Component, TokenizerJson, TokenizerModel

GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
# The regular expressions of tiktoken give up on a very long run of white space before a word.
_LONG_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]{4096,}")

_BPE_OPTIONS = (
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
)
# Characters that are encoded in Python before the package's encoder is made, if that may be made late.
_MADE_LATE = 16_000
_SAMPLE = "The quick, brown fox:\n it's 7 o'clock."


class Tokenizer(Protocol):
    """The protocol of a tokenizer."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int:
        """Number of ids, markers included; operators are appended behind them."""

    @property
    def markers(self) -> frozenset[int]:
        """Ids that stand for no text and are never inserted."""

    def encode(self, text: str) -> list[int]:
        """The tokens of `text`; nothing in it is read as a marker."""

    def token_bytes(self, token: int) -> bytes: ...


def decode(tokenizer: Tokenizer, tokens: Iterable[int]) -> str:
    """The text of tokens, without incomplete characters."""
    return visible_text(b"".join(map(tokenizer.token_bytes, tokens)))


def first_bytes(tokenizer: Tokenizer) -> bytes:
    """The first byte of each token, by id, or 0 for a token without text."""
    if isinstance(tokenizer, HuggingFaceTokenizer):
        return tokenizer.first_bytes()
    known = map(tokenizer.token_bytes, range(tokenizer.size))
    return bytes(next(iter(token), 0) for token in known)


class Gpt2Tokenizer:
    """GPT-2's byte-pair encoding, from the ranks file in this package: no download."""

    name = "gpt2"
    size = GPT2_BASE_SIZE
    markers = frozenset({GPT2_END_OF_TEXT})

    def __init__(self) -> None:
        self._ranks = gpt2_ranks()
        self._bytes = list(self._ranks)

    def encode(self, text: str) -> list[int]:
        encode = _tiktoken_gpt2().encode_ordinary
        text = _without_surrogates(text)
        tokens: list[int] = []
        start = 0
        for run in _LONG_SPACE.finditer(text):
            # All but the last character of a run, which belongs to the word behind it, is one piece.
            tokens += encode(text[start : run.start()])
            start = run.end() if run.end() == len(text) else run.end() - 1
            tokens += encode(text[run.start() : start])
        return tokens + encode(text[start:])

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token] if 0 <= token < len(self._bytes) else b""


@cache
def gpt2_ranks() -> dict[bytes, int]:
    """GPT-2's tokens in the order of their ids."""
    from importlib import resources

    packed = resources.files("reviser.core").joinpath("gpt2.ranks").read_text("ascii")
    return {bytes.fromhex(line): rank for rank, line in enumerate(packed.split())}


@cache
def _tiktoken_gpt2() -> tiktoken.Encoding:
    import tiktoken

    return tiktoken.Encoding("gpt2", pat_str=GPT2_PATTERN, mergeable_ranks=gpt2_ranks(), special_tokens={})


class HuggingFaceTokenizer:
    """Any tokenizer.json whose tokens are bytes: byte-level BPE, or SentencePiece-like with `▁`."""

    _merging: Merging | None
    _read_model: Callable[[], TokenizerModel]
    _plain: TokenizerJson
    _starts: Callable[[], str]

    def __init__(self, source: Path | bytes, name: str | None = None, *, late: bool = False) -> None:
        """Read a tokenizer.json from a path, or from its bytes, which then need a `name`.

        With `late`, the encoder for long texts is made when the first one is encoded, if the kind of tokenizer allows
        that. This suits a file that is known to be sound, since its faults are found late.
        """
        if isinstance(source, Path):
            self.name, self._described = name or source.parent.name, str(source)
        else:
            self.name, self._described = name or "", f"the tokenizer of {name}"
        try:
            content = source.read_bytes() if isinstance(source, Path) else source
            data = json.loads(content.decode("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ReviserError(f"{self._described} is not a readable tokenizer.json: {error}") from None
        with self._usable():
            self._take(data, late)
            kept = decode(self, self.encode(_SAMPLE)) == _SAMPLE
        if not kept:
            raise ReviserError(f"{self._described} does not keep text as it is, so it cannot hold a document")

    @classmethod
    def from_table(cls, table: TokenTable, name: str, whole: Callable[[], bytes]) -> Self:
        """The tokenizer from its token table; `whole` reads the tokenizer.json, from which the encoder for long texts
        is made."""
        made = cls.__new__(cls)
        made.name, made._described = name, f"the tokenizer of {name}"
        made._read_model = lambda: json.loads(whole())["model"]
        with made._usable():
            made._plain = _plainly(table.rest)
            made._take_rest(table.rest, table.tokens)
            made._starts = table.tokens.first_characters
            made._merging = Merging(table.ids, table.merges, made._cut, table.first)
        return made

    def encode(self, text: str) -> list[int]:
        text = _without_surrogates(text)
        if self._merging is not None:
            self._encoded += len(text)
            with self._usable():
                if self._encoded <= _MADE_LATE:
                    try:
                        return self._merging.encode(text)
                    except KeyError:
                        pass
                self._make_whole()
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _make_whole(self) -> None:
        self._tokenizer.model = _model(self._read_model())
        self._merging = None
        # What it holds is no longer needed.
        del self._read_model

    @cached_property
    def _tokenizer(self) -> Backend:
        """The package's encoder; for byte pairs it has no vocabulary until the full encoder is made."""
        from tokenizers import Tokenizer as Backend

        return Backend.from_str(json.dumps(self._plain))

    def _cut(self, text: str) -> Iterable[str]:
        """The pieces of a text that are merged separately."""
        if self._cut_plain is not None and is_plain_text(text):
            return self._cut_plain(text)
        return (piece for piece, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(text))

    def token_bytes(self, token: int) -> bytes:
        # Few of the tokens are ever met, so each is worked out when it is.
        if token not in self._bytes:
            is_text = 0 <= token < len(self._texts) and token not in self.markers
            self._bytes[token] = self._to_bytes(self._texts[token]) if is_text else b""
        return self._bytes[token]

    def first_bytes(self) -> bytes:
        """The first byte of each token, by id, or 0 for a token without text."""
        return self._first_bytes

    @cached_property
    def _first_bytes(self) -> bytes:
        # Found without working out the rest of them, if that is possible.
        starts = self._starts()
        if self._to_bytes is _byte_level_bytes and byte_of_character().keys() >= {*starts} - {"\0"}:
            found = bytearray(starts.translate(_translation() | {0: 0}).encode("latin-1"))
        else:
            known = map(self.token_bytes, range(len(self._texts)))
            found = bytearray(next(iter(token), 0) for token in known)
        found += bytes(self.size - len(found))
        for token, content in self._bytes.items():
            found[token] = next(iter(content), 0)
        for marker in self.markers:
            found[marker] = 0
        return bytes(found)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Turn the backend's exceptions into a `ReviserError` that names the file."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit, ReviserError):
            raise
        except BaseException as error:
            # The backend raises bare Exception for any fault in the file, and a panic that is none.
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise ReviserError(f"{self._described} is not a usable tokenizer.json: {reason}") from None

    def _take(self, data: TokenizerJson, late: bool) -> None:
        model = data["model"]
        self._read_model = lambda: model
        self._plain = _plainly(data)
        # Asking the backend for what the file already says takes as long as reading the file.
        known = model["vocab"]
        vocabulary: dict[str, int] = (
            known if isinstance(known, dict) else self._tokenizer.get_vocab(with_added_tokens=False)
        )
        texts = _by_id(vocabulary)
        self._take_rest(data, texts)
        self._starts = lambda: "".join([text[:1] or "\0" for text in texts])
        if late and is_plain(data):
            merges = merge_names(model["merges"])
            first = first_merged(vocabulary, merges)
            self._merging = Merging(vocabulary, merges, self._cut, first)
        elif model.get("type") == "BPE":
            self._make_whole()

    def _take_rest(self, data: TokenizerJson, texts: Sequence[str]) -> None:
        """Read everything but the merges from a tokenizer.json; `texts` are the tokens as the file writes them."""
        added = data.get("added_tokens", [])
        self._cut_plain = plain_cut(self._plain.get("pre_tokenizer"))
        self._merging = None
        self._encoded = 0
        self.markers = frozenset(_id(token) for token in added if token.get("special"))
        self._to_bytes = _byte_level_bytes if _is_byte_level(data) else _sentencepiece_bytes
        self._bytes: dict[int, bytes] = {
            _id(token): token["content"].encode() for token in added if not token.get("special")
        }
        self.size = max(len(texts), *(1 + max(ids, default=0) for ids in (self._bytes, self.markers)))
        if self.size > LARGEST_BASE:
            raise ValueError(f"it has ids up to {self.size - 1}")
        self._texts = texts


def _by_id(vocabulary: Mapping[str, int]) -> list[str]:
    """The tokens of a vocabulary in the order of their ids; ids without a token get an empty string."""
    tokens, ids = list(vocabulary), list(vocabulary.values())
    if ids == list(range(len(ids))):
        return tokens
    if not all(type(id) is int and id >= 0 for id in ids):
        raise ValueError("an id in it is no number from 0 on")
    size = 1 + max(ids)
    if size > LARGEST_BASE:
        raise ValueError(f"it has ids up to {size - 1}")
    texts = [""] * size
    for token, id in vocabulary.items():
        texts[id] = token
    return texts


def _plainly(data: TokenizerJson) -> TokenizerJson:
    """The same tokenizer without markers, so that "<|endoftext|>" in a document is encoded as plain letters.

    For a byte-pair tokenizer, the vocabulary is left out, too.
    """
    plain: TokenizerJson = {**_without_dummy_prefix(data), "added_tokens": []}
    model = data["model"]
    if model.get("type") == "BPE":
        # Most are of this kind, and large. Written out to be read again, they would take twice the time.
        plain["model"] = {**model, "vocab": {}, "merges": [], "unk_token": None}
    return plain


def _id(token: AddedToken) -> int:
    """The id of an added token."""
    id = token["id"]
    if type(id) is not int or id < 0:
        raise ValueError(f"the id of {token['content']} is {id}")
    return id


def _model(model: TokenizerModel) -> BPE:
    """The byte-pair encoder of pieces that a tokenizer.json describes."""
    from tokenizers.models import BPE

    pairs: Any = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    given: Mapping[str, Any] = model
    options = {key: given[key] for key in _BPE_OPTIONS if given.get(key) is not None}
    return BPE(vocab=model["vocab"], merges=pairs, **options)


def _components(data: TokenizerJson) -> Iterable[Component]:
    """Every component of a tokenizer.json, sequences taken apart."""
    for found in (data.get("normalizer"), data.get("pre_tokenizer"), data.get("decoder")):
        part = found or {}
        yield part
        yield from (part.get("normalizers") or part.get("pretokenizers") or part.get("decoders") or ())


def _is_byte_level(data: TokenizerJson) -> bool:
    return any(part.get("type") == "ByteLevel" for part in _components(data))


def _without_dummy_prefix(data: TokenizerJson) -> TokenizerJson:
    """The same tokenizer without the space that some put before the first word: a canvas has its own spaces."""
    # All but the vocabulary, which is large and stays as it is, is copied before it is changed.
    light: TokenizerJson = {**data, "model": {"vocab": {}, "merges": []}}
    data = {**deepcopy(light), "model": data["model"]}
    for part in _components(data):
        if "prepend_scheme" in part:
            part["prepend_scheme"] = "never"
        if "add_prefix_space" in part:
            part["add_prefix_space"] = False
        if part.get("type") == "Prepend":
            part["prepend"] = ""
    return data


@cache
def _translation() -> dict[int, int]:
    """`byte_of_character` as a table for `str.translate`; other characters become one that Latin-1 does not have."""
    table = dict.fromkeys(range(0x100), 0xFFFF)
    return table | {ord(character): byte for character, byte in byte_of_character().items()}


def _byte_level_bytes(text: str) -> bytes:
    try:
        return text.translate(_translation()).encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _sentencepiece_bytes(text: str) -> bytes:
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        return bytes.fromhex(text[3:5])
    return text.replace("▁", " ").encode()


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")


def load_tokenizer(name_or_path: str) -> Tokenizer:
    """The tokenizer of that name: `gpt2`, or the path of a tokenizer.json or of a folder that holds one."""
    if name_or_path == "gpt2":
        return Gpt2Tokenizer()
    path = Path(name_or_path)
    if path.is_dir():
        path = path / "tokenizer.json"
    if not path.is_file():
        raise ReviserError(f"there is no tokenizer at {name_or_path}")
    return HuggingFaceTokenizer(path)
