"""Revising in a session: the draft changes and nothing else, and an oracle shows the whole way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Stop
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError, UnknownId
from reviser.core.trajectory import Trajectory, dump_trajectories, load_trajectories
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Scores
from reviser.session.replay import replay
from reviser.session.session import NEIGHBOURS, Session
from reviser.session.windows import Window
from tests.reviser.session.test_session import apply, documents, follow
from tests.toys import ToyTokenizer, quick_decoder, quick_toy_policy, toy_model
from tests.training.edits.revising import revising_actions

TOKENIZER = ToyTokenizer()
REVISING = Vocabulary(TOKENIZER.size, kinds=PAPER_KINDS | {"delete"}, name="toy")


def revising_policy() -> ModelPolicy:
    model = toy_model(context=128, canvas_length=128)
    return ModelPolicy(quick_decoder(model), REVISING, max_length=model.config.canvas_length)


POLICY = revising_policy()


class Oracle:
    """Knows what the draft should say, and always takes the next step towards that."""

    vocabulary = REVISING
    context = 2000
    max_length = None

    def __init__(self, wanted: str) -> None:
        self._wanted = TOKENIZER.encode(wanted)
        self.seen: list[list[int]] = []

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        self.seen.append(list(history))
        draft = list(canvas.between(canvas.low, canvas.high))
        way = revising_actions(self.vocabulary, draft, self._wanted, cursor=canvas.cursor - canvas.low)
        scores = np.full(self.vocabulary.size, -np.inf, dtype=np.float32)
        scores[self.vocabulary.id((way or [Stop()])[0])] = 0.0
        return scores


@settings(max_examples=50, deadline=None)
@given(documents, st.data(), st.integers(0, 9), st.sampled_from([12, 1024]))
def test_revising_changes_the_draft_and_nothing_else(text: str, data: st.DataObject, seed_: int, window: int) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 14)))
    document = Session(POLICY, TOKENIZER, text, window=window)
    if len(TOKENIZER.encode(text[start:end])) > document.longest_draft:
        with pytest.raises(ReviserError, match="too many"):
            document.revise(start, end)
        return
    run = document.revise(start, end, Sampler(seed=seed_), max_actions=15)
    assert run.opening is None
    assert run.text == text
    after, frames = follow(text, run)
    assert after.startswith(text[:start])
    assert after.endswith(text[end:])
    assert document.text == after
    for _ in range(data.draw(st.integers(0, len(frames)))):
        after = apply(after, run.take_back())
        assert after == run.text
    edit = run.reject()
    assert (apply(after, (edit,)) if edit else after) == text
    assert document.text == text


@settings(max_examples=60, deadline=None)
@given(documents, documents, documents, documents)
def test_an_oracle_gets_where_it_wants(left: str, before: str, wanted: str, right: str) -> None:
    text = left + before + right
    document = Session(Oracle(wanted), TOKENIZER, text)
    run = document.revise(len(left), len(left) + len(before), max_actions=500)
    follow(text, run)
    assert run.rollout.ending == "stop"
    assert document.text == left + wanted + right
    told = Trajectory.record(run.rollout, TOKENIZER)
    (read,) = load_trajectories("it", dump_trajectories([told]))
    assert read == told
    replayed = replay(read, TOKENIZER)
    assert replayed.matches
    assert replayed.start_text == run.window.prefix + before + run.window.suffix
    assert replayed.summary()["prompt_actions"] == told.seed_actions


LINES = "".join(f"This is line {number} of the story.\n" for number in range(100, 200))


def line_in(text: str, number: int) -> tuple[int, int]:
    start = text.index(f"This is line {number}")
    return start, text.index("\n", start)


def seen_around(document: Session, number: int) -> Window:
    return document.revise(*line_in(document.text, number), max_actions=50).window


def test_all_passages_are_revised_one_after_the_other() -> None:
    """Each run begins where those before it have left the text."""
    text = "Keep this.\n\none cat\ntwo cat\r\n\r\nthree cat"
    start = text.index("one")
    document = Session(Oracle("a dog"), TOKENIZER, text)
    places = []
    for run, first, last in document.revise_all(start, max_actions=500):
        assert run.text[: run.text.index("cat")].count("a dog") == len(places)
        follow(run.text, run)
        places.append(text[first:last])
    assert places == ["one cat", "two cat", "three cat"]
    assert document.text == "Keep this.\n\na dog\na dog\r\n\r\na dog"


def test_a_draft_is_seen_between_its_nearest_lines_alone() -> None:
    oracle = Oracle("another line.")
    start, end = line_in(LINES, 150)
    run = Session(oracle, TOKENIZER, LINES).revise(start, end, max_actions=50)
    window = run.window
    next(run)
    for part in (window.prefix, window.suffix):
        assert NEIGHBOURS // 4 < len(TOKENIZER.encode(part)) <= NEIGHBOURS // 2
    assert window.before + window.prefix == LINES[:start]
    assert window.suffix + window.after == LINES[end:]
    assert window.before.endswith("\n")
    assert window.suffix.endswith("\n")
    assert len(oracle.seen[0]) <= NEIGHBOURS + (end - start) + 14
    # A long line is cut at a sentence, as in other windows.
    text = "A sentence. " * 30 + "Here. " + "A sentence. " * 30
    start = text.index("Here.")
    window = Session(oracle, TOKENIZER, text).revise(start, start + 5).window
    assert window.prefix.startswith("A sentence. ")
    assert window.suffix.endswith("A sentence. ")


def test_what_is_seen_around_a_draft_is_the_same_whatever_was_seen_before() -> None:
    order = [100, 101, 103, 106, 150, 149, 148, 120, 121, 199]
    one = Session(Oracle(""), TOKENIZER, LINES)
    other = Session(Oracle(""), TOKENIZER, LINES)
    other.continue_(max_actions=50)
    around = [seen_around(one, number) for number in order]
    assert [seen_around(other, number) for number in reversed(order)] == around[::-1]
    assert around[0].prefix == ""
    assert around[-1].after == ""


@pytest.mark.parametrize("number", [101, 150, 198])
def test_revising_leaves_the_window_of_writing_on_where_it_is(number: int) -> None:
    document = Session(Oracle("a line"), TOKENIZER, LINES)
    before = document.continue_(max_actions=50).window.before
    assert before.endswith("\n")
    assert seen_around(document, number).before != before
    assert document.continue_(max_actions=50).window.before == before
    # What is revised before that window or in it moves the lines; it starts with a whole one still.
    list(document.revise(*line_in(document.text, number), max_actions=100))
    assert document.text == LINES.replace(f"This is line {number} of the story.", "a line")
    moved = document.continue_(max_actions=50).window
    assert moved.before.endswith("\n")
    assert len(TOKENIZER.encode(moved.prefix)) > NEIGHBOURS * 4


def test_what_the_model_reads() -> None:
    oracle = Oracle("The dog")
    document = Session(oracle, TOKENIZER, "Up. The cat. Down.")
    run = document.revise(4, 11, max_actions=50)
    next(run)
    left, draft, right = (TOKENIZER.encode(part) for part in ("Up. ", "The cat", ". Down."))
    back = [REVISING.id(move) for move in REVISING.moves(-len(right))]
    marker = REVISING.draft_id
    assert oracle.seen[0] == [REVISING.start_id, *left, *right, *back, marker, *draft]
    canvas, history = seed(REVISING, left, right, draft=draft)
    assert (canvas.tokens, canvas.cursor) == ([*left, *draft, *right], len(left) + len(draft))
    assert history == oracle.seen[0]
    assert marker not in canvas.valid_actions()
    with pytest.raises(UnknownId, match="marker"):
        canvas.action(marker)


def test_a_model_that_was_not_trained_to_revise_says_so() -> None:
    document = Session(quick_toy_policy(), TOKENIZER, "The cat")
    with pytest.raises(ReviserError, match="not trained to revise"):
        document.revise()
    with pytest.raises(ReviserError, match="not trained to revise"):
        document.passages()
    with pytest.raises(ReviserError, match="no place"):
        Session(POLICY, TOKENIZER, "The cat").revise(3, 99)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", " ", "\n", "\r\n", "漢字", "The cat sat. ", " the mat"])).map("".join), st.data())
def test_passages_are_all_that_is_said(text: str, data: st.DataObject) -> None:
    document = Session(POLICY, TOKENIZER, text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    passages = document.passages(start, end)
    rest, at = "", start
    for first, last in passages:
        assert start <= at <= first < last <= end
        assert "\n" not in text[first:last]
        document.revise(first, last, max_actions=1)  # none is too long
        rest += text[at:first]
        at = last
    assert not (rest + text[at:end]).strip()


def test_long_lines_are_cut_at_sentences() -> None:
    text = "The cat sat on the mat. " * 30
    pieces = [text[a:b] for a, b in Session(POLICY, TOKENIZER, text).passages()]
    assert len(pieces) > 3
    assert all(piece.endswith(".") for piece in pieces[:-1])
    assert pieces[1].startswith(" The")
