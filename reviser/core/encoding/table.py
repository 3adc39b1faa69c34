"""A table of the tokens of a tokenizer.json, stored so that reading it takes almost no time.

Such a table may lie beside a packed tokenizer.json. It holds the tokens of byte-level BPE in sorted order, which
compresses well, their ids, the length of the first half of each token that a merge makes, and the rest of the file.
Tokens are looked up in this form: building strings and a dictionary of all of them takes longer than encoding a short
text. The table records for which content it was made and is not used with any other.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from reviser.core.encoding.merging import first_merged, is_plain, merge_names
from reviser.core.encoding.pieces import byte_of_character
from reviser.core.tokenizer_json import TokenizerJson

_BETWEEN = b"\0"
_LONGEST = 255
_ID_BYTES = 4


class _Head(TypedDict):
    """The header of a table."""

    content: str
    rest: TokenizerJson


def _numbers(array: NDArray[Any]) -> memoryview[int]:
    """A memoryview of an array, whose single numbers are faster to read than the array's."""
    return memoryview(array.astype(np.uint32).tobytes()).cast("I")


def _planes(ids: Sequence[int]) -> bytes:
    """The lowest bytes of all ids, then their second bytes and so on, which compresses best."""
    return np.array(ids, dtype="<u4").view(np.uint8).reshape(-1, _ID_BYTES).T.tobytes()


def _from_planes(planes: bytes) -> NDArray[np.uint32]:
    rows = np.frombuffer(planes, np.uint8).reshape(_ID_BYTES, -1)
    return np.ascontiguousarray(rows.T).view("<u4").reshape(-1).astype(np.uint32)


class _LazyStrings(Sequence[str]):
    """A sequence of strings, each made when it is read."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self._text(one) for one in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._text(index % len(self))

    def _text(self, index: int) -> str:
        raise NotImplementedError


class Tokens(_LazyStrings):
    """Tokens by id. They are stored in sorted order in one text, separated by line ends; `ids` gives the id of each."""

    def __init__(self, text: str, ids: NDArray[np.uint32]) -> None:
        codes = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")
        starts = np.concatenate(([0], np.flatnonzero(codes == ord("\n")) + 1))
        places = np.empty(len(starts), dtype=np.uint32)
        places[ids] = np.arange(len(starts), dtype=np.uint32)
        self._all = text
        self._starts = _numbers(np.append(starts, len(codes) + 1))
        self._places = _numbers(places)
        self._first = codes[starts][places]

    def __len__(self) -> int:
        return len(self._places)

    def place(self, id: int) -> int:
        """The index of an id's token in sorted order."""
        return self._places[id]

    def at(self, place: int) -> str:
        """The token at an index of the sorted order."""
        return self._all[self._starts[place] : self._starts[place + 1] - 1]

    def _text(self, index: int) -> str:
        return self.at(self._places[index])

    def first_characters(self) -> str:
        """The first character of each token."""
        return self._first.tobytes().decode("utf-16-le")


class TokenIds(Mapping[str, int]):
    """The ids of tokens, found by binary search in the sorted tokens."""

    def __init__(self, tokens: Tokens, ids: NDArray[np.uint32]) -> None:
        self._tokens = tokens
        self._ids = _numbers(ids)
        self._known: dict[str, int | None] = {}

    def __getitem__(self, token: str) -> int:
        if token not in self._known:
            size = len(self._ids)
            place = bisect_left(range(size), token, key=self._tokens.at)
            found = place < size and self._tokens.at(place) == token
            self._known[token] = self._ids[place] if found else None
        known = self._known[token]
        if known is None:
            raise KeyError(token)
        return known

    def get(self, token: str, default: Any = None) -> Any:
        known = self._known.get(token)
        if known is not None:
            return known
        try:
            return self[token]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)


class Merges(_LazyStrings):
    """The merges that make the last tokens, in the notation of a tokenizer.json.

    `halves` has, for each token, the length of its first half, or 0 if no merge makes it.
    """

    def __init__(self, tokens: Tokens, halves: bytes) -> None:
        self._tokens, self._halves = tokens, halves
        self._first = halves.count(0)

    def __len__(self) -> int:
        return len(self._tokens) - self._first

    def _text(self, index: int) -> str:
        place = self._tokens.place(self._first + index)
        half, token = self._halves[place], self._tokens.at(place)
        return f"{token[:half]} {token[half:]}"


@dataclass(frozen=True)
class TokenTable:
    """A tokenizer.json: its tokens and their ids, its merges, and the rest of it."""

    tokens: Tokens
    ids: TokenIds
    merges: Merges
    rest: TokenizerJson

    @property
    def first(self) -> int:
        """The id of the first token that a merge makes."""
        return len(self.tokens) - len(self.merges)

    @classmethod
    def from_bytes(cls, data: bytes, content: str) -> TokenTable | None:
        """The table in a file; None if the file is no table or belongs to another tokenizer.json."""
        try:
            head, text, tail = data.split(_BETWEEN, 2)
            known: Any = json.loads(head)
            if known["content"] != content:
                return None
            size = len(tail) // (_ID_BYTES + 1)
            ids = _from_planes(tail[: _ID_BYTES * size])
            tokens = Tokens(text.decode(), ids)
            merges = Merges(tokens, tail[_ID_BYTES * size :])
            return cls(tokens, TokenIds(tokens, ids), merges, known["rest"])
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            return None


def table_bytes(data: TokenizerJson, content: str) -> bytes | None:
    """The table of a tokenizer.json as bytes of a file; None for a kind of tokenizer that has no table.

    `content` identifies the tokenizer.json.
    """
    if not is_plain(data):
        return None
    vocabulary = data["model"]["vocab"]
    tokens, merges = list(vocabulary), merge_names(data["model"]["merges"])
    known = byte_of_character().keys()
    if first_merged(vocabulary, merges) is None or not all(map(known.__ge__, map(set, tokens))):
        return None
    halves = [0] * (len(tokens) - len(merges)) + [merge.index(" ") for merge in merges]
    if max(halves, default=0) > _LONGEST:
        return None
    head: _Head = {"content": content, "rest": {**data, "model": {**data["model"], "vocab": {}, "merges": []}}}
    order = sorted(range(len(tokens)), key=tokens.__getitem__)
    text = "\n".join([tokens[id] for id in order]).encode()
    numbers = _planes(order) + bytes([halves[id] for id in order])
    return _BETWEEN.join((json.dumps(head).encode(), text, numbers))
