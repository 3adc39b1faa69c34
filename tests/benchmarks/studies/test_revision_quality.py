"""Measures of revision: known values, the ends of their scales, and a whole run of a tiny model."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from benchmarks.contestants.editing_models import (
    Revision,
    answer_of,
    few_shot_prompt,
    revise_all,
    rewrite_all,
    split_examples,
)
from benchmarks.measures.sari import gleu, sari
from benchmarks.studies.revision_quality import Evaluation, Measured, main, measured
from reviser.checkpoints import Checkpoint
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, decode
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import Run, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.torch_policy import run_batch
from reviser.model import Reviser, preset
from tests.reviser.cli.test_revise import tiny_model
from training.edits.files import Edit

SOURCE = "About 95 species are currently accepted."
REFERENCES = [
    "About 95 species are currently known.",
    "About 95 species are now accepted.",
    "95 species are now accepted.",
]


def test_sari_has_its_published_value() -> None:
    """The example that goes with the implementations in use, in which nothing out of nothing is right."""
    assert sari(SOURCE, "About 95 you now get in.", REFERENCES) == pytest.approx(0.26953601953)


def test_sari_knows_right_from_unchanged_from_wrong() -> None:
    before, after = "The cat sat on the mat.", "The big cat sat on a mat."
    right, same, wrong = (
        sari(before, output, [after]) for output in (after, before, "Something else entirely here.")
    )
    assert right == pytest.approx(1.0)
    assert wrong < same < right


def test_gleu_punishes_what_should_be_gone() -> None:
    before, after = "a b c d e f", "a b c d e g"
    assert gleu([before], [after], [after]) == pytest.approx(1.0)
    # Of six, five, four and three n-grams the last of each is the old one, and counts against it.
    expected = (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert gleu([before], [before], [after]) == pytest.approx(expected)
    assert gleu([before], ["x"], [after]) == 0.0


def test_copying_is_never_right_and_never_overdone() -> None:
    edits = [Edit("one two three four five", "one two three four six")] * 3
    evaluation = Evaluation("edits", edits, [], 4, None)
    evaluation.copy()
    (found,) = evaluation.results()
    told = found.report
    assert (told.exact, told.changed, told.left_alone) == (0.0, 0.0, 1.0)


def test_a_model_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_model(tmp_path / "tiny", PAPER_KINDS | {"delete"})
    edits = tmp_path / "edits.jsonl"
    rows = [
        {
            "before": "The cat sat.",
            "after": "The dog sat.",
            "left": "Once.",
            "right": "Then it left.",
        },
        {"before": "It was was happy.", "after": "It was happy."},
    ]
    edits.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "result.md"
    assert main([str(edits), str(model), "--json", "--write", str(out)]) == 0
    copying, tiny = json.loads(capsys.readouterr().out)
    assert (copying["name"], tiny["name"]) == ("copying", "tiny")
    assert tiny["edits"] == 2
    assert tiny["changed"] == 1.0  # random weights change everything
    assert tiny["left_alone"] == 0.0
    assert "SARI" in out.read_text()
    writer = tiny_model(tmp_path / "writer", frozenset({"insert", "stop"}))
    assert main([str(edits), str(writer)]) == 2
    assert "--rewriter" in capsys.readouterr().err


def test_intervals_hold_what_edits_drawn_anew_would_give() -> None:
    edits = [Edit(f"one two three {n} five", f"one two three {n} six") for n in range(40)]
    made = [
        Revision(edit.after if n % 4 else edit.before, 3, "stop") for n, edit in enumerate(edits)
    ]
    done = [Revision(edit.after, 1, "stop") for edit in edits]
    told = measured("some", edits, made, done, {}).report
    assert told.exact == 0.75
    assert told.left_alone_interval == (1.0, 1.0)
    # Three in four of 40, give or take two deviations of the mean.
    assert told.exact_interval == pytest.approx((0.61, 0.89), abs=0.03)
    for name in ("exact", "sari", "gleu"):
        low, high = getattr(told, f"{name}_interval")
        assert low < getattr(told, name) < high


class Counting(Reviser):
    """A model that counts its steps."""

    steps = 0

    def decode_static(self, *given: Any, **options: Any) -> torch.Tensor:
        self.steps += 1
        return super().decode_static(*given, **options)


def counting(kinds: frozenset[str]) -> tuple[Checkpoint, Counting]:
    vocabulary = Vocabulary.gpt2(kinds=kinds)
    torch.manual_seed(0)
    model = Counting(preset("tiny", vocab_size=vocabulary.size, context=256))
    return Checkpoint(model, vocabulary, Gpt2Tokenizer()), model


@pytest.mark.parametrize("kinds", [PAPER_KINDS | {"delete"}, PAPER_KINDS])
def test_many_texts_are_revised_at_once_and_each_as_if_alone(kinds: frozenset[str]) -> None:
    edits = [Edit(f"The {n} cats sat sat.", f"The {n} cats sat.", "Once.") for n in range(5)]
    checkpoint, model = counting(kinds)
    together = revise_all(checkpoint, edits, rows=5)
    assert model.steps <= 128  # as many as one text takes, and not five times as many
    model.steps = 0
    alone = revise_all(checkpoint, edits, rows=1)
    assert model.steps > 2 * 128
    assert together == alone


def test_a_model_without_delete_takes_the_text_for_its_own() -> None:
    """It is asked what it would do after the text as if it had written it, and cannot remove any of it."""
    checkpoint, _ = counting(PAPER_KINDS)
    edit = Edit("It was was happy.", "It was happy.", "Once.", "Then.")
    (made,) = revise_all(checkpoint, [edit], rows=1)
    tokens = checkpoint.tokenizer.encode
    canvas, history = seed(checkpoint.vocabulary, tokens("Once.\n"), tokens("\nThen."))
    for id in tokens(edit.before):
        canvas.apply(canvas.action(id))
        history.append(id)
    run = Run(canvas, history, Sampler(temperature=0), max_actions=128)
    steps = [step for _, step in run_batch(checkpoint.model, [run])]
    assert made.text == decode(checkpoint.tokenizer, canvas.between(canvas.low, canvas.high))
    assert (made.actions, made.ending) == (len(steps), run.ending)


def test_figures_are_kept_and_put_together_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tiny_model(tmp_path / "model", PAPER_KINDS | {"delete"})
    plain = tiny_model(tmp_path / "plain", PAPER_KINDS)
    edits = tmp_path / "edits.jsonl"
    edits.write_text("".join(json.dumps(asdict(edit)) + "\n" for edit in EXAMPLES))
    keep = ["--keep", str(tmp_path / "kept")]
    assert main([str(edits), f"v2={one}", *keep]) == 0
    kept = Measured.read(tmp_path / "kept" / "v2.json")
    assert len(kept.exact) == len(kept.sari) == len(kept.left_alone) == 5
    texts = (tmp_path / "kept" / "v2.texts.jsonl").read_text().splitlines()
    assert [json.loads(line)["before"] for line in texts] == [edit.before for edit in EXAMPLES]
    # Elsewhere: what was measured is not measured again, and says where it was.
    monkeypatch.setattr("benchmarks.report.provenance.hardware", lambda: "another machine")
    monkeypatch.setattr("benchmarks.studies.revision_quality._loaded", pytest.fail)
    out = tmp_path / "result.md"
    assert main([str(edits), f"v2={one}", *keep, "--title", "Two", "--write", str(out)]) == 0
    assert "another machine" not in out.read_text()
    assert kept.facts.Hardware in out.read_text()
    monkeypatch.undo()
    monkeypatch.setattr("benchmarks.report.provenance.hardware", lambda: "another machine")
    assert main([str(edits), f"v1={plain}", *keep, "--title", "Two", "--write", str(out)]) == 0
    text = out.read_text()
    assert text.startswith("# Two\n\n- Command: `python -m benchmarks revising edits.jsonl v1=")
    assert f"- Measured (copying; v2): {kept.facts.Hardware}; " in text
    assert "- Measured (v1): another machine; " in text
    assert "- v1: no Delete" in text
    assert "seed 0" in text
    capsys.readouterr()
    assert main([str(edits), *keep, "--limit", "3"]) == 2
    assert "measured otherwise: its edits is 5, not 3" in capsys.readouterr().err
    (tmp_path / "kept" / "bad.json").write_text("{}")
    assert main([str(edits), *keep]) == 2
    assert "does not hold" in capsys.readouterr().err


# Rewriters ---------------------------------------------------------------------------------------

EXAMPLES = [Edit(f"It was was {n}.", f"It was {n}.") for n in range(5)]


def test_a_prompt_shows_edits_and_now_and_then_a_finished_text() -> None:
    prompt = few_shot_prompt(EXAMPLES, "Two\nlines lines.")
    assert prompt.startswith("Before: It was was 0.\nAfter: It was 0.\n\nBefore: It was was 1.")
    assert "Before: It was 4.\nAfter: It was 4.\n\n" in prompt
    assert prompt.endswith("\n\nBefore: Two\\nlines lines.\nAfter:")
    assert answer_of(" Two\\nlines.\nBefore: more") == "Two\nlines."
    assert answer_of("") == ""


def test_examples_are_not_measured() -> None:
    long = Edit("x" * 300, "y")
    same = Edit("a", "a")
    examples, rest = split_examples([long, EXAMPLES[0], same, *EXAMPLES[1:]], 2)
    assert examples == EXAMPLES[:2]
    assert rest == [long, same, *EXAMPLES[2:]]
    with pytest.raises(ReviserError, match="no 9 short edits"):
        split_examples(EXAMPLES, 9)


class Copying(Reviser):
    """A model with weights that say nothing: after any id comes the one after it in the answers."""

    answers: ClassVar[dict[int, int]] = {}

    def _scored(self, ids: torch.Tensor) -> torch.Tensor:
        wanted = torch.tensor([self.answers[int(id)] for id in ids])
        return torch.nn.functional.one_hot(wanted, self.config.vocab_size).float()

    def decode_static(self, ids: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
        super().decode_static(ids, *rest, **options)
        return self._scored(ids)


def test_a_rewriter_writes_one_line_from_left_to_right() -> None:
    tokenizer = Gpt2Tokenizer()
    vocabulary = Vocabulary.gpt2(kinds={"insert", "stop"})
    model = Copying(preset("tiny", vocab_size=vocabulary.size, context=512))
    prompt = tokenizer.encode(few_shot_prompt(EXAMPLES, "It was was fine."))
    answer = tokenizer.encode(" It was fine.")
    line = [*answer, *tokenizer.encode("\n\nAnd more")]
    Copying.answers = dict(pairwise([prompt[-1], *line]))
    checkpoint = Checkpoint(model, vocabulary, tokenizer)
    (made,) = rewrite_all(checkpoint, ["It was was fine."], EXAMPLES, rows=4)
    assert made == Revision("It was fine.", len(answer) + 1, "stop")


def test_examples_that_do_not_fit_into_the_context_are_left_out() -> None:
    tokenizer = Gpt2Tokenizer()
    vocabulary = Vocabulary.gpt2(kinds={"insert", "stop"})
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=vocabulary.size, context=100))
    text = "It was fine."
    (made,) = rewrite_all(Checkpoint(model, vocabulary, tokenizer), [text], EXAMPLES, rows=4)
    assert 0 < made.actions <= len(tokenizer.encode(text)) * 3 // 2 + 32


def test_a_rewriter_is_measured_beside_a_reviser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviser = tiny_model(tmp_path / "tiny", PAPER_KINDS | {"delete"})
    writer = tiny_model(tmp_path / "writer", frozenset({"insert", "stop"}))
    edits = tmp_path / "edits.jsonl"
    rows = [asdict(edit) for edit in EXAMPLES]
    edits.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["--rewriter", str(writer), "--shots", "3", "--json"]
    out = tmp_path / "result.md"
    assert main([str(edits), str(reviser), *given, "--write", str(out)]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert [told["name"] for told in reports] == ["copying", "tiny", "writer, prompted to rewrite"]
    # Three of the five edits were shown as examples, to all the same.
    assert {told["edits"] for told in reports} == {2}
    assert "--rewriter" in out.read_text()
    assert main([str(edits), *given, "--examples", str(edits), "--limit", "4"]) == 0
    assert {told["edits"] for told in json.loads(capsys.readouterr().out)} == {4}
