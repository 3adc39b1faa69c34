"""The model that comes along: its size, what it says of itself, and that it writes with a cursor."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reviser.checkpoints.library import embedded_folder
from reviser.core.actions import Move
from reviser.decoding.rollout import Sampler
from reviser.session.engine import Engine, load_engine
from training.samples.mixture import Mixture

ROOT = Path(__file__).parents[3]
DRAFT = (ROOT / "examples" / "draft.txt").read_text("utf-8")
CARD = " ".join((ROOT / "docs" / "model-card.md").read_text("utf-8").replace("\\\n", "").split())


@pytest.fixture(scope="module")
def engine() -> Engine:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REVISER_HOME", "/nowhere")
        patch.delenv("REVISER_MODEL", raising=False)
        return load_engine()


def write(engine: Engine, seed: int) -> tuple[str, str | None, int]:
    """The draft as a run leaves it, how the run ended and how often it moved."""
    session = engine.session(DRAFT)
    run = session.continue_(Sampler(seed=seed))
    moves = sum(isinstance(frame.step.action, Move) for frame in run)
    return session.text, run.rollout.ending, moves


def test_it_is_small_enough_to_come_along() -> None:
    sizes = [path.stat().st_size for path in embedded_folder().iterdir()]
    assert max(sizes) < 50e6
    assert sum(sizes) < 90e6


def test_it_names_its_recipe_and_no_machine() -> None:
    description = (embedded_folder() / "config.json").read_text("utf-8")
    metadata = json.loads(description)["metadata"]
    words = metadata["command"].split()
    recipe = Mixture.load(ROOT / "training" / "recipes" / words[words.index("--mixture") + 1])
    trained = Mixture.from_dict(metadata["mixture"])
    history = metadata["settings"]["history"]
    assert trained.to_dict() == {**recipe.to_dict(), "max_history": history}
    assert '"/' not in description
    assert metadata["command"] in CARD


def test_its_card_tells_every_command_that_its_runs_noted() -> None:
    pages = ("embedded-training.md", "embedded-fourth-run.md", "embedded-last-runs.md")
    text = "\n".join(
        (ROOT / "docs" / "results" / "log" / page).read_text("utf-8") for page in pages
    )
    commands = re.findall(r"^`(python -m training .*)`$", text, re.MULTILINE)
    own = [command for command in commands if "--objective ar" not in command]
    assert len(own) == 6
    assert [command for command in own if command not in CARD] == []


def test_it_may_delete_and_so_revise(engine: Engine) -> None:
    assert engine.policy.vocabulary.revises


def test_it_writes_on_with_a_cursor_the_same_for_the_same_seed(engine: Engine) -> None:
    runs = [write(engine, seed) for seed in (1, 2, 3)]
    for text, _, _ in runs:
        assert text.startswith(DRAFT.rstrip("\n"))
        assert text.endswith("\n")
    # Processors round differently, so what exactly a seed gives is not the same everywhere.
    assert sum(len(text.split()) - len(DRAFT.split()) for text, _, _ in runs) > 60
    assert len({text for text, _, _ in runs}) == len(runs)
    assert any(moves for _, _, moves in runs)
    assert any(ending == "stop" for _, ending, _ in runs)
    assert write(engine, 1) == runs[0]


def test_what_it_writes_is_not_glued_to_the_full_stop_before(engine: Engine) -> None:
    text = "The manual explains the settings and answers common questions."
    for seed in range(1, 7):
        session = engine.session(text)
        run = session.continue_(Sampler(seed=seed), max_actions=6)
        written = [run.written for _ in run]
        assert any(written)
        assert not [part for part in written if part[:1].isalnum()]
