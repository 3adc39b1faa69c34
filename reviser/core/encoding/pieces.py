"""The pre-tokenizer of plain text: it cuts text into the pieces that byte-level BPE merges, as the tokenizers package
does.

Python's regular expressions have no class such as "any letter". Text with characters other than those listed below is
left to the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

Cut = Callable[[str], Iterable[str]]

_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ"
# ASCII without the characters between which and white space opinions differ, letters of Latin-1, dashes, quotes and
# dots.
_PLAIN = re.compile(rf"[\t\n\r -~{_LETTERS}\u2010-\u2027]*")
_DIGIT = re.compile("([0-9])")
_PIECE = re.compile(rf"'(?:[sdmt]|ll|ve|re)| ?[{_LETTERS}]+| ?[0-9]+| ?[^\s{_LETTERS}0-9]+|\s+(?!\S)|\s+")


def is_plain_text(text: str) -> bool:
    """Whether a text has only characters that this module can cut."""
    return _PLAIN.fullmatch(text) is not None


def plain_cut(pre_tokenizer: Mapping[str, Any] | None) -> Cut | None:
    """The function that cuts plain text as a tokenizer.json's pre-tokenizer does; None for an unknown kind."""
    part = pre_tokenizer or {}
    steps = part.get("pretokenizers") or [] if part.get("type") == "Sequence" else [part]
    if len(steps) == 2 and _cuts_digits(steps[0]) and _cuts_words(steps[1]):
        return _cut_digits_and_words
    if len(steps) == 1 and _cuts_words(steps[0]):
        return _cut_words
    return None


def _cuts_digits(step: Mapping[str, Any]) -> bool:
    return step.get("type") == "Digits" and step.get("individual_digits") is True


def _cuts_words(step: Mapping[str, Any]) -> bool:
    return (
        step.get("type") == "ByteLevel"
        and step.get("use_regex", True) is True
        and step.get("add_prefix_space") is False
    )


def _cut_words(text: str) -> Iterable[str]:
    return map(written_bytes, _PIECE.findall(text))


def _cut_digits_and_words(text: str) -> Iterable[str]:
    # What lies between digits is cut by itself: the last white space of it does not see the digit behind it.
    return map(written_bytes, chain.from_iterable(map(_PIECE.findall, _DIGIT.split(text))))


def written_bytes(text: str) -> str:
    """The bytes of a text in byte-level BPE's notation, one printable character for each byte."""
    return text.encode().decode("latin-1").translate(_characters())


@cache
def _characters() -> dict[int, str]:
    return {byte: character for character, byte in byte_of_character().items()}


@cache
def byte_of_character() -> dict[str, int]:
    """Byte-level BPE's notation: the byte that each printable character stands for (itself, or one from U+0100 on)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(0x100 + index): byte for index, byte in enumerate(others)}
