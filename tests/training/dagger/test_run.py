"""DAgger: labels of visited states, rollouts with an oracle in them, and runs that learn from both."""

from __future__ import annotations

import copy
import json
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from reviser.checkpoints import load
from reviser.checkpoints.home import Checkpoint, save, save_checkpoint
from reviser.cli.options import run_with
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation
from reviser.model.quantised import dequantise_model, quantise_model
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from tests.toys import ToyTokenizer
from tests.training.edits.test_edit_samples import MIXTURE, VOCABULARIES, corpus_of, edits
from tests.training.histories import BASE, PAPER_VOCABULARY, small_corpus, some_classes
from training.batches.loader import Loader
from training.batches.packing import PackedRows, packed
from training.dagger.oracle import Episodes, Oracle
from training.dagger.run import DaggerPlan, Data, Rounds
from training.dagger.run import run as run_dagger
from training.dagger.visits import acting_copy, load_visited
from training.data.corpus import Corpus
from training.data.randomness import KeyedRandom
from training.data.shards import run as run_make_data
from training.edits.edit_samples import Parts, Revisions
from training.samples.histories import Histories
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.metrics import MetricsLog, PlainView, read_metrics
from training.trainer.parallel import World
from training.trainer.run import HeldOutEvaluator, Reporter, TrainingRun, evaluation_rows, loader_of
from training.trainer.settings import preset_settings
from training.trainer.trainer import Objective, StepMeasures, Trainer, inputs_of

dagger = partial(run_with, run_dagger)
make_data = partial(run_with, run_make_data)

TEXTS = Samples(small_corpus(30), PAPER_VOCABULARY, Mixture(max_history=160), 3)


def ordinary() -> Histories:
    return TEXTS.histories(0, 0, 40)


def relabelled(histories: Histories) -> Histories:
    """The same histories with targets of their own: the id after the one that is there."""
    return replace(histories, targets=histories.ids + 1)


# Targets -----------------------------------------------------------------------------------------


def loss_and_gradients(rows: PackedRows) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=PAPER_VOCABULARY.size + 1, dropout=0.0, context=256))
    loss = Objective(model, compiled=False)(*inputs_of(rows, torch.device("cpu")))
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def test_targets_that_are_the_ids_change_no_bit_of_loss_and_gradients() -> None:
    histories = ordinary()
    plain = packed(histories, 12, 320, PAPER_VOCABULARY.start_id)
    told = packed(replace(histories, targets=histories.ids), 12, 320, PAPER_VOCABULARY.start_id)
    assert plain.targets is None
    assert told.targets is not None
    assert (told.targets == told.ids).all()
    pairs = zip(loss_and_gradients(plain), loss_and_gradients(told), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_other_targets_are_what_the_loss_asks_for() -> None:
    rows = packed(relabelled(ordinary()), 12, 320, PAPER_VOCABULARY.start_id)
    ids, samples, positions, places, targets = inputs_of(rows, torch.device("cpu"))
    assert (targets == ids.flatten()[places + 1] + 1).all()
    without = inputs_of(replace(rows, targets=None), torch.device("cpu"))
    for mine, plain in zip((ids, samples, positions, places), without, strict=False):
        assert torch.equal(mine, plain)


def test_targets_stay_with_their_ids() -> None:
    histories = Histories.joined((ordinary(), relabelled(ordinary())))
    padding = PAPER_VOCABULARY.start_id
    rows = packed(histories, 24, 320, padding)
    # Rows are cut and put together as batches are.
    again = PackedRows.joined([rows[:5], rows[5:]])
    assert again.targets is not None
    seen = set()
    for row, samples in zip(range(len(again)), again.samples, strict=True):
        for sample in range(samples.max() + 1):
            here = samples == sample
            shift = again.targets[row, here] - again.ids[row, here]
            assert shift.min() == shift.max()
            seen.add(int(shift[0]))
        assert (again.targets[row, samples < 0] == padding).all()
    assert seen == {0, 1}


def test_rows_with_and_without_targets_join() -> None:
    plain = packed(ordinary(), 12, 320, 0)
    told = packed(relabelled(ordinary()), 12, 320, 0)
    joined = PackedRows.joined([plain, told])
    assert joined.targets is not None
    assert (joined.targets[:12] == plain.ids).all()
    assert (joined[12:].wanted == told.targets).all()
    order = np.arange(23, -1, -1)
    assert (joined[order.tolist()].wanted == joined.wanted[::-1]).all()


def test_a_loader_of_ordinary_samples_has_no_targets() -> None:
    batch = next(Loader(TEXTS, 4, row_length=320, workers=1).batches())
    assert batch.targets is None
    assert batch.wanted is batch.ids


def test_evaluation_has_whole_batches_and_empty_rows_cost_nothing() -> None:
    histories = ordinary()
    world = World(0, 1, torch.device("cpu"), "none")
    losses = []
    for rows in (5, 40):
        chosen = preset_settings("tiny", rows=rows, row_length=320)
        batches = evaluation_rows(histories, PAPER_VOCABULARY.start_id, chosen, world)
        assert {len(batch) for batch in batches} == {rows}
        assert sum(int(batch.mask.sum()) for batch in batches) == histories.counted.sum()
        losses.append(sum(float(loss_and_gradients(batch)[0]) for batch in batches))
    assert len(batches) == 1
    assert (batches[0].samples < 0).all(1).any()
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


# Oracle ------------------------------------------------------------------------------------------


def some_action(canvas: Canvas, random: KeyedRandom) -> int:
    """Any valid action but Stop, each kind as likely as the others."""
    valid = canvas.valid_actions()
    operators = [id for id in valid.operators if id != canvas.vocabulary.stop_id]
    if not operators or random.chance(0.4):
        return random.below(BASE)
    first = canvas.vocabulary.first_replace_id
    if valid.replaces and first is not None and random.chance(0.2):
        return first + random.below(BASE)
    return random.pick(operators)


def canvas_of(vocabulary: Vocabulary, given: Sequence[int]) -> Canvas:
    """The canvas that a history has made, its draft whole and its neighbours protected."""
    marker = given.index(vocabulary.draft_id)
    canvas = Canvas(vocabulary)
    for id in [*given[1:marker], *given[marker + 1 :]]:
        canvas.apply(canvas.action(id))
    start = canvas.cursor - (len(given) - marker - 1)
    canvas.protect(start, canvas.length - canvas.cursor, canvas.cursor)
    return canvas


@settings(deadline=None, max_examples=60)
@given(edits(), st.sampled_from(VOCABULARIES), st.integers(0, 2**32), st.floats(0, 1))
def test_the_script_leads_to_the_target_from_wherever_one_is(
    parts: Parts, vocabulary: Vocabulary, seed: int, wrong: float
) -> None:
    left, before, after, right = parts
    canvas = Canvas(vocabulary, [*left, *before, *right], prefix=len(left), suffix=len(right))
    oracle, random = Oracle(canvas, after), KeyedRandom(seed)
    for _ in range(12):
        if canvas.stopped:
            break
        wanted = oracle.script[0]
        chosen = some_action(canvas, random) if random.chance(wrong) else wanted
        left_to_do = len(oracle.script)
        label = oracle.follow(chosen)
        assert label in (wanted, chosen)
        if label == chosen:
            # What is called right leaves less to do, so that right actions alone come to the end.
            assert len(oracle.script) < left_to_do
        replayed = Canvas(vocabulary, canvas.tokens, cursor=canvas.cursor, prefix=canvas.prefix, suffix=canvas.suffix)
        if not canvas.stopped:
            for id in oracle.script:
                replayed.apply(replayed.action(id))
            assert replayed.stopped
        assert replayed.tokens == [*left, *after, *right]


def test_a_finished_text_is_labelled_stop() -> None:
    vocabulary = VOCABULARIES[0]
    oracle = Oracle(Canvas(vocabulary, [1, 2, 3]), [1, 2, 3])
    assert oracle.script == [vocabulary.stop_id]
    assert oracle.follow(7) == vocabulary.stop_id
    assert oracle.script == [vocabulary.delete_id, vocabulary.stop_id]


def test_an_action_that_is_as_good_as_the_script_is_right() -> None:
    """Of two equal words of which one is too many, either may go."""
    vocabulary = VOCABULARIES[0]
    twice = Oracle(
        Canvas(vocabulary, [5, 5, 6], cursor=1),
        [5, 6],
        [vocabulary.id(m) for m in vocabulary.moves(1)] + [vocabulary.delete_id, vocabulary.stop_id],
    )
    assert twice.follow(vocabulary.delete_id) == vocabulary.delete_id
    away = Oracle(Canvas(vocabulary, list(range(10))), [*range(5), *range(6, 10)])
    four, two = (vocabulary.id(vocabulary.moves(-way)[0]) for way in (4, 2))
    assert away.script == [four, vocabulary.delete_id, vocabulary.stop_id]
    assert away.follow(two) == four
    assert away.script[0] == two
    # A wrong word is no way to write the right one.
    writing = Oracle(Canvas(vocabulary, [1]), [1, 2])
    assert writing.follow(3) == 2
    assert writing.script == [vocabulary.delete_id, 2, vocabulary.stop_id]


def test_stopping_too_early_is_labelled_with_what_was_left_to_do() -> None:
    vocabulary = VOCABULARIES[0]
    oracle = Oracle(Canvas(vocabulary, [1]), [1, 2])
    assert oracle.follow(vocabulary.stop_id) == 2


def play(episodes: Episodes, canvases: Sequence[Canvas], choose: Callable[[Canvas], int]) -> None:
    """Let a policy and the oracle act by turns until all episodes are over."""
    waiting = {number: [] for number in range(len(episodes))}  # type: dict[int, list[int]]
    while waiting:
        turns = episodes.go_on(list(waiting), list(waiting.values()))
        for (number, taken), (ids, steps) in zip(list(waiting.items()), turns, strict=True):
            canvas = canvases[number]
            for id in ids:
                canvas.apply(canvas.action(id))
            taken.clear()
            if not steps:
                del waiting[number]
            while len(taken) < steps and not canvas.stopped:
                taken.append(choose(canvas))
                canvas.apply(canvas.action(taken[-1]))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(edits(), min_size=1, max_size=3),
    st.sampled_from(VOCABULARIES),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.integers(0, 2**32),
    st.integers(1, 40),
)
def test_episodes_are_labelled_as_an_oracle_would(
    rows: list[Parts], vocabulary: Vocabulary, share: float, seed: int, most: int
) -> None:
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE, seed=3)
    except ReviserError:
        reject()  # no edit fits
    episodes = Episodes(revisions, vocabulary, 2, 0, 6, oracle_share=share, max_actions=most)
    canvases = [canvas_of(vocabulary, episodes.given(number)) for number in range(6)]
    random = KeyedRandom(seed)

    def choose(canvas: Canvas) -> int:
        if random.chance(0.05):
            return vocabulary.stop_id
        return some_action(canvas, random)

    play(episodes, canvases, choose)
    made, begun = episodes.histories(), revisions.histories(2, 0, 6)
    assert made.targets is not None
    reached = episodes.reached()
    for number, edit in enumerate(revisions.chosen(0, 6).tolist()):
        first, size = len(episodes.given(number)), int(made.lengths[number])
        taken = made.ids[number, first:size].tolist()
        script = begun.ids[number, first : begun.lengths[number]].tolist()
        after = revisions.parts(edit)[2]
        oracle = Oracle(canvas_of(vocabulary, episodes.given(number)), after, script)
        assert [oracle.follow(id) for id in taken] == made.targets[number, first:size].tolist()
        canvas = oracle.canvas
        assert canvas.tokens == canvases[number].tokens
        assert reached[number] == (list(canvas.between(canvas.low, canvas.high)) == after)
        assert canvas.stopped or len(taken) == min(most, MIXTURE.max_history - first)
        assert made.counted[number].nonzero()[0].tolist() == list(range(first, size))


@settings(deadline=None, max_examples=20)
@given(st.lists(edits(), min_size=1, max_size=3), st.sampled_from(VOCABULARIES))
def test_where_the_oracle_always_acts_episodes_are_supervised_samples(
    rows: list[Parts], vocabulary: Vocabulary
) -> None:
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE, seed=3)
    except ReviserError:
        reject()  # no edit fits
    episodes = Episodes(revisions, vocabulary, 1, 5, 15, 30, oracle_share=1.0, max_actions=160)
    assert all(steps == 0 for _, steps in episodes.go_on(range(10), [[]] * 10))
    made, supervised = episodes.histories(), revisions.histories(1, 5, 15, 30)
    assert (made.lengths == supervised.lengths).all()
    assert (made.counted == supervised.counted).all()
    inside = np.arange(made.ids.shape[1]) < made.lengths[:, None]
    assert made.targets is not None
    assert (made.ids == supervised.ids)[inside].all()
    assert (made.targets == made.ids)[inside].all()
    assert episodes.reached().all()


def test_the_oracle_acts_as_often_as_it_should() -> None:
    rows: list[Parts] = [([], [n % BASE] * 6, [(n + 1) % BASE] * 6, []) for n in range(20)]
    vocabulary = VOCABULARIES[0]
    revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE)
    episodes = Episodes(revisions, vocabulary, 0, 0, 400, oracle_share=0.3, max_actions=10)
    mine = 0

    def choose(canvas: Canvas) -> int:
        nonlocal mine
        mine += 1
        return 39

    play(episodes, [canvas_of(vocabulary, episodes.given(n)) for n in range(400)], choose)
    total = int(episodes.histories().counted.sum())
    # Stop, where the oracle chose it, cuts episodes short but changes no share.
    assert mine / total == pytest.approx(0.7, abs=0.03)


def test_actions_that_the_oracle_does_not_know_are_refused() -> None:
    swaps = Vocabulary(BASE, extensions=("swap",), kinds=PAPER_KINDS | {"delete", "swap"})
    revisions = Revisions(corpus_of([([], [1], [2], [])]), swaps, MIXTURE)
    with pytest.raises(ReviserError, match="does not know swap"):
        Episodes(revisions, swaps, 0, 0, 1, oracle_share=0.5, max_actions=8)


# Runs --------------------------------------------------------------------------------------------


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Models this small lose more by handing work to threads than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of texts and of edits in bytes, and a random model that could revise them."""
    folder = tmp_path_factory.mktemp("dagger")
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_bytes(toy_tokenizer_json())
    chooser = random.Random(0)
    words = ["the cat", "a dog", "sat", "ran", "in all"]
    lines = [" ".join(chooser.choices(words, k=4)) for _ in range(120)]
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": x}) + "\n" for x in lines))
    rows = [{"before": x, "after": x.replace("the cat", "the hen"), "left": "So"} for x in lines]
    (folder / "edits.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["--tokenizer", str(tokenizer), "--workers", "1"]
    assert make_data([str(folder / "texts"), str(folder / "texts.jsonl"), *given]) == 0
    assert make_data([str(folder / "edits"), str(folder / "edits.jsonl"), "--edits", *given]) == 0
    corpus = Corpus.open(folder / "edits")
    vocabulary = corpus.vocabulary(kinds=PAPER_KINDS | {"delete"})
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=vocabulary.size, dropout=0.1, context=160))
    told = {"mixture": replace(MIXTURE, plain=1.0, edits=1.0).to_dict()}
    save(folder / "model", model, vocabulary, tokenizer.read_bytes(), metadata=told)
    return folder


def words_of(folder: Path, out: Path, *more: str) -> list[str]:
    return [
        "tiny",
        *("--init", str(folder / "model"), "--data", str(folder / "texts")),
        *("--edits", str(folder / "edits"), "--held-out-edits", str(folder / "edits")),
        *("--out", str(out), "--history", "96", "--row-length", "96", "--rows", "2"),
        *("--rounds", "2", "--updates", "4", "--episodes", "16", "--max-actions", "8"),
        *("--beta", "0.6", "--workers", "1", "--evaluate-every", "100"),
        *more,
    ]


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.trainer.run._REPORT_SECONDS", 0.0)
    monkeypatch.setattr("training.dagger.run._EVALUATION_EPISODES", 8)


def kept(out: Path) -> list[dict[str, Any]]:
    """What a run said about itself, but for what depends on the clock."""
    timed = {"seconds", "rollout_seconds", "actions_per_s", "waited_share"}
    return [
        {name: value for name, value in entry.items() if name not in timed}
        for entry in read_metrics(out / "metrics.jsonl")
    ]


@pytest.mark.usefixtures("every_step", "one_thread")
def test_a_resumed_run_equals_one_that_was_never_interrupted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert dagger(words_of(folder, whole)) == 0
    entries = kept(whole)
    rounds = [entry for entry in entries if "oracle_share" in entry]
    assert [(entry["step"], entry["oracle_share"]) for entry in rounds] == [(0, 0.6), (4, 0.3)]
    assert all(entry["visited_right"] < 1 for entry in rounds)
    looks = [entry["step"] for entry in entries if "held_out_visited_loss" in entry]
    assert looks == [0, 4, 8]
    assert load(whole / "model").metadata["dagger"]["rounds"] == 2
    assert (whole / "round-01" / "model").is_dir()

    steps = Trainer.steps

    def some(self: Trainer) -> Iterator[StepMeasures]:
        for measured in steps(self):
            yield measured
            if self.progress.step == 2:
                raise KeyboardInterrupt

    def dies(path: Path, histories: Histories) -> None:
        raise KeyboardInterrupt

    # The process ends within a round, and before the next one's episodes are kept.
    often = words_of(folder, broken, "--checkpoint-every", "1")
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "steps", some)
        with pytest.raises(KeyboardInterrupt):
            dagger(often)
    with monkeypatch.context() as patched:
        patched.setattr("training.dagger.run.save_visited", dies)
        with pytest.raises(KeyboardInterrupt):
            dagger([*often, "--resume"])
    assert not (broken / "visited-02.npz").exists()
    assert dagger(words_of(folder, broken, "--resume")) == 0
    assert kept(broken) == entries
    one, other = (load(out / "model").model.state_dict() for out in (whole, broken))
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.usefixtures("every_step", "one_thread")
def test_a_run_asked_to_stop_saves_what_it_has(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    visit = Rounds.begin

    def interrupted(self: Rounds, number: int) -> None:
        visit(self, number)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Rounds, "begin", interrupted)
    assert dagger(words_of(folder, out)) == 0
    assert not (out / "model").exists()
    assert (out / "visited-01.npz").exists()
    monkeypatch.setattr(Rounds, "begin", visit)
    before = (out / "visited-01.npz").stat().st_mtime_ns
    assert dagger(words_of(folder, out, "--resume")) == 0
    assert (out / "visited-01.npz").stat().st_mtime_ns == before
    assert (out / "model").exists()


@pytest.mark.usefixtures("every_step", "one_thread")
def test_the_plain_baseline_takes_as_many_steps_without_rollouts(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "plain"
    assert dagger(words_of(folder, out, "--plain")) == 0
    entries = kept(out)
    assert not any("oracle_share" in entry for entry in entries)
    assert not list(out.glob("visited*"))
    assert [entry["step"] for entry in entries if "loss" in entry] == list(range(1, 9))
    assert load(out / "model").metadata["dagger"]["plain"]


def as_in_a_file(model: Reviser) -> dict[str, torch.Tensor]:
    return dequantise_model(model.config, quantise_model(model, 4, thorough=True))


@pytest.mark.usefixtures("every_step", "one_thread")
def test_a_model_that_is_trained_rounded_acts_rounded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a quantised file on: what revises is what the next such file would hold."""
    begun = load(folder / "model")
    four = Quantisation(4)
    save_checkpoint(tmp_path / "four", begun, quantisation=four)
    acted = []

    def noted(model: Reviser) -> Reviser:
        acted.append(copy.deepcopy(model.state_dict()))
        return acting_copy(model)

    monkeypatch.setattr("training.dagger.run.acting_copy", noted)
    out = tmp_path / "out"
    rounded = ("--init", str(tmp_path / "four"), "--round-bits", "4", "--round-from", "0")
    assert dagger(words_of(folder, out, *rounded)) == 0
    # Before the first round, in each round, and after each.
    assert len(acted) == 5
    weight = "blocks.0.mlp.down.weight"
    stored = load(tmp_path / "four").model.state_dict()[weight]
    # What was rounded before is hardly changed when it is rounded again.
    assert (acted[0][weight] - stored).std() < 0.02 * stored.std()
    made = load(out / "model")
    assert not torch.equal(made.model.state_dict()[weight], acted[-1][weight])
    expected = as_in_a_file(made.model)
    assert all(torch.equal(value, expected[name]) for name, value in acted[-1].items())
    save_checkpoint(tmp_path / "after", made, quantisation=four)
    stored = load(tmp_path / "after").model.state_dict()[weight]
    assert torch.allclose(acted[-1][weight], stored)


def test_what_cannot_be_trained_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixture = tmp_path / "mixture.json"
    mixture.write_text('{"plain": 1}')
    for more, why in (
        (["--mixture", str(mixture)], "no share of edits"),
        (["--beta", "2"], "between 0 and 1"),
        (["--rounds", "0"], "1 or more"),
        (["--resume"], "no checkpoint"),
    ):
        assert dagger(words_of(folder, tmp_path / "out", *more)) == 2
        assert why in capsys.readouterr().err
    corpus = Corpus.open(folder / "edits")
    vocabulary = corpus.vocabulary(kinds=PAPER_KINDS)
    tokenizer = (folder / "tokenizer.json").read_bytes()
    writer = Reviser(preset("tiny", vocab_size=vocabulary.size))
    save(tmp_path / "writer", writer, vocabulary, tokenizer)
    assert dagger(words_of(folder, tmp_path / "out", "--init", str(tmp_path / "writer"))) == 2
    assert "not trained to revise" in capsys.readouterr().err
    damaged = tmp_path / "visited.npz"
    damaged.write_bytes(b"PK nothing")
    with pytest.raises(ReviserError, match="damaged"):
        load_visited(damaged)


# Learning ----------------------------------------------------------------------------------------

TOY = Vocabulary(BASE, kinds=PAPER_KINDS | {"delete"})
TOY_MIXTURE = Mixture(*(1.0, 0.0, 0.0, 0.0), edits=9.0, unchanged=0.1, edit_orders=((1.0, "forward"),), max_history=64)


def toy_edits(count: int, seed: int) -> Corpus:
    """Texts of ten tokens in which every 0 becomes 1 2, and every 3 goes: a wrong step asks for others."""
    chooser = random.Random(seed)
    rows: list[Parts] = []
    for _ in range(count):
        before = [chooser.randrange(12) for _ in range(10)]
        after = [new for old in before for new in {0: [1, 2], 3: []}.get(old, [old])]
        rows.append(([], before, after, []))
    return corpus_of(rows)


def trained(start: Reviser, plan: DaggerPlan, rate: float, out: Path) -> tuple[Reviser, float]:
    """A model after all rounds, and its loss in the states that it comes by itself."""
    model = copy.deepcopy(start)
    settings = preset_settings(
        "tiny",
        steps=plan.rounds * plan.updates,
        history=64,
        row_length=64,
        rows=8,
        peak_rate=rate,
        final_rate=rate / 10,
    )
    world = World(0, 1, torch.device("cpu"), "none")
    noise = np.random.default_rng(0).integers(0, 12, (100, 30)).tolist()
    data = Data(
        Samples(Corpus.of(noise, some_classes()), TOY, TOY_MIXTURE, 0),
        Revisions(toy_edits(2000, 1), TOY, TOY_MIXTURE, 0),
        Revisions(toy_edits(100, 2), TOY, TOY_MIXTURE, 0),
    )
    trainer = Trainer(settings, model, loader_of(data.source([], 0.0), settings, world, 1), world)
    log = MetricsLog(out / "metrics.jsonl", -1)
    parts = Checkpoint(model, TOY, ToyTokenizer())
    evaluator = HeldOutEvaluator([], [], parts)
    run = TrainingRun(out, trainer, parts, {}, evaluator, Reporter(trainer, log, PlainView()), [])  # type: ignore[typeddict-item]
    rounds = Rounds(plan, data, run, 1)
    for number in range(plan.rounds):
        rounds.begin(number)
        for _ in trainer.steps():
            if trainer.progress.step == (number + 1) * plan.updates:
                break
    rounds.evaluate(plan.rounds)
    log.close()
    return model, read_metrics(log.path)[-1]["held_out_visited_loss"]


@pytest.mark.usefixtures("one_thread")
def test_dagger_lowers_the_loss_where_the_model_comes_by_itself(tmp_path: Path) -> None:
    """Both go on from the same supervised model for the same number of updates, at the same rates."""
    torch.manual_seed(0)
    fresh = Reviser(preset("tiny", vocab_size=TOY.size, dropout=0.0, context=64))
    supervised = DaggerPlan(rounds=1, updates=50, max_actions=24, plain=True)
    start, _ = trained(fresh, supervised, 3e-3, tmp_path)
    plan = DaggerPlan(rounds=2, updates=25, episodes=128, beta=0.3, max_actions=24, batch=128)
    _, corrected = trained(start, plan, 2e-3, tmp_path)
    _, plain = trained(start, replace(plan, plain=True), 2e-3, tmp_path)
    assert corrected < plain - 0.1
