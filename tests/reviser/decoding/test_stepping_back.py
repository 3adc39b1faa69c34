"""Steps back that are thought through: those that are made read as well, by a reading of the test's own."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest
import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.core.actions import Move
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES
from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, ScriptedPolicy, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.stepping_back import BEHIND, ODDS, ON_AVERAGE, CheckedRollout, Comparison, TextComparer
from reviser.model.scoring import Decoder
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import NativeDecoder
from reviser.session.engine import Engine
from tests.lsp_server.models import save_tiny_model
from tests.toys import VOCABULARY, ToyTokenizer

TEXT = "It was late. The cat sat on the mat, it was"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return load(save_tiny_model(tmp_path_factory.mktemp("model") / "tiny"), dtype=torch.float32)


@pytest.fixture(scope="module", params=["torch", "native"])
def engine(checkpoint: Checkpoint, request: pytest.FixtureRequest) -> Engine:
    decoder: Decoder = (
        TorchDecoder(checkpoint.model, 256)
        if request.param == "torch"
        else NativeDecoder.from_model(checkpoint.model, 8, capacity=256)
    )
    return Engine("tiny", ModelPolicy(decoder, checkpoint.vocabulary), checkpoint.tokenizer)


def checked(engine: Engine, number: int, actions: int = 40) -> CheckedRollout:
    vocabulary = engine.policy.vocabulary
    canvas, history = seed(vocabulary, engine.tokenizer.encode(TEXT))
    sampler = Sampler(seed=number)
    return CheckedRollout(engine.policy, canvas, history, engine.tokenizer, sampler, max_actions=actions)


def backward(engine: Engine) -> set[int]:
    ids = engine.policy.vocabulary.move_ids
    return {id for id, delta in zip(ids, MOVES, strict=True) if delta < 0}


def test_the_same_seed_makes_the_same_run(engine: Engine) -> None:
    runs = [[step.id for step in checked(engine, number)] for number in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]


def test_some_steps_back_are_refused_and_some_made(engine: Engine) -> None:
    made = refused = 0
    for number in range(6):
        run = checked(engine, number)
        list(run)
        made, refused = made + run.made, refused + run.refused
    assert made
    assert refused


def test_a_step_back_that_was_made_reads_as_well(engine: Engine) -> None:
    start_id = engine.policy.vocabulary.start_id
    compared = TextComparer(left_to_right(engine.policy), start_id, engine.tokenizer)
    seen = 0
    for number in range(6):
        run = checked(engine, number)
        made, before = 0, list(run.canvas.tokens)
        for _ in run:
            if run.made > made and not run._decided:
                made = run.made
                # All of the step back has been made, and nothing else. What repeats the text behind it seems to be at
                # its end.
                if run.canvas.tokens[: len(before)] == before:
                    continue
                found = compared.compare(before, run.canvas.tokens)
                # The text that is read begins and ends a little elsewhere than where the place was still open.
                assert found.on_average >= -ON_AVERAGE - 0.2
                assert found.behind >= -BEHIND - 0.2
                seen += 1
            if run.made == made:
                before = list(run.canvas.tokens)
    assert seen


class Weighted:
    """A reading by a fixed cost of each token, or of a token behind another."""

    def __init__(self, costs: dict[int, float], pairs: dict[tuple[int, int], float]) -> None:
        self._costs, self._pairs = costs, pairs

    def chances(self, ids: Sequence[int], last: int) -> list[float]:
        found = []
        for at in range(len(ids) - last, len(ids)):
            pair = (ids[at - 1], ids[at])
            found.append(-self._pairs.get(pair, self._costs.get(ids[at], 1.0)))
        return found


def test_what_is_compared() -> None:
    tokenizer = ToyTokenizer()
    the, cat, sat, mat = (tokenizer.encode(word)[0] for word in (" the", " cat", " sat", " mat"))
    old, new = [the, cat, sat], [the, cat, mat, sat]
    # From there on: 1 before; 3 and 1 with it. What stands behind it is as likely as before.
    costly = TextComparer(Weighted({mat: 3.0}, {}), 0, tokenizer).compare(old, new)
    assert (costly.on_average, costly.behind) == (fmean([-3, -1]) + 1, 0)
    assert not costly.reads_as_well
    # Likely words that what follows does not go with.
    broken = TextComparer(Weighted({mat: 0.1}, {(mat, sat): 2.5}), 0, tokenizer).compare(old, new)
    assert broken.on_average > -0.4
    assert broken.behind == -1.5
    assert not broken.reads_as_well
    fitting = TextComparer(Weighted({mat: 1.0}, {(mat, sat): 0.5}), 0, tokenizer).compare(old, new)
    assert fitting.reads_as_well
    same = TextComparer(Weighted({}, {}), 0, tokenizer).compare(old, old)
    assert same.reads_as_well


def test_a_phrase_may_cost_less_than_a_sentence() -> None:
    for loss, phrase, sentence in ((0.9, True, True), (1.1, False, True), (2.6, False, False)):
        assert Comparison(0.0, -loss).reads_as_well is phrase
        assert Comparison(0.0, -loss, 1.0).reads_as_well is sentence
    assert not Comparison(-0.9, 0.0, 1.0).reads_as_well
    assert not Comparison(-0.4, 0.0).reads_as_well


def test_insertions_are_compared_as_whole_texts_are() -> None:
    tokenizer = ToyTokenizer()
    the, cat, sat, mat = (tokenizer.encode(word)[0] for word in (" the", " cat", " sat", " mat"))
    old, piece, places = [the, cat, sat, the], [mat, mat], [1, 2, 3]
    reading = Weighted({mat: 2.0, cat: 0.5}, {(mat, sat): 0.25, (mat, the): 4.0})
    comparing = TextComparer(reading, 0, tokenizer)
    for place, found in zip(places, comparing.insertions(old, piece, places), strict=True):
        whole = comparing.compare(old, [*old[:place], *piece, *old[place:]])
        assert found.behind == pytest.approx(whole.behind)
        assert found.on_average == pytest.approx(whole.on_average)


def test_where_a_piece_may_be_put() -> None:
    tokenizer = ToyTokenizer()
    text = tokenizer.encode("It was late. The cat sat. It was")
    words = [tokenizer.token_bytes(id).decode() for id in text]
    comparing = TextComparer(Weighted({}, {}), 0, tokenizer)
    sentence, phrase = tokenizer.encode(" The mat."), tokenizer.encode(" the mat")
    for at in range(1, len(text)):
        places = comparing.places(text, sentence, at, range(1, len(text)))
        if places:
            assert words[places[0] - 1].endswith(".")
        near = comparing.places(text, phrase, at, range(1, len(text)))
        assert all(abs(place - at) <= 1 and 0 < place < len(text) for place in near)
    assert comparing.places(text, sentence, 4, range(0)) == []
    # Neither a sentence and a half nor a very long phrase.
    assert comparing.places(text, [*sentence, *phrase], 4, range(1, len(text))) == []
    assert comparing.places(text, phrase * 20, 4, range(1, len(text))) == []


def test_no_sentence_is_put_before_what_goes_on_with_a_small_letter() -> None:
    tokenizer = ToyTokenizer()
    comparing = TextComparer(Weighted({}, {}), VOCABULARY.start_id, tokenizer)
    sentence = tokenizer.encode(" The mat.")
    for text, room in (("It was late. The cat sat.", True), ("It was late. the cat sat.", False)):
        tokens = tokenizer.encode(text)
        words = [tokenizer.token_bytes(id).decode() for id in tokens]
        place = 1 + next(at for at, word in enumerate(words[:-1]) if word.endswith("."))
        found = comparing.places(tokens, sentence, place, range(1, len(tokens)))
        assert found == ([place] if room else [])


def test_nothing_with_a_small_letter_is_put_behind_the_end_of_a_sentence() -> None:
    tokenizer = ToyTokenizer()
    comparing = TextComparer(Weighted({}, {}), VOCABULARY.start_id, tokenizer)
    tokens = tokenizer.encode("It was late. The cat sat.")
    words = [tokenizer.token_bytes(id).decode() for id in tokens]
    place = 1 + next(at for at, word in enumerate(words[:-1]) if word.endswith("."))
    for piece, room in ((" The mat.", True), (" the mat.", False), (" the mat", False)):
        found = comparing.places(tokens, tokenizer.encode(piece), place, range(1, len(tokens)))
        assert (place in found) == room


@pytest.mark.parametrize(
    ("before", "behind", "piece", "room"),
    [
        ("It was late.", " The cat sat.", ", the mat", False),
        ("It was late", ".", ", the mat", True),
        ("It was late", ".", " The mat", False),
        ("It was late", ".", " Ada", True),
        ("It cost 1", ".50 then.", ", the mat", False),
        ("It cost 1", ". The cat sat.", ", the mat", True),
        ("It cost 1", ",000 then.", " or", False),
    ],
)
def test_a_phrase_breaks_no_sentence_and_no_number(before: str, behind: str, piece: str, room: bool) -> None:
    tokenizer = ToyTokenizer()
    comparing = TextComparer(Weighted({}, {}), VOCABULARY.start_id, tokenizer)
    first = tokenizer.encode(before)
    tokens = [*first, *tokenizer.encode(behind)]
    words = tokenizer.encode(piece)
    found = comparing.places(tokens, words, len(first), range(1, len(tokens)))
    assert (len(first) in found) == room


def test_a_sentence_is_put_between_sentences_and_the_run_goes_on_at_the_end() -> None:
    """Moves that lead one token too far back are fixed."""
    tokenizer = ToyTokenizer()
    text = tokenizer.encode("It was late. The cat sat.")
    piece = tokenizer.encode(" The mat.")
    words = [tokenizer.token_bytes(id).decode() for id in text]
    place = 1 + next(at for at, word in enumerate(words[:-1]) if word.endswith("."))
    for missed in (-1, 0, 1):
        canvas, history = seed(VOCABULARY, [])
        going = VOCABULARY.moves(place + missed - len(text))
        script = [*text, *map(VOCABULARY.id, going), *piece]
        script += [VOCABULARY.id(Move(1)), VOCABULARY.stop_id]
        run = CheckedRollout(
            ScriptedPolicy(VOCABULARY, script), canvas, history, tokenizer, Sampler.greedy(), reading=Weighted({}, {})
        )
        steps = [next(run) for _ in range(len(text) + 1)]
        while run.canvas.cursor < run.canvas.length:
            steps.append(next(run))
        assert run.canvas.tokens == [*text[:place], *piece, *text[place:]]
        assert run.made == 1


def test_without_steps_back_it_is_the_same_run(engine: Engine) -> None:
    same = 0
    for number in range(20):
        canvas, history = seed(engine.policy.vocabulary, engine.tokenizer.encode(TEXT))
        sampler = Sampler(seed=number, move_odds=ODDS)
        plain = Rollout(engine.policy, canvas, history, sampler, max_actions=5)
        ids = [step.id for step in plain]
        if not set(ids) & backward(engine):
            same += 1
            assert [step.id for step in checked(engine, number, 5)] == ids
    assert same


def test_a_refused_step_leaves_no_move_backward(engine: Engine) -> None:
    for number in range(6):
        run = checked(engine, number)
        refused = 0
        for step in run:
            if run.refused > refused:
                assert step.id not in backward(engine)
            refused = run.refused


def test_what_others_do_ends_a_plan(engine: Engine) -> None:
    for number in range(12):
        run = checked(engine, number)
        for step in run:
            if step.id in backward(engine):
                run.take(engine.tokenizer.encode(" mat")[0])
                while run.actions_taken:
                    run.take_back()
                assert run.canvas.tokens == engine.tokenizer.encode(TEXT)
                assert all(0 <= step.cursor <= run.canvas.length for step in run)
                return
    pytest.fail("no run went back")


def test_a_session_checks_if_it_is_told_to(engine: Engine) -> None:
    texts = []
    for checks in (False, True, True):
        session = engine.session(TEXT)
        run = session.continue_(Sampler(seed=8), max_actions=40, check_steps_back=checks)
        list(run)
        assert isinstance(run.rollout, CheckedRollout) is checks
        texts.append(session.text)
    assert texts[1] == texts[2]
    assert all(written.startswith(TEXT) for written in texts)


def test_a_policy_without_a_model_cannot_check() -> None:
    canvas, history = seed(VOCABULARY, [1, 2, 3])
    with pytest.raises(ReviserError, match="cannot read a text"):
        CheckedRollout(ScriptedPolicy(VOCABULARY, []), canvas, history, ToyTokenizer())
