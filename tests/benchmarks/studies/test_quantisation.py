"""What quantised weights cost, measured on any model, also on one whose weights lie on no grid."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
import torch

from benchmarks.studies.quantisation import main, shuffled
from reviser.checkpoints.home import save_checkpoint
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import toy_checkpoint


def test_a_shuffled_model_computes_the_same_with_other_groups() -> None:
    model = Reviser(preset("smol", vocab_size=50, layers=2))
    ids = torch.randint(0, 50, (2, 9))
    expected = model(ids)
    name = "blocks.1.mlp.down.weight"
    weights = shuffled(model)
    other = Reviser(model.config)
    other.load_state_dict(weights)
    assert torch.allclose(other(ids), expected, atol=1e-5)
    assert not torch.equal(weights[name], model.state_dict()[name])
    assert sorted(weights[name].flatten().tolist()) == sorted(
        model.state_dict()[name].flatten().tolist()
    )


def test_the_cost_of_a_model_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_checkpoint(tmp_path / "model", toy_checkpoint(context=512))
    text = "the thing in all the tins is a thin ill the " * 12
    with lzma.open(tmp_path / "texts.jsonl.xz", "wt") as file:
        file.writelines(json.dumps({"text": f"{n} {text}"}) + "\n" for n in range(3))
    words = [
        str(tmp_path / "model"),
        "--data",
        str(tmp_path / "texts.jsonl.xz"),
        "--documents",
        "2",
    ]
    page = tmp_path / "cost.md"
    assert main([*words, "--json", "--write", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["documents"] == 2
    assert found["megabytes"]["int4"] < found["megabytes"]["int8"] < found["megabytes"]["fp32"]
    assert abs(found["cost"]["int8"]) < 0.05
    assert "- Weights: model\n" in page.read_text()
