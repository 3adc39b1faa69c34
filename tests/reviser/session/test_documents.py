"""Encodings and line endings of a file come back byte for byte around what is added."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from reviser.session.documents import DocumentFile, check_writable

CONTENTS = {
    "utf-8": "Grüße\nzwei\n".encode(),
    "no final newline": b"one",
    "crlf": b"one\r\ntwo\r\n",
    "cr": b"one\rtwo",
    "mixed": b"one\r\ntwo\nthree\r",
    "utf-8 with mark": b"\xef\xbb\xbfone\r\n",
    "utf-16 little": "\ufeffone 👩‍💻\r\n".encode("utf-16-le"),
    "utf-16 big": "\ufeffone\n".encode("utf-16-be"),
    "utf-16 without mark": "one\r\ntwo".encode("utf-16-be"),
    "windows-1252": "“Grüße”, he wrote\r\n".encode("cp1252"),
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_what_is_read_is_what_is_written(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    document = DocumentFile.read(path)
    assert not document.text.startswith("\ufeff")
    document.write(document.text)
    assert path.read_bytes() == content


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("documents") / "file.txt"
    path.write_bytes(text.encode())
    document = DocumentFile.read(path)
    assert document.encode(document.text) == path.read_bytes()


def test_added_lines_end_as_the_others_do(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("one\r\ntwo".encode("utf-16"))
    document = DocumentFile.read(path)
    assert document.text == "one\ntwo"
    document.write(document.text + "\nthree")
    assert path.read_bytes() == "one\r\ntwo\r\nthree".encode("utf-16")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"\x00\x01\x02\xff", "binary"), (b"a\x00b", "binary"), (b"caf\xe9 \xff\xff\xff", "UTF-8")],
)
def test_what_is_not_text_is_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    with pytest.raises(ReviserError, match=complaint):
        DocumentFile.read(path)


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("naïve\n".encode("cp1252"))
    document = DocumentFile.read(path)
    for text, complaint in (("na\0ve\n", "NUL"), ("наив\n", "has no “н”"), ("naÃ¯ve\n", "read as")):
        for write in (document.write, document.update):
            with pytest.raises(ReviserError, match=complaint):
                write(text)
    assert path.read_bytes() == "naïve\n".encode("cp1252")
    document.update("naïve, too\n")
    assert path.read_bytes() == "naïve, too\n".encode("cp1252")


def test_an_encoding_that_is_named_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("Привет\r\n".encode("cp1251"))
    document = DocumentFile.read(path, "windows-1251")
    document.update(document.text + "мир\n")
    assert path.read_bytes() == "Привет\r\nмир\r\n".encode("cp1251")
    new = DocumentFile.new(tmp_path / "new.txt", "utf-16")
    new.write("日本\n")
    assert DocumentFile.read(new.path, "utf-16").text == "日本\n"


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(ReviserError, match="read-only"):
        DocumentFile.read(path).write("new")
    assert path.read_bytes() == b"old"
    with pytest.raises(ReviserError, match="in place"):
        check_writable(Path("-"))
    check_writable(tmp_path / "not there yet")
