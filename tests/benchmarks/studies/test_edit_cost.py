"""The cost of edits: what is counted, and that the diffs it is compared with are diffs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.studies.edit_cost import DIFF, LEAN, REWRITE, SENTENCES, costs, main, measure, written_diff
from reviser.core.tokenizer import Gpt2Tokenizer
from tests.commands import reviser
from training.edits.files import Edit

EDIT = Edit(
    "The cat sat on the mat. It was happy.", "The cat sat on a mat. It was happy.", left="A story.", right="The end."
)


def test_what_is_counted(gpt2: Gpt2Tokenizer) -> None:
    made, edited, length, kinds = costs(EDIT, gpt2)
    assert (edited, length) == (2, len(gpt2.encode(EDIT.after)))
    # " the" stands six tokens before the end: two moves, Delete, Insert and Stop; or Replace.
    assert made["Delete"] == 5
    assert made["Delete + Replace"] == 4
    assert made[REWRITE] == length + 1
    assert made[LEAN] == len(gpt2.encode(written_diff(EDIT, context=False))) + 1
    assert made[SENTENCES] < made[LEAN] < made[DIFF]
    assert kinds["Delete: move"] == 2


def test_the_diffs_can_be_applied(tmp_path: Path) -> None:
    if (patch := shutil.which("patch")) is None:
        pytest.skip("the patch command is not installed")
    text = tmp_path / "text.md"
    for context in (True, False):
        text.write_text("A story.\n" + EDIT.before + "\nThe end.\n")
        diff = written_diff(EDIT, context=context)
        assert diff.startswith("@@" if not context else "---")
        subprocess.run([patch, "-s", str(text)], input=diff, text=True, check=True)
        assert text.read_text() == "A story.\n" + EDIT.after + "\nThe end.\n"
    assert "\n-The cat sat on the mat.\n+" in written_diff(EDIT, context=False, sentences=True)


def test_sums_and_intervals(gpt2: Gpt2Tokenizer) -> None:
    result = measure([EDIT, EDIT, Edit("same", "same")], gpt2)
    assert result["edits"] == 2
    row = result["means"]["Delete"]
    assert row["per_edited_token"] == pytest.approx(2.5)
    assert row["interval"] == pytest.approx((2.5, 2.5))


def test_the_command_writes_its_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edits = tmp_path / "edits.jsonl"
    edits.write_text(json.dumps({"before": EDIT.before, "after": EDIT.after}) + "\n")
    out = tmp_path / "cost.md"
    assert main([str(edits), "--write", str(out)]) == 0
    assert "Commit:" in out.read_text()
    assert "whole rewrite" in capsys.readouterr().out
    edits.write_text("")
    assert main([str(edits)]) == 2


def test_the_measure_is_a_command(tmp_path: Path) -> None:
    path = tmp_path / "edits.jsonl"
    path.write_text(json.dumps({"before": EDIT.before, "after": EDIT.after}) + "\n")
    cost = json.loads(reviser("bench", "edits", path, "--json").stdout)
    assert cost["means"]["Delete"]["mean"] == 5
    assert reviser("bench", "edits", tmp_path / "none").returncode == 2
