"""Candidates with verdicts, a calibration fitted to them, and the command that does both."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.proofreading import sets
from benchmarks.proofreading.calibration import candidates, command
from benchmarks.proofreading.calibration.candidates import ProposedChange, TextProposals, look
from benchmarks.proofreading.calibration.curve import curve
from benchmarks.proofreading.calibration.fitting import fitted
from benchmarks.proofreading.calibration.sources import (
    NamedTexts,
    SourceText,
    distance,
    finished_source,
    pairs_source,
    public_source,
)
from benchmarks.protocol.runs import RunCache
from reviser.checkpoints import save
from reviser.checkpoints.description import digest_of
from reviser.cli.options import run_with
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import HuggingFaceTokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.model.layout import Quantisation
from reviser.proofreading.guard.calibration import RAW, Calibration
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.suggestion import Kind, Suggestion
from tests.benchmarks.proofreading.made_up import m2_set, parallel_set
from tests.reviser.checkpoints.parts import random_model
from tests.reviser.proofreading.scripted import GPT2, REVISING, Scripted
from tests.reviser.proofreading.taught import tokenizer_of

KINDS = (Kind.SPELLING, Kind.ARTICLE, Kind.OTHER)
TRUE = Calibration("a model", -1.0, 0.7, {Kind.SPELLING: 2.0, Kind.ARTICLE: 0.0, Kind.OTHER: -1.0})


def change(text: str, old: str, new: str) -> Suggestion:
    start = text.index(old)
    return Suggestion(Edit(start, old, new), Kind.OTHER, 0.5)


def drawn(count: int, seed: int = 0) -> list[ProposedChange]:
    """Candidates that are right as often as a known calibration says."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        kind, chance = draw.choice(KINDS), draw.uniform(0.05, 0.99)
        sure = TRUE.confidence(chance, kind, (0.0,) * 7)
        found.append(ProposedChange("on", "in", kind, chance, 0.0, draw.random() < sure))
    return found


def texts_of(some: list[ProposedChange], source: str = "drawn") -> list[TextProposals]:
    return [TextProposals(source, number, 1, (one,)) for number, one in enumerate(some)]


# Verdicts ----------------------------------------------------------------------------------------


def test_the_distance_of_texts_is_in_words() -> None:
    assert distance(["a", "b", "c"], ["a", "b", "c"]) == 0
    assert distance(["a", "b", "c"], ["a", "x", "c", "d"]) == 2
    assert distance([], ["a", "b"]) == 2


def test_a_change_of_a_pair_is_right_if_it_brings_the_text_nearer() -> None:
    text = SourceText("She go to school by an bus.", 2, ("She goes to school by bus.",))
    assert text.is_right(change(text.text, "go", "goes"))
    assert text.is_right(change(text.text, "an ", ""))
    assert not text.is_right(change(text.text, "go", "went"))
    assert not text.is_right(change(text.text, "an", "a"))
    assert not text.is_right(change(text.text, "to school", "schools"))
    assert not SourceText("She goes.", 0).is_right(change("She goes.", "goes", "went"))


def test_a_change_of_a_public_set_is_right_by_any_reference(tmp_path: Path) -> None:
    source = public_source(parallel_set(tmp_path), None)
    cat = source.texts[0]
    assert source.restricted
    assert cat.is_right(change(cat.text, "sit", "sits"))
    assert cat.is_right(change(cat.text, "sit", "sat"))
    assert not cat.is_right(change(cat.text, "sit", "sitting"))


def test_an_annotators_edit_is_right(tmp_path: Path) -> None:
    pytest.importorskip("errant")
    cat = public_source(m2_set(tmp_path, "errant"), 1).texts[0]
    assert cat.wanted == 2
    assert cat.is_right(change(cat.text, "sit", "sits"))
    assert cat.is_right(change(cat.text, "sit", "sat"))
    assert not cat.is_right(change(cat.text, "mat", "rug"))


def test_texts_of_files(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    lines = [
        {"before": "She go\nhome.", "after": "She goes home."},
        {"before": "All is well here.", "after": "Something else was written then."},
        {"before": "x " * 400, "after": "x " * 400},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    pairs = pairs_source(str(path), None)
    assert [text.text for text in pairs.texts] == ["She go home."]
    finished = finished_source(str(path), "after", 1)
    assert (finished.name, [text.text for text in finished.texts]) == ("own-finished", ["She goes home."])
    path.write_text(json.dumps(lines[2]) + "\n", "utf-8")
    with pytest.raises(ReviserError, match="no texts"):
        pairs_source(str(path), None)


def test_what_was_found_once_is_not_looked_for_again(tmp_path: Path) -> None:
    policy = Scripted({"teh": ("the", 0.4), "house": ("car", 0.2)})
    texts = tuple(SourceText(f"I like teh house {word}.", 1, (f"I like the house {word}.",)) for word in "abc")
    source = NamedTexts("own", texts)
    with RunCache(tmp_path / "cache.sqlite") as cache:
        found = look(Proofreader(policy, GPT2), "m", source, cache)
        read = len(policy.read)
        assert look(Proofreader(policy, GPT2), "m", source, cache) == found
        assert len(policy.read) == read > 0
        look(Proofreader(policy, GPT2), "another", source, cache)
        assert len(policy.read) > read
    assert [text.number for text in found] == [0, 1, 2]
    assert [(one.old, one.right, one.kind) for one in found[0].candidates] == [
        ("teh", True, Kind.SPELLING),
        ("house", False, Kind.OTHER),
    ]
    assert found[0].candidates[0].others == pytest.approx(0.2, abs=0.01)


def test_neighbours_are_in_one_half_and_both_halves_are_large() -> None:
    halves = [text.is_for_fitting for text in texts_of(drawn(2000))]
    assert 700 < sum(halves) < 1300
    assert halves[0] == halves[19]


# Fitting -----------------------------------------------------------------------------------------


def test_a_known_calibration_is_found_again() -> None:
    found = fitted(drawn(8000), "a model")
    assert found.slope == pytest.approx(TRUE.slope, abs=0.1)
    assert found.usual.keys() == {*KINDS}
    for kind in KINDS:
        for chance in (0.1, 0.5, 0.9):
            features = drawn(1)[0].features
            assert found.confidence(chance, kind, features) == pytest.approx(
                TRUE.confidence(chance, kind, (0.0,) * 7), abs=0.04
            )


def test_too_few_changes_are_refused() -> None:
    with pytest.raises(ReviserError, match="at least 20"):
        fitted(drawn(30), "a model")


def test_changes_that_are_less_often_right_the_likelier_they_are_are_refused() -> None:
    some = [ProposedChange("on", "in", Kind.OTHER, n / 200, 0.0, n % 200 < 60) for n in range(10, 199)]
    with pytest.raises(ReviserError, match="no more often right"):
        fitted(some, "a model")


# Figures -----------------------------------------------------------------------------------------


def test_the_curve_of_a_calibration() -> None:
    texts = texts_of(drawn(4000, seed=2))
    raw = curve("raw", texts, RAW)
    calibrated = curve("calibrated", texts, TRUE)
    assert calibrated.error < 0.03 < raw.error
    assert sum(one.share.made for one in calibrated.bins) == 4000
    assert all(one.low - 0.07 < one.share.value < one.high + 0.07 for one in calibrated.bins if one.share.made > 150)
    made = [setting.share.made for setting in calibrated.settings]
    assert made == sorted(made, reverse=True)
    at = next(one for one in calibrated.settings if one.dial == 0.9)
    assert at.share.value > 0.9
    assert at.recall == pytest.approx(at.share.right / 4000)


def test_texts_left_alone_and_recall_are_of_texts_where_that_is_known() -> None:
    wrong = ProposedChange("on", "in", Kind.OTHER, 0.6, 0.0, False)
    right = ProposedChange("on", "in", Kind.OTHER, 0.85, 0.0, True)
    texts = [
        TextProposals("finished", 0, 0, (wrong,)),
        TextProposals("finished", 1, 0, ()),
        TextProposals("pairs", 0, 2, (right,)),
        TextProposals("jfleg", 0, None, (right, wrong)),
    ]
    settings = {one.dial: one for one in curve("all", texts, RAW).settings}
    assert (settings[0.5].share.right, settings[0.5].share.made) == (2, 4)
    assert settings[0.5].left_alone == 0.5
    assert settings[0.7].left_alone == 1
    assert settings[0.5].recall == 0.5
    # Of the two changes where that is known, one is right.
    assert settings[0.5].f == pytest.approx(0.5)
    assert math.isnan(settings[0.9].share.value)


# The command -------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A model, files of texts, and a cache that holds what the model is said to have found in them."""
    content = tokenizer_of(["Some words of a text."])
    size = HuggingFaceTokenizer(content, "tiny").size
    vocabulary = Vocabulary(size, kinds=REVISING, name="tiny", overtypes=True)
    model = random_model(preset("tiny", vocab_size=vocabulary.size, context=256, canvas_length=256))
    folder = save(tmp_path / "model", model, vocabulary, content, quantisation=Quantisation(8))
    pairs = [{"before": f"Text on number {n}.", "after": f"Text in number {n}."} for n in range(600)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pairs), "utf-8")
    some = drawn(600)
    with RunCache(tmp_path / "cache.sqlite") as cache:
        for sort, source in (
            ("pairs", pairs_source(str(tmp_path / "own.jsonl"), None)),
            ("finished", finished_source(str(tmp_path / "own.jsonl"), "after", None)),
        ):
            for one, text in zip(some, source.texts, strict=True):
                found = {**asdict(one), "right": one.right and sort == "pairs"}
                kept = [found] if sort == "pairs" or one.chance > 0.9 else []
                cache.put(candidates._key(digest_of(folder), source, text), kept)
    return tmp_path


def run(parts: Path, *words: str) -> int:
    own = str(parts / "own.jsonl")
    files = ("--pairs", own, "--finished", f"after={own}")
    return run_with(
        command.run, ["--model", str(parts / "model"), "--cache", str(parts / "cache.sqlite"), *files, *words]
    )


def test_a_page_and_coefficients_are_written(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, file = parts / "page.md", parts / "c.json"
    words = ("--sets", "none", "--write", str(page), "--coefficients", str(file))
    assert run(parts, *words) == 0, capsys.readouterr().err
    text = page.read_text("utf-8")
    assert "python -m benchmarks calibration" in text
    for path in ("own.jsonl", "cache.sqlite", "model "):
        assert f" {path}" in text.replace("after=", " ")
        assert str(parts / path) not in text
    for heading in ("## All", "## Own", "## Own-finished", "## Coefficients"):
        assert heading in text
    assert "Text in number" not in text
    found = Calibration.from_dict(json.loads(file.read_text("utf-8")))
    assert found.model == digest_of(parts / "model")
    assert found.kinds[Kind.SPELLING] > found.kinds[Kind.OTHER]
    assert "| all " in capsys.readouterr().out


def test_what_was_not_fitted_to_is_shown_whole(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(parts, "--sets=none", "--fit=own") == 0
    shown = capsys.readouterr().out
    rows = {cells[0].strip(): cells for line in shown.splitlines() if len(cells := line.strip("|").split("|")) == 6}
    assert int(rows["own-finished"][1]) == 600
    assert int(rows["own"][1]) < 600


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sets=none", "--fit=elsewhere"), "there is no elsewhere among own, own-finished"),
        (("--sets=conll-2014",), "nothing is fitted or chosen on conll-2014"),
        (("--sets=none", "--limit=own=many"), "--limit is a number"),
        (("--sets=none", "--limit=20"), "at least 20"),
    ],
)
def test_mistakes_are_told(
    parts: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert run(parts, *words) == 2
    assert message in capsys.readouterr().err


def test_nothing_that_is_given_away_is_fitted_to_a_public_set(
    parts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(parts))
    for member in sets._MEMBERS:
        path = sets.default_folder() / sets._ROOT / member
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("She do n't know him .\n", "utf-8")
    file = parts / "c.json"
    words = ("--sets=jfleg-dev", "--coefficients", str(file))
    assert run(parts, *words, "--fit=own,jfleg-dev") == 2
    assert "licence of jfleg-dev does not allow" in capsys.readouterr().err
    assert not file.exists()
    assert run(parts, *words, "--fit=own") == 0, capsys.readouterr().err
    assert file.exists()
