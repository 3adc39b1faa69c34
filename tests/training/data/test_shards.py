"""Texts to shards: every format, skipping what is done, the manifest, and transport."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reviser.cli.options import run_with
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, decode
from training.data import shards
from training.data.boundaries import boundary_classes
from training.data.corpus import Corpus, Manifest
from training.data.shards import Options, run, tokenise
from training.data.sources import documents, source_digest

main = partial(run_with, run)

TEXTS = ["The first document.\nTwo lines.", "Ein zweiter, 漢字 🙂.", "", "third\r\n"]


def as_jsonl(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text, "n": 1}) + "\n" for text in texts).encode()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl.xz"
    path.write_bytes(lzma.compress(as_jsonl(TEXTS)))
    return path


def texts_in(folder: Path) -> list[str]:
    tokenizer = Gpt2Tokenizer()
    return [
        decode(tokenizer, shard.tokens[start:end].tolist())
        for shard in Corpus.open(folder).shards
        for start, end in zip(shard.offsets, shard.offsets[1:], strict=False)
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", as_jsonl(TEXTS)),
        ("a.jsonl.gz", gzip.compress(as_jsonl(TEXTS))),
        ("a.jsonl.xz", lzma.compress(as_jsonl(TEXTS) + b"\n")),
        ("a.txt", TEXTS[0].encode()),
        ("a.txt.xz", lzma.compress(TEXTS[0].encode())),
        ("a.md", b"\xef\xbb\xbf" + TEXTS[0].encode()),
    ],
)
def test_formats(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    expected = TEXTS if "jsonl" in name else TEXTS[:1]
    assert list(documents(str(tmp_path / name))) == expected
    tokenise(tmp_path / "out", [str(tmp_path / name)], "gpt2")
    assert texts_in(tmp_path / "out") == expected


def test_a_folder_and_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(3):
        many = [f"{number} {text}" for text in TEXTS]
        (folder / f"{number}.jsonl").write_bytes(as_jsonl(many))
    monkeypatch.setattr(shards, "_CHUNK_CHARACTERS", 30)
    options = Options(workers=2, shard_tokens=8)
    manifest = tokenise(tmp_path / "out", [str(folder)], "gpt2", options)
    assert texts_in(tmp_path / "out") == [f"{n} {text}" for n in range(3) for text in TEXTS]
    assert len(manifest.sources) == 3
    assert all(len(entry.shards) > 1 for entry in manifest.sources)


def test_some_texts_are_wrapped_and_say_the_same(tmp_path: Path) -> None:
    line = "It was a narrow beach, where trees leaned over the rocks and the sea was foam. "
    texts = [f"{number}. {line * 3}\n\n{line * 2}".strip() for number in range(200)]
    (tmp_path / "texts.jsonl").write_bytes(as_jsonl(texts))
    tokenise(tmp_path / "out", [str(tmp_path / "texts.jsonl")], "gpt2", Options(wrapped=0.25))
    found = texts_in(tmp_path / "out")
    changed = [(new, old) for new, old in zip(found, texts, strict=True) if new != old]
    assert 30 < len(changed) < 70
    for new, old in changed:
        assert new.split() == old.split()
        assert new.count("\n\n") == 1
        assert max(map(len, new.split("\n"))) <= 80
    assert len({max(map(len, new.split("\n"))) for new, _ in changed}) > 5
    # The same share leaves a source as it is; another one makes another selection of it.
    words = [str(tmp_path / "out"), str(tmp_path / "texts.jsonl"), "--tokenizer", "gpt2"]
    assert main([*words, "--wrapped", "0.25"]) == 0
    assert len(Manifest.load(tmp_path / "out").sources) == 1
    assert main([*words, "--wrapped", "0.5"]) == 0
    assert len(Manifest.load(tmp_path / "out").sources) == 2
    assert main([*words, "--wrapped", "2"]) == 2


def test_manifest(tmp_path: Path, source: Path) -> None:
    tokenise(tmp_path / "out", [str(source)], "gpt2")
    manifest = Manifest.load(tmp_path / "out")
    (entry,) = manifest.sources
    assert entry.source == "source.jsonl.xz"
    assert entry.sha256 == source_digest(str(source))
    assert (manifest.documents, manifest.tokens) == (4, entry.tokens)
    assert manifest.tokenizer.name == "gpt2"
    corpus = Corpus.open(tmp_path / "out")
    assert corpus.shards[0].tokens.dtype == np.uint16
    assert not corpus.shards[0].tokens.flags.writeable
    assert (corpus.classes == boundary_classes(Gpt2Tokenizer())).all()
    assert corpus.vocabulary().size == 50291


def test_done_sources_are_skipped(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "out"
    said: list[str] = []
    tokenise(out, [str(source)], "gpt2", say=said.append)
    stamps = {path: path.stat().st_mtime_ns for path in out.glob("*.tokens.npy")}
    more = tmp_path / "more.txt"
    more.write_text("Another one.")
    # The same file under another name is the same source.
    renamed = source.rename(tmp_path / "renamed.jsonl.xz")
    manifest = tokenise(out, [str(renamed), str(more)], "gpt2", say=said.append)
    assert "already there" in said[1]
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert len(manifest.sources) == 2
    # A limit makes it another selection, and a lost shard is made anew.
    assert len(tokenise(out, [str(renamed)], "gpt2", Options(limit=1)).sources) == 3
    next(iter(stamps)).unlink()
    assert len(tokenise(out, [str(renamed)], "gpt2").sources) == 3
    assert sorted(texts_in(out)) == sorted([*TEXTS, TEXTS[0], "Another one."])


def test_an_interrupted_run_goes_on(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    broken = tmp_path / "z.jsonl"
    broken.write_text('{"text": "fine"}\n{"no": 1}\n')
    with pytest.raises(ReviserError, match=r'z\.jsonl, line 2: .*"text"'):
        tokenise(out, [str(source), str(broken)], "gpt2")
    said: list[str] = []
    broken.write_text('{"text": "fine"}\n')
    tokenise(out, [str(source), str(broken)], "gpt2", say=said.append)
    assert "already there" in said[0]
    assert texts_in(out) == [*TEXTS, "fine"]


class Shifted(Gpt2Tokenizer):
    """A tokenizer with more ids than 16 bits can tell apart."""

    name = "shifted"
    size = 90_000

    def encode(self, text: str) -> list[int]:
        return [id + 30_000 for id in super().encode(text)]

    def token_bytes(self, token: int) -> bytes:
        return super().token_bytes(token - 30_000)


def test_large_vocabularies(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "load_tokenizer", lambda name: Shifted())
    tokenise(tmp_path / "out", [str(source)], "shifted")
    corpus = Corpus.open(tmp_path / "out")
    assert corpus.shards[0].tokens.dtype == np.uint32
    monkeypatch.undo()
    with pytest.raises(ReviserError, match="another tokenizer, shifted"):
        tokenise(tmp_path / "out", [str(source)], "gpt2")


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "datasets", None)
    (tmp_path / "a.jsonl.zst").write_bytes(b"?")
    with pytest.raises(ReviserError, match=r"needs zstandard.*reviser\[data\]"):
        list(documents(str(tmp_path / "a.jsonl.zst")))
    with pytest.raises(ReviserError, match=r"needs datasets.*reviser\[data\]"):
        list(documents("hf:some/set"))


def test_data_sets_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load_dataset(name: str, config: str | None, split: str, streaming: bool) -> Any:
        asked.append((name, config, split, streaming))
        if name == "offline":
            raise ConnectionError("no network")
        return ({"text": text} for text in TEXTS)

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    out, name = tmp_path / "out", "hf:some/set@part#validation"
    tokenise(out, [name], "gpt2", Options(limit=2))
    tokenise(out, [name], "gpt2", Options(limit=2))
    assert asked == [("some/set", "part", "validation", True)]
    assert texts_in(out) == TEXTS[:2]
    assert Manifest.load(out).sources[0].sha256
    with pytest.raises(ReviserError, match="no network"):
        tokenise(out, ["hf:offline"], "gpt2")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.xz", lzma.compress(as_jsonl(TEXTS))[:-20], "cannot be read"),
        ("a.jsonl.gz", b"not gzip", "cannot be read"),
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReviserError, match=said):
        list(documents(str(tmp_path / name)))


def test_command(tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main([out, "--tokenizer", "gpt2", "--workers", "1", str(source)]) == 0
    assert "out: 4 documents" in capsys.readouterr().out
    assert main([out, str(tmp_path / "missing.txt"), "--tokenizer", "gpt2", "--workers", "1"]) == 2
    assert f"there is no file {tmp_path / 'missing.txt'}" in capsys.readouterr().err
    assert main([out, str(source)]) == 2
    assert main([str(tmp_path / "nothing")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_nothing_of_the_command_line_app_is_needed() -> None:
    """The data path runs where only numpy, numba and the tokenizers are installed."""
    modules = "samples.generator data.shards samples.samples batches.packing batches.loader __main__"
    imports = "; ".join(f"import training.{module}" for module in modules.split())
    code = f"import sys; {imports}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"typer", "rich", "torch", "datasets"} & set(loaded)
