"""Plain text is cut as the tokenizers package cuts it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from reviser.core.encoding.pieces import is_plain_text, plain_cut

WORDS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
DIGITS = {"type": "Digits", "individual_digits": True}
KINDS: dict[str, tuple[dict[str, Any], pre_tokenizers.PreTokenizer]] = {
    "words": (WORDS, pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "digits and words": (
        {"type": "Sequence", "pretokenizers": [DIGITS, WORDS]},
        pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    ),
}
PLAIN = [chr(code) for code in range(0x3000) if is_plain_text(chr(code))]

texts = st.text(st.sampled_from(PLAIN), max_size=40) | st.lists(
    st.sampled_from([" ", "  ", "\n", "\t", "a", "É", "word", "7", "42", "'", "'s", "'ll", "’", "—", "."]), max_size=12
).map("".join)


def theirs(package: pre_tokenizers.PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in package.pre_tokenize_str(text)]


@pytest.mark.parametrize("kind", KINDS)
@given(texts)
@example("")
@example("They've 12 cats,\n\n  and 3  ")
def test_plain_text_is_cut_as_the_package_cuts_it(kind: str, text: str) -> None:
    part, package = KINDS[kind]
    cut = plain_cut(part)
    assert cut is not None
    assert [*cut(text)] == theirs(package, text)


@pytest.mark.parametrize("kind", KINDS)
def test_every_plain_character_is_of_the_class_that_the_package_takes_it_for(kind: str) -> None:
    part, package = KINDS[kind]
    cut = plain_cut(part)
    assert cut is not None
    assert len(PLAIN) > 150
    for character in PLAIN:
        for text in (f"a{character}b", f" {character} ", f"1{character}2", f"!{character}!", f"'{character}"):
            assert [*cut(text)] == theirs(package, text)


def test_other_characters_and_other_kinds_are_left_to_the_package() -> None:
    for text in ("漢字", "²", "\xa0", "\x0b", "\x85", "٣", "ß\u0300", "👩"):
        assert not is_plain_text(text)
    for part in (
        None,
        {},
        DIGITS,
        {**WORDS, "use_regex": False},
        {**WORDS, "add_prefix_space": True},
        {"type": "Sequence", "pretokenizers": [{**DIGITS, "individual_digits": False}, WORDS]},
        {"type": "Sequence", "pretokenizers": [WORDS, DIGITS]},
        {"type": "Split", "pattern": {"Regex": " "}, "behavior": "Isolated"},
    ):
        assert plain_cut(part) is None
