"""The trajectory statistics: on runs small enough to count by hand, and on the published ones."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.measures import statistics
from benchmarks.measures.statistics import (
    STATISTICS,
    RunSummary,
    StatsOptions,
    by_model,
    estimates,
    summary,
    walk,
    walks,
)
from benchmarks.report import paper_tables
from reviser.core.actions import Insert, Move
from reviser.core.errors import BadTrajectory
from reviser.core.trajectory import Trajectory
from reviser.core.vocabulary import Vocabulary
from tests.conftest import PAPER_TRAJECTORIES

GPT2 = Vocabulary.gpt2()
STOP = GPT2.stop_id


def run(*actions: int | str, prefix: int = 2, suffix: int = 0) -> Trajectory:
    """A run after a prompt of `prefix` tokens: "i" inserts, "s" stops, a number moves."""
    back = [GPT2.id(move) for move in GPT2.moves(-suffix)]
    ids = [7] * (prefix + suffix) + back
    for action in actions:
        if action == "s":
            ids.append(STOP)
        else:
            ids.append(GPT2.id(Insert(11) if action == "i" else Move(int(action))))
    return Trajectory(tuple(ids), prefix_tokens=prefix, suffix_tokens=suffix)


def test_counted_by_hand() -> None:
    # "ab", back before a, "c": cab; back before c, then over all to the end, "d": cabd; stop.
    one = walk(run("i", "i", -2, "i", -1, 2, 1, "i", "s"))
    assert one.tokens == 4
    assert one.actions == 9
    assert one.distances == (-2, -1, 2, 1)
    assert [(entry.step, entry.place, entry.length) for entry in one.insertions] == [
        (0, 0, 0),
        (1, 1, 1),
        (3, 0, 2),
        (7, 3, 3),
    ]
    values = summary([one]).to_dict()
    assert values["actions_per_output_token"] == 9 / 4
    assert values["insert_fraction"] == values["move_fraction"] == 0.5
    assert values["mean_move_distance"] == 1.5
    assert (values["move_mass_1"], values["move_mass_2"], values["move_mass_4"]) == (0.5, 0.5, 0)
    assert values["backward_move_fraction"] == 0.5
    assert values["mean_insertion_position"] == pytest.approx((1 + 0 + 1) / 3)
    assert values["end_append_fraction"] == 0.75
    assert values["non_end_append_fraction"] == 0.25
    assert values["backward_revision_fraction"] == 1


@pytest.mark.parametrize(
    ("actions", "revises"),
    [
        (("i", "i", "s"), False),
        (("i", "i", -2, "s"), False),
        # Back and forth again, then at the end: nothing was written into an earlier region.
        (("i", "i", -2, 2, "i", "s"), False),
        (("i", "i", -1, "i"), True),
        (("i", "i", "i", -2, 1, "i"), True),
    ],
)
def test_a_backward_revision_writes_before_what_a_backward_move_left(
    actions: tuple[int | str, ...], revises: bool
) -> None:
    assert walk(run(*actions)).revises is revises


def test_the_end_is_that_of_the_continuation_before_a_suffix() -> None:
    one = walk(run("i", "i", -1, "i", prefix=3, suffix=4))
    assert [entry.at_end for entry in one.insertions] == [True, True, False]
    assert one.tokens == 3
    assert one.seeded == 8


def test_long_runs_weigh_by_their_actions() -> None:
    appending, moving = run("i", "i", "i"), run("i", -1)
    values = summary(walks([appending, moving])).to_dict()
    assert values["insert_fraction"] == 4 / 5
    assert values["backward_revision_fraction"] == 0


def test_nothing_to_divide_by_is_no_number() -> None:
    values = summary(walks([run("i", "s")])).to_dict()
    assert values["mean_move_distance"] is None
    assert values["mean_insertion_position"] is None
    assert summary(walks([run("i", "s")])).estimates["move_mass_1"] is None
    assert values["actions_per_output_token"] == 2
    assert RunSummary.from_dict(json.loads(json.dumps(values))).to_dict() == values


def test_intervals_hold_the_value_and_shrink_with_more_runs() -> None:
    few = walks([run("i", "i", -1, "i", "s"), run("i", "s"), run("i", -1, 1, "i", "s")])
    small, large = estimates(few)["move_fraction"], estimates(few * 30)["move_fraction"]
    assert small is not None
    assert large is not None
    assert small.value == pytest.approx(large.value)
    assert small.low < large.low < large.value < large.high < small.high


def test_a_run_that_cannot_be_followed_is_named() -> None:
    outside = run("i", -8, "i")
    with pytest.raises(BadTrajectory, match=r"trajectory 1: it cannot be followed: .*Move"):
        walks([run("i"), outside])
    with pytest.raises(BadTrajectory, match="no action"):
        walk(replace(outside, action_ids=(7, 7, 50285)))


def test_the_published_runs(published: list[Trajectory]) -> None:
    groups = by_model(walks(published))
    assert {name: len(group) for name, group in groups.items()} == {"100M": 5, "300M": 5}
    small, large = (summary(group).to_dict() for group in groups.values())
    # Counted from the printed action lists: 603 inserts, 214 moves (135 back) and 5 stops.
    assert small["actions_per_output_token"] == pytest.approx(822 / 603)
    assert small["insert_fraction"] == pytest.approx(603 / 817)
    assert small["move_fraction"] == pytest.approx(214 / 817)
    assert small["backward_move_fraction"] == pytest.approx(135 / 214)
    assert small["end_append_fraction"] == pytest.approx(7 / 603)
    assert large["actions_per_output_token"] == pytest.approx(831 / 658)
    assert large["mean_move_distance"] == pytest.approx(1264 / 168)
    assert large["backward_move_fraction"] == pytest.approx(108 / 168)
    assert large["end_append_fraction"] == pytest.approx(8 / 658)
    for group, column in ((small, 0), (large, 1)):
        # Ten chosen examples are no sample, but what they share with the paper's table is plain.
        assert group["backward_revision_fraction"] == 1
        for key in ("backward_move_fraction", "mean_insertion_position"):
            assert group[key] == pytest.approx(paper_tables.TRAJECTORIES[key][column], abs=0.03)


def test_the_table_has_the_papers_ten_rows(capsys: pytest.CaptureFixture[str]) -> None:
    statistics.run(StatsOptions(file=PAPER_TRAJECTORIES))
    text = capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 10
    assert rows[0].split("|")[1:-1] == [cell for cell in rows[0].split("|")[1:-1] if cell.strip()]
    assert "40.5%, 23.3%, 15.8%, 10.0%" in text
    statistics.run(StatsOptions(file=PAPER_TRAJECTORIES, json=True))
    data = json.loads(capsys.readouterr().out)
    assert data["trajectories"] == 10
    assert {statistic.key for statistic in STATISTICS} <= data.keys()
    assert data["models"]["300M"]["trajectories"] == 5
