"""A model beside a left-to-right one: what both wrote is kept, compared and judged."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.report import provenance
from benchmarks.studies import quality
from benchmarks.studies.quality import REAL, Measured, main, ratio_interval, targets
from reviser.checkpoints.home import save_checkpoint
from tests.reviser.checkpoints.parts import toy_checkpoint
from training.data.shards import main as make_data

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quality")
    checkpoint = toy_checkpoint(context=2048)
    save_checkpoint(folder / "base", checkpoint)
    kinds = frozenset({"insert", "stop"})
    left_to_right = dataclasses.replace(
        checkpoint, vocabulary=dataclasses.replace(checkpoint.vocabulary, kinds=kinds)
    )
    save_checkpoint(folder / "plain", left_to_right)
    texts, tokenizer = folder / "texts.jsonl", folder / "tokenizer.json"
    text = "the thing in all the tins is a thin ill the " * 20
    texts.write_text("".join(json.dumps({"text": f"{n} {text}"}) + "\n" for n in range(5)))
    tokenizer.write_bytes(checkpoint.tokenizer_json or b"")
    assert make_data([str(folder / "data"), "--tokenizer", str(tokenizer), str(texts)]) == 0
    assert main([str(folder / "run"), *_writing(folder)]) == 0
    return folder / "run"


def _writing(folder: Path) -> list[str]:
    words = ["--model", f"ours={folder / 'base'}", "--model", f"plain={folder / 'plain'}"]
    words += ["--evaluator", str(folder / "base"), "--data", str(folder / "data")]
    return [*words, "--prompts", "4", "--seeds", "1", "2", "--batch", "8"]


def test_where_to_go_can_be_chosen_more_surely(run: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "sure", tmp_path / "sure.md"
    options = [*_writing(run.parent), "--move-temperature", "0.35"]
    assert main([str(out), *options]) == 0
    figures = json.loads((out / "ours.json").read_text())
    assert figures["facts"]["move_temperature"] == 0.35
    usual = json.loads((run / "ours.json").read_text())
    assert figures["continuation"]["ppl"] != usual["continuation"]["ppl"]
    assert main([str(out), "--compare", "ours", "--write", str(page)]) == 0
    assert "256 actions; where to go at 0.35\n" in page.read_text()


def test_models_at_other_temperatures_stand_side_by_side(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "run", tmp_path / "page.md"
    shutil.copytree(run, out)
    options = [*_writing(run.parent)[4:], "--temperature", "0.3"]
    assert main([str(out), "--model", f"sure={run.parent / 'base'}", *options]) == 0
    capsys.readouterr()
    assert main([str(out), "--side-by-side", "ours", "sure", "plain", "--write", str(page)]) == 0
    text = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line]
    assert {row[0]: row[1] for row in rows[2:]} == {
        REAL: "", "ours": "0.9", "sure": "0.3", "plain": "0.9",
    }  # fmt: skip
    likely = [float(row[2]) for row in rows[2:]]
    assert likely == sorted(likely)
    assert text.strip() in page.read_text()
    assert "- Sampling: each at its temperature, top-k 50" in page.read_text()
    assert main([str(out), "--compare", "sure", "--baseline", "plain"]) == 2
    assert "plain and sure were measured at different temperatures" in capsys.readouterr().err


def test_models_that_continued_other_prompts_do_not_stand_side_by_side(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / "plain.json"
    figures = json.loads(file.read_text())
    figures["facts"]["prompts"] += 1
    file.write_text(json.dumps(figures))
    for words in (
        ["--side-by-side", "plain", "ours"],
        ["--compare", "ours", "--baseline", "plain"],
    ):
        assert main([str(tmp_path / "run"), *words]) == 2
        assert "plain and ours were measured on different things" in capsys.readouterr().err


def test_what_was_written_is_kept_and_not_written_again(run: Path) -> None:
    kept = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    assert set(kept) == {
        f"{name}.{ending}"
        for name in ("real-text", "ours", "plain")
        for ending in ("json", "texts.jsonl")
    }
    assert len((run / "ours.texts.jsonl").read_text().splitlines()) == 8
    assert len((run / "real-text.texts.jsonl").read_text().splitlines()) == 4
    assert main([str(run), *_writing(run.parent)]) == 0
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == kept


def test_two_models_are_compared_without_any_model(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    words = ["--compare", "ours", "--baseline", "plain", "--write", str(page), "--title", "Two"]
    assert main([str(run), *words]) == 0
    assert capsys.readouterr().out.strip() in page.read_text()
    assert page.read_text().startswith("# Two\n\n- Command: `python -m benchmarks quality")
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert sum(row.startswith("| plain") for row in rows) == 2
    assert "| moves" in page.read_text()


def test_texts_with_line_separators_in_them_are_read_whole(run: Path, tmp_path: Path) -> None:
    kept = (run / "ours.texts.jsonl").read_text("utf-8")
    count = len(quality.texts_of(run, "ours"))
    entry = {"seed": 1, "prompt": "a", "continuation": "b\u2028c\x85d", "reference": "e"}
    added = json.dumps(entry, ensure_ascii=False)
    (tmp_path / "ours.texts.jsonl").write_text(f"{kept}{added}\n", "utf-8")
    found = quality.texts_of(tmp_path, "ours")
    assert len(found) == count + 1
    assert found[-1] == entry


def test_without_a_baseline_a_model_stands_beside_real_text_alone(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(run), "--compare", "ours"]) == 0
    text = capsys.readouterr().out
    assert REAL in text
    assert "plain" not in text
    ours = Measured.read(run / "ours.json")
    assert [target.what for target in targets(ours, None, {})] == [
        "runs that end in Stop",
        "moves",
        "runs that insert before what they wrote",
    ]


def test_a_target_is_met_exactly_when_the_figures_say_so(run: Path) -> None:
    ours, plain = (Measured.read(run / f"{name}.json") for name in ("ours", "plain"))

    def met(model: Measured, **overlap: float) -> dict[str, bool]:
        mauve = {name: quality.Overlap(score, 0.0) for name, score in overlap.items()}
        return {target.what: target.met for target in targets(model, plain, mauve)}

    def changed(**figures: float) -> Measured:
        return dataclasses.replace(
            ours, continuation=dataclasses.replace(ours.continuation, **figures)
        )

    assert met(changed(stopped=0.95))["runs that end in Stop"]
    assert not met(changed(stopped=0.949))["runs that end in Stop"]
    assert met(changed(moves=0.05))["moves"]
    assert not met(changed(moves=0.049))["moves"]
    their_ppl = plain.continuation.ppl
    assert met(changed(ppl=1.3 * their_ppl))["evalPPL against plain's"]
    assert not met(changed(ppl=1.31 * their_ppl))["evalPPL against plain's"]
    assert met(ours, ours=0.9, plain=0.9)["MAUVE against plain's"]
    assert not met(ours, ours=0.8, plain=0.9)["MAUVE against plain's"]
    assert not met(plain)["gaps joined better than plain joins them"]


def test_the_interval_holds_the_ratio_and_is_a_point_for_equal_models(run: Path) -> None:
    ours = Measured.read(run / "ours.json")
    assert ratio_interval(ours, ours) == (1.0, 1.0)
    doubled = dataclasses.replace(
        ours,
        scores=[(loss + tokens * np.log(2), tokens, size) for loss, tokens, size in ours.scores],
    )
    assert ratio_interval(doubled, ours) == pytest.approx((2.0, 2.0))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a model to write with, or one to compare"),
        (["--model", "ours"], "a model is named as NAME=FOLDER, not ours"),
        (["--model", f"{REAL}=x"], "a model is named as NAME=FOLDER"),
        (["--model", "ours=x"], "writing needs an evaluator and held-out data"),
        (["--baseline", "ours"], "a baseline needs a model to compare with it"),
        (["--compare", "ours", "--baseline", "nobody"], "holds no figures of nobody"),
        (["--side-by-side", "ours", "nobody"], "holds no figures of nobody"),
        (["--side-by-side", "ours", "--compare", "ours"], "compare one model, or show several"),
    ],
)
def test_mistakes_get_one_sentence(
    run: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(run), *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_an_archive_of_the_project_names_its_commit() -> None:
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=False, capture_output=True, text=True)
    if head.returncode:
        pytest.skip("this is no git checkout")
    archive = subprocess.run(
        [*git, "archive", "HEAD", "benchmarks/report/COMMIT"], check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        member = tar.extractfile("benchmarks/report/COMMIT")
        assert member is not None
        assert member.read().decode() == head.stdout
    assert provenance.surroundings()["Commit"].removesuffix("-dirty") == head.stdout[:12]
