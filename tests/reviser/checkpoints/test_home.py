"""The home format: round trips, and one plain sentence for each way a folder can be wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import load, save
from reviser.checkpoints.home import save_checkpoint
from reviser.checkpoints.summary import inspect, is_home
from reviser.checkpoints.tensors import INDEX_FILE, SINGLE_FILE
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import preset
from tests.reviser.checkpoints.parts import (
    assert_same,
    edit_config,
    edit_tensors,
    random_model,
    scores,
    some_ids,
    toy_checkpoint,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_checkpoint(tmp_path / "toy", toy_checkpoint())


@pytest.mark.parametrize(
    "changes",
    [{}, {"tied": False}, {"canvas_input": "linear", "cross_layers": 1, "cross_memory": "tokens"}],
    ids=["tied", "untied", "canvas"],
)
def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path, changes: dict[str, object]) -> None:
    checkpoint = toy_checkpoint(**changes)
    save_checkpoint(tmp_path / "it", checkpoint)
    again = load(tmp_path / "it")
    assert_same(checkpoint, again)
    if not checkpoint.model.config.uses_canvas:
        ids = some_ids(checkpoint.vocabulary.size)
        assert torch.equal(scores(again.model, ids), scores(checkpoint.model, ids))
    save_checkpoint(tmp_path / "copy", again)
    assert_same(checkpoint, load(tmp_path / "copy"))


def test_the_paper_kind_uses_the_built_in_tokenizer(tmp_path: Path) -> None:
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    model = random_model(preset("tiny-paper", vocab_size=vocabulary.size))
    save(tmp_path / "paper", model, vocabulary, "gpt2", metadata={"run": 3})
    again = load(tmp_path / "paper")
    assert again.tokenizer.name == "gpt2"
    assert again.vocabulary == vocabulary
    assert again.metadata == {"run": 3}
    assert not (tmp_path / "paper" / "tokenizer.json").exists()


def test_shards_are_the_same_model(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint()
    assert checkpoint.tokenizer_json
    save(
        tmp_path / "sharded",
        checkpoint.model,
        checkpoint.vocabulary,
        checkpoint.tokenizer_json,
        metadata=checkpoint.metadata,
        shard_bytes=20_000,
    )
    assert len(list((tmp_path / "sharded").glob("model-*-of-*.safetensors"))) > 3
    assert_same(checkpoint, load(tmp_path / "sharded"))
    assert inspect(tmp_path / "sharded").parameters == sum(
        parameter.numel() for parameter in checkpoint.model.parameters()
    )
    next((tmp_path / "sharded").glob("model-00002*")).unlink()
    with pytest.raises(ReviserError, match="lacks the shard model-00002"):
        load(tmp_path / "sharded")


def test_precision_can_change_on_the_way_in_and_out(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint()
    save_checkpoint(tmp_path / "half", checkpoint, dtype=torch.bfloat16)
    stored = load(tmp_path / "half").model
    assert {parameter.dtype for parameter in stored.parameters()} == {torch.bfloat16}
    ids = torch.tensor([[3, 4, 5]])
    assert stored.prefill(ids, stored.new_cache()).dtype == torch.bfloat16
    wide = load(tmp_path / "half", dtype=torch.float32).model
    assert torch.equal(wide.embedding.weight, checkpoint.model.embedding.weight.bfloat16().float())


def test_weights_are_mapped_not_read(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "it", toy_checkpoint(width=512, ff=8192))
    program = (
        "import sys; from pathlib import Path; from reviser.checkpoints import load\n"
        "def anonymous():\n"
        "    return int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "import reviser.checkpoints.home, safetensors.torch, tokenizers\n"
        "load(Path(sys.argv[1]))\n"
        "before = anonymous(); kept = load(Path(sys.argv[1])); print(anonymous() - before)"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    result = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "it"], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) < inspect(tmp_path / "it").file_bytes / 4


def test_summary_of_headers(folder: Path) -> None:
    checkpoint = toy_checkpoint()
    summary = inspect(folder)
    assert summary.config == checkpoint.model.config
    assert summary.vocabulary == checkpoint.vocabulary
    assert summary.dtypes == {"F32": summary.parameters}
    assert json.loads(json.dumps(summary.to_dict()))["metadata"] == checkpoint.metadata
    assert is_home(folder)
    assert not is_home(folder.parent)


def test_an_existing_folder_is_kept_unless_replaced(folder: Path) -> None:
    other = toy_checkpoint(seed=1)
    with pytest.raises(ReviserError, match="already exists"):
        save_checkpoint(folder, other)
    assert_same(toy_checkpoint(), load(folder))
    save_checkpoint(folder, other, replace=True)
    assert_same(other, load(folder))
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reviser.checkpoints.home.write_tensors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path / "it", toy_checkpoint())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReviserError, match="cannot be written"):
        save_checkpoint(tmp_path / "file" / "it", toy_checkpoint())


def test_a_vocabulary_must_fit_its_model(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint()
    with pytest.raises(ReviserError, match=r"has 50291 ids and the model \d+"):
        save(tmp_path / "it", checkpoint.model, Vocabulary.gpt2(), "gpt2")


def cut(folder: Path) -> None:
    path = folder / SINGLE_FILE
    path.write_bytes(path.read_bytes()[:-100])


def integers(tensors: dict[str, torch.Tensor]) -> None:
    tensors["final_norm.weight"] = tensors["final_norm.weight"].to(torch.int8)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "there is no config.json"),
    "not json": (lambda folder: (folder / "config.json").write_text("{"), "is not JSON"),
    "not ours": (edit_config(format=None), "does not describe a Reviser model"),
    "newer": (edit_config(version=9), "format version 9, and this program knows 1"),
    "no model": (edit_config(model=None), "lacks a usable 'model'"),
    "bad model": (edit_config(model={"kind": "llama"}), "does not describe a usable model"),
    "bad vocabulary": (edit_config(vocabulary={}), "does not describe a usable vocabulary"),
    "other vocabulary": (edit_config(vocabulary=Vocabulary.gpt2().to_dict()), "has 50291 ids and the model"),
    "unknown tokenizer": (edit_config(tokenizer="../x"), "unknown tokenizer"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "there is no file"),
    "no weights": (lambda folder: (folder / SINGLE_FILE).unlink(), "holds no weights"),
    "cut short": (cut, "is damaged or no safetensors file"),
    "garbage": (lambda folder: (folder / SINGLE_FILE).write_bytes(b"x" * 99), "is damaged"),
    "bad index": (
        lambda folder: (folder / INDEX_FILE).write_text('{"weight_map": {"a": "../b"}}'),
        "not a usable index",
    ),
    "missing tensor": (
        edit_tensors(lambda tensors: tensors.pop("blocks.1.mlp.up.weight")),
        "lacks the tensor blocks.1.mlp.up.weight",
    ),
    "extra tensor": (
        edit_tensors(lambda tensors: tensors.update(extra=torch.zeros(2))),
        "has a tensor that this model does not: extra",
    ),
    "wrong shape": (
        edit_tensors(lambda tensors: tensors.update({"final_norm.weight": torch.zeros(3)})),
        "final_norm.weight in .* has the shape 3, and the configuration asks for 32",
    ),
    "wrong type": (edit_tensors(integers), "final_norm.weight in .* is stored as I8"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_has_its_sentence(folder: Path, damage: str) -> None:
    change, sentence = DAMAGES[damage]
    change(folder)
    with pytest.raises(ReviserError, match=sentence) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
