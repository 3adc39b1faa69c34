"""The encoding of a file is told by its bytes, or by the user, and what is written is read again."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import NotText, ReviserError
from reviser.session.charsets import UTF_8, Charset, encoding_named, read_text, write_text

LETTER = "Dear Zoë,\r\nthe “café” costs 5 € – naïve, isn’t it?\r\n"
PLAIN = "Dear reader,\nthe cat sat.\n"
MARK = "\ufeff"


@pytest.mark.parametrize(
    ("data", "text", "charset"),
    [
        (b"", "", UTF_8),
        (b"\xef\xbb\xbf", "", Charset("utf-8", codecs.BOM_UTF8)),
        (LETTER.encode(), LETTER, UTF_8),
        (LETTER.encode("utf-8-sig"), LETTER, Charset("utf-8", codecs.BOM_UTF8)),
        (LETTER.encode("cp1252"), LETTER, Charset("windows-1252")),
        (PLAIN.encode("utf-16-le"), PLAIN, Charset("utf-16-le")),
        (PLAIN.encode("utf-16-be"), PLAIN, Charset("utf-16-be")),
        (LETTER.encode("utf-16-be"), LETTER, Charset("utf-16-be")),
        ((MARK + "Привет\n").encode("utf-16-be"), "Привет\n", Charset("utf-16-be", codecs.BOM_UTF16_BE)),
        ((MARK + PLAIN).encode("utf-32-le"), PLAIN, Charset("utf-32-le", codecs.BOM_UTF32_LE)),
        (b"\x1b[1mbold\x1b[0m caf\xe9", "\x1b[1mbold\x1b[0m café", Charset("windows-1252")),
    ],
)  # fmt: skip
def test_bytes_tell_the_encoding(data: bytes, text: str, charset: Charset) -> None:
    assert read_text(data, "a") == (text, charset)
    assert write_text(text, charset, "a") == data


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"a\0b", "a binary file"),
        (PLAIN.encode() + b"\0", "a binary file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a binary file"),
        (bytes(range(256)), "a binary file"),
        (b"caf\xe9 \x01", "a binary file"),
        ("Добрый день, как дела?".encode("cp1251"), "name it with --encoding"),
        ("日本語のテキスト".encode("shift_jis"), "name it with --encoding"),
        # Damage is no reason to take the rest for another encoding.
        ("Grüße, Zoë, aus der Käserei".encode() + b"\xff.", "name it with --encoding"),
    ],
)
def test_what_cannot_be_told_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(NotText, match=complaint):
        read_text(data, "a")


@pytest.mark.parametrize(
    ("name", "text", "mark"),
    [
        ("latin-1", "Zoë\x81\n", b""),
        ("windows-1251", "Добрый день\n", b""),
        ("shift_jis", "日本語\n", b""),
        ("utf-16", "日本語\n", b""),
        ("utf-16", "日本語\n", codecs.BOM_UTF16_BE),
        ("utf-16-be", "日本語\n", codecs.BOM_UTF16_BE),
        ("utf-8", "Zoë\n", codecs.BOM_UTF8),
        ("UTF-8-SIG", "Zoë\n", b""),
    ],
)
def test_the_user_can_say_it(name: str, text: str, mark: bytes) -> None:
    order = {codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}.get(mark, name)
    plain = {"utf-16": "utf-16-le", "UTF-8-SIG": "utf-8"}.get(order, order)
    data = mark + text.encode(plain)
    found, charset = read_text(data, "a", name)
    assert (found, charset.mark) == (text, mark)
    assert write_text(found + "more", charset, "a", name) == data + "more".encode(plain)


def test_what_the_user_says_must_fit() -> None:
    for name in ("rot13", "base64", "klingon", "", "a\0"):
        with pytest.raises(ReviserError, match="there is no encoding"):
            encoding_named(name)
    with pytest.raises(NotText, match="a is not utf-8 text: byte 4 cannot be read"):
        read_text(b"caf\xe9", "a", "utf-8")
    # Two ways to say the same: what is written back would differ where nothing was changed.
    with pytest.raises(NotText, match="not be the same again"):
        read_text(b"+AGE-", "a", "utf-7")


@pytest.mark.parametrize(
    ("text", "charset", "complaint"),
    [
        ("one\0two", UTF_8, "NUL"),
        ("one\ud800two", UTF_8, r"is in utf-8, which has no U\+D800"),
        ("Zoë paid 5 ₽", Charset("windows-1252"), "is in windows-1252, which has no “₽”"),
        # It would be UTF-8 for whoever reads it.
        ("Ã© in a cafÃ©", Charset("windows-1252"), "would not be read as windows-1252"),
        ("日本語", Charset("utf-16-le"), "would not be read as utf-16-le"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(text: str, charset: Charset, complaint: str) -> None:
    with pytest.raises(ReviserError, match=complaint):
        write_text(text, charset, "a")


CHARSETS = [UTF_8, Charset("utf-8", codecs.BOM_UTF8), Charset("windows-1252"), Charset("utf-16-le")]


@given(st.text(), st.sampled_from(CHARSETS))
def test_all_that_is_written_is_read_again(text: str, charset: Charset) -> None:
    try:
        data = write_text(text, charset, "a")
    except ReviserError:
        return
    again, other = read_text(data, "a")
    assert (MARK if other.mark else "") + again == (MARK if charset.mark else "") + text


@given(st.binary())
def test_all_that_is_read_can_be_written_again(data: bytes) -> None:
    try:
        text, charset = read_text(data, "a")
    except NotText:
        return
    assert write_text(text, charset, "a") == data
