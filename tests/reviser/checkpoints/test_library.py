"""Model folders and names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviser.checkpoints import find_model, list_models
from reviser.checkpoints.home import save_checkpoint
from reviser.checkpoints.hub import is_hub_id
from reviser.checkpoints.library import name_of, note, place_for, user_folder
from reviser.core.errors import ReviserError
from reviser.model.layout import Quantisation
from tests.reviser.checkpoints.parts import toy_checkpoint


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one's own and an installation with no model in it."""
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    monkeypatch.setattr("reviser.checkpoints.library.embedded_folder", lambda: tmp_path / "weights")
    return tmp_path / "home"


def test_a_model_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    saved = save_checkpoint(place_for("toy"), toy_checkpoint())
    assert find_model("toy") == saved
    assert find_model(saved) == find_model(str(saved)) == saved
    elsewhere = save_checkpoint(tmp_path / "elsewhere", toy_checkpoint())
    assert find_model(elsewhere) == elsewhere
    assert [entry.name for entry in list_models()] == ["toy"]
    assert note(saved) == "a test"


def test_the_errors_say_what_exists(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="there are none yet, and `reviser models pull smollm2`"):
        find_model("toy")
    nothing = "no model comes with this installation, so name one with --model or REVISER_MODEL"
    with pytest.raises(ReviserError, match=nothing):
        find_model()
    save_checkpoint(place_for("toy"), toy_checkpoint())
    save_checkpoint(place_for("other"), toy_checkpoint())
    with pytest.raises(ReviserError, match="there is no model tony; there are other, toy"):
        find_model("tony")
    with pytest.raises(ReviserError, match="is not a model folder"):
        find_model(tmp_path)


def test_the_order_of_models_to_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = save_checkpoint(place_for("toy"), toy_checkpoint())
    embedded = save_checkpoint(tmp_path / "weights", toy_checkpoint(), quantisation=Quantisation(4))
    assert find_model() == find_model("default") == embedded
    assert name_of(embedded) == "default"
    assert [(entry.name, entry.embedded) for entry in list_models()] == [("toy", False), ("default", True)]
    assert note(embedded) == "a test, 4 bits"
    own = save_checkpoint(place_for("default"), toy_checkpoint())
    assert find_model() == find_model("default") == own
    assert [(entry.name, entry.embedded) for entry in list_models()] == [("default", False), ("toy", False)]
    monkeypatch.setenv("REVISER_MODEL", "toy")
    assert find_model() == toy
    assert find_model("default") == own
    monkeypatch.setenv("REVISER_MODEL", str(embedded))
    assert find_model() == embedded
    monkeypatch.setenv("REVISER_MODEL", "")
    assert find_model() == own
    monkeypatch.setenv("REVISER_MODEL", "tony")
    with pytest.raises(ReviserError, match="there is no model tony; there are default, toy"):
        find_model()


def test_the_user_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_folder() == home / "models"
    monkeypatch.delenv("REVISER_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert user_folder() == tmp_path / "data" / "reviser" / "models"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert user_folder() == Path.home() / ".local" / "share" / "reviser" / "models"


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a b"])
def test_names_that_are_no_names(name: str) -> None:
    with pytest.raises(ReviserError, match="cannot name a model"):
        place_for(name)


def test_what_is_a_hub_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert is_hub_id("owner/name-1.5")
    for path in ("runs/last", "name", "owner/model.pt", "a/b/c", "/owner/name", "./owner"):
        assert not is_hub_id(path), path


def test_finding_a_model_does_not_load_torch() -> None:
    program = "import sys, reviser.checkpoints as c; c.list_models(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
