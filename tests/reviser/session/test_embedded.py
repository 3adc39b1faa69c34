"""The bundled model: its size, what it says of itself, and that it writes and corrects."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reviser.checkpoints.library import embedded_folder
from reviser.core.actions import Insert
from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.sampler import Sampler
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
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


def write(engine: Engine, seed: int) -> tuple[str, str | None]:
    """The draft as a run leaves it, and how the run ended."""
    session = engine.session(DRAFT)
    run = session.continue_(Sampler(seed=seed))
    for _ in run:
        pass
    return session.text, run.rollout.ending


def test_it_is_small_enough_to_come_along() -> None:
    sizes = [path.stat().st_size for path in embedded_folder().iterdir()]
    assert max(sizes) < 50e6
    assert sum(sizes) < 90e6


def test_it_names_its_recipe_and_no_machine() -> None:
    description = (embedded_folder() / "config.json").read_text("utf-8")
    metadata = json.loads(description)["metadata"]
    words = metadata["command"].split()
    recipe = Mixture.load(ROOT / words[words.index("--mixture") + 1])
    trained = Mixture.from_dict(metadata["mixture"])
    history = metadata["settings"]["history"]
    assert trained.to_dict() == {**recipe.to_dict(), "max_history": history}
    assert '"/' not in description
    assert metadata["command"] in CARD


def test_the_card_tells_the_command_of_every_run() -> None:
    page = (ROOT / "docs" / "results" / "training-runs.md").read_text("utf-8")
    table = page.split("## The bundled model")[1].split("## ")[0]
    runs = re.findall(r"^\| (\w+) \| (\d+) \| (\w+) \| ([\d.]+) \|", table, re.MULTILINE)
    commands = re.findall(r"python -m training run .*?--minutes [\d.]+", CARD)
    assert len(runs) == len(commands) == 2
    for (name, seed, commit, minutes), command in zip(runs, commands, strict=True):
        assert f"--seed {seed} " in command
        assert f"--out runs/{name} " in command
        assert round(float(command.split()[-1]), 1) == float(minutes)
        assert f"commit {commit}, seed {seed}" in CARD


def test_it_may_delete_and_so_revise(engine: Engine) -> None:
    assert engine.policy.vocabulary.revises


def test_it_writes_on_the_same_for_the_same_seed(engine: Engine) -> None:
    runs = [write(engine, seed) for seed in (1, 2)]
    for text, _ in runs:
        assert text.startswith(DRAFT.rstrip("\n"))
        assert text.endswith("\n")
    # Processors round differently, so what exactly a seed gives is not the same everywhere.
    assert sum(len(text.split()) - len(DRAFT.split()) for text, _ in runs) > 60
    assert len({text for text, _ in runs}) == len(runs)
    assert any(ending == "stop" for _, ending in runs)
    assert write(engine, 1) == runs[0]


def test_it_steps_back_to_insert_something(engine: Engine) -> None:
    """Of eight runs some go back, and never before what was given."""
    mail = (ROOT / "examples" / "mail.txt").read_text("utf-8")
    inserted = 0
    for seed in range(1, 9):
        run = engine.session(mail).continue_(Sampler(0.7, seed=seed), max_actions=120)
        given = run.rollout.canvas.length
        for step in (frame.step for frame in run):
            back = step.cursor < run.rollout.canvas.length
            assert step.cursor >= given
            inserted += back and isinstance(step.action, Insert)
        if inserted >= 3:
            return
    pytest.fail(f"{inserted} pieces were inserted further back")


def test_what_it_writes_is_not_glued_to_the_full_stop_before(engine: Engine) -> None:
    text = "The manual explains the settings and answers common questions."
    for seed in range(1, 7):
        session = engine.session(text)
        run = session.continue_(Sampler(seed=seed), max_actions=6)
        written = [run.written for _ in run]
        assert any(written)
        assert not [part for part in written if part[:1].isalnum()]


def test_it_corrects_a_letter_and_leaves_a_clean_paragraph_alone(engine: Engine) -> None:
    letter = (ROOT / "examples" / "letter.txt").read_text("utf-8")
    clean = (
        "The committee met on Tuesday and agreed on a budget for the coming year. Two members asked for more "
        "time to read the proposal, and the chair promised to send them a summary by the end of the week."
    )
    reader = Proofreader(engine.policy, engine.tokenizer)
    corrected, left = reader.proofread_all([Draft(letter), Draft(clean)])
    assert left.text == clean
    wrong = ("you're", "has recieved", "their are", "untill", "would of", "weak", "dont", "thinked")
    assert sum(word not in corrected.text for word in wrong) >= 6
    assert corrected.text.startswith("Hi Anna,")
    assert corrected.text.endswith("Best regards\nTom\n")


GAPS = [
    ("The soup was still too thin.", " After that it tasted much better.\n"),
    ("Hi Anna,\n\nthe meeting on Thursday has to be moved.", "\n\nBest,\nJonas\n"),
]


@pytest.mark.parametrize("place", range(len(GAPS)))
def test_it_fills_a_gap_with_a_text_that_ends_and_joins(engine: Engine, place: int) -> None:
    before, after = GAPS[place]
    session = engine.session(before + after)
    run = session.infill(len(before), sampler=Sampler(0.7, seed=place))
    for _ in run:
        pass
    assert run.rollout.ending == "stop"
    assert session.text == before + run.written + after
    # A sentence or a few, not a letter, and no mark behind the full stop.
    assert 1 <= len(run.written.split()) <= 80
    assert run.written.lstrip()[:1] not in tuple(",;:.!?")
    assert run.written.startswith((" ", "\n"))
    # What follows is likelier behind it than behind nothing.
    reading = left_to_right(engine.policy)

    def joins(filling: str) -> float:
        ids, behind = (engine.tokenizer.encode(part) for part in (before + filling, after))
        return sum(reading.chances([engine.policy.vocabulary.start_id, *ids, *behind], len(behind)))

    assert joins(run.written) > joins("")


def written(engine: Engine, before: str, after: str = "", seed: int = 0, limit: int = 64) -> str:
    session = engine.session(before + after)
    sampler = Sampler(0.7, seed=seed)
    run = session.infill(len(before), None, sampler) if after else session.continue_(sampler, max_actions=limit)
    for _ in run:
        pass
    assert session.text == before.removesuffix(" ") + run.written + after
    return run.written


def test_it_adds_nothing_to_a_finished_text(engine: Engine) -> None:
    for text in (
        "Hi Anna,\n\nthe photos are lovely. See you on Sunday!\n\nBest,\nTom\n",
        "Buy milk. Buy milk. Buy milk.",
        "Remember to water the plants on Monday and Thursday. Thank you!",
    ):
        assert written(engine, text.rstrip("\n")) == ""


def test_it_ends_half_a_word_and_closes_what_is_open(engine: Engine) -> None:
    assert written(engine, "In the morning we went to the supermar", limit=8).startswith("ket")
    assert written(engine, "To build the project, run\n\n```sh\ncmake -B build").count("```") % 2 == 1
    latex = written(engine, "\\begin{itemize}\n\\item The first reason is cost.\n\\item The second reason is")
    assert latex.count("\\end{itemize}") == 1
    assert latex.count("\\end") == latex.count("\\begin") + 1


def test_it_fills_a_list_item_with_one_items_text(engine: Engine) -> None:
    for seed in range(2):
        item = written(engine, "Guests\n\n- Anna\n- ", "\n- Ben\n- Carla\n", seed=seed)
        assert item[:1].isspace() or item[:1].isalnum()
        assert item.strip()
        assert "\n" not in item
        assert not item.lstrip().startswith("-")
        assert item.strip() not in ("Anna", "Ben", "Carla")
