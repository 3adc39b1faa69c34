"""A model judges repeats of shown edits, and proposes edits of its own."""

from functools import partial

import pytest

from benchmarks.next_edits.command import run
from benchmarks.next_edits.reading import ProposalReader
from reviser.cli.options import run_with
from reviser.session.engine import load_engine
from tests.benchmarks.next_edits.test_cases import SESSION, case_of

main = partial(run_with, run)


def test_every_repeat_is_judged_and_no_made_edit_is_changed() -> None:
    reader = ProposalReader(load_engine())
    case = case_of(SESSION, 1)
    (judged,), (proposed,) = reader.judged([case]), reader.proposed([case])
    assert [one.change.start for one in judged] == [
        at for at in range(len(case.text)) if case.text.startswith("e-mail", at)
    ]
    assert all(0 <= one.confidence <= 1 for one in [*judged, *proposed])
    assert all(one.change.start >= case.taken[0][1] or one.change.end <= 3 for one in proposed)


def test_files_without_sessions_are_refused(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path_factory.mktemp("sessions") / "empty.jsonl"
    empty.touch()
    assert main([str(empty)]) == 2
    assert "no session" in capsys.readouterr().err
