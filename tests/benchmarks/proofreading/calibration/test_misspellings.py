"""The fit of the weights by which unknown words are corrected."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from benchmarks.proofreading.calibration.choices import Choice, fitted, loss, shares
from benchmarks.proofreading.calibration.misspellings import Judged, choice, page, passages
from reviser.proofreading.spelling.candidates import candidates
from reviser.proofreading.spelling.choosing import Place, Span
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.proofreading.spelling.speller import Weights
from training.data.randomness import Random

TEXT = "The committee will receive the report tomorrow, because the government wants to separate the two."


def test_a_fit_finds_the_weights_that_choices_were_made_by() -> None:
    draw = np.random.default_rng(0)
    true = np.array([1.5, -0.8, 0.0])
    choices = []
    for _ in range(3000):
        features = draw.normal(size=(4, 3))
        features[:, 2] = 5.0
        right = draw.choice(4, p=shares(features, true))
        choices.append(Choice(features, int(right)))
    weights = fitted(choices, [True, True, False])
    assert weights == pytest.approx(true, abs=0.15)
    assert loss(choices, weights) < loss(choices, np.zeros(3))


def test_passages_say_what_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps({'text': TEXT})}\n" for _ in range(40)))
    found = [*passages(str(path), random.Random(1), Random(1))]
    assert len(found) == 40
    assert any(meant for _, meant in found)
    assert any(text == TEXT and not meant for text, meant in found)
    for text, meant in found:
        back, moved = text, 0
        for place, word in sorted(meant.items()):
            end = place + moved
            # The passage goes on behind the word as it did.
            wrong = back[end:].split(" ")[0].rstrip(",.")
            assert not dictionary().knows(wrong)
            back = back[:end] + word + back[end + len(wrong) :]
            moved += len(word) - len(wrong)
        assert back == TEXT


def test_what_is_no_candidate_leaves_the_word() -> None:
    found = candidates("recieved", dictionary())
    count = len(found)
    place = Place("recieved", Span(0, 1), found, [[1]] * count, -1.0, [-2.0] * count)
    place.readings = {None: -9.0, 0: -1.0, 1: -5.0}
    assert choice(Judged(place, found[1].text), read=True).right == 1
    assert choice(Judged(place, None), read=True).right == 2
    whole = choice(Judged(place, "something"), read=False)
    assert whole.right == count
    assert not whole.features[:, Weights._fields.index("reading")].any()


def test_the_page_tells_what_needs_no_reading() -> None:
    found = candidates("recieved", dictionary())
    count = len(found)

    def judged(plain: str | None, meant: str | None) -> Judged:
        place = Place("recieved", Span(0, 1), found, [[1]] * count, -9.0, [-2.0] * count)
        place.readings = {None: -9.0, 0: -1.0, 1: -5.0}
        return Judged(place, meant, plain)

    first = found[0].text
    some = [judged(first, first), judged(None, first), judged(first, None), judged("other", first)]
    *_, row = page(some).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    # Four words, three plain, one right, one not misspelt; the reading prefers another than the last.
    assert cells[:4] == ["4", "3", "1", "1"]
    assert cells[4] == "2"
    assert cells[-1] == "1"
