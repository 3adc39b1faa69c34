from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measures.arena import Match, judge_matches, matches, score, verdict_of, wilson
from benchmarks.protocol.records import Continuation, Judgement, Prompt
from benchmarks.protocol.runs import RunCache
from reviser.scoring.evaluators import load_evaluator
from reviser.scoring.judges import Answer, Case, ChatJudge, LikelihoodJudge, load_judge, parse_answer
from reviser.scoring.perplexity import PromptedText
from tests.benchmarks import tiny_models

CPU = torch.device("cpu")


class LongerJudge:
    """Prefers the longer text, or what it is shown first; counts what it is asked."""

    def __init__(self, biased: bool = False) -> None:
        self.name = self.fingerprint = "longer"
        self.asked = 0
        self._biased = biased

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        self.asked += len(cases)
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Answer:
        if case.a == "?" or case.b == "?":
            return "invalid"
        if self._biased:
            return "A"
        if len(case.a) == len(case.b):
            return "tie"
        return "A" if len(case.a) > len(case.b) else "B"


def generation(id: str, who: str, text: str, seed: int = 1) -> Continuation:
    return Continuation(id, who, seed, text, (), "stop", None, 0.0)


def met(count: int = 40) -> list[Match]:
    """`one` writes more in all examples but each fourth."""
    prompts = [Prompt(f"p{n}", f"prompt {n}", (), "", "") for n in range(count)]
    ones = [generation(p.id, "one", "long text" if n % 4 else "l") for n, p in enumerate(prompts)]
    others = [generation(p.id, "other", f"some {n}"[:6]) for n, p in enumerate(prompts)]
    return matches(prompts, ones, others)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[[A]]", "A"),
        (" [[B]]\n", "B"),
        ("[[A]] is better", "invalid"),
        ("I choose [[A]]", "invalid"),
        ("[[A]][[B]]", "invalid"),
        ("[[C]]", "invalid"),
        ("A", "invalid"),
        ("", "invalid"),
    ],
)
def test_only_the_exact_form_is_an_answer(text: str, answer: Answer) -> None:
    assert parse_answer(text) == answer


@given(st.sampled_from(["A", "B", "tie", "invalid"]))
def test_a_verdict_names_the_contestant_whatever_the_order(answer: Answer) -> None:
    flipped: dict[Answer, Answer] = {"A": "B", "B": "A", "tie": "tie", "invalid": "invalid"}
    assert verdict_of(answer, "kept") == verdict_of(flipped[answer], "swapped")


def test_matches_need_the_same_prompt_and_seed() -> None:
    prompts = [Prompt("p", "", (), "", "")]
    one = [generation("p", "one", "a", 1), generation("p", "one", "b", 2)]
    other = [generation("p", "other", "c", 2), generation("q", "other", "d", 2)]
    (match,) = matches(prompts, one, other)
    assert (match.first.continuation, match.second.continuation) == ("b", "c")


def test_the_order_is_drawn_for_each_example_and_stays() -> None:
    orders = [match.drawn_order for match in met(400)]
    assert 150 < orders.count("kept") < 250
    assert orders == [match.drawn_order for match in met(400)]


def test_the_better_wins_whatever_the_order() -> None:
    for both_ways in (False, True):
        found = score(list(judge_matches(LongerJudge(), met(), both_ways=both_ways)))
        assert (found.wins, found.losses, found.ties) == (30, 10, 0)
        assert found.win_rate.share == 0.75
        assert found.asked == (80 if both_ways else 40)
    assert found.agreement is not None
    assert found.agreement.share == 1.0
    assert found.shown_first.share == 0.5


def test_a_judge_that_looks_at_the_order_is_found_out() -> None:
    found = score(list(judge_matches(LongerJudge(biased=True), met(), both_ways=True)))
    assert found.win_rate.share == 0.5
    assert found.ties == found.examples == 40
    assert found.shown_first.share == 1.0
    assert found.shown_first.low > 0.9
    assert found.agreement is not None
    assert found.agreement.share == 0.0


def test_invalid_answers_are_counted_and_decide_nothing() -> None:
    prompts = [Prompt(f"p{n}", "", (), "", "") for n in range(3)]
    ones = [generation(p.id, "one", "?" if p.id == "p0" else "long") for p in prompts]
    others = [generation(p.id, "other", "x") for p in prompts]
    found = score(list(judge_matches(LongerJudge(), matches(prompts, ones, others))))
    assert (found.asked, found.invalid, found.examples, found.wins) == (3, 1, 2, 2)


def test_nothing_is_asked_twice_even_after_an_interruption(tmp_path: Path) -> None:
    judge = LongerJudge()
    with RunCache(tmp_path / "cache.sqlite") as cache:
        begun = judge_matches(judge, met(), cache, batch=8)
        first = [next(begun) for _ in range(10)]
        assert judge.asked == 16
        whole = list(judge_matches(judge, met(), cache, batch=8))
        assert whole[:10] == first
        assert judge.asked == 40
        list(judge_matches(judge, met(), cache, both_ways=True))
        assert judge.asked == 80


def test_texts_that_are_the_same_are_asked_about_once(tmp_path: Path) -> None:
    prompts = [Prompt("p", "same", (), "", ""), Prompt("q", "same", (), "", "")]
    ones = [generation(p.id, "one", "text") for p in prompts]
    others = [generation(p.id, "other", "text") for p in prompts]
    judge = LongerJudge()
    assert len(list(judge_matches(judge, matches(prompts, ones, others)))) == 2
    assert judge.asked == 1


def test_progress_tells_of_every_answer() -> None:
    done: list[int] = []
    list(judge_matches(LongerJudge(), met(), progress=done.append, batch=7))
    assert sum(done) == 40


def test_a_score_is_of_one_pair() -> None:
    entries = [Judgement("p", 1, "one", other, "kept", "first", "judge") for other in ("two", "three")]
    with pytest.raises(ValueError, match="one pair"):
        score(entries)


def test_wilson_intervals_are_the_published_ones() -> None:
    # Wilson (1927) as tabulated by Newcombe (1998): 81/263, 15/148 and 0/20 at 95 %.
    for successes, trials, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]:
        found = wilson(successes, trials)
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 50), st.integers(1, 50))
def test_a_share_lies_in_its_interval(successes: int, trials: int) -> None:
    found = wilson(min(successes, trials), trials)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_the_likelihood_judge_prefers_the_likelier(tmp_path: Path) -> None:
    folder = str(tiny_models.gpt2(tmp_path))
    judge = load_judge(f"likelihood:{folder}", CPU)
    assert isinstance(judge, LikelihoodJudge)
    evaluator = load_evaluator(folder, CPU)
    cases = [Case("the all", " in the", " zqzq"), Case("a", "", " b"), Case("a", "", "")]
    found = judge.answers(cases)
    one, other = evaluator.losses(
        [PromptedText(cases[0].prompt, cases[0].a), PromptedText(cases[0].prompt, cases[0].b)]
    )
    assert found[0] == ("A" if one.nats_per_byte < other.nats_per_byte else "B")
    assert found[1:] == ["B", "tie"]
    swapped = judge.answers([Case(case.prompt, case.b, case.a) for case in cases])
    assert [{"A": "B", "B": "A"}.get(answer, answer) for answer in found] == swapped


def test_a_chat_model_is_shown_everything_and_asked_strictly(tmp_path: Path) -> None:
    judge = load_judge(str(tiny_models.llama(tmp_path)), CPU)
    assert isinstance(judge, ChatJudge)
    judge._tokenizer.chat_template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
    case = Case("Once upon", " a time", " a hill")
    shown = judge.question(case)
    assert shown.startswith("<user>")
    assert shown.endswith("<assistant>")
    assert shown.index("Once upon") < shown.index(" a time") < shown.index(" a hill")


def test_a_chat_model_that_knows_no_answer_is_invalid(tmp_path: Path) -> None:
    judge = load_judge(str(tiny_models.llama(tmp_path)), CPU)
    assert judge.answers([Case("a", "b", "c")]) == ["invalid"]
