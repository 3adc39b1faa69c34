"""Samples of rewriting: the compiled ones equal the reference, and a model trained on them is measured."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from benchmarks.studies.revision_quality import main as measure
from reviser.checkpoints import load
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from tests.training.edits.test_edit_samples import MIXTURE, VOCABULARIES, corpus_of, edits
from tests.training.histories import BASE, small_corpus
from training.batches.loader import samples_of
from training.data.shards import main as make_data
from training.edits.edit_samples import Parts, Revisions
from training.edits.rewrite_samples import Rewritings, rewriting_sample
from training.samples.mixture import Mixture
from training.trainer.run import main as train
from training.trainer.run import mixture_of
from training.trainer.settings import preset_settings

WRITER = Vocabulary(BASE, kinds=frozenset({"insert", "stop"}))


@settings(deadline=None, max_examples=40)
@given(st.lists(edits(), min_size=1, max_size=3), st.integers(0, 9), st.integers(64, 200))
def test_compiled_equals_reference(rows: list[Parts], seed: int, max_history: int) -> None:
    mixture = dataclasses.replace(MIXTURE, max_history=max_history)
    try:
        rewritings = Rewritings(corpus_of(rows), WRITER, mixture, seed)
    except ReviserError:
        reject()  # no edit fits
    made = rewritings.histories(3, 2, 8, 5)
    revisions = Revisions(corpus_of(rows), VOCABULARIES[0], mixture, seed)
    names = revisions.names(3, 2, 8).tolist()
    for sample, name in enumerate(names):
        size = int(made.lengths[sample])
        ids = made.ids[sample, :size].tolist()
        references = [
            rewriting_sample(WRITER, rows[edit], name, mixture) for edit in rewritings.usable
        ]
        same = next(reference for reference in references if reference.ids == ids)
        assert made.counted[sample, :size].tolist() == same.counted
        assert size <= max_history
        assert not made.counted[sample, size:].any()


def test_a_sample_has_the_parts_of_its_edit_in_a_row() -> None:
    mixture = dataclasses.replace(MIXTURE, unchanged=0.0)
    made = rewriting_sample(WRITER, ([1, 2], [3, 4], [3, 5], [6]), 0, mixture)
    marker = WRITER.draft_id
    assert made.ids == [
        WRITER.start_id, 1, 2, marker, 6, marker, 3, 4, marker, 3, 5, WRITER.stop_id
    ]  # fmt: skip
    assert made.counted == [False] * 9 + [True] * 3


def test_the_same_edits_are_shown_finished_as_to_a_reviser() -> None:
    rows: list[Parts] = [([], [n, 1, 2, 3], [n, 4, 2, 3], []) for n in range(20)]
    revised = Revisions(corpus_of(rows), VOCABULARIES[0], MIXTURE).histories(0, 0, 400)
    written = Rewritings(corpus_of(rows), WRITER, MIXTURE).histories(0, 0, 400)
    stops_at_once = revised.counted.sum(1) == 1
    # Between the second and the third marker stands the draft, of four tokens here.
    finished = (written.ids[:, 3:7] == written.ids[:, 8:12]).all(1)
    assert (stops_at_once == finished).all()
    assert 0 < finished.mean() < 1


def test_the_baseline_is_shown_the_same_texts_and_shares_of_edits_and_openings(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mixture.json"
    asked = {"local": 0.6, "edits": 0.5, "unchanged": 0.25, "openings": 0.5, "min_text": 12}
    path.write_text(json.dumps(asked))
    recipe = Mixture.load(path)
    baseline = preset_settings("tiny", objective="ar")
    mixture = mixture_of(baseline, path, edits=True)
    assert mixture.edits == pytest.approx(recipe.edits / sum(recipe.shares))
    assert (mixture.plain, mixture.unchanged, mixture.openings) == (1.0, 0.25, 0.5)
    assert mixture.min_text == 12
    assert mixture_of(baseline, path) == dataclasses.replace(mixture, edits=0.0)
    rows: list[Parts] = [([], [n % BASE, 1], [n % BASE, 2], []) for n in range(30)]
    samples = samples_of(small_corpus(20), corpus_of(rows), WRITER, mixture, 0)
    made = samples.histories(0, 0, samples.count(0))
    markers = (made.ids == WRITER.draft_id).sum(1)
    assert set(markers.tolist()) == {0, 3}
    assert (markers > 0).mean() == pytest.approx(mixture.edits / (1 + mixture.edits), abs=0.02)


def test_a_baseline_is_trained_to_rewrite_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_bytes(toy_tokenizer_json())
    rows = [{"before": f"a cat {n}", "after": f"a hen {n}", "left": "So"} for n in range(60)]
    edited = tmp_path / "edits.jsonl"
    edited.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": row["after"] * 4}) + "\n" for row in rows))
    given = ["--tokenizer", str(tokenizer), "--workers", "1"]
    assert make_data([str(tmp_path / "edits"), str(edited), "--edits", *given]) == 0
    assert make_data([str(tmp_path / "texts"), str(texts), *given]) == 0
    mixture = tmp_path / "mixture.json"
    mixture.write_text(json.dumps({"edits": 1.0}))
    shards = ["--data", str(tmp_path / "texts"), "--edits", str(tmp_path / "edits")]
    more = ["--held-out-edits", str(tmp_path / "edits"), "--mixture", str(mixture)]
    sizes = ["--rows", "2", "--steps", "3", "--workers", "1", "--tokenizer", str(tokenizer)]
    out = tmp_path / "run"
    assert train(["tiny", *shards, *more, *sizes, "--objective", "ar", "--out", str(out)]) == 0
    assert load(out / "model").metadata["mixture"]["edits"] > 0
    entries = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert np.isfinite(
        [e["held_out_edit_loss"] for e in entries if "held_out_edit_loss" in e]
    ).all()
    capsys.readouterr()
    options = ["--rewriter", str(out / "model"), "--limit", "2", "--shots", "1", "--json"]
    assert measure([str(edited), *options]) == 0
    copying, written = json.loads(capsys.readouterr().out)
    assert written["name"] == "run, rewriting"
    assert written["actions"] > copying["actions"]
